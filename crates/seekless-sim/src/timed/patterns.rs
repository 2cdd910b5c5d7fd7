//! Made-up workloads: one reader on one open file. The same seed gives the same reads.

use super::workload::Workload;
use crate::unit::PAGE_BYTES;
use seekless_device::SplitMix64;

/// `streams` sequential streams of `stream_bytes` each, which lie one after another in the file.
/// They are read page by page, interleaved at random: each next page is of any stream that has not
/// ended (Wu 2010, section 4.3). Stops after `bytes` in all.
#[must_use]
pub fn interleaved(streams: u64, stream_bytes: u64, bytes: u64, seed: u64) -> Workload {
    let pages = stream_bytes / PAGE_BYTES;
    let mut random = SplitMix64::new(seed);
    // The first page of each stream, and how many of it are read.
    let mut live: Vec<(u64, u64)> = (0..streams).map(|stream| (stream * pages, 0)).collect();
    live.retain(|_| pages > 0);
    let next = || {
        let at = random.below(live.len() as u64) as usize;
        let (first, read) = live.get_mut(at)?;
        let page = *first + *read;
        *read += 1;
        if *read == pages {
            live.swap_remove(at);
        }
        Some((page * PAGE_BYTES, PAGE_BYTES))
    };
    let total = (streams * pages).min(bytes / PAGE_BYTES);
    Workload::of_one_file(
        streams * pages * PAGE_BYTES,
        std::iter::from_fn(next).take(total as usize),
    )
}

/// The first half of a file read in sequence, page by page, and among these reads `random_bytes` of
/// single pages anywhere in the second half (Wu 2010, section 4.2).
#[must_use]
pub fn disturbed(sequential_bytes: u64, random_bytes: u64, seed: u64) -> Workload {
    let (pages, mut disturbances) = (sequential_bytes / PAGE_BYTES, random_bytes / PAGE_BYTES);
    let mut random = SplitMix64::new(seed);
    let mut page = 0;
    let next = || {
        let left = pages - page + disturbances;
        if left == 0 {
            return None;
        }
        if random.below(left) < disturbances {
            disturbances -= 1;
            return Some(((pages + random.below(pages)) * PAGE_BYTES, PAGE_BYTES));
        }
        page += 1;
        Some(((page - 1) * PAGE_BYTES, PAGE_BYTES))
    };
    Workload::of_one_file(2 * pages * PAGE_BYTES, std::iter::from_fn(next))
}

/// Pages of a file from its end to its start, `piece_bytes` a read.
#[must_use]
pub fn backward(bytes: u64, piece_bytes: u64) -> Workload {
    let piece = piece_bytes.clamp(1, bytes.max(1));
    let reads = (0..bytes / piece).rev().map(|at| (at * piece, piece));
    Workload::of_one_file(bytes, reads)
}

/// `piece_bytes` of every `stride_bytes` of a file.
#[must_use]
pub fn strided(bytes: u64, stride_bytes: u64, piece_bytes: u64) -> Workload {
    let stride = stride_bytes.max(1);
    let reads = (0..bytes / stride).map(|at| (at * stride, piece_bytes.min(stride)));
    Workload::of_one_file(bytes, reads)
}

/// `reads` single pages anywhere in a file.
#[must_use]
pub fn random(bytes: u64, reads: u64, seed: u64) -> Workload {
    let mut random = SplitMix64::new(seed);
    let pages = (bytes / PAGE_BYTES).max(1);
    let reads = (0..reads).map(|_| (random.below(pages) * PAGE_BYTES, PAGE_BYTES));
    Workload::of_one_file(pages * PAGE_BYTES, reads.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(workload: &Workload) -> Vec<u64> {
        let accesses = &workload.phases[0].readers[0].accesses;
        accesses.iter().map(|access| access.offset / PAGE_BYTES).collect()
    }

    #[test]
    fn interleaved_streams_are_each_in_sequence_and_whole() {
        let workload = interleaved(3, 10 * PAGE_BYTES, u64::MAX, 7);
        let pages = pages(&workload);
        assert_eq!((pages.len(), workload.files[0].bytes), (30, 30 * PAGE_BYTES));
        for stream in 0..3 {
            let own: Vec<u64> = pages.iter().copied().filter(|page| page / 10 == stream).collect();
            assert_eq!(own, (10 * stream..10 * stream + 10).collect::<Vec<_>>());
        }
        assert!(pages.windows(2).any(|pair| pair[1] != pair[0] + 1), "{pages:?}");
        assert_eq!(interleaved(3, 40_960, 8 * PAGE_BYTES, 7).accesses(), 8);
    }

    #[test]
    fn disturbances_lie_in_the_second_half_and_all_reads_come() {
        let pages = pages(&disturbed(100 * PAGE_BYTES, 10 * PAGE_BYTES, 3));
        let (first, second): (Vec<u64>, Vec<u64>) = pages.iter().partition(|&&page| page < 100);
        assert_eq!(first, (0..100).collect::<Vec<_>>());
        assert_eq!(second.len(), 10);
        assert!(second.iter().all(|&page| page < 200));
        assert!(pages[..105].iter().any(|&page| page >= 100), "they are spread");
    }

    #[test]
    fn patterns_are_what_they_are_called() {
        assert_eq!(pages(&backward(4 * PAGE_BYTES, PAGE_BYTES)), [3, 2, 1, 0]);
        assert_eq!(pages(&strided(40 * PAGE_BYTES, 16 * PAGE_BYTES, PAGE_BYTES)), [0, 16]);
        assert_eq!(random(8 * PAGE_BYTES, 5, 1), random(8 * PAGE_BYTES, 5, 1));
        assert!(pages(&random(8 * PAGE_BYTES, 100, 1)).iter().all(|&page| page < 8));
    }
}
