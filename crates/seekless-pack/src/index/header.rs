//! One header of the directory, checked and noted.

use super::end::{End, starts_with};
use super::odd::Odd;
use super::row::{Header, Rows, Time};
use crate::chunks;
use crate::encoding::NameEncoding;
use crate::entry::Method;
use crate::error::{Error, ErrorKind, Result};
use crate::format::{
    CENTRAL, CENTRAL_BYTES, DEFLATE_RATIO_MAX, EXTRA_CHUNKS, EXTRA_NAME, EXTRA_NTFS,
    EXTRA_OLD_TIMES, EXTRA_TIME, EXTRA_UNIX, EXTRA_ZIP64, FLAG_ENCRYPTED, FLAG_STRONG, FLAG_UTF8,
    SEE_ZIP64_16, SEE_ZIP64_32, ZSTD_RATIO_MAX, extras, take_u64, u16_at, u32_at,
};
use crate::name;
use crate::ntfs;
use std::borrow::Cow;

/// The high byte of "version made by": external attributes hold a Unix mode.
const MADE_BY_UNIX: u16 = 3;
/// In the external attributes.
const DOS_FOLDER: u32 = 0x10;
/// In a Unix mode.
const UNIX_KIND: u16 = 0o170_000;
const UNIX_FOLDER: u16 = 0o040_000;

/// The most bytes of one header: its fixed part, name, extra field and comment.
pub(super) const BYTES_MAX: usize = CENTRAL_BYTES + 3 * u16::MAX as usize;

/// Parses the header at the start of `bytes`, notes the entry and its name, which is UTF-8, and
/// returns how long the header is.
pub(super) fn parse(
    bytes: &[u8],
    number: u64,
    end: &End,
    rows: &mut Rows,
    names: &mut Vec<u8>,
    odd: &mut Odd,
) -> Result<usize> {
    let (raw, header_bytes) = split(bytes).ok_or_else(|| cut(number))?;
    let start = names.len();
    let extra = Extra::of(raw.extra);
    let is_strict = odd.reading.strict;
    let own = extra.name_for(raw.name).filter(|_| !is_strict);
    let (mut refused, mut is_renamed) = (None, own.is_some());
    match own {
        None if name::is_plain(raw.name) => names.extend_from_slice(raw.name),
        own => match raw.name(number, own, odd.reading.names) {
            Ok(name) => {
                is_renamed |= !odd.reading.names.is_usual() && name.as_bytes() != raw.name;
                names.extend_from_slice(name.as_bytes());
            }
            Err(_) if !is_strict => refused = Some(why_not(raw.name)),
            Err(error) => return Err(error),
        },
    }
    let is_folder = refused.is_none() && !is_folder(&names[start..]) && raw.is_folder();
    if is_folder && !is_strict {
        names.push(b'/');
        is_renamed = true;
    }
    let name = &names[start..];
    let header = raw.header(number, end, name, &extra)?;
    check_sizes(&header, name)?;
    if !is_strict && refused.is_none() {
        refused = name::too_long(name);
    }
    if let Some(why) = refused {
        names.truncate(start);
        odd.leave_out(header.header_offset, why, &String::from_utf8_lossy(raw.name));
    } else if is_renamed {
        odd.renamed.push(header.header_offset);
    }
    rows.push(&header, extra.chunks_of(&header)).map_err(super::no_memory)?;
    Ok(header_bytes)
}

/// Whether an entry of this name is a folder. (`ends_with` calls a function for one byte.)
fn is_folder(name: &[u8]) -> bool {
    name.last() == Some(&b'/')
}

/// After the last header nothing must follow that looks like another: the count would be wrong.
pub(super) fn check_end(rest: &[u8], end: &End) -> Result<()> {
    if starts_with(rest, CENTRAL) {
        let why = format!(
            "the directory holds more than the {} entries that the archive's end states; repack it",
            end.entries
        );
        return Err(Error::new(ErrorKind::Sizes, why));
    }
    Ok(())
}

/// A central header in its parts.
struct Raw<'a> {
    fixed: &'a [u8; CENTRAL_BYTES],
    name: &'a [u8],
    extra: &'a [u8],
}

/// The header at the start of `bytes`, and how long it is.
fn split(bytes: &[u8]) -> Option<(Raw<'_>, usize)> {
    let (fixed, rest) = bytes.split_first_chunk::<CENTRAL_BYTES>()?;
    if u32_at(fixed, 0) != CENTRAL {
        return None;
    }
    let length = |at| usize::from(u16_at(fixed, at));
    let (name_end, extra_end) = (length(28), length(28) + length(30));
    let rest = rest.get(..extra_end + length(32))?;
    let raw = Raw { fixed, name: &rest[..name_end], extra: &rest[name_end..extra_end] };
    Some((raw, CENTRAL_BYTES + rest.len()))
}

/// The extra fields that are heeded: of each kind the first.
#[derive(Default)]
struct Extra<'a> {
    zip64: Option<&'a [u8]>,
    time: Option<&'a [u8]>,
    ntfs: Option<&'a [u8]>,
    /// With the times of access and of modification at its start.
    two_times: Option<&'a [u8]>,
    name: Option<&'a [u8]>,
    chunks: Option<&'a [u8]>,
}

fn cut(number: u64) -> Error {
    let why = format!(
        "the directory breaks off in or before entry {number}; the archive is damaged, copy it again"
    );
    Error::new(ErrorKind::Truncated, why)
}

/// The fields that Zip64 moves into an extra field when they are too large.
struct Wide {
    bytes: u64,
    coded_bytes: u64,
    header_offset: u64,
    disk: u32,
}

impl Raw<'_> {
    fn flags(&self) -> u16 {
        u16_at(self.fixed, 8)
    }

    /// The name; `own` stands in a field of its own. Without that and the flag for UTF-8 it is in
    /// `encoding`.
    fn name<'a>(
        &'a self,
        number: u64,
        own: Option<&'a str>,
        encoding: NameEncoding,
    ) -> Result<Cow<'a, str>> {
        let text = match (own, self.flags() & FLAG_UTF8 != 0) {
            (Some(own), _) => Some(Cow::Borrowed(own)),
            (None, true) => name::text(self.name, true),
            (None, false) => encoding.text(self.name),
        };
        let text = text.ok_or_else(|| match self.flags() & FLAG_UTF8 != 0 {
            true => {
                refused(ErrorKind::Name, number, "has a name that is not the UTF-8 it claims to be")
            }
            false => {
                refused(ErrorKind::Name, number, &format!("has a name that is not {encoding}"))
            }
        })?;
        name::check_read(&text).map_err(|why| {
            refused(ErrorKind::Name, number, &format!("has the name {text:?}, which {why}"))
        })?;
        Ok(text)
    }

    fn header(&self, number: u64, end: &End, name: &[u8], extra: &Extra<'_>) -> Result<Header> {
        let (flags, wide) = (self.flags(), self.wide(number, extra)?);
        if wide.disk != 0 {
            let name = String::from_utf8_lossy(name);
            return Err(Error::new(
                ErrorKind::MultiDisk,
                format!("entry {name:?} lies on another volume; join the volumes first"),
            ));
        }
        if flags & FLAG_STRONG != 0 && flags & FLAG_ENCRYPTED == 0 {
            return Err(Error::new(
                ErrorKind::Encrypted,
                "the directory is encrypted; decrypt the archive first",
            ));
        }
        Ok(Header {
            header_offset: wide.header_offset.saturating_add(end.prefix_bytes),
            coded_bytes: wide.coded_bytes,
            bytes: wide.bytes,
            crc: u32_at(self.fixed, 16),
            method: Method::from_number(u16_at(self.fixed, 10)),
            mode: self.mode(),
            time: extra.time(self.fixed),
            flags,
            directory: is_folder(name),
        })
    }

    fn wide(&self, number: u64, extra: &Extra<'_>) -> Result<Wide> {
        let (coded_bytes, bytes) = (u32_at(self.fixed, 20), u32_at(self.fixed, 24));
        let (disk, header_offset) = (u16_at(self.fixed, 34), u32_at(self.fixed, 42));
        let mut fields = extra.zip64.unwrap_or(&[]);
        let mut widen = |value: u32| match value {
            // Without the extra field the value is just that: a size of 4 GiB less one.
            SEE_ZIP64_32 if extra.zip64.is_some() => take_u64(&mut fields).ok_or_else(|| {
                refused(ErrorKind::Sizes, number, "has a Zip64 field that is too short")
            }),
            value => Ok(u64::from(value)),
        };
        let (bytes, coded_bytes, header_offset) =
            (widen(bytes)?, widen(coded_bytes)?, widen(header_offset)?);
        let disk = match (disk, fields.len()) {
            (SEE_ZIP64_16, 4..) => u32_at(fields, 0),
            (disk, _) => u32::from(disk),
        };
        Ok(Wide { bytes, coded_bytes, header_offset, disk })
    }

    /// Whether its attributes, of DOS or Unix, say that it is a folder, and it has no content.
    fn is_folder(&self) -> bool {
        let has_none = u32_at(self.fixed, 24) == 0;
        let dos = u32_at(self.fixed, 38) & DOS_FOLDER != 0;
        has_none && (dos || self.mode() & UNIX_KIND == UNIX_FOLDER)
    }

    fn mode(&self) -> u16 {
        let by_unix = u16_at(self.fixed, 4) >> 8 == MADE_BY_UNIX;
        if by_unix { u16_at(self.fixed, 40) } else { 0 }
    }
}

impl<'a> Extra<'a> {
    fn of(fields: &'a [u8]) -> Self {
        let mut found = Self::default();
        extras(fields, |id, body| {
            let place = match id {
                EXTRA_ZIP64 => &mut found.zip64,
                EXTRA_TIME => &mut found.time,
                EXTRA_NTFS => &mut found.ntfs,
                EXTRA_OLD_TIMES | EXTRA_UNIX => &mut found.two_times,
                EXTRA_NAME => &mut found.name,
                EXTRA_CHUNKS => &mut found.chunks,
                _ => return,
            };
            place.get_or_insert(body);
        });
        found
    }

    /// The table of the entry's chunks, if it has one that can be right.
    fn chunks_of(&self, header: &Header) -> &'a [u8] {
        match self.chunks {
            Some(table)
                if header.method == Method::Deflate
                    && header.flags & FLAG_ENCRYPTED == 0
                    && chunks::is_possible(table, header.bytes, header.coded_bytes) =>
            {
                table
            }
            _ => &[],
        }
    }

    /// The most exact of the times that it has.
    fn time(&self, fixed: &[u8; CENTRAL_BYTES]) -> Time {
        let ntfs = self.ntfs.and_then(ntfs::modified);
        if let Some((seconds, ns)) = ntfs {
            return Time::Exact { seconds, ns };
        }
        let exact =
            |body, at| Time::Exact { seconds: u32_at(body, at).cast_signed().into(), ns: 0 };
        let two_times = self.two_times.filter(|body| body.len() >= 8);
        match (self.time.filter(|body| body.len() >= 5 && body[0] & 1 != 0), two_times) {
            (Some(body), _) => exact(body, 1),
            (None, Some(body)) => exact(body, 4),
            (None, None) => Time::Dos { time: u16_at(fixed, 12), date: u16_at(fixed, 14) },
        }
    }

    /// The name in a field of its own, if that is for the name in the header.
    fn name_for(&self, stored: &[u8]) -> Option<&'a str> {
        let (version, rest) = self.name?.split_first()?;
        let (crc, name) = rest.split_first_chunk()?;
        let is_for_it = *version == 1 && u32::from_le_bytes(*crc) == crc32fast::hash(stored);
        std::str::from_utf8(name).ok().filter(|_| is_for_it)
    }
}

/// Why an entry of this name is left out.
fn why_not(stored: &[u8]) -> &'static str {
    match name::text(stored, true).as_deref().map(name::check_read) {
        Some(Err("is empty")) => "no name",
        Some(Err("has a NUL byte")) => "a NUL byte in the name",
        Some(Err("leads out of the archive by `..`")) => "a name that leads out by `..`",
        Some(Err(_)) => "an absolute name",
        _ => "a name that cannot be read",
    }
}

fn refused(kind: ErrorKind, number: u64, why: &str) -> Error {
    Error::new(
        kind,
        format!("entry {number} of the directory {why}; the archive is damaged or hostile"),
    )
}

/// No content is larger than its data can hold, so a reader may allocate what an entry claims.
fn check_sizes(entry: &Header, name: &[u8]) -> Result<()> {
    let (bytes, coded_bytes) = (entry.bytes, entry.coded_bytes);
    let possible = match entry.method {
        _ if entry.flags & FLAG_ENCRYPTED != 0 => true,
        Method::Stored => bytes == coded_bytes,
        Method::Deflate => bytes <= coded_bytes.saturating_mul(DEFLATE_RATIO_MAX),
        Method::Zstd => bytes <= coded_bytes.saturating_mul(ZSTD_RATIO_MAX),
        Method::Other(_) => true,
    };
    if possible {
        return Ok(());
    }
    let name = String::from_utf8_lossy(name);
    let why = format!(
        "entry {name:?} claims {bytes} bytes of content in {coded_bytes} bytes ({}), which cannot be; the archive is damaged or hostile",
        entry.method
    );
    Err(Error::new(ErrorKind::Sizes, why))
}
