//! How long many things took: a table of fixed size, from which quantiles are read.

use crate::Nanos;
use std::fmt;

/// Each power of two has 2^4 buckets: a quantile is at most a sixteenth above the truth.
const PART_BITS: u32 = 4;
const PARTS: u64 = 1 << PART_BITS;

/// For all of `u64`.
const BUCKETS: usize = ((u64::BITS - PART_BITS + 1) << PART_BITS) as usize;

/// Times that were noted, 8 KB in all. A time is known to a sixteenth.
#[derive(Clone)]
pub struct Latencies {
    counts: Box<[u64; BUCKETS]>,
    /// How many were noted.
    pub count: u64,
    /// Their sum.
    pub sum: Nanos,
    /// The longest.
    pub max: Nanos,
}

impl fmt::Debug for Latencies {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.steps()).finish()
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Self { counts: Box::new([0; BUCKETS]), count: 0, sum: 0, max: 0 }
    }
}

impl Latencies {
    /// Notes a time.
    pub fn note(&mut self, time: Nanos) {
        self.counts[bucket(time)] += 1;
        self.count += 1;
        self.sum = self.sum.saturating_add(time);
        self.max = self.max.max(time);
    }

    /// A time that at least `percent` of all do not exceed; 0 if there are none.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> Nanos {
        let wanted = (u128::from(self.count) * u128::from(percent)).div_ceil(100) as u64;
        let mut seen = 0;
        let reached = |&count: &u64| {
            seen += count;
            seen >= wanted
        };
        self.counts.iter().position(reached).map_or(0, |bucket| last(bucket).min(self.max))
    }

    /// Rising times, and how many lie between each and the one before it. Times with no such count
    /// are left out.
    pub fn steps(&self) -> impl Iterator<Item = (Nanos, u64)> {
        let counts = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counts.map(|(bucket, &count)| (last(bucket).min(self.max), count))
    }
}

/// Where a time is counted.
fn bucket(time: Nanos) -> usize {
    let shift = (u64::BITS - (time | PARTS).leading_zeros()) - 1 - PART_BITS;
    let part = (time >> shift) & (PARTS - 1);
    let doubling = if time < PARTS { 0 } else { u64::from(shift) + 1 };
    ((doubling << PART_BITS) + part) as usize
}

/// The longest time of a bucket.
fn last(bucket: usize) -> Nanos {
    let (doubling, part) = (bucket as u64 >> PART_BITS, bucket as u64 & (PARTS - 1));
    match doubling {
        0 => part,
        _ => ((PARTS + part) << (doubling - 1)) + ((1 << (doubling - 1)) - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_in_one_bucket_a_sixteenth_wide() {
        let mut before = None;
        for bucket_number in 0..BUCKETS {
            let end = last(bucket_number);
            assert_eq!(bucket(end), bucket_number);
            if let Some(before) = before {
                assert_eq!(bucket(before + 1), bucket_number, "no gap behind {before}");
                assert!(end - before <= 1 + before / PARTS, "{end} is far from {before}");
            }
            before = Some(end);
        }
        assert_eq!(before, Some(u64::MAX));
    }

    #[test]
    fn percentiles_are_at_most_a_sixteenth_too_long() {
        let mut times = Latencies::default();
        assert_eq!(times.percentile(50), 0);
        (1..=1000).for_each(|time| times.note(time * 1000));
        for (percent, truth) in [(50, 500_000), (99, 990_000), (1, 10_000)] {
            let found = times.percentile(percent);
            assert!((truth..=truth + truth / 16).contains(&found), "{percent}: {found}");
        }
        assert_eq!((times.percentile(100), times.max, times.count), (1_000_000, 1_000_000, 1000));
        assert_eq!(times.sum, 500_500_000);
        assert_eq!(times.steps().map(|(_, count)| count).sum::<u64>(), 1000);
        assert!(times.steps().is_sorted() && times.steps().last().unwrap().0 == 1_000_000);
    }
}
