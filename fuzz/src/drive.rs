//! Runs the body of a fuzz target on stable Rust: on its seeds, then on deterministic mutations of
//! them.
//!
//! cargo-fuzz needs nightly Rust and an hour. This finds easy faults in a second, on every machine,
//! and the same ones each time. `SEEKLESS_FUZZ_SECONDS=60` runs for a minute instead of a fixed
//! count.

use std::hash::{DefaultHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How many mutations are tried if no time is given.
const MUTATIONS: u64 = 400;
/// The most bytes of an input.
const BYTES_MAX: usize = 1 << 16;
/// Numbers at which lengths and counts often go wrong.
const EDGES: [u64; 12] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    i64::MAX as u64,
    u64::MAX,
];

/// Calls `body` with each seed of `target` (a folder of `fuzz/seeds/`) and with mutations of them.
/// An input that makes it panic is kept in `fuzz/artifacts/`, as cargo-fuzz does.
///
/// # Panics
/// `body` panics, or there are no seeds.
pub fn drive(target: &str, body: impl Fn(&[u8])) {
    let seeds = seeds(target);
    let run = |input: &[u8]| {
        let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(input))) else { return };
        eprintln!(
            "{target}: {} bytes that make it panic are in {}",
            input.len(),
            keep(target, input).display()
        );
        resume_unwind(panic);
    };
    seeds.iter().for_each(|seed| run(seed));
    let mut mutator = Mutator { random: Random(0x5eed), seeds: &seeds };
    let (started, time) = (Instant::now(), time());
    let mut count = 0;
    while time.map_or(count < MUTATIONS, |time| started.elapsed() < time) {
        run(&mutator.next());
        count += 1;
    }
    println!("{target}: {} seeds, {count} mutations", seeds.len());
}

fn time() -> Option<Duration> {
    let seconds = std::env::var("SEEKLESS_FUZZ_SECONDS").ok()?;
    Some(Duration::from_secs_f64(
        seconds.parse().expect("SEEKLESS_FUZZ_SECONDS is a number of seconds"),
    ))
}

/// The folder `fuzz/`, relative to the crate whose test runs this.
fn home() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found =
        here.ancestors().map(|folder| folder.join("fuzz")).find(|fuzz| fuzz.join("seeds").is_dir());
    found.expect("fuzz/seeds is in the checkout")
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = home().join("seeds").join(target);
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} holds no seeds", folder.display());
    paths.iter().map(|path| std::fs::read(path).expect("a seed can be read")).collect()
}

fn keep(target: &str, input: &[u8]) -> PathBuf {
    let folder = home().join("artifacts").join(target);
    let sum = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = folder.join(format!("crash-{sum:016x}"));
    let kept = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, input));
    kept.unwrap_or_else(|error| eprintln!("{} could not be written: {error}", path.display()));
    path
}

/// Mutates seeds into inputs, the same ones each time.
struct Mutator<'a> {
    random: Random,
    seeds: &'a [Vec<u8>],
}

impl Mutator<'_> {
    fn next(&mut self) -> Vec<u8> {
        let mut input = self.seeds[self.random.below(self.seeds.len())].clone();
        for _ in 0..=self.random.below(4) {
            self.change(&mut input);
        }
        input.truncate(BYTES_MAX);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.random.below(input.len() + 1);
        let bits = self.random.below(9);
        let length = 1 + self.random.below(1 << bits);
        let end = (at + length).min(input.len());
        match self.random.below(9) {
            0 if at < input.len() => input[at] ^= 1 << self.random.below(8),
            1 if at < input.len() => input[at] = self.random.next() as u8,
            2 => self.write_edge(input, at),
            3 => drop(input.drain(at..end)),
            4 => {
                let again = input[at..end].to_vec();
                input.splice(at..at, again);
            }
            5 => input[at..end].fill(self.random.next() as u8),
            6 => input.truncate(at),
            7 => self.splice(input, at, length),
            _ => self.write_digits(input, at),
        }
    }

    /// Writes an edge number in 1 to 8 bytes, in either byte order.
    fn write_edge(&mut self, input: &mut [u8], at: usize) {
        let number = EDGES[self.random.below(EDGES.len())];
        let width = 1 << self.random.below(4);
        let bytes =
            if self.random.below(4) == 0 { number.swap_bytes() } else { number }.to_le_bytes();
        for (slot, byte) in input[at..].iter_mut().zip(&bytes[..width]) {
            *slot = *byte;
        }
    }

    /// Replaces a number in text by an edge number.
    fn write_digits(&mut self, input: &mut Vec<u8>, at: usize) {
        let digits = input[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = EDGES[self.random.below(EDGES.len())];
        let text =
            if self.random.below(3) == 0 { format!("-{number}") } else { number.to_string() };
        input.splice(at..at + digits, text.into_bytes());
    }

    /// Inserts a piece of another seed.
    fn splice(&mut self, input: &mut Vec<u8>, at: usize, length: usize) {
        let other = &self.seeds[self.random.below(self.seeds.len())];
        let from = self.random.below(other.len() + 1);
        let piece = other[from..(from + length).min(other.len())].to_vec();
        input.splice(at..at, piece);
    }
}

/// A generator that hashes consecutive numbers from a seed on.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        let mut hash = DefaultHasher::new();
        hash.write_u64(self.0);
        hash.finish()
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}
