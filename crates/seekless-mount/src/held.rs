//! The contents of open files that are held in memory, in a bounded room. The least recently used
//! are let go, and read again when they are needed.
//!
//! What is being loaded has its place in the room too: who finds no place waits until others have
//! what they load, and never fails.

use crate::open::lock;
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
    /// Of at most so many bytes together.
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

    /// Loads a content of so many bytes in the room that it needs, and holds it if `holds` says so.
    /// One that is larger than the room is loaded while no other is, and not held.
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

    /// Waits for a place of so many bytes, and lets go of what has it now.
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
