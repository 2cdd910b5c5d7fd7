//! QDLP: quick demotion by a small FIFO, lazy promotion by a CLOCK.

use super::probation::{Probation, Rules};

/// QD-LP-FIFO (Yang, Qiu, Zhang, Yue and Rashmi, "FIFO can be better than LRU: the power of lazy
/// promotion and quick demotion", HotOS 2023), section 4.
///
/// - **Idea:** a probationary FIFO, a tenth of the cache, demotes quickly: an object that is not
///   used in it leaves and becomes a ghost. The rest is a CLOCK with two bits, which promotes
///   lazily, at eviction. A ghost that is requested goes straight to the CLOCK. S3-FIFO came after
///   it and asks for two uses.
/// - **Cost per request:** a hit changes one byte; a miss O(1) amortised.
/// - **Memory:** 10 bytes an id; 18 once a weight other than 1 was seen.
/// - **Ghosts:** at most nine tenths of the capacity.
/// - **Shines** on block and web traces with scans. **Fails** on correlated references, where the
///   second use says little.
///
/// Weights as in [`S3Fifo`](super::S3Fifo). [`Use::FirstUse`](super::Use::FirstUse) does not count.
/// Cost is ignored. A hit keeps the weight that was admitted.
pub type Qdlp = Probation<QdlpRules>;

/// The rules of [`Qdlp`].
#[derive(Clone, Copy, Debug)]
pub struct QdlpRules;

impl Rules for QdlpRules {
    const GHOSTS_PERCENT: u64 = 90;
    const PASS_AT: u8 = 1;
    const USES_MAX: u8 = 3;
    const FILLS_MAIN: bool = false;
    const WINDOW_PERCENT: u64 = 0;
}
