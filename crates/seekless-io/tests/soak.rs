//! Soaks a store: several threads load, hold, let go and hint while the device fails, stops short
//! and delays. A few seconds here; `./test soak MINUTES` lets it run longer. A binary of its own,
//! since it counts the memory, threads and descriptors of the whole process.

#[path = "../../../tests/allocations.rs"]
mod allocations;

use allocations::{in_use_by_process, turn};
use seekless_device::Costs;
use seekless_engine::{Completion, Counters, Engine, Read};
use seekless_io::{Buffer, Error, ErrorKind, Hint, Store};
use seekless_pack::{About, Codec, PackWriter, prepare};
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long it runs, in seconds, and how long where nothing is said.
const SECONDS: &str = "SEEKLESS_SOAK_SECONDS";
const SECONDS_USUAL: u64 = 4;

/// After each round all threads stand still, and what the process holds is counted.
const ROUNDS_MIN: u32 = 8;
const ROUND_MAX: Duration = Duration::from_secs(10);

/// Rounds in which caches and logs fill.
const ROUNDS_TO_FILL: u32 = 3;

/// What may be added later: lists that grow to the longest use of them.
const SLACK_BYTES: usize = 4 << 20;

const THREADS: u64 = 4;
const FILES: u64 = 600;
const CACHE_BYTES: u64 = 2 << 20;

/// Buffers that a thread holds at most.
const HELD_MAX: usize = 24;

/// One in so many reads fails, one stops short, one is late.
const FAILS: u64 = 48;
const STOPS_SHORT: u64 = 48;
const IS_LATE: u64 = 12;
const LATE_US_MAX: u64 = 3_000;

/// xorshift: no two runs of a seed differ.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound.max(1)
    }
}

fn name(file: u64) -> String {
    format!("dir{}/{file:04}.bin", file % 7)
}

/// Mostly small files, some empty, a few over a read's size or half of the cache, some so large
/// that they are deflated in chunks.
fn content(file: u64) -> Vec<u8> {
    let mut draws = Draws(file * 2_654_435_761 + 1);
    let bytes = match file % 100 {
        0 => 0,
        25 => 4_500_000,
        50 => 1_500_000,
        75 => 200_000,
        _ => 200 + draws.below(12_000),
    };
    let noise = file.is_multiple_of(2);
    (0..bytes)
        .map(|at| match file % 100 {
            25 => draws.below(16) as u8,
            _ if noise => draws.below(256) as u8,
            _ => (at / 64 + file) as u8,
        })
        .collect()
}

fn write_pack(path: &Path) {
    let mut pack = PackWriter::new(BufWriter::new(File::create(path).unwrap()));
    for file in 0..FILES {
        pack.add(prepare(About::named(name(file)), content(file), Codec::Auto).unwrap()).unwrap();
    }
    pack.finish().unwrap().0.into_inner().unwrap();
}

/// An engine whose threads fail, stop short and come late, as the seed has it.
struct Troubled {
    queue: Mutex<Option<Sender<Read>>>,
    threads: Vec<JoinHandle<()>>,
    spoilt: Arc<AtomicU64>,
}

impl Troubled {
    fn new() -> Self {
        let (queue, reads) = channel();
        let (reads, spoilt) = (Arc::new(Mutex::new(reads)), Arc::new(AtomicU64::new(0)));
        let work = |seed: u64| {
            let (reads, spoilt) = (reads.clone(), spoilt.clone());
            thread::spawn(move || serve(&reads, &mut Draws(seed * 7919), &spoilt))
        };
        let threads = (1..=3).map(work).collect();
        Self { queue: Mutex::new(Some(queue)), threads, spoilt }
    }
}

fn serve(reads: &Mutex<Receiver<Read>>, draws: &mut Draws, spoilt: &AtomicU64) {
    loop {
        let read = reads.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Read { file, offset, mut buffer, tag, done }) = read else { return };
        if draws.below(IS_LATE) == 0 {
            thread::sleep(Duration::from_micros(draws.below(LATE_US_MAX)));
        }
        let result = match draws.below(FAILS) {
            0 => Err(io::Error::from_raw_os_error(5)),
            _ => file.read_at(buffer.whole_mut(), offset),
        };
        let short = draws.below(STOPS_SHORT) == 0;
        let result =
            result.map(|read| if short { draws.below(read as u64) as usize } else { read });
        spoilt.fetch_add(u64::from(short || result.is_err()), Ordering::Relaxed);
        buffer.set_len(*result.as_ref().unwrap_or(&0));
        let _ = done.send(Completion { tag, buffer, result });
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

/// A thread that uses the store.
struct User<'a> {
    store: &'a Store,
    contents: &'a [Vec<u8>],
    draws: Draws,
    held: Vec<(u64, Buffer)>,
    done: &'a Done,
}

/// What all users did.
#[derive(Default)]
struct Done {
    loads: AtomicU64,
    failed: AtomicU64,
}

impl User<'_> {
    fn act(&mut self) {
        match self.draws.below(20) {
            0 => self.hint(),
            1 => self.list(),
            2..=5 if !self.held.is_empty() => self.release(),
            _ => {
                let file = self.file();
                let loaded = self.store.load(&name(file));
                self.loaded(file, loaded);
            }
        }
    }

    /// A file, of which the first ones are the most popular.
    fn file(&mut self) -> u64 {
        let bound = 1 + self.draws.below(FILES);
        self.draws.below(bound)
    }

    fn loaded(&mut self, file: u64, loaded: Result<Buffer, Error>) {
        self.done.loads.fetch_add(1, Ordering::Relaxed);
        match loaded {
            Ok(buffer) => {
                self.check(file, &buffer);
                if self.held.len() == HELD_MAX {
                    self.release();
                }
                if self.draws.below(3) == 0 {
                    self.held.push((file, buffer));
                }
            }
            Err(error) => {
                self.done.failed.fetch_add(1, Ordering::Relaxed);
                let message = error.to_string();
                assert!(matches!(error.kind(), ErrorKind::Read | ErrorKind::Corrupt), "{message}");
                assert!(message.contains(&name(file)), "{message}");
            }
        }
    }

    fn check(&self, file: u64, buffer: &Buffer) {
        assert!(buffer[..] == self.contents[file as usize][..], "{} has other bytes", name(file));
    }

    /// Lets a buffer go, whose bytes must still be the file's.
    fn release(&mut self) {
        let at = self.draws.below(self.held.len() as u64) as usize;
        let (file, buffer) = self.held.swap_remove(at);
        self.check(file, &buffer);
    }

    fn hint(&mut self) {
        let hint = if self.draws.below(2) == 0 { Hint::LongLived } else { Hint::Usual };
        self.store.hint(&name(self.file()), hint).unwrap();
    }

    /// Loads a list, and sometimes gives up on the way.
    fn list(&mut self) {
        let (first, count) = (self.file(), 1 + self.draws.below(60));
        let files: Vec<u64> = (first..FILES.min(first + count)).collect();
        let taken = match self.draws.below(3) {
            0 => self.draws.below(files.len() as u64) as usize,
            _ => files.len(),
        };
        let names: Vec<String> = files.iter().map(|&file| name(file)).collect();
        for (at, loaded) in self.store.load_many(names).take(taken) {
            self.loaded(files[at], loaded);
        }
    }
}

/// What the process holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Holdings {
    bytes: usize,
    threads: usize,
    descriptors: usize,
}

fn holdings() -> Holdings {
    let count = |folder: &str| std::fs::read_dir(folder).map_or(0, Iterator::count);
    Holdings {
        bytes: in_use_by_process(),
        threads: count("/proc/self/task"),
        descriptors: count("/proc/self/fd"),
    }
}

/// Reads without a waiting caller have ended, and what they brought has gone where it belongs.
fn stand_still() -> Holdings {
    let mut before = holdings();
    loop {
        thread::sleep(Duration::from_millis(50));
        let now = holdings();
        if now == before {
            return now;
        }
        before = now;
    }
}

fn round(store: &Store, contents: &[Vec<u8>], number: u32, length: Duration, done: &Done) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for user in 0..THREADS {
            let draws = Draws((u64::from(number) * THREADS + user + 1) * 0x9E37_79B9);
            let mut user = User { store, contents, draws, held: Vec::new(), done };
            let over = &over;
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    user.act();
                }
                while !user.held.is_empty() {
                    user.release();
                }
            });
        }
        thread::sleep(length);
        over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_store_in_trouble_answers_rightly_and_keeps_nothing() {
    let _turn = turn();
    let seconds = match std::env::var(SECONDS) {
        Ok(said) => said.parse().unwrap_or_else(|_| panic!("{SECONDS} is no number: {said:?}")),
        Err(_) => SECONDS_USUAL,
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("soak.zip");
    write_pack(&path);
    let contents: Vec<Vec<u8>> = (0..FILES).map(content).collect();
    let length = (Duration::from_secs(seconds) / ROUNDS_MIN).min(ROUND_MAX);
    let done = Done::default();
    let begun = Instant::now();
    let at_first = holdings();

    let engine = Arc::new(Troubled::new());
    let spoilt = engine.spoilt.clone();
    let store = Store::builder()
        .cache(CACHE_BYTES)
        .read_ahead_cache(CACHE_BYTES)
        .window(CACHE_BYTES)
        .direct(false)
        .shared_engine(engine)
        .open(&path)
        .unwrap();
    let (mut number, mut filled) = (0, None::<Holdings>);
    while number < ROUNDS_MIN || begun.elapsed() < Duration::from_secs(seconds) {
        round(&store, &contents, number, length, &done);
        let now = stand_still();
        match filled {
            Some(filled) if number >= ROUNDS_TO_FILL => {
                let Holdings { bytes, threads, descriptors } = now;
                assert!(bytes <= filled.bytes + SLACK_BYTES, "round {number}: {now:?}, {filled:?}");
                assert_eq!((threads, descriptors), (filled.threads, filled.descriptors));
            }
            _ => {
                let most = filled.map_or(0, |filled| filled.bytes);
                filled = Some(Holdings { bytes: now.bytes.max(most), ..now });
            }
        }
        number += 1;
    }
    let (loads, failed) = (done.loads.into_inner(), done.failed.into_inner());
    let statistics = store.statistics();
    eprintln!(
        "{loads} loads, {failed} failed, {} reads spoilt, {number} rounds: {statistics:?}",
        spoilt.load(Ordering::Relaxed)
    );
    assert!(failed > 0 && failed * 4 < loads, "{failed} of {loads} failed");
    assert!(statistics.hits > 0 && statistics.revived > 0, "{statistics:?}");
    drop(store);
    let at_last = stand_still();
    assert_eq!(
        (at_last.threads, at_last.descriptors),
        (at_first.threads, at_first.descriptors),
        "threads and descriptors are left"
    );
    // The harness and the C library keep what a thread's first use of them allocates.
    assert!(at_last.bytes <= at_first.bytes + (64 << 10), "{at_first:?}, then {at_last:?}");
}
