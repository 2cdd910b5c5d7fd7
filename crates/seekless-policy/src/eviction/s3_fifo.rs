//! S3-FIFO: three FIFO queues, and two uses on probation to pass. The paper's version, and that of
//! its authors in 2024.

use super::probation::{Probation, Rules};

/// S3-FIFO (Yang, Zhang, Qiu, Yue and Rashmi, "FIFO queues are all you need for cache eviction",
/// SOSP 2023), algorithm 1.
///
/// - **Idea:** most objects are used once within the time that they could be kept. Newcomers pass
///   through a small FIFO, a tenth of the cache. Objects used twice there after their arrival go to
///   the main queue; the others leave quickly and become ghosts. A ghost that is requested goes
///   straight to the main queue. There a counter of at most 3 buys as many rounds.
/// - **Cost per request:** a hit changes one byte; a miss O(1) amortised.
/// - **Memory:** 10 bytes an id; 18 once a weight other than 1 was seen.
/// - **Ghosts:** at most nine tenths of the capacity.
/// - **Shines** on skewed popularity with many objects used once. **Fails** where the second use
///   comes just after the ghost has left. It also fails on a cache larger than the working set at
///   first: until the cache is full the small queue alone decides.
///
/// The paper knows objects of one size. Its authors' simulator counts bytes as here: sizes of the
/// queues are weights, and each eviction is repeated until the newcomer fits.
/// [`Use::FirstUse`](super::Use::FirstUse) does not count. Cost is ignored. A hit keeps the weight
/// that was admitted.
pub type S3Fifo = Probation<S3FifoPaper>;

/// S3-FIFO as libCacheSim has had it since October 2024. It is [`S3Fifo`], but until the cache is
/// first full, objects for which the small queue has no room go to the main queue.
///
/// This was inferred from the figures to be reproduced; libCacheSim's source says the same.
pub type S3Fifo2024 = Probation<S3FifoOf2024>;

/// The rules of [`S3Fifo`].
#[derive(Clone, Copy, Debug)]
pub struct S3FifoPaper;

impl Rules for S3FifoPaper {
    const GHOSTS_PERCENT: u64 = 90;
    const PASS_AT: u8 = 2;
    const USES_MAX: u8 = 3;
    const FILLS_MAIN: bool = false;
    const WINDOW_PERCENT: u64 = 0;
}

/// The rules of [`S3Fifo2024`].
#[derive(Clone, Copy, Debug)]
pub struct S3FifoOf2024;

impl Rules for S3FifoOf2024 {
    const FILLS_MAIN: bool = true;
    const GHOSTS_PERCENT: u64 = S3FifoPaper::GHOSTS_PERCENT;
    const PASS_AT: u8 = S3FifoPaper::PASS_AT;
    const USES_MAX: u8 = S3FifoPaper::USES_MAX;
    const WINDOW_PERCENT: u64 = S3FifoPaper::WINDOW_PERCENT;
}
