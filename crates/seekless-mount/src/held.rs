//! The contents of open files that are held in memory, in a bounded room. The least recently used
//! are released, and read again when they are needed.
//!
//! What is being loaded has its place in the room too: who finds no place waits until others have
//! what they load, and never fails.

use crate::lock;
use seekless_io::{Buffer, ErrorKind, Result};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Condvar, Mutex, PoisonError};

/// A content: the entry, and where in the file it begins.
pub(crate) type Key = (u32, u64);

/// What is held of all files.
pub(crate) struct Held {
    room_bytes: u64,
    contents: Mutex<Contents>,
    changed: Condvar,
}

#[derive(Default)]
struct Contents {
    by_key: HashMap<Key, Content>,
    /// Keys by their last use.
    by_use: BTreeMap<u64, Key>,
    bytes: u64,
    /// Bytes for loads under way.
    loading: u64,
    /// Grows with each use.
    clock: u64,
}

struct Content {
    buffer: Buffer,
    used: u64,
}

impl Held {
    /// Of at most this many bytes together.
    pub(crate) fn new(room_bytes: u64) -> Self {
        Self { room_bytes, contents: Mutex::default(), changed: Condvar::new() }
    }

    /// Most bytes that are held.
    pub(crate) fn room_bytes(&self) -> u64 {
        self.room_bytes
    }

    /// A content that is held.
    pub(crate) fn get(&self, key: Key) -> Option<Buffer> {
        lock(&self.contents).used(key)
    }

    /// Loads a content of this many bytes in the room that it needs, and holds it if `holds` says
    /// so. One that is larger than the room is loaded while no other is, and not held.
    ///
    /// A load that lacks memory is made again once nothing is held and no other is under way.
    ///
    /// # Errors
    /// Those of `load`.
    pub(crate) fn load(
        &self,
        key: Key,
        (bytes, holds): (u64, bool),
        load: impl Fn() -> Result<Buffer>,
    ) -> Result<Buffer> {
        let mut place = self.place(bytes);
        let mut result = load();
        if matches!(&result, Err(error) if error.kind() == ErrorKind::TooLarge) {
            drop(place);
            place = self.place(self.room_bytes);
            result = load();
        }
        match &result {
            Ok(buffer) if holds && bytes <= self.room_bytes => place.hold(key, buffer.clone()),
            _ => {}
        }
        result
    }

    /// Lets go of a content.
    pub(crate) fn forget(&self, key: Key) {
        let gone = lock(&self.contents).remove(key);
        drop(gone);
        self.changed.notify_all();
    }

    /// Waits for a place of this many bytes, and releases what has it now.
    fn place(&self, bytes: u64) -> Place<'_> {
        let bytes = bytes.min(self.room_bytes);
        let is_full = |contents: &mut Contents| contents.loading + bytes > self.room_bytes;
        let contents = lock(&self.contents);
        let waited = self.changed.wait_while(contents, is_full);
        let mut contents = waited.unwrap_or_else(PoisonError::into_inner);
        contents.loading += bytes;
        let gone = contents.shrink(self.room_bytes);
        drop(contents);
        drop(gone);
        Place { held: self, bytes }
    }
}

/// A place for a load.
struct Place<'a> {
    held: &'a Held,
    bytes: u64,
}

impl Place<'_> {
    /// Holds in it what was loaded.
    fn hold(self, key: Key, buffer: Buffer) {
        let room_bytes = self.held.room_bytes;
        let mut contents = lock(&self.held.contents);
        let before = contents.hold(key, buffer);
        // The place itself is free from now on.
        contents.loading -= self.bytes;
        let gone = contents.shrink(room_bytes);
        contents.loading += self.bytes;
        drop(contents);
        drop((before, gone));
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        lock(&self.held.contents).loading -= self.bytes;
        self.held.changed.notify_all();
    }
}

impl Contents {
    fn used(&mut self, key: Key) -> Option<Buffer> {
        let content = self.by_key.get_mut(&key)?;
        self.clock += 1;
        self.by_use.remove(&content.used);
        self.by_use.insert(self.clock, key);
        content.used = self.clock;
        Some(content.buffer.clone())
    }

    /// Returns what was held there before.
    fn hold(&mut self, key: Key, buffer: Buffer) -> Option<Buffer> {
        let before = self.remove(key);
        self.clock += 1;
        self.bytes += buffer.len() as u64;
        self.by_use.insert(self.clock, key);
        self.by_key.insert(key, Content { buffer, used: self.clock });
        before
    }

    /// Lets go of the least recently used until the others have room beside the loads under way.
    fn shrink(&mut self, room_bytes: u64) -> Vec<Buffer> {
        let mut gone = Vec::new();
        while self.bytes + self.loading > room_bytes
            && let Some((_, &oldest)) = self.by_use.first_key_value()
        {
            gone.extend(self.remove(oldest));
        }
        gone
    }

    fn remove(&mut self, key: Key) -> Option<Buffer> {
        let Content { buffer, used } = self.by_key.remove(&key)?;
        self.by_use.remove(&used);
        self.bytes -= buffer.len() as u64;
        Some(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_io::Store;
    use seekless_pack::{About, Codec, PackWriter, prepare};
    use std::cell::Cell;
    use std::sync::atomic::{AtomicBool, Ordering};

    const BYTES: u64 = 1000;

    /// A store of files of 1000 bytes, called by their numbers, which may have no larger ones than
    /// this.
    fn store(max_bytes: u64) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.zip");
        let mut pack = PackWriter::new(std::fs::File::create(&path).unwrap());
        for number in 0..9_u8 {
            let about = About::named(format!("{number}"));
            let content = vec![number; BYTES as usize];
            pack.add(prepare(about, content, Codec::Stored).unwrap()).unwrap();
        }
        pack.finish().unwrap();
        let store = Store::builder().max_entry_bytes(max_bytes).direct(false).open(path).unwrap();
        (folder, store)
    }

    fn load(held: &Held, store: &Store, number: u32) -> Buffer {
        let load = || store.load(&number.to_string());
        held.load((number, 0), (BYTES, true), load).unwrap()
    }

    #[test]
    fn the_least_recently_used_are_released() {
        let (_folder, store) = store(1 << 20);
        let held = Held::new(3 * BYTES);
        (0..3).for_each(|number| drop(load(&held, &store, number)));
        assert!(held.get((0, 0)).is_some_and(|content| content[..] == [0; BYTES as usize]));
        load(&held, &store, 3);
        let has = || (0..4).map(|number| held.get((number, 0)).is_some()).collect::<Vec<_>>();
        assert_eq!(has(), [true, false, true, true]);
        held.forget((2, 0));
        load(&held, &store, 1);
        assert_eq!(has(), [true, true, false, true], "there was room");
        assert_eq!(lock(&held.contents).bytes, 3 * BYTES);
        // What does not fit is read all the same.
        let small = Held::new(BYTES - 1);
        assert_eq!(load(&small, &store, 5).len() as u64, BYTES);
        assert!(small.get((5, 0)).is_none() && lock(&small.contents).loading == 0);
    }

    #[test]
    fn who_finds_no_room_waits() {
        let (_folder, store) = store(1 << 20);
        let (held, is_done) = (Held::new(2 * BYTES - 1), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let (begun, waits) = std::sync::mpsc::channel();
            let (held, store, is_done) = (&held, &store, &is_done);
            scope.spawn(move || {
                let slow = || {
                    begun.send(()).unwrap();
                    std::thread::sleep(std::time::Duration::from_millis(50));
                    is_done.store(true, Ordering::SeqCst);
                    store.load("1")
                };
                held.load((1, 0), (BYTES, true), slow).unwrap();
            });
            waits.recv().unwrap();
            let second = || {
                assert!(is_done.load(Ordering::SeqCst), "both would take too much");
                store.load("2")
            };
            held.load((2, 0), (BYTES, true), second).unwrap();
        });
        assert!(held.get((1, 0)).is_none() && held.get((2, 0)).is_some());
    }

    #[test]
    fn a_load_that_lacks_memory_is_made_again_when_nothing_is_held() {
        let ((_narrow_folder, narrow), (_folder, store)) = (store(10), store(1 << 20));
        let (held, times) = (Held::new(3 * BYTES), Cell::new(0));
        load(&held, &store, 1);
        let second = || {
            times.set(times.get() + 1);
            if times.get() == 1 { narrow.load("2") } else { store.load("2") }
        };
        assert!(held.load((2, 0), (BYTES, true), second).is_ok());
        assert!(held.get((1, 0)).is_none() && held.get((2, 0)).is_some());
        let error = held.load((3, 0), (BYTES, true), || narrow.load("3")).unwrap_err();
        assert_eq!((error.kind(), lock(&held.contents).loading), (ErrorKind::TooLarge, 0));
    }
}
