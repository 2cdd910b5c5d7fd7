//! CAMP: GreedyDual-Size with a few classes of worth, so that there are few queues.

use super::lfu_da::{Aged, Worth};

/// Ratios are fixed-point numbers with this many binary places.
const RATIO_BITS: u32 = 56;
/// The paper's precision: this many of the highest bits of a ratio are kept.
const KEPT: u32 = 5;

/// Cost-adaptive multi-queue eviction (Ghandeharizadeh and others, "CAMP: a cost adaptive
/// multi-queue eviction policy for key-value stores", Middleware 2014).
///
/// - **Idea:** that of [`Gds`](super::Gds), but of the ratio of cost to weight only the highest 5
///   bits count. So there are few ratios, and files of nearly equal worth leave in the order of
///   their last use.
/// - **Ties:** the least recently used leaves first.
/// - **Cost per request:** a hit O(1) and one cache line; a miss O(1) apart from the moves of a
///   radix heap, a few for each file. The paper's queues, one a ratio with a heap of their heads,
///   give the same order. They cost a hit more, since it moves in a list.
/// - **Memory:** 32 bytes an id, 40 once a weight other than 1 was seen, and 4 to 20 a resident
///   file. No ghosts.
/// - **Shines** where sizes and costs differ. **Fails** where popularity matters, which GDSF
///   counts.
///
/// The paper multiplies ratios by the largest size so far to get whole numbers. Here they are
/// fixed-point numbers, which need no such scale. [`Use::FirstUse`](super::Use::FirstUse) restores
/// nothing. A hit keeps the weight that was admitted and takes the request's cost. A key never
/// falls while its file is resident.
pub type Camp = Aged<RoundedRatio>;

/// The worth of [`Camp`]: cost / weight, rounded down to 5 bits. A weight of 0 counts as 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundedRatio;

impl Worth for RoundedRatio {
    #[inline]
    fn worth(_count: u32, cost: u32, weight: u64) -> u128 {
        let ratio = (u128::from(cost) << RATIO_BITS) / u128::from(weight.max(1));
        let dropped = (u128::BITS - ratio.leading_zeros()).saturating_sub(KEPT);
        ratio >> dropped << dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_five_bits_of_a_ratio_count() {
        let ratio = |cost, weight| RoundedRatio::worth(7, cost, weight);
        assert_eq!(ratio(1, 1), 1 << RATIO_BITS);
        assert_eq!(ratio(31, 1), 31 << RATIO_BITS);
        assert_eq!(ratio(63, 1), 62 << RATIO_BITS);
        assert_eq!(ratio(1, 1000), ratio(1, 1010), "1,000 and 1,010 bytes are of one class");
        assert!(ratio(1, 1000) > ratio(1, 1100));
    }
}
