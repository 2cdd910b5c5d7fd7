//! Files that are open, and what is held of each, beside the store's cache: a program reads a file
//! in pieces of 128 KiB, and all of them are served by one load. What is held outlives the cache:
//! of a mapped file some pages are asked for much later, and reading it again would cost twice as
//! many bytes (measured on imports of Python packages whose files do not all fit the cache). But it
//! is bounded: of many open files the least recently used are released, and read again.
//!
//! A file that is small for that room is loaded whole. Of a larger one the parts that were read
//! last are held: so a file larger than memory can be read, and its other parts are neither read
//! nor decoded; only those of one long stream are decoded from a place before them. The same goes
//! for a file that was released while it was open. Parts of a stored file are not checked, since
//! its checksum is of all of it; of a stream it is checked at its end.
//!
//! A large file that lies in the pack as it is needs no decoding: it is read through our page
//! cache, whose readahead follows its streams ([`Streams`]).
//!
//! Parts of smaller files do not pay: for the same imports they took more requests and bytes than
//! whole files did, since these are read ahead with others.

use crate::held::Held;
use crate::lock;
use crate::streams::{Streamed, Streams};
use fuser::FileHandle;
use seekless_io::{Buffer, Result, Store};
use seekless_pack::{Entry, Method};
use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex};

/// A part begins at a multiple of this, or of the length of a chunk if that is more; in a small
/// room of less.
const UNIT_BYTES: u64 = 1 << 20;
const UNIT_BYTES_MIN: u64 = 128 << 10;

/// A part that continues the last one is twice as long, up to this many units.
const UNITS_MAX: u64 = 4;

/// Files up to this length are loaded whole, if the room for open files is twice as large.
const WHOLE_BYTES: u64 = 32 << 20;

/// Parts that are held of a file: a library is read at two places in turn, code and data.
const PARTS: usize = 2;

/// All files that are open.
pub(crate) struct Open {
    files: Mutex<Files>,
    held: Held,
    streams: Streams,
}

#[derive(Default)]
struct Files {
    last_handle: u64,
    entries: HashMap<u64, u32>,
    by_entry: HashMap<u32, (usize, File)>,
}

/// An open file, by however many handles. Its readers wait for each other.
pub(crate) type File = Arc<Mutex<Reading>>;

/// How a file is read.
#[derive(Clone)]
enum Way {
    Whole,
    /// In parts that begin at multiples of this many bytes.
    Parts(u64),
    /// Through the page cache.
    Streams(Arc<Streamed>),
}

/// How an open file has been read so far.
#[derive(Default)]
pub(crate) struct Reading {
    /// How it is read, once that was looked up.
    way: Option<Way>,
    /// Whether all of it was held once.
    was_whole: bool,
    /// Parts that may be held, the newest last.
    parts: Vec<Range<u64>>,
}

/// What a program asked for.
pub(crate) enum Part {
    Held { content: Buffer, range: Range<usize> },
    Copied(Vec<u8>),
}

impl Deref for Part {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Held { content, range } => &content[range.clone()],
            Self::Copied(bytes) => bytes,
        }
    }
}

/// A file of a store.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub(crate) store: &'a Store,
    pub(crate) entry: u32,
    pub(crate) bytes: u64,
}

impl Open {
    /// What is held of all files takes at most this many bytes.
    pub(crate) fn new(store: &Store, room_bytes: u64) -> Self {
        let whole_bytes = whole_bytes(room_bytes);
        let is_streamed =
            |entry: &Entry| entry.method == Method::Stored && entry.bytes > whole_bytes;
        let streams_bytes = match store.index().entries().any(|entry| is_streamed(&entry)) {
            true => room_bytes / 4,
            false => 0,
        };
        let held = Held::new(room_bytes - streams_bytes);
        Self { files: Mutex::default(), held, streams: Streams::new(streams_bytes) }
    }

    /// Files up to this length are loaded whole.
    pub(crate) fn whole_bytes(&self) -> u64 {
        whole_bytes(self.held.room_bytes())
    }

    pub(crate) fn add(&self, entry: u32) -> FileHandle {
        let mut files = lock(&self.files);
        files.last_handle += 1;
        let handle = files.last_handle;
        files.entries.insert(handle, entry);
        files.by_entry.entry(entry).or_default().0 += 1;
        FileHandle(handle)
    }

    pub(crate) fn get(&self, handle: FileHandle) -> Option<File> {
        let files = lock(&self.files);
        let entry = files.entries.get(&handle.0)?;
        files.by_entry.get(entry).map(|(_, file)| file.clone())
    }

    pub(crate) fn remove(&self, handle: FileHandle) {
        let closed = lock(&self.files).remove(handle.0);
        let Some((entry, file)) = closed else { return };
        let parts = std::mem::take(&mut lock(&file).parts);
        let starts = parts.iter().map(|part| part.start).chain([0]);
        starts.for_each(|start| self.held.forget((entry, start)));
    }

    /// The bytes `wanted` of an open file; of those that lie beyond its end, none.
    pub(crate) fn part(&self, file: &File, of: Stored<'_>, wanted: Range<u64>) -> Result<Part> {
        let wanted = wanted.start.min(of.bytes)..wanted.end.min(of.bytes);
        let mut reading = lock(file);
        let mut way = reading.way.get_or_insert_with(|| self.way(of)).clone();
        if let Way::Streams(streamed) = &way {
            drop(reading);
            if let Some(bytes) = streamed.read(&wanted) {
                return Ok(Part::Copied(bytes));
            }
            // The store finds out what is wrong.
            way = self.parts(of).unwrap_or(Way::Whole);
            reading = lock(file);
        }
        let (content, begin) = match way {
            Way::Parts(unit) => self.in_parts(&mut reading, of, unit, &wanted)?,
            Way::Whole | Way::Streams(_) => self.whole(&mut reading, of, &wanted)?,
        };
        // A loose file may have become shorter.
        let within = |at: u64| ((at - begin) as usize).min(content.len());
        let range = within(wanted.start)..within(wanted.end);
        Ok(Part::Held { content, range })
    }

    /// All of a file, and where that begins.
    fn whole(
        &self,
        reading: &mut Reading,
        of: Stored<'_>,
        wanted: &Range<u64>,
    ) -> Result<(Buffer, u64)> {
        let key = (of.entry, 0);
        if let Some(content) = self.held.get(key) {
            return Ok((content, 0));
        }
        // It was let go: there are too many open files to hold whole ones.
        if reading.was_whole
            && !of.is_kept()
            && let Some(Way::Parts(unit)) = self.parts(of)
        {
            reading.way = Some(Way::Parts(unit));
            return self.in_parts(reading, of, unit, wanted);
        }
        reading.was_whole = true;
        let load = || of.store.load(of.name());
        Ok((self.held.load(key, (of.bytes, true), load)?, 0))
    }

    /// A part that holds `wanted`, and where it begins.
    fn in_parts(
        &self,
        reading: &mut Reading,
        of: Stored<'_>,
        unit: u64,
        wanted: &Range<u64>,
    ) -> Result<(Buffer, u64)> {
        let parts = &mut reading.parts;
        let found =
            parts.iter().position(|part| part.start <= wanted.start && wanted.end <= part.end);
        let range = match found {
            Some(at) => parts.remove(at),
            None => {
                let units = (self.held.room_bytes() / 4 / unit).clamp(1, UNITS_MAX);
                next_range(parts.last(), (unit, units), of.bytes, wanted)
            }
        };
        let key = (of.entry, range.start);
        let content = match self.held.get(key).filter(|_| found.is_some()) {
            Some(content) => content,
            None => {
                let read = || of.store.read_range(of.name(), range.clone());
                // Else the store has all of it, and a part would keep that in memory.
                let holds = !of.is_kept();
                self.held.load(key, (range.end - range.start, holds), read)?
            }
        };
        parts.retain(|part| part.start != range.start);
        parts.push(range.clone());
        if parts.len() > PARTS {
            let oldest = parts.remove(0);
            self.held.forget((of.entry, oldest.start));
        }
        Ok((content, range.start))
    }

    /// In parts, if a file is large, and if parts of it can be read by themselves; through the page
    /// cache, if it is stored.
    fn way(&self, of: Stored<'_>) -> Way {
        if of.bytes <= self.whole_bytes() || of.is_kept() {
            return Way::Whole;
        }
        match self.streams.open(of.store, of.name()) {
            Some(streamed) => Way::Streams(Arc::new(streamed)),
            None => self.parts(of).unwrap_or(Way::Whole),
        }
    }

    /// The parts in which a file can be read.
    fn parts(&self, of: Stored<'_>) -> Option<Way> {
        let about = of.store.index().entry(of.entry);
        let unit = UNIT_BYTES.min(self.held.room_bytes() / 4).max(UNIT_BYTES_MIN);
        let unit = match about.method {
            Method::Other(_) => return None,
            _ => match of.store.index().chunks(of.entry) {
                Some(chunks) => unit.max(chunks.chunk_bytes()),
                None => unit,
            },
        };
        (of.bytes > unit).then_some(Way::Parts(unit))
    }
}

impl Files {
    /// A handle is closed. If it was the last one of its file: that.
    fn remove(&mut self, handle: u64) -> Option<(u32, File)> {
        let entry = self.entries.remove(&handle)?;
        let (handles, _) = self.by_entry.get_mut(&entry)?;
        *handles -= 1;
        let is_last = *handles == 0;
        is_last.then(|| self.by_entry.remove(&entry).map(|(_, file)| (entry, file)))?
    }
}

impl<'a> Stored<'a> {
    fn name(&self) -> &'a str {
        self.store.index().name(self.entry)
    }

    /// Whether the store's cache keeps such a file.
    fn is_kept(&self) -> bool {
        self.bytes <= self.store.kept_file_bytes()
    }
}

/// Files up to this length are loaded whole, where open files have this room.
fn whole_bytes(room_bytes: u64) -> u64 {
    WHOLE_BYTES.min(room_bytes / 2)
}

/// Which part of a file of this many bytes to read for `wanted`: longer than the last one if it
/// continues that.
fn next_range(
    last: Option<&Range<u64>>,
    (unit, units_max): (u64, u64),
    bytes: u64,
    wanted: &Range<u64>,
) -> Range<u64> {
    let start = wanted.start / unit * unit;
    let length = match last {
        Some(last) if last.contains(&start) || last.end == start => {
            (2 * (last.end - last.start)).min(units_max * unit)
        }
        _ => unit,
    };
    let end = start.saturating_add(length).max(wanted.end.next_multiple_of(unit));
    start..end.min(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_continue_the_last_one_grow() {
        let mib = |from: u64, to: u64| (from << 20)..(to << 20);
        let bytes = (20 << 20) + 7;
        let after = |last: Option<Range<u64>>, at: Range<u64>| {
            next_range(last.as_ref(), (UNIT_BYTES, UNITS_MAX), bytes, &at)
        };
        assert_eq!(after(None, (5 << 19)..(6 << 19)), mib(2, 3));
        assert_eq!(after(Some(mib(2, 3)), mib(3, 4)), mib(3, 5));
        assert_eq!(after(Some(mib(3, 5)), mib(5, 6)), mib(5, 9));
        assert_eq!(after(Some(mib(5, 9)), mib(9, 10)), mib(9, 13), "no longer than this");
        assert_eq!(after(Some(mib(5, 9)), mib(15, 16)), mib(15, 16), "elsewhere");
        assert_eq!(after(None, mib(20, 21)), 20 << 20..bytes, "the file's end");
        assert_eq!(after(None, (3 << 20) - 5..(3 << 20) + 5), mib(2, 4), "across a border");
    }
}
