//! Files that are open, and what is held of each, beside the store's cache: a program reads a file
//! in pieces of 128 KiB, and all of them are served by one load. What is held outlives the cache:
//! of a mapped file some pages are asked for much later, and reading it again would cost twice as
//! many bytes (measured on imports of Python packages whose files do not all fit the cache).
//!
//! A file that a store can keep is loaded whole. Of a larger one the parts that were read last are
//! held: so a file larger than memory can be read, and its other parts are neither read nor
//! decoded. Parts of a stored file are not checked, since its checksum is of all of it.
//!
//! Parts of smaller files do not pay: for the same imports they took more requests and bytes than
//! whole files did, since these are read ahead with others.

use fuser::FileHandle;
use seekless_io::{Buffer, Result, Store};
use seekless_pack::Method;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A part begins at a multiple of this, or of the length of a chunk if that is more.
const UNIT_BYTES: u64 = 1 << 20;

/// A part that continues the last one is twice as long, up to so many units.
const UNITS_MAX: u64 = 4;

/// Files up to this length are loaded whole: a cache of the usual 64 MiB keeps them.
pub(crate) const WHOLE_BYTES: u64 = 32 << 20;

/// Parts that are held of a file: a library is read at two places in turn, code and data.
const PARTS: usize = 2;

/// All files that are open.
#[derive(Default)]
pub(crate) struct Open {
    next: AtomicU64,
    files: Mutex<HashMap<u64, File>>,
}

/// An open file. Its readers wait for each other.
pub(crate) type File = Arc<Mutex<Content>>;

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Whole,
    /// In parts that begin at multiples of so many bytes.
    Parts(u64),
}

/// What is held of an open file.
#[derive(Default)]
pub(crate) struct Content {
    whole: Option<Buffer>,
    /// How it is read, once that was looked up.
    way: Option<Way>,
    /// The newest last.
    parts: Vec<(Range<u64>, Buffer)>,
}

impl Open {
    pub(crate) fn add(&self) -> FileHandle {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.files).insert(number, File::default());
        FileHandle(number)
    }

    pub(crate) fn get(&self, handle: FileHandle) -> Option<File> {
        lock(&self.files).get(&handle.0).cloned()
    }

    pub(crate) fn remove(&self, handle: FileHandle) {
        lock(&self.files).remove(&handle.0);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Content {
    /// The bytes `wanted` of an entry of so many bytes; of those that lie beyond its end, none.
    pub(crate) fn part(
        &mut self,
        store: &Store,
        entry: u32,
        bytes: u64,
        wanted: Range<u64>,
    ) -> Result<&[u8]> {
        let wanted = wanted.start.min(bytes)..wanted.end.min(bytes);
        let (held, begin) = match *self.way.get_or_insert_with(|| way(store, entry)) {
            Way::Parts(unit) => self.held(store, entry, unit, bytes, &wanted)?,
            Way::Whole => (self.whole(store, entry)?, 0),
        };
        // A loose file may have become shorter.
        let within = |at: u64| ((at - begin) as usize).min(held.len());
        Ok(&held[within(wanted.start)..within(wanted.end)])
    }

    fn whole(&mut self, store: &Store, entry: u32) -> Result<&Buffer> {
        match &mut self.whole {
            Some(whole) => Ok(whole),
            whole => Ok(whole.insert(store.load(store.index().name(entry))?)),
        }
    }

    /// A part that holds `wanted`, and where it begins.
    fn held(
        &mut self,
        store: &Store,
        entry: u32,
        unit: u64,
        bytes: u64,
        wanted: &Range<u64>,
    ) -> Result<(&Buffer, u64)> {
        let holds =
            |(part, _): &(Range<u64>, _)| part.start <= wanted.start && wanted.end <= part.end;
        let found = self.parts.iter().position(holds);
        let at = match found {
            Some(at) => at,
            None => {
                let last = self.parts.last().map(|(range, _)| range);
                let range = next_range(last, unit, bytes, wanted);
                let content = store.read_range(store.index().name(entry), range.clone())?;
                if self.parts.len() == PARTS {
                    self.parts.remove(0);
                }
                self.parts.push((range, content));
                self.parts.len() - 1
            }
        };
        let (range, content) = &self.parts[at];
        Ok((content, range.start))
    }
}

/// Which part of a file of so many bytes to read for `wanted`: longer than the last one if it
/// continues that.
fn next_range(last: Option<&Range<u64>>, unit: u64, bytes: u64, wanted: &Range<u64>) -> Range<u64> {
    let start = wanted.start / unit * unit;
    let length = match last {
        Some(last) if last.contains(&start) || last.end == start => {
            (2 * (last.end - last.start)).min(UNITS_MAX * unit)
        }
        _ => unit,
    };
    let end = start.saturating_add(length).max(wanted.end.next_multiple_of(unit));
    start..end.min(bytes)
}

/// In parts, if an entry is large, and if parts of it can be read by themselves.
fn way(store: &Store, entry: u32) -> Way {
    let about = store.index().entry(entry);
    match store.index().chunks(entry) {
        _ if about.bytes <= WHOLE_BYTES => Way::Whole,
        _ if about.method == Method::Stored => Way::Parts(UNIT_BYTES),
        Some(chunks) => Way::Parts(UNIT_BYTES.max(chunks.content(0).end)),
        None => Way::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_continue_the_last_one_grow() {
        let mib = |from: u64, to: u64| (from << 20)..(to << 20);
        let bytes = (20 << 20) + 7;
        let after = |last: Option<Range<u64>>, at: Range<u64>| {
            next_range(last.as_ref(), UNIT_BYTES, bytes, &at)
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
