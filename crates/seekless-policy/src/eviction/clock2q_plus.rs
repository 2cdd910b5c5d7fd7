//! Clock2Q+: probation in which uses right after the first do not count.

use super::probation::{Probation, Rules};

/// Clock2Q+ (Zhai and others, "Clock2Q+: a simple and efficient replacement algorithm for metadata
/// cache in VMware vSAN", VLDB 2026).
///
/// - **Idea:** blocks of metadata are used several times at once (one leaf of a tree for
///   neighbouring keys), which does not predict the next use. Newcomers pass through a small FIFO,
///   a tenth of the cache. Its newer half is a correlation window: a use there sets no reference
///   bit. One use after the window lets the block pass to the main CLOCK of one bit. Otherwise it
///   leaves as a ghost, and goes straight to the CLOCK if it is requested in time. Until the cache
///   is full, blocks for which the small queue has no room go to the CLOCK.
/// - **Cost per request:** a hit changes one byte at most; a miss O(1) amortised.
/// - **Memory:** 18 bytes an id; 26 once a weight other than 1 was seen.
/// - **Ghosts:** at most nine tenths of the capacity, as in libCacheSim 0.3.5; half of it in
///   [`Clock2QPlusShort`].
/// - **Shines** on metadata and block traces. **Fails** where popularity is skewed beyond one bit,
///   and with caches of fewer than 20 pages, whose window is all of the small queue.
///
/// Weights as in [`S3Fifo`](super::S3Fifo). [`Use::FirstUse`](super::Use::FirstUse) marks nothing.
/// Cost is ignored. A hit keeps the weight that was admitted.
pub type Clock2QPlus = Probation<Clock2QPlusRules>;

/// Clock2Q+ with ghosts of half the capacity, as in 2Q.
pub type Clock2QPlusShort = Probation<Clock2QPlusShortRules>;

/// The rules of [`Clock2QPlus`].
#[derive(Clone, Copy, Debug)]
pub struct Clock2QPlusRules;

impl Rules for Clock2QPlusRules {
    const GHOSTS_PERCENT: u64 = 90;
    const PASS_AT: u8 = 1;
    const USES_MAX: u8 = 1;
    const FILLS_MAIN: bool = true;
    const WINDOW_PERCENT: u64 = 50;
}

/// The rules of [`Clock2QPlusShort`].
#[derive(Clone, Copy, Debug)]
pub struct Clock2QPlusShortRules;

impl Rules for Clock2QPlusShortRules {
    const FILLS_MAIN: bool = Clock2QPlusRules::FILLS_MAIN;
    const GHOSTS_PERCENT: u64 = 50;
    const PASS_AT: u8 = Clock2QPlusRules::PASS_AT;
    const USES_MAX: u8 = Clock2QPlusRules::USES_MAX;
    const WINDOW_PERCENT: u64 = Clock2QPlusRules::WINDOW_PERCENT;
}
