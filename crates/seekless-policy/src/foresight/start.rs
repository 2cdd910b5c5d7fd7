//! What to bring into the page cache beside a program that starts, and whether that pays. The
//! ranges come from runs of the program; the costs are the device's. All of it is arithmetic.
//!
//! # Idea
//!
//! A program that starts waits for one read after another. What the kernel reads for it, it reads
//! around each touch of a mapped file and ahead of each read, up to the device's window: much of
//! that is never used. Bringing in the needed ranges alone saves these bytes; joining neighbours
//! saves requests; asking for several at once hides the time of each, where the device serves
//! several at once. Of many small files on a device that limits requests per second each costs its
//! requests either way, unless they lie side by side and are asked for together: then they are one
//! request. So each file is judged by itself, and again with those that it may be joined with.

mod plain;

pub use plain::{Plain, plain};

use crate::layout::extents::{Extent, coalesce};
use seekless_device::Costs;
use std::collections::HashMap;

const PAGE_BYTES: u64 = 4096;
/// No read is longer, unless a range is: a larger one hardly costs less a byte.
pub const READ_BYTES_MAX: u64 = 4 << 20;
/// A request to the device is at most so long: many devices take 128 pieces of memory, which may be
/// pages.
pub const REQUEST_BYTES_MAX: u64 = 512 << 10;
/// A file is worth it if bringing it in takes at most this share of what the program would wait.
const WORTH: f64 = 0.8;
/// Less than this is not worth a process beside the program, in seconds.
pub const WORTH_S: f64 = 0.02;
/// Processor time of a read by the process beside the program, in seconds.
const READ_S: f64 = 50e-6;

/// A range of a file that a run needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The file's number.
    pub file: u32,
    /// The bytes.
    pub extent: Extent,
    /// When it was first needed, in nanoseconds from the run's start.
    pub time_ns: u64,
    /// Whether it was touched through a mapping, rather than read by a call.
    pub mapped: bool,
}

/// What at least half of the runs needed, in the order in which the newest of them needed it. What
/// the newest run did not need comes last. Runs are given oldest first.
#[must_use]
pub fn by_most(runs: &[&[Need]]) -> Vec<Need> {
    let enough = runs.len().div_ceil(2);
    let mut blocks: HashMap<(u32, u64), Vec<u64>> = HashMap::new();
    for (run, needs) in runs.iter().enumerate() {
        for (block, pages) in needs.iter().flat_map(words) {
            blocks.entry(block).or_insert_with(|| vec![0; runs.len()])[run] |= pages;
        }
    }
    let mut left: HashMap<(u32, u64), u64> =
        blocks.iter().map(|(block, words)| (*block, in_enough(words, enough))).collect();
    let mut wanted = Vec::new();
    for need in runs.iter().rev().flat_map(|needs| needs.iter()) {
        for (block, pages) in words(need) {
            let Some(word) = left.get_mut(&block) else { continue };
            push_pages(&mut wanted, need, block.1, *word & pages);
            *word &= !pages;
        }
    }
    wanted
}

/// The blocks of 64 pages that a need touches, with its pages in each as bits.
fn words(need: &Need) -> impl Iterator<Item = ((u32, u64), u64)> + '_ {
    let first = need.extent.offset / PAGE_BYTES;
    let end = need.extent.end().div_ceil(PAGE_BYTES).max(first + 1);
    (first / 64..end.div_ceil(64)).map(move |block| {
        let from = first.max(block * 64) - block * 64;
        let to = end.min(block * 64 + 64) - block * 64;
        ((need.file, block), (u64::MAX >> (64 - (to - from))) << from)
    })
}

/// The pages that at least `enough` runs have.
fn in_enough(runs: &[u64], enough: usize) -> u64 {
    (0..64).fold(0, |word, bit| {
        let count = runs.iter().filter(|pages| *pages >> bit & 1 == 1).count();
        word | u64::from(count >= enough) << bit
    })
}

/// Appends the runs of pages in a word, joined with the last need where they continue it.
fn push_pages(wanted: &mut Vec<Need>, need: &Need, block: u64, mut pages: u64) {
    while pages != 0 {
        let from = pages.trailing_zeros();
        let count = (pages >> from).trailing_ones();
        pages &= !((u64::MAX >> (64 - count)) << from);
        let offset = (block * 64 + u64::from(from)) * PAGE_BYTES;
        let end = (offset + u64::from(count) * PAGE_BYTES).min(need.extent.end().max(offset + 1));
        let extent = Extent { offset, bytes: end - offset };
        match wanted.last_mut() {
            Some(last)
                if last.file == need.file
                    && last.time_ns == need.time_ns
                    && last.extent.end() == offset =>
            {
                last.extent.bytes += extent.bytes;
            }
            _ => wanted.push(Need { extent, ..*need }),
        }
    }
}

/// What the device and the kernel do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// What the device charges. The depth counts only as far as it is known: 1 is careful.
    pub costs: Costs,
    /// How far the kernel reads around a touch and ahead of a read, in bytes.
    pub readahead_bytes: u64,
}

/// Requests and bytes of the device, and how long one waits for them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wait {
    /// Requests.
    pub requests: u64,
    /// Bytes.
    pub bytes: u64,
    /// Seconds.
    pub seconds: f64,
}

impl Wait {
    /// The wait for requests when `at_once` are under way at a time.
    #[must_use]
    pub fn of(requests: u64, bytes: u64, at_once: u32, costs: &Costs) -> Self {
        let each = costs.request_ns as f64 / 1e9 / f64::from(at_once.max(1));
        let transfer = bytes as f64 / costs.bytes_per_second.max(1) as f64;
        Self { requests, bytes, seconds: requests as f64 * each + transfer }
    }

    /// The same with some requests fewer.
    #[must_use]
    pub fn without(self, requests: u64, at_once: u32, costs: &Costs) -> Self {
        let saved = Self::of(requests.min(self.requests), 0, at_once, costs);
        let seconds = (self.seconds - saved.seconds).max(0.0);
        Self { requests: self.requests - saved.requests, seconds, ..self }
    }

    /// Both waits, one after the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            bytes: self.bytes + other.bytes,
            seconds: self.seconds + other.seconds,
        }
    }
}

/// What is expected of one file, were nothing of it cached.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expected {
    /// The program alone.
    pub plain: Wait,
    /// The program with its needs brought in, all of them in time.
    pub warmed: Wait,
    /// The reads that bring them in, by offset.
    pub reads: Vec<Extent>,
}

impl Expected {
    /// Whether to bring the file in.
    #[must_use]
    pub fn pays(&self) -> bool {
        self.warmed.seconds <= WORTH * self.plain.seconds
    }

    /// Whether to bring it in with others, if its reads may be joined with theirs.
    #[must_use]
    pub fn pays_joined(&self) -> bool {
        self.warmed.seconds <= self.plain.seconds
    }
}

/// Expects what the missing needs of one file cost, given in the order of need. `open` says that
/// the file's own entry has to be read first.
#[must_use]
pub fn expect(needs: &[Need], file_bytes: u64, open: bool, device: &Device) -> Expected {
    let Plain { requests, bytes } = plain(needs, file_bytes, device.readahead_bytes);
    let entry = u64::from(open);
    let mut wanted: Vec<Extent> = needs.iter().map(|need| need.extent).collect();
    wanted.sort_by_key(|extent| extent.offset);
    // To join two reads saves only its share of the time in which several are served.
    let request_ns = (device.costs.request_ns / u64::from(device.costs.depth.max(1))).max(1);
    let each = Costs { request_ns, ..device.costs };
    let reads: Vec<Extent> =
        coalesce(&wanted, &each, READ_BYTES_MAX).into_iter().map(|read| read.extent).collect();
    let asked = reads.iter().map(|read| read.bytes).sum();
    let commands: u64 = reads.iter().map(|read| read.bytes.div_ceil(REQUEST_BYTES_MAX)).sum();
    Expected {
        plain: Wait::of(entry + requests, bytes, 1, &device.costs),
        warmed: Wait::of(entry + commands, asked, device.costs.depth, &device.costs),
        reads,
    }
}

/// How many requests fewer these reads are, each given by its place on the device, if those that
/// lie side by side are made as one of at most so many bytes.
#[must_use]
pub fn joined(reads: &mut [Extent], request_bytes_max: u64) -> u64 {
    reads.sort_unstable_by_key(|read| read.offset);
    let (mut joined, mut request) = (0, Extent { offset: 0, bytes: u64::MAX });
    for read in reads {
        // A device reads whole blocks.
        let bytes = read.bytes.next_multiple_of(PAGE_BYTES);
        let continues = request.offset.checked_add(request.bytes) == Some(read.offset);
        if continues && request.bytes + bytes <= request_bytes_max {
            joined += 1;
            request.bytes += bytes;
        } else {
            request = Extent { offset: read.offset, bytes };
        }
    }
    joined
}

/// Whether all together is worth a process beside the program, which also takes processor time.
#[must_use]
pub fn worth(plain: Wait, warmed: Wait) -> bool {
    let processor_s = warmed.requests as f64 * READ_S;
    let gain_s = plain.seconds - warmed.seconds - processor_s;
    gain_s >= WORTH_S && warmed.seconds <= WORTH * plain.seconds
}

/// How long to hold the program back so that each read has ended when the program needs it, in
/// nanoseconds. Each read is given by how long the device takes for it, and by when the program
/// needs it on its own time, which runs only while it does not wait. A read that comes too late is
/// worse than a program that starts later: the kernel then reads around the touch as well.
#[must_use]
pub fn head_start_ns(reads: impl Iterator<Item = (u64, u64)>) -> u64 {
    let (mut ended_ns, mut late_ns) = (0_u64, 0_u64);
    for (takes_ns, needed_ns) in reads {
        ended_ns = ended_ns.saturating_add(takes_ns);
        late_ns = late_ns.max(ended_ns.saturating_sub(needed_ns));
    }
    late_ns
}

/// Notices that a program does not do what was expected of it: counts which of its latest first
/// touches were expected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Course {
    expected: u32,
    seen: u32,
}

impl Course {
    /// Touches that are judged together.
    const TOUCHES: u32 = 64;

    /// A first touch. `None` while it is too early to say, else whether the program still goes the
    /// way that was expected: at least a quarter of its touches were.
    pub fn touched(&mut self, expected: bool) -> Option<bool> {
        self.seen += 1;
        self.expected += u32::from(expected);
        if self.seen < Self::TOUCHES {
            return None;
        }
        let goes_on = self.expected * 4 >= self.seen;
        *self = Self::default();
        Some(goes_on)
    }
}

#[cfg(test)]
mod tests;
