//! An entry's extent, as read, to its content: local header checked against the directory,
//! inflated, CRC checked.

use crate::entry::{Entry, Method};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{broken, check_crc, corrupt, disagrees, ends_early, no_memory, short};
use crate::foreign::Foreign;
use crate::format::{
    EXTRA_ZIP64, FLAG_DESCRIPTOR, FLAG_ENCRYPTED, FLAG_UTF8, LOCAL, LOCAL_BYTES, SEE_ZIP64_32,
    extra, take_u64, u16_at, u32_at,
};
use crate::name;
use crate::sum::Sum;
use crate::zstandard;
use seekless_sys::inflate::{Fault, Inflater};
use std::cell::RefCell;
use std::ops::Range;

thread_local! {
    /// Its tables are 11 KB: worth keeping when files are smaller than that.
    static INFLATER: RefCell<Inflater> = RefCell::new(Inflater::new());
}

/// Content up to this size is given memory as soon as an entry claims it, however little data the
/// entry has.
const CLAIM_BYTES: u64 = 4 << 20;
/// Content up to this many bytes for each byte of data is given memory, too: most files deflate
/// less.
const CLAIM_RATIO: u64 = 12;

/// Decodes `entry`, called `name`, out of `extent`; `out` then holds its `entry.bytes` and nothing
/// else, in memory that is used again.
///
/// `extent` starts at the local header and reaches at least to the end of the data:
/// `entry.extent_bytes` always do.
///
/// An entry that claims more than 4 MiB, and more than 12 bytes for each byte of data, is first
/// inflated without being kept. So no memory is taken for content that does not exist.
///
/// # Errors
/// [`ErrorKind::Truncated`], [`ErrorKind::Disagrees`] (local header), [`ErrorKind::Encrypted`],
/// [`ErrorKind::Method`], [`ErrorKind::Corrupt`], [`ErrorKind::Crc`], or [`ErrorKind::Limit`] where
/// memory runs out; `out` then holds nothing to be trusted.
pub fn decode(entry: &Entry, name: &str, extent: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let data = &extent[data_range(entry, name, extent)?];
    match entry.method {
        Method::Deflate => inflate(entry, name, data, out)?,
        Method::Zstd => unzstd(entry, name, data, out)?,
        Method::Other(_) => decode_foreign(entry, name, data, out)?,
        Method::Stored => copy(entry, name, data, out)?,
    }
    check_crc(entry, name, crc32fast::hash(out))
}

/// The data of `entry` in `extent`, once it justifies the memory that its content takes: for
/// callers that decode into memory of their own ([`decode_to`]).
///
/// # Errors
/// As [`decode`].
pub fn coded_data<'a>(entry: &Entry, name: &str, extent: &'a [u8]) -> Result<&'a [u8]> {
    let data = &extent[data_range(entry, name, extent)?];
    match entry.method {
        Method::Deflate | Method::Zstd | Method::Other(_) => justify(entry, name, data)?,
        Method::Stored if data.len() as u64 != entry.bytes => return Err(two_sizes(entry, name)),
        Method::Stored => {}
    }
    Ok(data)
}

/// Decodes what [`coded_data`] gave into `out`, which has room for `entry.bytes` exactly, and
/// checks it.
///
/// # Errors
/// As [`decode`].
///
/// # Panics
/// If `out` is of another length.
pub fn decode_to(entry: &Entry, name: &str, data: &[u8], out: &mut [u8]) -> Result<()> {
    assert_eq!(out.len() as u64, entry.bytes);
    match entry.method {
        Method::Deflate => {
            let written = INFLATER.with_borrow_mut(|inflater| inflater.inflate_to(data, out));
            match written {
                Ok(written) if written == out.len() => {}
                Ok(written) => return Err(ends_early(entry, name, written as u64)),
                Err(fault) => return Err(broken(entry, name, fault)),
            }
        }
        Method::Zstd => match zstandard::decode(data, out) {
            Ok(written) if written == out.len() => {}
            Ok(written) => return Err(ends_early(entry, name, written as u64)),
            Err(error) => return Err(broken(entry, name, error)),
        },
        Method::Other(_) => foreign_to(entry, name, data, out)?,
        Method::Stored if data.len() == out.len() => out.copy_from_slice(data),
        Method::Stored => return Err(two_sizes(entry, name)),
    }
    check_crc(entry, name, crc32fast::hash(out))
}

/// Where the data lies in `extent`, after checking the local header: for callers that can use
/// stored bytes where they are. The content is not checked.
///
/// # Errors
/// [`ErrorKind::Truncated`], [`ErrorKind::Disagrees`], [`ErrorKind::Encrypted`] or
/// [`ErrorKind::Method`].
pub fn data_range(entry: &Entry, name: &str, extent: &[u8]) -> Result<Range<usize>> {
    let start = data_start(entry, name, extent)?;
    let end = usize::try_from(entry.coded_bytes).ok().and_then(|bytes| start.checked_add(bytes));
    match end {
        Some(end) if end <= extent.len() => Ok(start..end),
        _ => Err(short(entry, name, extent.len() as u64)),
    }
}

/// Where the data of `entry` begins, in bytes from its local header, after checking that: for
/// callers that read parts of stored content. `head` begins at the local header and need hold no
/// more than that. The content is not checked.
///
/// # Errors
/// As [`data_range`]; [`ErrorKind::Truncated`] also if the data would reach beyond the extent.
pub fn data_offset(entry: &Entry, name: &str, head: &[u8]) -> Result<u64> {
    let start = data_start(entry, name, head)? as u64;
    match start.checked_add(entry.coded_bytes) {
        Some(end) if end <= entry.extent_bytes => Ok(start),
        _ => Err(short(entry, name, entry.extent_bytes)),
    }
}

/// Checks the local header, and that the content can be read here; `extent` need not hold the data.
pub(crate) fn data_start(entry: &Entry, name: &str, extent: &[u8]) -> Result<usize> {
    let header = Local::parse(extent).ok_or_else(|| no_header(entry, name, extent))?;
    header.check(entry, name)?;
    check_readable(entry, name)?;
    Ok(header.data)
}

/// Checks that the content can be read here.
fn check_readable(entry: &Entry, name: &str) -> Result<()> {
    if entry.is_encrypted() {
        let why = "it is encrypted; decrypt the archive and repack it";
        return Err(Error::of(entry, name, ErrorKind::Encrypted, why));
    }
    if let Method::Other(_) = entry.method
        && !entry.method.is_foreign()
    {
        return Err(unread(entry, name));
    }
    Ok(())
}

fn unread(entry: &Entry, name: &str) -> Error {
    let why = format!(
        "it is coded with {}, which is not read here; repack it as stored, deflate or zstd",
        entry.method
    );
    Error::of(entry, name, ErrorKind::Method, why)
}

/// Checks that the content is coded, and can be read here.
pub(crate) fn check_coded(entry: &Entry, name: &str) -> Result<()> {
    match entry.method {
        Method::Stored => {
            let why = "it is stored: there is nothing to decode";
            Err(Error::of(entry, name, ErrorKind::Method, why))
        }
        _ => check_readable(entry, name),
    }
}

/// What the local header says of the entry.
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
        if !entry.renamed && stored_name.as_deref() != Some(name) {
            return Err(disagrees(entry, name, "name"));
        }
        if self.method != entry.method {
            return Err(disagrees(entry, name, "method"));
        }
        if (self.flags ^ entry.flags) & FLAG_ENCRYPTED != 0 {
            return Err(disagrees(entry, name, "encryption flag"));
        }
        // A tool that could not seek back wrote zeros here and the truth behind the data.
        if self.flags & FLAG_DESCRIPTOR != 0 {
            return Ok(());
        }
        if (self.bytes, self.coded_bytes) != (entry.bytes, entry.coded_bytes) {
            return Err(disagrees(entry, name, "sizes"));
        }
        if self.crc != entry.crc {
            return Err(disagrees(entry, name, "CRC"));
        }
        Ok(())
    }
}

fn no_header(entry: &Entry, name: &str, extent: &[u8]) -> Error {
    if extent.len() < LOCAL_BYTES || u32_at(extent, 0) == LOCAL {
        return short(entry, name, extent.len() as u64);
    }
    let why = "no entry starts where the directory places it; the archive is damaged";
    Error::of(entry, name, ErrorKind::Disagrees, why)
}

pub(crate) fn two_sizes(entry: &Entry, name: &str) -> Error {
    corrupt(entry, name, "it has two sizes though it is stored")
}

/// Inflates content that is large for its data without keeping it, before it gets memory.
fn justify(entry: &Entry, name: &str, data: &[u8]) -> Result<()> {
    match entry.bytes > CLAIM_BYTES.max((data.len() as u64).saturating_mul(CLAIM_RATIO)) {
        true => Sum::of(entry, name, data),
        false => Ok(()),
    }
}

fn copy(entry: &Entry, name: &str, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
    if data.len() as u64 != entry.bytes {
        return Err(two_sizes(entry, name));
    }
    out.clear();
    out.try_reserve_exact(data.len()).map_err(|_| no_memory(entry, name))?;
    out.extend_from_slice(data);
    Ok(())
}

/// Claims that the data does not justify are checked first, without keeping the content.
fn check_claim(entry: &Entry, name: &str, data: &[u8]) -> Result<usize> {
    let bytes = usize::try_from(entry.bytes).map_err(|_| no_memory(entry, name))?;
    justify(entry, name, data)?;
    Ok(bytes)
}

fn unzstd(entry: &Entry, name: &str, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let bytes = check_claim(entry, name, data)?;
    out.clear();
    out.try_reserve_exact(bytes).map_err(|_| no_memory(entry, name))?;
    match zstandard::decode(data, out) {
        Ok(written) if written == bytes => Ok(()),
        Ok(written) => Err(ends_early(entry, name, written as u64)),
        Err(error) => Err(broken(entry, name, error)),
    }
}

fn decode_foreign(entry: &Entry, name: &str, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let bytes = check_claim(entry, name, data)?;
    out.clear();
    out.try_reserve_exact(bytes).map_err(|_| no_memory(entry, name))?;
    out.resize(bytes, 0);
    foreign_to(entry, name, data, out)
}

/// Decodes an entry of another tool's method into `out`, which has room for `entry.bytes` exactly.
fn foreign_to(entry: &Entry, name: &str, data: &[u8], out: &mut [u8]) -> Result<()> {
    // `data_range` has refused what has no decoder.
    let decoder = Foreign::new(entry).ok_or_else(|| unread(entry, name))?;
    match decoder.decode(data, out) {
        Ok(written) if written == out.len() => Ok(()),
        Ok(written) => Err(ends_early(entry, name, written as u64)),
        Err(fault) => Err(fault.of(entry, name)),
    }
}

fn inflate(entry: &Entry, name: &str, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let bytes = check_claim(entry, name, data)?;
    match INFLATER.with_borrow_mut(|inflater| inflater.inflate(data, bytes, out)) {
        Ok(()) if out.len() == bytes => Ok(()),
        Ok(()) => Err(ends_early(entry, name, out.len() as u64)),
        Err(Fault::Memory) => Err(no_memory(entry, name)),
        Err(fault) => Err(broken(entry, name, fault)),
    }
}
