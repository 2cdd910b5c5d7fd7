//! His cache as he wrote it, as far as its overhead goes. It has a hash map from every id to its
//! entry. Each entry that is read gets fresh memory, which is freed when it leaves. The cache
//! reports the miss rate on the way, and has the same hits as ours.

use super::access::{Access, Counts};
use super::files::Packed;
use seekless::policy::eviction::{Eviction, Id, Lru, Outcome, Pool, Request};
use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::os::unix::fs::FileExt;

/// Requests between two reports of the miss rate.
const REPORT_EVERY: u64 = 5000;

/// An integer hashes to itself, as in his compiler's library.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, &byte| hash << 8 | u64::from(byte));
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = u64::from(number);
    }
}

/// His `entry_seq`.
struct Entry {
    offset: u64,
    memory: Option<Box<[u8]>>,
}

type Entries = HashMap<Id, Entry, BuildHasherDefault<Identity>>;

pub(super) struct Published {
    file: File,
    entries: Entries,
    order: Lru,
    entry_bytes: usize,
    counts: Counts,
    miss_rates: Vec<f64>,
}

/// Frees the memory of an entry that leaves.
struct Free<'a>(&'a mut Entries);

impl Pool for Free<'_> {
    fn evict(&mut self, victim: Id) {
        if let Some(entry) = self.0.get_mut(&victim) {
            entry.memory = None;
        }
    }

    fn forget(&mut self, _id: Id) {}
}

impl Published {
    pub(super) fn new(packed: &Packed, entries: u64) -> anyhow::Result<Self> {
        let mut order = Lru::new(entries);
        order.grow(packed.slots.len() as u32);
        let entry = |(id, &slot): (Id, &Id)| {
            (id, Entry { offset: u64::from(slot) * packed.entry_bytes as u64, memory: None })
        };
        Ok(Self {
            file: packed.open()?,
            entries: (0..).zip(&packed.slots).map(entry).collect(),
            order,
            entry_bytes: packed.entry_bytes,
            counts: Counts::default(),
            miss_rates: Vec::new(),
        })
    }

    fn report(&mut self) {
        let requests = self.counts.hits + self.counts.reads;
        if requests.is_multiple_of(REPORT_EVERY) {
            self.miss_rates.push(self.counts.reads as f64 / requests as f64);
        }
    }
}

impl Access for Published {
    fn read(&mut self, entry: Id) -> io::Result<&[u8]> {
        let outcome = self.order.request(&Request::page(entry), &mut Free(&mut self.entries));
        if outcome == Outcome::Hit {
            self.counts.hits += 1;
        } else {
            self.counts.reads += 1;
            self.counts.read_bytes += self.entry_bytes as u64;
        }
        self.report();
        let found = self.entries.get_mut(&entry).ok_or(io::ErrorKind::NotFound)?;
        if found.memory.is_none() {
            let mut fresh = vec![0; self.entry_bytes].into_boxed_slice();
            self.file.read_exact_at(&mut fresh, found.offset)?;
            found.memory = Some(fresh);
        }
        found.memory.as_deref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
