//! Reads a whole archive from the front and checks every entry.

use crate::chunks::Chunks;
use crate::decode::{data_offset, decode};
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::format::LOCAL_BYTES_MAX;
use crate::index::Index;
use crate::read_at::ReadAt;
use crate::sum::Sum;

/// Neighbouring extents are read together up to this many bytes; a larger entry is checked in
/// pieces of it.
const READ_BYTES: u64 = 4 << 20;

/// What was found whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Verified {
    /// Entries, directories included.
    pub entries: u64,
    /// Directories.
    pub directories: u64,
    /// Content, in bytes.
    pub bytes: u64,
    /// Data of the entries without headers, in bytes.
    pub coded_bytes: u64,
}

/// Reads the archive `source` (`file_bytes` long) from the front, decodes every entry and checks
/// header, size and CRC, in constant memory. An entry in chunks is decoded twice: as others do, and
/// chunk by chunk. Calls `progress` with the bytes of the archive that
/// are done, and all of them.
///
/// # Errors
/// The first fault found, as [`Index::open`] and [`decode`](crate::decode) report it.
pub fn verify<R: ReadAt + ?Sized>(
    source: &R,
    file_bytes: u64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Verified> {
    verify_entries(source, file_bytes, &Index::open(source, file_bytes)?, progress)
}

/// As [`verify`], of an archive whose directory has been read: it is `index`.
///
/// # Errors
/// The first fault found.
pub fn verify_entries<R: ReadAt + ?Sized>(
    source: &R,
    file_bytes: u64,
    index: &Index,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Verified> {
    let mut check = Check { source, index, read: Vec::new(), content: Vec::new() };
    let mut found = Verified::default();
    let mut next = 0;
    while next < index.len() as u32 {
        let group = check.group(next);
        check.entries(next..group)?;
        for entry in (next..group).map(|number| index.entry(number)) {
            found.entries += 1;
            found.directories += u64::from(entry.is_dir());
            found.bytes += entry.bytes;
            found.coded_bytes += entry.coded_bytes;
        }
        let last = index.entry(group - 1);
        progress(last.header_offset + last.extent_bytes, file_bytes);
        next = group;
    }
    progress(file_bytes, file_bytes);
    Ok(found)
}

/// The entries of the archive `source`, whose directory is `index`, that are damaged or cannot be
/// read. Each is checked as [`verify`] does. Calls `progress` with the bytes of the archive that
/// are done, and those of all entries.
pub fn damaged<R: ReadAt + ?Sized>(
    source: &R,
    index: &Index,
    progress: &mut dyn FnMut(u64, u64),
) -> Vec<u32> {
    let mut check = Check { source, index, read: Vec::new(), content: Vec::new() };
    let end = |number: u32| index.entry(number).header_offset + index.entry(number).extent_bytes;
    let mut found = Vec::new();
    let mut next = 0;
    while let Some(last) = (index.len() as u32).checked_sub(1)
        && next <= last
    {
        let group = check.group(next);
        if check.entries(next..group).is_err() {
            found.extend((next..group).filter(|&one| check.entries(one..one + 1).is_err()));
        }
        progress(end(group - 1), end(last));
        next = group;
    }
    found
}

struct Check<'a, R: ?Sized> {
    source: &'a R,
    index: &'a Index,
    read: Vec<u8>,
    content: Vec<u8>,
}

impl<R: ReadAt + ?Sized> Check<'_, R> {
    /// One past the last entry that is read together with `first`.
    fn group(&self, first: u32) -> u32 {
        let start = self.index.entry(first).header_offset;
        let fits = |&number: &u32| {
            let entry = self.index.entry(number);
            entry.header_offset + entry.extent_bytes - start <= READ_BYTES
                && entry.bytes <= READ_BYTES
        };
        let fitting = (first..self.index.len() as u32).take_while(fits).count();
        first + fitting.max(1) as u32
    }

    fn entries(&mut self, range: std::ops::Range<u32>) -> Result<()> {
        let (first, last) = (self.index.entry(range.start), self.index.entry(range.end - 1));
        let start = first.header_offset;
        let length = last.header_offset + last.extent_bytes - start;
        if range.len() == 1 && (length > READ_BYTES || last.bytes > READ_BYTES) {
            return self.large(range.start);
        }
        self.fill(start, length)?;
        for number in range {
            let entry = self.index.entry(number);
            let extent =
                &self.read[(entry.header_offset - start) as usize..][..entry.extent_bytes as usize];
            decode(&entry, self.index.name(number), extent, &mut self.content)?;
        }
        Ok(())
    }

    /// Reads `length` bytes, at most `READ_BYTES` or what the caller's records hold, at `offset`.
    fn fill(&mut self, offset: u64, length: u64) -> Result<()> {
        self.read.resize(length as usize, 0);
        let said = |error| {
            Error::io(
                format!("cannot read {length} bytes of the archive at offset {offset}"),
                error,
            )
        };
        self.source.read_exact_at(&mut self.read, offset).map_err(said)
    }

    /// Inflates piece by piece into a counter: the content may be larger than memory.
    fn large(&mut self, number: u32) -> Result<()> {
        let (entry, name) = (self.index.entry(number), self.index.name(number));
        self.fill(entry.header_offset, entry.extent_bytes.min(LOCAL_BYTES_MAX))?;
        let start = data_offset(&entry, name, &self.read)?;
        let data = entry.header_offset + start;
        let (mut at, mut left) = (data, entry.coded_bytes);
        let mut sum = Sum::new(&entry, name)?;
        while left > 0 {
            let length = left.min(READ_BYTES);
            self.fill(at, length)?;
            sum.add(&self.read)?;
            at += length;
            left -= length;
        }
        sum.finish()?;
        self.index.chunks(number).map_or(Ok(()), |chunks| self.chunks(&entry, name, data, &chunks))
    }

    /// Checks each chunk of an entry whose data begins at offset `data`.
    fn chunks(&mut self, entry: &Entry, name: &str, data: u64, chunks: &Chunks) -> Result<()> {
        for number in 0..chunks.len() {
            let (of, content) = (chunks.data(number), chunks.content(number));
            self.fill(data + of.start, of.end - of.start)?;
            self.content.resize((content.end - content.start) as usize, 0);
            chunks.inflate(entry, name, number, [&self.read[..]], &mut self.content)?;
        }
        Ok(())
    }
}
