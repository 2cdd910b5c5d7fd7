//! Reads of guesses beside demands, in many orders: random loads are begun, dropped, cancelled and
//! answered while a test ends reads one by one, in any order, and one place of the archive cannot
//! be read. Each seed is a schedule of its own; the store's threads take what has ended.
//!
//! Each load must get its bytes, or its own error, however its read came about; a buffer keeps its
//! bytes until it is dropped, whatever is evicted; none waits for ever; and in the end nothing is
//! held but what the cache keeps.

use crate::support::{Gate, Sample, random};
use futures_lite::future::{block_on, poll_once};
use seekless_device::Costs;
use seekless_io::{Buffer, ErrorKind, LoadAsync, LoadMany, PredictionModel, Result, Store};
use seekless_pack::Codec;
use std::sync::Arc;

const FILES: usize = 40;
const FILE_BYTES: usize = 20_000;
const CACHE_BYTES: u64 = 8 * FILE_BYTES as u64;

/// The file of which a part cannot be read.
const BROKEN: usize = 13;

const STEPS: usize = 120;
const SEEDS: u64 = 24;

/// Requests are dear, so that guesses are worth reading.
const VOLUME: Costs = Costs { request_ns: 2_000_000, bytes_per_second: 150_000_000, depth: 4 };

/// A store under a schedule, and what its program has and waits for.
struct Program<'a> {
    sample: &'a Sample,
    offsets: &'a [u64],
    gate: Arc<Gate>,
    store: Store,
    seed: u64,
    /// How far the program has come in its usual run.
    place: usize,
    waiting: Vec<(usize, LoadAsync)>,
    many: Vec<(Vec<usize>, LoadMany)>,
    held: Vec<(usize, Buffer)>,
    /// Loads that began while a read that covers them was under way.
    met: usize,
}

impl<'a> Program<'a> {
    fn new(sample: &'a Sample, offsets: &'a [u64], seed: u64) -> Self {
        let broken = offsets[BROKEN] + FILE_BYTES as u64 / 2;
        let mut gate = Gate::broken_at(broken);
        gate.costs = VOLUME;
        let gate = Arc::new(gate);
        let usual: Vec<u32> = usual().map(|file| file as u32).collect();
        let store = Store::builder()
            .shared_engine(gate.clone())
            .prediction(PredictionModel::train(FILES as u32, &[usual.clone(), usual]))
            .cache(CACHE_BYTES)
            .open(&sample.path)
            .unwrap();
        gate.close();
        let (waiting, many, held) = Default::default();
        Self { sample, offsets, gate, store, seed, place: 0, waiting, many, held, met: 0 }
    }

    fn below(&mut self, bound: usize) -> usize {
        (random(&mut self.seed) % bound.max(1) as u64) as usize
    }

    /// Mostly the next file of the usual run, else any.
    fn next(&mut self) -> usize {
        if self.below(4) == 0 {
            return self.below(FILES);
        }
        self.place += 1;
        usual().nth(self.place % usual().count()).unwrap()
    }

    fn step(&mut self) {
        match self.below(12) {
            0..=3 => {
                let file = self.next();
                self.met += usize::from(self.gate.holds(self.offsets[file]));
                self.waiting.push((file, self.store.load_async(self.sample.name(file))));
            }
            4..=6 => {
                let at = random(&mut self.seed) as usize;
                self.gate.release_any(at);
            }
            7 => self.drop_one_load(),
            8 => {
                let files: Vec<usize> = (0..4).map(|_| self.next()).collect();
                let names = files.iter().map(|&file| self.sample.name(file));
                let loads = self.store.load_many(names);
                self.many.push((files, loads));
            }
            9 if !self.many.is_empty() => {
                let at = self.below(self.many.len());
                drop(self.many.swap_remove(at));
            }
            10 => self.look(),
            _ => {
                if !self.held.is_empty() {
                    let at = self.below(self.held.len());
                    let (file, buffer) = self.held.swap_remove(at);
                    assert_eq!(&buffer[..], self.sample.bytes(file), "file {file} was held");
                }
            }
        }
    }

    fn drop_one_load(&mut self) {
        if !self.waiting.is_empty() {
            let at = self.below(self.waiting.len());
            drop(self.waiting.swap_remove(at));
        }
    }

    /// Takes the results that are there.
    fn look(&mut self) {
        for (file, mut load) in std::mem::take(&mut self.waiting) {
            match block_on(poll_once(&mut load)) {
                Some(result) => self.take(file, result),
                None => self.waiting.push((file, load)),
            }
        }
    }

    fn take(&mut self, file: usize, result: Result<Buffer>) {
        match result {
            Ok(buffer) => {
                assert_ne!(file, BROKEN);
                assert_eq!(&buffer[..], self.sample.bytes(file), "file {file}");
                self.held.push((file, buffer));
            }
            Err(error) => assert_eq!((file, error.kind()), (BROKEN, ErrorKind::Read), "{error}"),
        }
    }

    /// All reads end; so must all loads.
    fn end(mut self) -> (usize, u64) {
        self.gate.open();
        for (file, load) in std::mem::take(&mut self.waiting) {
            self.take(file, block_on(load));
        }
        for (files, loads) in std::mem::take(&mut self.many) {
            let mut answers = 0;
            for (position, result) in loads {
                self.take(files[position], result);
                answers += 1;
            }
            assert_eq!(answers, files.len());
        }
        for (file, buffer) in self.held.drain(..) {
            assert_eq!(&buffer[..], self.sample.bytes(file), "file {file} was held");
        }
        let statistics = self.store.statistics();
        (self.met, statistics.predicted.used_bytes)
    }
}

/// The run that the store expects.
fn usual() -> impl Iterator<Item = usize> {
    (0..FILES).step_by(3).chain((1..FILES).step_by(3))
}

#[test]
fn loads_that_meet_reads_of_guesses_get_their_bytes_or_their_error() {
    let sample = Sample::of_sizes([FILE_BYTES; FILES], Codec::Stored);
    let offsets: Vec<u64> = {
        let store = Store::builder().open(&sample.path).unwrap();
        let offset = |entry: seekless_pack::Entry| entry.header_offset;
        store.index().entries().map(offset).collect()
    };
    let (mut met, mut used_bytes) = (0, 0);
    for seed in 1..=SEEDS {
        let mut program = Program::new(&sample, &offsets, seed * 0x9E37_79B9);
        for _ in 0..STEPS {
            program.step();
        }
        let store = program.store.clone();
        let (of_this, used) = program.end();
        (met, used_bytes) = (met + of_this, used_bytes + used);
        // A read of a guess may still be under way; each load from here on is by itself.
        for file in (0..FILES).filter(|&file| file != BROKEN) {
            assert_eq!(&store.load(sample.name(file)).unwrap()[..], sample.bytes(file));
        }
        let error = store.load(sample.name(BROKEN)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Read, "{error}");
    }
    assert!(met > 0 && used_bytes > 0, "{met} loads met a read, {used_bytes} bytes were guessed");
}
