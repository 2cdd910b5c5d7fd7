//! The ways of reading, by name.

use super::access::{Access, Lines, Loose, Mapped, Slots};
use super::files::{Packed, Tree};
use super::prefetch::Prefetching;
use super::published::Published;
use anyhow::Context;
use seekless::sys::map::Map;

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
            Method::Cached { lines, entries_a_line } => {
                format!("LRU of {lines} lines of {entries_a_line}")
            }
            Method::Published { entries } => format!("his LRU of {entries} entries"),
            Method::Prefetching { entries, ahead, threads } => {
                format!("LRU of {entries} entries, {threads} threads fetch {ahead} ahead")
            }
        }
    }

    pub(crate) fn open<'a>(
        self,
        tree: &'a Tree,
        packed: &'a Packed,
    ) -> anyhow::Result<Box<dyn Access + 'a>> {
        let buffer = vec![0; packed.entry_bytes];
        Ok(match self {
            Method::Directory => Box::new(Loose { tree, buffer, reads: 0 }),
            Method::Packed => Box::new(Slots { packed, file: packed.open()?, buffer, reads: 0 }),
            Method::Mapped => {
                let map = Map::new(&packed.open()?);
                let map = map.with_context(|| format!("cannot map {}", packed.path.display()))?;
                Box::new(Mapped { packed, map, buffer, reads: 0 })
            }
            Method::Cached { lines, entries_a_line } => {
                Box::new(Lines::new(packed, lines, entries_a_line)?)
            }
            Method::Published { entries } => Box::new(Published::new(packed, entries)?),
            Method::Prefetching { entries, ahead, threads } => {
                Box::new(Prefetching::new(packed, entries, ahead, threads)?)
            }
        })
    }
}
