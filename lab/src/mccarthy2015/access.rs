//! His ways to read an entry: open its file, read the packed file, map it into memory, or cache the
//! last N entries of it.

use super::files::{Packed, Tree};
use seekless::policy::cache::{Cache, Command, Config, Filled, Step};
use seekless::policy::eviction::{Id, Lru, Request};
use seekless::sys::map::Map;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

/// The requests to a way of reading, and the bytes that it read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) hits: u64,
    pub(crate) reads: u64,
    pub(crate) read_bytes: u64,
}

/// A way to read, opened for one trial.
pub(crate) trait Access {
    /// The bytes of an entry.
    fn read(&mut self, entry: Id) -> io::Result<&[u8]>;
    /// The counts so far.
    fn counts(&self) -> Counts;
}

/// The counts of a way that reads every entry.
fn uncached(reads: u64, entry: &[u8]) -> Counts {
    Counts { hits: 0, reads, read_bytes: reads * entry.len() as u64 }
}

pub(super) struct Loose<'a> {
    pub(super) tree: &'a Tree,
    pub(super) buffer: Vec<u8>,
    pub(super) reads: u64,
}

impl Access for Loose<'_> {
    fn read(&mut self, entry: Id) -> io::Result<&[u8]> {
        self.reads += 1;
        File::open(&self.tree.paths[entry as usize])?.read_exact(&mut self.buffer)?;
        Ok(&self.buffer)
    }

    fn counts(&self) -> Counts {
        uncached(self.reads, &self.buffer)
    }
}

pub(super) struct Slots<'a> {
    pub(super) packed: &'a Packed,
    pub(super) file: File,
    pub(super) buffer: Vec<u8>,
    pub(super) reads: u64,
}

impl Access for Slots<'_> {
    fn read(&mut self, entry: Id) -> io::Result<&[u8]> {
        self.reads += 1;
        let slot = u64::from(self.packed.slots[entry as usize]);
        self.file.read_exact_at(&mut self.buffer, slot * self.packed.entry_bytes as u64)?;
        Ok(&self.buffer)
    }

    fn counts(&self) -> Counts {
        uncached(self.reads, &self.buffer)
    }
}

/// Copies the entry out of the map, since a reader of it would touch every byte.
pub(super) struct Mapped<'a> {
    pub(super) packed: &'a Packed,
    pub(super) map: Map,
    pub(super) buffer: Vec<u8>,
    pub(super) reads: u64,
}

impl Access for Mapped<'_> {
    fn read(&mut self, entry: Id) -> io::Result<&[u8]> {
        self.reads += 1;
        let slot = u64::from(self.packed.slots[entry as usize]);
        self.map.read_exact_at(&mut self.buffer, slot * self.packed.entry_bytes as u64)?;
        Ok(&self.buffer)
    }

    fn counts(&self) -> Counts {
        uncached(self.reads, &self.buffer)
    }
}

/// His cache, on the cache that simulator and live engine share. A miss reads the whole line.
/// Buffers of evicted lines are used again; he suspects garbage collection of causing his overhead.
pub(super) struct Lines<'a> {
    pub(super) packed: &'a Packed,
    pub(super) file: File,
    pub(super) entries_a_line: u32,
    pub(super) cache: Cache<Lru>,
    /// The bytes of each line in the cache.
    pub(super) frames: Vec<Vec<u8>>,
    pub(super) spare: Vec<Vec<u8>>,
    pub(super) commands: Vec<Command>,
    pub(super) counts: Counts,
}

impl<'a> Lines<'a> {
    pub(super) fn new(packed: &'a Packed, lines: u64, entries_a_line: u32) -> anyhow::Result<Self> {
        let all = (packed.slots.len() as u32).div_ceil(entries_a_line);
        let mut cache = Cache::new(Lru::new(lines), Config::pages(lines))?;
        cache.grow(all);
        Ok(Self {
            packed,
            file: packed.open()?,
            entries_a_line,
            cache,
            frames: vec![Vec::new(); all as usize],
            spare: Vec::new(),
            commands: Vec::new(),
            counts: Counts::default(),
        })
    }

    fn carry_out(&mut self) -> io::Result<()> {
        let mut commands = std::mem::take(&mut self.commands);
        for command in commands.drain(..) {
            match command {
                Command::Drop(line) => {
                    self.spare.push(std::mem::take(&mut self.frames[line as usize]))
                }
                Command::Fetch(line) => {
                    let result = self.fetch(line);
                    let filled = if result.is_ok() { Filled::Yes } else { Filled::Failed };
                    self.cache.complete(line, filled, &mut self.commands);
                    result?;
                }
                Command::WriteBack(_) => {} // nothing is ever dirty
            }
        }
        self.commands = commands;
        Ok(())
    }

    fn fetch(&mut self, line: Id) -> io::Result<()> {
        self.counts.reads += 1;
        let first = line * self.entries_a_line;
        let entries = self.entries_a_line.min(self.packed.slots.len() as u32 - first);
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.resize(entries as usize * self.packed.entry_bytes, 0);
        self.file.read_exact_at(&mut buffer, u64::from(first) * self.packed.entry_bytes as u64)?;
        self.counts.read_bytes += buffer.len() as u64;
        self.frames[line as usize] = buffer;
        Ok(())
    }
}

impl Access for Lines<'_> {
    fn read(&mut self, entry: Id) -> io::Result<&[u8]> {
        let slot = self.packed.slots[entry as usize];
        let (line, place) = (slot / self.entries_a_line, (slot % self.entries_a_line) as usize);
        match self.cache.step(&Request::page(line), &mut self.commands) {
            Step::Ready => self.counts.hits += 1,
            Step::Wait | Step::Bypass => self.carry_out()?,
        }
        let bytes = self.packed.entry_bytes;
        Ok(&self.frames[line as usize][place * bytes..][..bytes])
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
