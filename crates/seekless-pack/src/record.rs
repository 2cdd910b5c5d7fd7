//! The records of one entry and of the archive's end, as bytes. Zip64 fields stand only where a
//! value needs them.

use crate::civil;
use crate::entry::Method;
use crate::format::{
    CENTRAL, END, END64, END64_BYTES, EXTRA_CHUNKS, EXTRA_NTFS, EXTRA_TIME, EXTRA_ZIP64, FLAG_UTF8,
    LOCAL, LOCATOR64, SEE_ZIP64_16, SEE_ZIP64_32,
};
use crate::ntfs;

/// "Version made by": Unix, so that readers take the mode from the attributes; 4.5 for Zip64.
const MADE_BY: u16 = 3 << 8 | VERSION_ZIP64;
const VERSION_ZIP64: u16 = 45;
/// What APPNOTE asks for zstd.
const VERSION_ZSTD: u16 = 63;
/// Deflate and directories.
const VERSION_DEFLATE: u16 = 20;
const VERSION_STORED: u16 = 10;
const DOS_DIRECTORY: u32 = 0x10;

/// The least values that a plain record cannot hold; tests lower them to have small Zip64 archives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) bytes: u64,
    pub(crate) entries: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: SEE_ZIP64_32 as u64, entries: u64::from(SEE_ZIP64_16) }
    }
}

/// All that the two headers of an entry say.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    pub(crate) name: &'a str,
    pub(crate) mode: u32,
    pub(crate) modified: Option<i64>,
    pub(crate) modified_ns: u32,
    pub(crate) method: Method,
    pub(crate) crc: u32,
    pub(crate) bytes: u64,
    pub(crate) coded_bytes: u64,
    pub(crate) header_offset: u64,
    /// Whether the sizes stand in the Zip64 field; both or neither, as the format wants for local
    /// headers.
    pub(crate) wide_sizes: bool,
    /// The table of its chunks; empty if it has none.
    pub(crate) chunks: &'a [u8],
}

impl Record<'_> {
    /// Appends the local header.
    pub(crate) fn local(&self, out: &mut Vec<u8>) {
        let mut extra = Vec::new();
        if self.wide_sizes {
            zip64_extra(&mut extra, &[self.bytes, self.coded_bytes]);
        }
        self.time_extra(&mut extra);
        put32(out, LOCAL);
        put16(out, self.version(self.wide_sizes));
        self.common(out, &extra);
        out.extend_from_slice(self.name.as_bytes());
        out.extend_from_slice(&extra);
    }

    /// Appends the directory's header.
    pub(crate) fn central(&self, limits: Limits, out: &mut Vec<u8>) {
        let wide_offset = self.header_offset >= limits.bytes;
        let mut wide = Vec::new();
        if self.wide_sizes {
            wide.extend([self.bytes, self.coded_bytes]);
        }
        if wide_offset {
            wide.push(self.header_offset);
        }
        let mut extra = Vec::new();
        if !wide.is_empty() {
            zip64_extra(&mut extra, &wide);
        }
        self.time_extra(&mut extra);
        self.exact_time_extra(&mut extra);
        if !self.chunks.is_empty() {
            put16(&mut extra, EXTRA_CHUNKS);
            put16(&mut extra, self.chunks.len() as u16); // the number of chunks is limited
            extra.extend_from_slice(self.chunks);
        }
        put32(out, CENTRAL);
        put16(out, MADE_BY);
        put16(out, self.version(!wide.is_empty()));
        self.common(out, &extra);
        put16(out, 0); // comment
        put16(out, 0); // disk
        put16(out, 0); // internal attributes
        put32(out, self.mode << 16 | if self.name.ends_with('/') { DOS_DIRECTORY } else { 0 });
        put32(out, if wide_offset { SEE_ZIP64_32 } else { self.header_offset as u32 });
        out.extend_from_slice(self.name.as_bytes());
        out.extend_from_slice(&extra);
    }

    /// The fields from the flags to the extra field's length, which both headers share.
    fn common(&self, out: &mut Vec<u8>, extra: &[u8]) {
        let (time, date) = civil::to_dos(self.modified.unwrap_or(0));
        put16(out, if self.name.is_ascii() { 0 } else { FLAG_UTF8 });
        put16(out, self.method.number());
        put16(out, time);
        put16(out, date);
        put32(out, self.crc);
        put32(out, if self.wide_sizes { SEE_ZIP64_32 } else { self.coded_bytes as u32 });
        put32(out, if self.wide_sizes { SEE_ZIP64_32 } else { self.bytes as u32 });
        put16(out, self.name.len() as u16); // names are checked to fit
        put16(out, extra.len() as u16); // at most 77, and the chunks
    }

    fn version(&self, wide: bool) -> u16 {
        match self.method {
            Method::Zstd => VERSION_ZSTD,
            _ if wide => VERSION_ZIP64,
            Method::Stored if !self.name.ends_with('/') => VERSION_STORED,
            _ => VERSION_DEFLATE,
        }
    }

    /// The second in UTC; seconds past 2038 do not fit.
    fn time_extra(&self, out: &mut Vec<u8>) {
        let Some(seconds) = self.narrow_second() else { return };
        put16(out, EXTRA_TIME);
        put16(out, 5);
        out.push(1); // only the modification time follows
        out.extend_from_slice(&seconds.to_le_bytes());
    }

    /// The time to 100 ns, if [`time_extra`](Self::time_extra) does not say it all. It stands in
    /// the directory alone: readers that stream restore the second, and a directory of a million
    /// entries with whole seconds does not grow by 36 MB.
    fn exact_time_extra(&self, out: &mut Vec<u8>) {
        let Some(seconds) = self.modified else { return };
        if self.modified_ns < ntfs::STEP_NS && self.narrow_second().is_some() {
            return;
        }
        let (seconds, ns) = ntfs::nearest(seconds, self.modified_ns);
        let Some(body) = ntfs::body(seconds, ns) else { return };
        put16(out, EXTRA_NTFS);
        put16(out, body.len() as u16);
        out.extend_from_slice(&body);
    }

    fn narrow_second(&self) -> Option<i32> {
        self.modified.and_then(|seconds| i32::try_from(seconds).ok())
    }
}

/// Appends the end of the archive behind a directory of `directory_bytes` at `directory_offset`.
/// The comment is at most 65,535 bytes long.
pub(crate) fn end(
    entries: u64,
    (directory_bytes, directory_offset): (u64, u64),
    comment: &[u8],
    limits: Limits,
    out: &mut Vec<u8>,
) {
    let wide = entries >= limits.entries
        || directory_bytes >= limits.bytes
        || directory_offset >= limits.bytes;
    if wide {
        end64(entries, directory_bytes, directory_offset, out);
    }
    let narrow = |value: u64| if value >= limits.bytes { SEE_ZIP64_32 } else { value as u32 };
    let count = if entries >= limits.entries { SEE_ZIP64_16 } else { entries as u16 };
    put32(out, END);
    put32(out, 0); // this disk, and the directory's
    put16(out, count);
    put16(out, count);
    put32(out, narrow(directory_bytes));
    put32(out, narrow(directory_offset));
    put16(out, comment.len() as u16);
    out.extend_from_slice(comment);
}

/// The Zip64 end record and its locator.
fn end64(entries: u64, directory_bytes: u64, directory_offset: u64, out: &mut Vec<u8>) {
    put32(out, END64);
    put64(out, END64_BYTES as u64 - 12); // this field and the signature do not count
    put16(out, MADE_BY);
    put16(out, VERSION_ZIP64);
    put64(out, 0); // this disk, and the directory's
    put64(out, entries);
    put64(out, entries);
    put64(out, directory_bytes);
    put64(out, directory_offset);
    put32(out, LOCATOR64);
    put32(out, 0); // the disk with the record
    put64(out, directory_offset + directory_bytes);
    put32(out, 1); // disks in all
}

fn zip64_extra(out: &mut Vec<u8>, values: &[u64]) {
    put16(out, EXTRA_ZIP64);
    put16(out, 8 * values.len() as u16);
    values.iter().for_each(|&value| put64(out, value));
}

fn put16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn put32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn put64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}
