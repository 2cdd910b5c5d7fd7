//! His cache with threads that prefetch. A miss reads its own entry, while threads read the entries
//! that follow it in the packed file. The cache is the one that simulator and live engine share.
//! Which entries arrive in time depends on the machine.

use super::access::{Access, Counts};
use super::files::Packed;
use anyhow::Context;
use seekless::policy::cache::{Cache, Command, Config, Filled, Step};
use seekless::policy::eviction::{Id, Lru, Request, Use};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// A slot and a buffer for its entry.
type Job = (Id, Vec<u8>);

/// The reader's side. The threads end when it is dropped.
pub(super) struct Prefetching<'a> {
    packed: &'a Packed,
    file: File,
    cache: Cache<Lru>,
    /// The bytes of the entries in the cache, by slot.
    frames: Vec<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    commands: Vec<Command>,
    ahead: u32,
    jobs: Option<Sender<Job>>,
    done: Receiver<(Job, io::Result<()>)>,
    threads: Vec<JoinHandle<()>>,
    counts: Counts,
}

impl<'a> Prefetching<'a> {
    /// A cache of `entries` entries. `threads` threads fetch the `ahead` entries after a miss, at
    /// most half as many as the cache holds.
    pub(super) fn new(
        packed: &'a Packed,
        entries: u64,
        ahead: u32,
        threads: u32,
    ) -> anyhow::Result<Self> {
        let mut cache = Cache::new(Lru::new(entries), Config::pages(entries))?;
        cache.grow(packed.slots.len() as u32);
        let (jobs, taken) = channel();
        let (finished, done) = channel();
        let taken = Arc::new(Mutex::new(taken));
        let spawn = |_| {
            let (file, taken, finished) = (packed.open()?, Arc::clone(&taken), finished.clone());
            let work = move || fetch_each(&file, &taken, &finished);
            thread::Builder::new()
                .name("prefetch".into())
                .spawn(work)
                .context("cannot start a thread")
        };
        Ok(Self {
            file: packed.open()?,
            frames: vec![Vec::new(); packed.slots.len()],
            spare: Vec::new(),
            commands: Vec::new(),
            ahead: ahead.min(u32::try_from(entries / 2).unwrap_or(u32::MAX)),
            jobs: Some(jobs),
            done,
            threads: (0..threads).map(spawn).collect::<anyhow::Result<_>>()?,
            counts: Counts::default(),
            packed,
            cache,
        })
    }

    /// Reads the entry at `slot`, and lets threads read the entries behind it.
    fn miss(&mut self, slot: Id) -> io::Result<()> {
        self.drop_evicted();
        let end = slot.saturating_add(1 + self.ahead).min(self.frames.len() as u32);
        for next in slot + 1..end {
            self.prefetch(next);
        }
        self.counts.reads += 1;
        let mut buffer = self.buffer();
        let read = read_slot(&self.file, slot, &mut buffer);
        self.arrived((slot, buffer), read)
    }

    fn prefetch(&mut self, slot: Id) {
        if self.cache.resident(slot) {
            return; // asking would make it young
        }
        let request = Request { kind: Use::Prefetch, ..Request::page(slot) };
        self.cache.step(&request, &mut self.commands);
        let fetches = self.commands.contains(&Command::Fetch(slot));
        self.drop_evicted();
        if fetches {
            self.counts.reads += 1;
            let job = (slot, self.buffer());
            // Fails only if every thread has died. Then the wait for the entry fails too.
            let _ = self.jobs.as_ref().map(|jobs| jobs.send(job));
        }
    }

    fn buffer(&mut self) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.resize(self.packed.entry_bytes, 0);
        self.counts.read_bytes += buffer.len() as u64;
        buffer
    }

    /// A read has ended. The bytes of an entry that was evicted meanwhile are dropped at once.
    fn arrived(&mut self, (slot, buffer): Job, read: io::Result<()>) -> io::Result<()> {
        self.frames[slot as usize] = buffer;
        let filled = if read.is_ok() { Filled::Yes } else { Filled::Failed };
        self.cache.complete(slot, filled, &mut self.commands);
        self.drop_evicted();
        read
    }

    fn drop_evicted(&mut self) {
        for command in self.commands.drain(..) {
            if let Command::Drop(slot) = command {
                self.spare.push(std::mem::take(&mut self.frames[slot as usize]));
            }
        }
    }

    fn wait(&mut self, slot: Id) -> io::Result<()> {
        while self.cache.in_flight(slot) {
            let (job, read) = self.done.recv().map_err(io::Error::other)?;
            self.arrived(job, read)?;
        }
        Ok(())
    }
}

/// Runs until there are no more jobs, or the reader is gone.
fn fetch_each(file: &File, jobs: &Mutex<Receiver<Job>>, done: &Sender<(Job, io::Result<()>)>) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((slot, mut buffer)) = job else { return };
        let read = read_slot(file, slot, &mut buffer);
        if done.send(((slot, buffer), read)).is_err() {
            return;
        }
    }
}

fn read_slot(file: &File, slot: Id, buffer: &mut [u8]) -> io::Result<()> {
    let offset = u64::from(slot) * buffer.len() as u64;
    file.read_exact_at(buffer, offset)
}

impl Access for Prefetching<'_> {
    fn read(&mut self, entry: Id) -> io::Result<&[u8]> {
        while let Ok((job, read)) = self.done.try_recv() {
            self.arrived(job, read)?;
        }
        let slot = self.packed.slots[entry as usize];
        match self.cache.step(&Request::page(slot), &mut self.commands) {
            Step::Ready => self.counts.hits += 1,
            Step::Wait if self.commands.contains(&Command::Fetch(slot)) => self.miss(slot)?,
            Step::Wait => {
                // The read of another request is under way; this one needs no read.
                self.counts.hits += 1;
                self.drop_evicted();
                self.wait(slot)?;
            }
            Step::Bypass => return Err(io::Error::other("a cache of entries keeps every entry")),
        }
        Ok(&self.frames[slot as usize])
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

impl Drop for Prefetching<'_> {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mccarthy2015::files::ID_BYTES;
    use seekless::policy::sample::Draws;

    #[test]
    fn every_entry_is_the_one_that_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let ids: Vec<u64> = (0..300).map(|entry| entry * 7 + 1).collect();
        let mut draws = Draws::new(3);
        for (entries, ahead, threads) in [(1, 3, 2), (2, 3, 1), (40, 15, 4), (400, 3, 2)] {
            let order: Vec<Id> = (0..300).rev().collect();
            let packed = Packed::make(folder.path().join("packed"), &ids, &order, 512).unwrap();
            let mut cache = Prefetching::new(&packed, entries, ahead, threads).unwrap();
            for turn in 0..3000_u32 {
                let entry = if turn % 3 == 0 { draws.below(300) as Id } else { 299 - turn % 300 };
                let found = cache.read(entry).unwrap();
                assert_eq!(
                    found[..ID_BYTES],
                    ids[entry as usize].to_le_bytes(),
                    "{entries} entries"
                );
            }
            let counts = cache.counts();
            assert!(counts.hits <= 3000 && counts.hits + counts.reads >= 3000);
            assert_eq!(counts.read_bytes, counts.reads * 512);
        }
    }
}
