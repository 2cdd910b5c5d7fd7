//! An entry's extent, as read, to its content: local header checked against the directory, inflated, CRC checked.

use crate::entry::{Entry, Method};
use crate::error::{Error, ErrorKind, Result};
use crate::format::{
    EXTRA_ZIP64, FLAG_DESCRIPTOR, FLAG_ENCRYPTED, FLAG_UTF8, LOCAL, LOCAL_BYTES, SEE_ZIP64_32, extra,
    take_u64, u16_at, u32_at,
};
use crate::name;
use libdeflater::Decompressor;
use std::cell::RefCell;
use std::ops::Range;

thread_local! {
    /// Its tables are 11 KB: worth keeping when files are smaller than that.
    static INFLATER: RefCell<Decompressor> = RefCell::new(Decompressor::new());
}

/// Decodes `entry`, called `name`, out of `extent` into `out`, which is made exactly `entry.bytes` long. What `out` held is
/// overwritten, so a reused buffer is not cleared first.
///
/// `extent` starts at the local header and reaches at least to the end of the data: `entry.extent_bytes` always do.
///
/// # Errors
/// [`ErrorKind::Truncated`], [`ErrorKind::Disagrees`] (local header), [`ErrorKind::Encrypted`], [`ErrorKind::Method`],
/// [`ErrorKind::Corrupt`] or [`ErrorKind::Crc`]; `out` then holds nothing to be trusted.
pub fn decode(entry: &Entry, name: &str, extent: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let data = &extent[data_range(entry, name, extent)?];
    let bytes = usize::try_from(entry.bytes).map_err(|_| corrupt(name, "is larger than memory"))?;
    // Reserved first: a claim within deflate's ratio may still be more than there is memory.
    out.try_reserve_exact(bytes.saturating_sub(out.len()))
        .map_err(|_| corrupt(name, "is larger than memory"))?;
    out.resize(bytes, 0);
    inflate(entry, name, data, out)
}

/// As [`decode`], into a buffer of exactly `entry.bytes`.
///
/// # Errors
/// As [`decode`]; [`ErrorKind::Sizes`] if `out` has another length.
pub fn decode_into(entry: &Entry, name: &str, extent: &[u8], out: &mut [u8]) -> Result<()> {
    if out.len() as u64 != entry.bytes {
        let why =
            format!("a buffer of {} bytes was given for the {} bytes of {name:?}", out.len(), entry.bytes);
        return Err(Error::new(ErrorKind::Sizes, why));
    }
    let data = &extent[data_range(entry, name, extent)?];
    inflate(entry, name, data, out)
}

/// Where the data lies in `extent`, after checking the local header: for who can use stored bytes where they are.
/// The content is not checked.
///
/// # Errors
/// [`ErrorKind::Truncated`], [`ErrorKind::Disagrees`], [`ErrorKind::Encrypted`] or [`ErrorKind::Method`].
pub fn data_range(entry: &Entry, name: &str, extent: &[u8]) -> Result<Range<usize>> {
    let start = data_start(entry, name, extent)?;
    let end = usize::try_from(entry.coded_bytes).ok().and_then(|bytes| start.checked_add(bytes));
    match end {
        Some(end) if end <= extent.len() => Ok(start..end),
        _ => Err(short(name, extent.len() as u64)),
    }
}

/// Checks the local header, and that the content can be read here; `extent` need not hold the data.
pub(crate) fn data_start(entry: &Entry, name: &str, extent: &[u8]) -> Result<usize> {
    let header = Local::parse(extent).ok_or_else(|| no_header(entry, name, extent))?;
    header.check(entry, name)?;
    if entry.is_encrypted() {
        return Err(Error::new(
            ErrorKind::Encrypted,
            format!("{name:?} is encrypted; decrypt the archive and repack it"),
        ));
    }
    if let Method::Other(_) = entry.method {
        let why = format!(
            "{name:?} is coded with {}, which is not read here; repack it as stored or deflate",
            entry.method
        );
        return Err(Error::new(ErrorKind::Method, why));
    }
    Ok(header.data)
}

/// The local header's own account of the entry.
struct Local<'a> {
    flags: u16,
    method: Method,
    crc: u32,
    bytes: u64,
    coded_bytes: u64,
    name: &'a [u8],
    /// Where the data starts.
    data: usize,
}

impl<'a> Local<'a> {
    fn parse(extent: &'a [u8]) -> Option<Self> {
        let (fixed, rest) = extent.split_at_checked(LOCAL_BYTES)?;
        if u32_at(fixed, 0) != LOCAL {
            return None;
        }
        let (name, rest) = rest.split_at_checked(usize::from(u16_at(fixed, 26)))?;
        let fields = rest.get(..usize::from(u16_at(fixed, 28)))?;
        let mut zip64 = extra(fields, EXTRA_ZIP64);
        let mut widen = |value: u32| match (&mut zip64, value) {
            (Some(fields), SEE_ZIP64_32) => take_u64(fields),
            _ => Some(u64::from(value)),
        };
        let bytes = widen(u32_at(fixed, 22))?;
        let coded_bytes = widen(u32_at(fixed, 18))?;
        Some(Self {
            flags: u16_at(fixed, 6),
            method: Method::from_number(u16_at(fixed, 8)),
            crc: u32_at(fixed, 14),
            bytes,
            coded_bytes,
            name,
            data: LOCAL_BYTES + name.len() + fields.len(),
        })
    }

    fn check(&self, entry: &Entry, name: &str) -> Result<()> {
        let stored_name = name::text(self.name, self.flags & FLAG_UTF8 != 0);
        if stored_name.as_deref() != Some(name) {
            return Err(disagrees(name, "name"));
        }
        if self.method != entry.method {
            return Err(disagrees(name, "method"));
        }
        if (self.flags ^ entry.flags) & FLAG_ENCRYPTED != 0 {
            return Err(disagrees(name, "encryption flag"));
        }
        // A tool that could not seek back wrote zeros here and the truth behind the data.
        if self.flags & FLAG_DESCRIPTOR != 0 {
            return Ok(());
        }
        if (self.bytes, self.coded_bytes) != (entry.bytes, entry.coded_bytes) {
            return Err(disagrees(name, "sizes"));
        }
        if self.crc != entry.crc {
            return Err(disagrees(name, "CRC"));
        }
        Ok(())
    }
}

fn no_header(entry: &Entry, name: &str, extent: &[u8]) -> Error {
    if extent.len() < LOCAL_BYTES || u32_at(extent, 0) == LOCAL {
        return short(name, extent.len() as u64);
    }
    let why = format!(
        "there is no entry at offset {}, where the directory places {name:?}; the archive is damaged",
        entry.header_offset
    );
    Error::new(ErrorKind::Disagrees, why)
}

pub(crate) fn short(name: &str, extent_bytes: u64) -> Error {
    let why =
        format!("{name:?} does not fit into its {extent_bytes} bytes; the archive is damaged, copy it again");
    Error::new(ErrorKind::Truncated, why)
}

fn disagrees(name: &str, what: &str) -> Error {
    let why = format!(
        "{name:?} has another {what} in its own header than in the directory; the archive is damaged or hostile"
    );
    Error::new(ErrorKind::Disagrees, why)
}

fn corrupt(name: &str, why: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the data of {name:?} {why}"))
}

/// `out` is as long as the content claims to be.
fn inflate(entry: &Entry, name: &str, data: &[u8], out: &mut [u8]) -> Result<()> {
    match entry.method {
        Method::Deflate => {
            let written = INFLATER.with_borrow_mut(|inflater| inflater.deflate_decompress(data, out));
            let written = written
                .map_err(|error| corrupt(name, &format!("is broken ({error}); copy the archive again")))?;
            if written != out.len() {
                return Err(corrupt(
                    name,
                    &format!("ends after {written} of {} bytes; copy the archive again", out.len()),
                ));
            }
        }
        // `data_range` has refused all others, and a stored entry's two sizes are equal.
        _ if data.len() == out.len() => out.copy_from_slice(data),
        _ => return Err(corrupt(name, "has two sizes though it is stored")),
    }
    check_crc(entry, name, crc32fast::hash(out))
}

pub(crate) fn check_crc(entry: &Entry, name: &str, crc: u32) -> Result<()> {
    if crc == entry.crc {
        return Ok(());
    }
    let why = format!(
        "the content of {name:?} has CRC {crc:08x}, not {:08x} as recorded; the archive is damaged, copy it again",
        entry.crc
    );
    Err(Error::new(ErrorKind::Crc, why))
}
