//! Tests of the reader: over residency that is made up, over files that change under it, and over
//! devices that fail.

use super::kernel::{Closed, Kernel};
use super::learned::ReadCost;
use super::schedule::Charge;
use super::*;
use crate::headroom::Headroom;
use crate::{Plan, Reach, Records};
use proptest::prelude::*;
use seekless_sled::{Level, Position, Sled};
use seekless_sys::guarded::GuardedMap;
use seekless_sys::reads::Caching;
use seekless_sys::residency::{PageRun, Pages};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Seek, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ThreadId;
use std::time::Duration;
use tempfile::{NamedTempFile, TempDir};

mod changes;
mod device_reads;
mod levels;
mod order;
mod parts;
mod sparse;
mod unseen;

const PAGE: u64 = 4096;
const SHARED_MEMORY: &str = "/dev/shm";
const CACHED_ONLY: Reach =
    Reach { cached_only: true, max_latency: None, max_wait: None, recall: false };

/// A system whose page cache holds what the test says: page `n` of every file is cached if
/// `cached[n % len]`.
#[derive(Debug)]
struct Made {
    cached: Vec<bool>,
    /// Whether another program has read all of every file meanwhile.
    warm: std::sync::atomic::AtomicBool,
    /// Whether it is known what is cached.
    known: bool,
    /// Whether asking for a count is cheap.
    seen: bool,
    /// Reads that touch this offset fail.
    broken: Option<u64>,
    room: Option<Headroom>,
    /// Offsets read, in order.
    reads: Mutex<Vec<u64>>,
    /// The threads that read.
    readers: Mutex<HashSet<ThreadId>>,
    /// Where the bytes of files lie that rules are about.
    levels: Mutex<HashMap<PathBuf, Vec<Sled>>>,
    /// Where the archive keeps files.
    positions: Mutex<HashMap<PathBuf, Position>>,
    /// The files that were recalled, in order.
    recalled: Mutex<Vec<PathBuf>>,
    /// How often cached pages were counted.
    counts: AtomicUsize,
    /// What was reported to the device table.
    learned: Mutex<Vec<ReadCost>>,
}

impl Made {
    fn new(cached: &[bool]) -> Self {
        let (warm, reads, readers, counts, learned, levels, recalled, positions) =
            Default::default();
        Made {
            cached: cached.to_vec(),
            warm,
            known: true,
            seen: true,
            broken: None,
            room: None,
            reads,
            readers,
            levels,
            positions,
            recalled,
            counts,
            learned,
        }
    }

    fn is_cached(&self, page: u64) -> bool {
        let warm = self.warm.load(Ordering::Relaxed);
        warm || self.cached[(page % self.cached.len() as u64) as usize]
    }
}

impl Kernel for Made {
    fn runs(
        &self,
        _: &File,
        range: Range<u64>,
        _: u64,
        _: bool,
    ) -> io::Result<Option<Vec<PageRun>>> {
        let mut runs: Vec<PageRun> = Vec::new();
        let mut start = range.start;
        while start < range.end {
            let end = ((start / PAGE + 1) * PAGE).min(range.end);
            runs.push(PageRun {
                range: start..end,
                resident: self.is_cached(start / PAGE),
                exact: true,
            });
            start = end;
        }
        Ok(self.known.then_some(runs))
    }

    fn count(&self, _: &File, range: Range<u64>) -> Option<Pages> {
        self.counts.fetch_add(1, Ordering::Relaxed);
        let pages = range.start / PAGE..range.end.div_ceil(PAGE);
        let cached = pages.filter(|&page| self.is_cached(page)).count() as u64;
        self.known.then(|| Pages { cached, ..Pages::default() })
    }

    fn is_seen(&self, _: &File) -> bool {
        self.seen
    }

    fn read_at(
        &self,
        file: &File,
        buffer: &mut [u8],
        offset: u64,
        caching: Caching,
    ) -> io::Result<usize> {
        if self.broken.is_some_and(|at| (offset..offset + buffer.len() as u64).contains(&at)) {
            return Err(io::Error::from_raw_os_error(5)); // EIO
        }
        self.reads.lock().unwrap().push(offset);
        self.readers.lock().unwrap().insert(std::thread::current().id());
        Linux::default().read_at(file, buffer, offset, caching)
    }

    fn bring_in(&self, _: &File, _: Range<u64>) -> Option<GuardedMap> {
        None
    }

    fn map(&self, _: &File, _: u64, _: usize) -> Option<GuardedMap> {
        None
    }

    fn learn(&self, _: &Path, cost: ReadCost) {
        self.learned.lock().unwrap().push(cost);
    }

    /// Shared memory plays the cheap device.
    fn charge(&self, path: &Path) -> Charge {
        let ns = if path.starts_with(SHARED_MEMORY) { 1_000 } else { 1_000_000 };
        let latency = Duration::from_nanos(ns);
        Charge { latency, price: Price::of_device(latency, 1 << 40) }
    }

    fn closed(&self, path: &Path) -> Result<Option<Closed>, seekless_sled::Error> {
        let archived = |sleds: &Vec<Sled>| sleds.iter().all(|sled| sled.level == Level::Archive);
        let sleds = self.levels.lock().unwrap().get(path).cloned().filter(archived);
        let position = self.positions.lock().unwrap().get(path).cloned();
        Ok(sleds.map(|sleds| Closed { sleds, position }))
    }

    fn ruled(&self, path: &Path, _: &File) -> Result<Option<Vec<Sled>>, seekless_sled::Error> {
        Ok(self.levels.lock().unwrap().get(path).cloned())
    }

    fn recall(&self, path: &Path) -> io::Result<File> {
        self.recalled.lock().unwrap().push(path.to_owned());
        File::open(path)
    }

    fn headroom(&self) -> Option<Headroom> {
        self.room
    }
}

/// What a reader reported of each file.
#[derive(Debug, Default)]
struct Received {
    chunks: BTreeMap<usize, Vec<(u64, Vec<u8>)>>,
    ends: BTreeMap<usize, (u64, u64)>,
    failed: BTreeMap<usize, String>,
    restarts: Vec<usize>,
}

impl Received {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Chunk(chunk) => {
                assert!(!chunk.bytes.is_empty());
                self.chunks
                    .entry(chunk.file)
                    .or_default()
                    .push((chunk.offset, chunk.bytes.to_vec()));
            }
            Event::Hole { file, offset, bytes, .. } => {
                self.chunks.entry(file).or_default().push((offset, vec![0; bytes as usize]));
            }
            Event::End { file, bytes, skipped, .. } => {
                assert!(self.ends.insert(file, (bytes, skipped)).is_none())
            }
            Event::Restart { file } => {
                self.chunks.remove(&file);
                self.restarts.push(file);
            }
            Event::Failed { file, error } => {
                self.chunks.remove(&file);
                assert!(self.failed.insert(file, error.to_string()).is_none());
            }
        }
    }

    /// The bytes of a file in the order of their offsets, which must leave no gap.
    fn content(&self, file: usize) -> Vec<u8> {
        let mut chunks = self.chunks.get(&file).cloned().unwrap_or_default();
        chunks.sort();
        let mut content = Vec::new();
        for (offset, bytes) in chunks {
            assert_eq!(offset, content.len() as u64, "every byte exactly once");
            content.extend(bytes);
        }
        content
    }
}

fn all(reader: &mut Reader) -> Received {
    let mut received = Received::default();
    while let Some(event) = reader.next() {
        received.take(event);
    }
    received
}

/// A file with lines of many lengths.
fn written(bytes: usize) -> NamedTempFile {
    let mut file = NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    file.write_all(&text(bytes)).unwrap();
    file
}

fn text(bytes: usize) -> Vec<u8> {
    (0..bytes)
        .map(|at| if (at * at / 7) % 61 == 3 { b'\n' } else { b'a' + (at % 23) as u8 })
        .collect()
}

fn options(records: Records, chunk_bytes: usize) -> Options {
    Options { records, chunk_bytes, ..Options::default() }
}

fn over(options: Options, made: Made) -> (Reader, Arc<Made>) {
    let made = Arc::new(made);
    (Reader::over(options, Arc::clone(&made) as Arc<dyn Kernel>), made)
}

#[test]
fn a_file_that_never_ended_is_an_error_and_no_silence() {
    let mut reader = Reader::new(Options::default());
    let file = reader.add_path(Path::new("forgotten"));
    match reader.unfinished() {
        Some(Event::Failed { file: failed, error }) => {
            assert_eq!((failed, error.kind()), (file, ErrorKind::Incomplete));
            assert!(error.to_string().starts_with("forgotten: "));
        }
        other => panic!("{other:?}"),
    }
    assert!(reader.unfinished().is_none());
}
