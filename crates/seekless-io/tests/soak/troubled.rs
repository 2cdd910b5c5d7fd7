//! An engine whose threads fail, stop short, come late and flip bits, as the seed has it.

use crate::draws::Draws;
use seekless_device::Costs;
use seekless_engine::{Completion, Counters, Engine, Read};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// One in this many reads fails, one stops short, one has another bit, one is late.
const FAILS: u64 = 48;
const STOPS_SHORT: u64 = 48;
const HAS_ANOTHER_BIT: u64 = 96;
const IS_LATE: u64 = 12;
const LATE_US_MAX: u64 = 3_000;

const THREADS: u64 = 3;

pub(crate) struct Troubled {
    queue: Mutex<Option<Sender<Read>>>,
    threads: Vec<JoinHandle<()>>,
    pub(crate) trouble: Arc<Trouble>,
}

/// What goes wrong.
#[derive(Default)]
pub(crate) struct Trouble {
    /// The inodes of packs, which have checksums: no bit of another file is flipped.
    packs: Vec<u64>,
    /// Nothing goes wrong before this is set.
    pub(crate) begun: AtomicBool,
    pub(crate) failed: AtomicU64,
    pub(crate) short: AtomicU64,
    pub(crate) flipped: AtomicU64,
}

impl Troubled {
    pub(crate) fn new(packs: &[&Path]) -> Self {
        let inode = |path: &&Path| std::fs::metadata(path).unwrap().ino();
        let trouble = Trouble { packs: packs.iter().map(inode).collect(), ..Trouble::default() };
        let (queue, reads) = channel();
        let (reads, trouble) = (Arc::new(Mutex::new(reads)), Arc::new(trouble));
        let work = |seed: u64| {
            let (reads, trouble) = (reads.clone(), trouble.clone());
            thread::spawn(move || trouble.serve(&reads, &mut Draws::new(seed * 7919)))
        };
        let threads = (1..=THREADS).map(work).collect();
        Self { queue: Mutex::new(Some(queue)), threads, trouble }
    }
}

impl Trouble {
    fn serve(&self, reads: &Mutex<Receiver<Read>>, draws: &mut Draws) {
        loop {
            let read = reads.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(Read { file, offset, mut buffer, tag, done }) = read else { return };
            let mut result = file.read_at(buffer.whole_mut(), offset);
            if self.begun.load(Ordering::Relaxed) {
                result = result
                    .and_then(|bytes| self.spoil(&file, &mut buffer.whole_mut()[..bytes], draws));
            }
            buffer.set_len(*result.as_ref().unwrap_or(&0));
            done.send(Completion { tag, buffer, result, cached: false });
        }
    }

    /// How many of the bytes that were read arrive.
    fn spoil(&self, file: &File, bytes: &mut [u8], draws: &mut Draws) -> io::Result<usize> {
        if draws.below(IS_LATE) == 0 {
            thread::sleep(Duration::from_micros(draws.below(LATE_US_MAX)));
        }
        if draws.below(FAILS) == 0 {
            self.failed.fetch_add(1, Ordering::Relaxed);
            return Err(io::Error::from_raw_os_error(5));
        }
        if draws.below(HAS_ANOTHER_BIT) == 0
            && !bytes.is_empty()
            && self.packs.contains(&file.metadata()?.ino())
        {
            let at = draws.below(bytes.len() as u64) as usize;
            bytes[at] ^= 1 << draws.below(8);
            self.flipped.fetch_add(1, Ordering::Relaxed);
        }
        if draws.below(STOPS_SHORT) == 0 {
            self.short.fetch_add(1, Ordering::Relaxed);
            return Ok(draws.below(bytes.len() as u64) as usize);
        }
        Ok(bytes.len())
    }
}

impl Engine for Troubled {
    fn submit(&self, reads: Vec<Read>) {
        let queue = self.queue.lock().unwrap();
        reads.into_iter().for_each(|read| queue.as_ref().unwrap().send(read).unwrap());
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn name(&self) -> &'static str {
        "troubled"
    }

    fn costs(&self) -> Costs {
        Costs { request_ns: 100_000, bytes_per_second: 1_000_000_000, depth: 8 }
    }
}

impl Drop for Troubled {
    fn drop(&mut self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}
