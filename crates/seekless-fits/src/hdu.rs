//! The HDUs (header and data units) of a file: what each is and where its data lie.
//!
//! A file is walked from header to header, without reading the data.

use super::header::{BLOCK_BYTES, Header, padded};
use crate::error::{Error, ErrorKind, Result};
use seekless_sys::open_seekable;
use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The most HDUs that a file may have.
const HDUS_MAX: usize = 100_000;
/// The most axes that FITS allows.
const AXES_MAX: i64 = 999;

/// A header and its data.
#[derive(Clone, Debug)]
pub(super) struct Hdu {
    pub(super) header: Header,
    /// Whether this is the primary HDU or an IMAGE extension, and not random groups.
    pub(super) is_image: bool,
    /// Bits of a pixel; negative for floating point.
    pub(super) bitpix: i64,
    /// The length of each axis, the fastest first.
    pub(super) axes: Vec<u64>,
    /// Where the data lie, without the padding of the last block.
    pub(super) data: Range<u64>,
    /// Where the next HDU starts. It may lie past the end of a file whose last block is not padded.
    pub(super) end: u64,
}

/// An open FITS file whose headers have been read.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) hdus: Vec<Hdu>,
    /// Its size.
    pub(super) bytes: u64,
    /// Bytes after the last HDU: zeros, as tapes left them, or what another tool appended. They
    /// belong to no HDU.
    pub(super) left_over: u64,
    opened: Metadata,
}

impl Source {
    /// Opens a file and reads its headers.
    ///
    /// # Errors
    /// It cannot be read, is not a FITS file, is damaged, or is cut short.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let said =
            |error| Error::because(ErrorKind::Io, format!("cannot open {}", path.display()), error);
        let file = open_seekable(path).map_err(said)?;
        // The headers are far apart. Readahead would read data between them, and evict cached data.
        let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random);
        let opened = file.metadata().map_err(said)?;
        let bytes = opened.len();
        let mut source =
            Source { path: path.to_owned(), hdus: Vec::new(), bytes, left_over: 0, opened };
        source.refuse_others(&file)?;
        while source.continues(&file)? {
            let hdu = Hdu::read(&file, path, source.hdus.len(), source.end())?;
            source.check_size(&hdu)?;
            source.hdus.push(hdu);
        }
        source.left_over = bytes.saturating_sub(source.end());
        Ok(source)
    }

    /// Where the last HDU ends.
    pub(super) fn end(&self) -> u64 {
        self.hdus.last().map_or(0, |hdu| hdu.end)
    }

    /// The error for a file that does not start as FITS does; says what kind of file it is.
    fn refuse_others(&self, file: &File) -> Result<()> {
        let mut start = [0; 10];
        let read = file.read_at(&mut start, 0);
        let read = read.map_err(|error| {
            Error::because(ErrorKind::Io, format!("cannot read {}", self.path.display()), error)
        })?;
        if start == *b"SIMPLE  = " {
            return Ok(());
        }
        let what = match &start[..read] {
            [] => "is empty",
            [0x1f, 0x8b, ..] => "is compressed: unpack it first (gunzip)",
            _ => "is no FITS file: it does not start with SIMPLE",
        };
        Err(Error::new(ErrorKind::Fits, format!("{} {what}", self.path.display())))
    }

    /// Whether another HDU follows.
    fn continues(&self, file: &File) -> Result<bool> {
        let at = self.end();
        if at >= self.bytes {
            return Ok(false);
        }
        if self.hdus.len() == HDUS_MAX {
            let what = format!("{} has more than {HDUS_MAX} HDUs", self.path.display());
            return Err(Error::new(ErrorKind::Fits, what));
        }
        let mut start = [0; BLOCK_BYTES as usize];
        let room = start.len().min(usize::try_from(self.bytes - at).unwrap_or(usize::MAX));
        let failed = |error: io::Error| {
            Error::because(
                ErrorKind::Io,
                format!("cannot read {} at byte {at}", self.path.display()),
                error,
            )
        };
        file.read_exact_at(&mut start[..room], at).map_err(failed)?;
        // What follows and is no extension belongs to no HDU (FITS 4.0, 3.5: special records).
        Ok(at == 0 || start.starts_with(b"XTENSION"))
    }

    fn check_size(&self, hdu: &Hdu) -> Result<()> {
        if hdu.data.end <= self.bytes {
            return Ok(());
        }
        Err(hdu.header.refusal(&format!(
            "its data are bytes {} to {}, but the file has only {}: it is cut short",
            hdu.data.start, hdu.data.end, self.bytes
        )))
    }

    /// Checks that the file is still the one that was opened.
    ///
    /// # Errors
    /// The file was written to or replaced.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        let same = |now: &Metadata| {
            let marks = |of: &Metadata| (of.dev(), of.ino(), of.len(), of.mtime(), of.mtime_nsec());
            marks(now) == marks(&self.opened)
        };
        match std::fs::metadata(&self.path) {
            Ok(now) if same(&now) => Ok(()),
            _ => {
                let what = "changed while it was being read; nothing was written: run this again";
                Err(Error::new(ErrorKind::Differs, format!("{} {what}", self.path.display())))
            }
        }
    }
}

impl Hdu {
    fn read(file: &File, path: &Path, number: usize, offset: u64) -> Result<Self> {
        let header = Header::read(file, path, number, offset)?;
        let is_image = match header.text("XTENSION") {
            _ if number == 0 && !header.is_true("SIMPLE") => {
                return Err(header.fault(0, "only SIMPLE = T is standard FITS"));
            }
            _ if number == 0 => !header.is_true("GROUPS"),
            kind => matches!(kind.as_deref(), Some("IMAGE" | "IUEIMAGE")),
        };
        let bitpix = header.required("BITPIX")?;
        if !matches!(bitpix, 8 | 16 | 32 | 64 | -32 | -64) {
            let index = header.find("BITPIX").unwrap_or_default();
            return Err(header.fault(index, "BITPIX must be 8, 16, 32, 64, -32 or -64"));
        }
        let axes = axes(&header)?;
        let start = offset + header.bytes;
        let too_large =
            || header.refusal("its axes say more bytes than any file can have; it is damaged");
        let end = data_bytes(&header, bitpix, &axes)?.and_then(|bytes| start.checked_add(bytes));
        let data = start..end.ok_or_else(too_large)?;
        let end = padded(data.end).ok_or_else(too_large)?;
        Ok(Hdu { header, is_image, bitpix, axes, data, end })
    }

    /// Whether this is an image with pixels.
    pub(super) fn has_pixels(&self) -> bool {
        self.is_image && !self.data.is_empty()
    }
}

fn axes(header: &Header) -> Result<Vec<u64>> {
    let count = header.required("NAXIS")?;
    if !(0..=AXES_MAX).contains(&count) {
        return Err(
            header.fault(header.find("NAXIS").unwrap_or_default(), "NAXIS must be 0 to 999")
        );
    }
    let axis = |number: i64| {
        let key = format!("NAXIS{number}");
        let length = header.required(&key)?;
        u64::try_from(length).map_err(|_| {
            header.fault(header.find(&key).unwrap_or_default(), "an axis cannot be shorter than 0")
        })
    };
    (1..=count).map(axis).collect()
}

/// The bytes of the data: |BITPIX| / 8 x GCOUNT x (PCOUNT + the product of the axes), by section 7
/// of the standard; `None` if that exceeds 64 bits.
fn data_bytes(header: &Header, bitpix: i64, axes: &[u64]) -> Result<Option<u64>> {
    let count = |key: &str, otherwise: u64| -> Result<u64> {
        let Some(value) = header.integer(key)? else { return Ok(otherwise) };
        u64::try_from(value).map_err(|_| {
            header.fault(header.find(key).unwrap_or_default(), "it cannot be less than 0")
        })
    };
    let (parameters, groups) = (count("PCOUNT", 0)?, count("GCOUNT", 1)?);
    let axes = match axes {
        [] => return Ok(Some(0)),
        // In random groups the first axis is a marker and has length 0.
        [0, others @ ..] if header.is_true("GROUPS") => others,
        all => all,
    };
    let elements = axes.iter().try_fold(1_u64, |product, &length| product.checked_mul(length));
    Ok(elements
        .and_then(|elements| elements.checked_add(parameters))
        .and_then(|elements| elements.checked_mul(groups))
        .and_then(|elements| elements.checked_mul(bitpix.unsigned_abs() / 8)))
}
