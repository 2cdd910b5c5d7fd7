//! His ways to read an entry: open its file, read the packed file, map it into memory, or cache the
//! last N entries of it.

use super::files::{Packed, Tree};
use super::prefetch::Prefetching;
use super::published::Published;
use anyhow::Context;
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

/// The ways of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Directory,
    Packed,
    Mapped,
    /// `lines` lines of this many entries each.
    Cached {
        lines: u64,
        entries_a_line: u32,
    },
    /// The cache as he wrote it.
    Published {
        entries: u64,
    },
    /// Threads fetch the entries that follow a miss.
    Prefetching {
        entries: u64,
        ahead: u32,
        threads: u32,
    },
}

impl Method {
    pub(crate) fn name(self) -> String {
        match self {
            Method::Directory => "directory".to_owned(),
            Method::Packed => "packed file".to_owned(),
            Method::Mapped => "memory map".to_owned(),
            Method::Cached { lines, entries_a_line: 1 } => format!("LRU of {lines} entries"),
            Method::Cached { lines, entries_a_line } => format!("LRU of {lines} lines of {entries_a_line}"),
            Method::Published { entries } => format!("his LRU of {entries} entries"),
            Method::Prefetching { entries, ahead, threads } => {
                format!("LRU of {entries} entries, {threads} threads fetch {ahead} ahead")
            }
        }
    }

    pub(crate) fn open<'a>(self, tree: &'a Tree, packed: &'a Packed) -> anyhow::Result<Box<dyn Access + 'a>> {
        let buffer = vec![0; packed.entry_bytes];
        Ok(match self {
            Method::Directory => Box::new(Loose { tree, buffer, reads: 0 }),
            Method::Packed => Box::new(Slots { packed, file: packed.open()?, buffer, reads: 0 }),
            Method::Mapped => {
                let map = Map::new(&packed.open()?);
                let map = map.with_context(|| format!("cannot map {}", packed.path.display()))?;
                Box::new(Mapped { packed, map, buffer, reads: 0 })
            }
            Method::Cached { lines, entries_a_line } => Box::new(Lines::new(packed, lines, entries_a_line)?),
            Method::Published { entries } => Box::new(Published::new(packed, entries)?),
            Method::Prefetching { entries, ahead, threads } => {
                Box::new(Prefetching::new(packed, entries, ahead, threads)?)
            }
        })
    }
}

/// The counts of a way that reads every entry.
fn uncached(reads: u64, entry: &[u8]) -> Counts {
    Counts { hits: 0, reads, read_bytes: reads * entry.len() as u64 }
}

struct Loose<'a> {
    tree: &'a Tree,
    buffer: Vec<u8>,
    reads: u64,
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

struct Slots<'a> {
    packed: &'a Packed,
    file: File,
    buffer: Vec<u8>,
    reads: u64,
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
struct Mapped<'a> {
    packed: &'a Packed,
    map: Map,
    buffer: Vec<u8>,
    reads: u64,
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
struct Lines<'a> {
    packed: &'a Packed,
    file: File,
    entries_a_line: u32,
    cache: Cache<Lru>,
    /// The bytes of each line in the cache.
    frames: Vec<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    commands: Vec<Command>,
    counts: Counts,
}

impl<'a> Lines<'a> {
    fn new(packed: &'a Packed, lines: u64, entries_a_line: u32) -> anyhow::Result<Self> {
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
                Command::Drop(line) => self.spare.push(std::mem::take(&mut self.frames[line as usize])),
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
