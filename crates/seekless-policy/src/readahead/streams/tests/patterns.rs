//! The ways of reading that the algorithms are compared on: each is a list of reads, as first page
//! and number of pages. A pattern reads 64 MiB at least, of a file of 1 GiB.

use crate::readahead::PageNo;
use seekless_device::SplitMix64;

/// A file of 1 GiB.
pub(super) const PAGES: u64 = 1 << 18;
const MIB: u64 = 256;

pub(super) type Reads = Vec<(PageNo, u64)>;

/// Reads of `size` pages, each `step` pages after the last.
pub(super) fn steps(first: PageNo, step: i64, size: u64, count: u64) -> Reads {
    (0..count as i64).map(|turn| ((first as i64 + turn * step) as u64, size)).collect()
}

/// Several lists at once: each next read is of any list that is not at its end.
pub(super) fn interleave(mut lists: Vec<Reads>, seed: u64) -> Reads {
    let mut random = SplitMix64::new(seed);
    lists.iter_mut().for_each(|list| list.reverse());
    let mut reads = Vec::new();
    while !lists.is_empty() {
        let at = random.below(lists.len() as u64) as usize;
        match lists[at].pop() {
            Some(read) => reads.push(read),
            None => drop(lists.swap_remove(at)),
        }
    }
    reads
}

/// `count` streams, each in its own part of the file.
pub(super) fn streams(count: u64, step: i64, size: u64, reads_each: u64) -> Reads {
    let part = PAGES / count;
    let first = |stream: u64| if step > 0 { stream * part + 5 } else { (stream + 1) * part - size };
    interleave((0..count).map(|s| steps(first(s), step, size, reads_each)).collect(), count)
}

/// A forward scan that leaves out single pages: `skipped` of a hundred.
pub(super) fn sparse(skipped: u64, pages: u64) -> Reads {
    let mut random = SplitMix64::new(skipped);
    (0..pages).filter(|_| random.below(100) >= skipped).map(|page| (page, 1)).collect()
}

/// A columnar file: row groups of 64 MiB of 64 chunks; 8 of them are read in pages.
pub(super) fn columnar(groups: u64) -> Reads {
    let mut random = SplitMix64::new(8);
    let mut chunks: Vec<u64> = (0..64).collect();
    (0..8).for_each(|at| chunks.swap(at, at + random.below(64 - at as u64) as usize));
    let mut chosen = chunks[..8].to_vec();
    chosen.sort_unstable();
    let chunk = |group: u64, chunk: u64| steps(group * 64 * MIB + chunk * MIB, 1, 1, MIB);
    let chosen = &chosen;
    (0..groups).flat_map(|group| chosen.iter().flat_map(move |&at| chunk(group, at))).collect()
}

/// Single pages anywhere in a file of `pages` pages.
pub(super) fn random(pages: u64, count: u64) -> Reads {
    let mut random = SplitMix64::new(7);
    (0..count).map(|_| (random.below(pages), 1)).collect()
}

/// A forward scan of the first half of the file, with `percent` single pages of the second half to
/// each hundred pages.
pub(super) fn disturbed(percent: u64, pages: u64) -> Reads {
    let mut random = SplitMix64::new(percent);
    let mut reads = Vec::new();
    for page in 0..pages {
        reads.push((page, 1));
        if random.below(100) < percent {
            reads.push((PAGES / 2 + random.below(PAGES / 2), 1));
        }
    }
    reads
}

/// The same reads as several threads make them: each group of `threads` in any order.
pub(super) fn shuffled(mut reads: Reads, threads: usize) -> Reads {
    let mut random = SplitMix64::new(threads as u64);
    for group in reads.chunks_mut(threads) {
        for at in 1..group.len() {
            group.swap(at, random.below(at as u64 + 1) as usize);
        }
    }
    reads
}

/// `count` streams in turn, `burst` pages of each.
pub(super) fn bursts(count: u64, burst: u64, turns: u64) -> Reads {
    let part = PAGES / count;
    let one = |turn: u64, stream: u64| steps(stream * part + 5 + turn * burst, 1, 1, burst);
    (0..turns).flat_map(|turn| (0..count).flat_map(move |stream| one(turn, stream))).collect()
}

/// `count` strides of 64 KiB, each a page after the other: interleaved within less than a stride.
pub(super) fn combed(count: u64, reads_each: u64) -> Reads {
    interleave((0..count).map(|stream| steps(stream + 5, 16, 1, reads_each)).collect(), count)
}
