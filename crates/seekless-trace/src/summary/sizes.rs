//! The sizes of files: quantiles, and how many files are small.

use serde::Serialize;

/// The sizes, in bytes, of the used files whose size is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sizes {
    /// How many there are.
    pub files: u64,
    /// Their sum.
    pub total: u64,
    /// A quarter is no larger than this.
    pub p25: u64,
    /// Half is no larger than this.
    pub median: u64,
    /// Three quarters are no larger than this.
    pub p75: u64,
    /// All but one in a hundred are no larger than this.
    pub p99: u64,
    /// The largest.
    pub max: u64,
    /// How many are under 4 KiB.
    pub under_4_kib: u64,
    /// How many are under 32 KiB.
    pub under_32_kib: u64,
}

impl Sizes {
    /// Sums up `sizes`, in any order. Quantiles are sizes that occur (nearest rank).
    pub(super) fn of(mut sizes: Vec<u64>) -> Self {
        sizes.sort_unstable();
        let quantile = |percent: usize| {
            let rank = (sizes.len() * percent).div_ceil(100);
            sizes.get(rank.saturating_sub(1)).copied().unwrap_or(0)
        };
        let under = |limit: u64| sizes.partition_point(|&size| size < limit) as u64;
        Sizes {
            files: sizes.len() as u64,
            total: sizes.iter().fold(0, |sum, &size| sum.saturating_add(size)),
            p25: quantile(25),
            median: quantile(50),
            p75: quantile(75),
            p99: quantile(99),
            max: quantile(100),
            under_4_kib: under(4 << 10),
            under_32_kib: under(32 << 10),
        }
    }
}
