//! GDSF: GreedyDual-Size with frequency. Files that are small, dear or often used stay.

use super::lfu_da::{Aged, Worth};

/// Keys are fixed-point numbers with this many binary places.
const KEY_BITS: u32 = 56;

/// GreedyDual-Size with frequency (Cherkasova, "Improving WWW proxies performance with
/// greedy-dual-size-frequency caching policy", 1998).
///
/// - **Idea:** K = L + uses × cost / weight, where L, the age of the cache, is the K of the last
///   victim. The least K leaves.
/// - **Ties:** the least recently used leaves first. Keys are fixed-point numbers, so no rounding
///   depends on the machine.
/// - **Cost per request:** a hit O(1) and one cache line. A miss O(1) apart from the moves of a
///   radix heap, a few for each file. While every weight and cost is 1 it equals
///   [`LfuDa`](super::LfuDa) exactly.
/// - **Memory:** 32 bytes an id, 40 once a weight other than 1 was seen, and 4 to 20 a resident
///   file. No ghosts.
/// - **Shines** where requests count and sizes differ: web objects, assets. **Fails** on byte hit
///   rates, and like LFU-DA where counts are small.
///
/// [`Use::FirstUse`](super::Use::FirstUse) does not count. A hit keeps the weight that was admitted
/// and takes the request's cost. A key never falls while its file is resident. Counts stop at 2^32.
pub type Gdsf = Aged<UsesByWeight>;

/// The worth of [`Gdsf`]: uses × cost / weight. A weight of 0 counts as 1, so that the file has a
/// rank.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsesByWeight;

impl Worth for UsesByWeight {
    #[inline]
    fn worth(count: u32, cost: u32, weight: u64) -> u128 {
        // The product has at most 64 bits.
        let credit = u64::from(count) * u64::from(cost);
        match weight {
            0 | 1 => u128::from(credit) << KEY_BITS,
            _ if credit >> (64 - KEY_BITS) == 0 => u128::from((credit << KEY_BITS) / weight),
            _ => (u128::from(credit) << KEY_BITS) / u128::from(weight),
        }
    }
}
