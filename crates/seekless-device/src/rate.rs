//! A bucket that fills at a fixed rate: the time at which a device may go on. What is not used is kept for a tenth of a
//! second. Kept as whole units since the bucket last overflowed, so that a long queue adds no rounding up.

use crate::Nanos;

const SECOND: u128 = 1_000_000_000;
/// For so long a rate that was not used may be used later: blk-throttle's slice of HZ/10.
pub(crate) const KEPT_NS: Nanos = 100_000_000;

/// One limit of a volume: so many units (requests or bytes) a second.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    per_second: u64,
    busy_since: Nanos,
    taken: u128,
}

impl Bucket {
    pub(crate) fn new(per_second: u64) -> Self {
        Bucket { per_second, busy_since: 0, taken: 0 }
    }

    pub(crate) fn per_second(&self) -> u64 {
        self.per_second
    }

    /// Takes `units` at time `now`, after all taken before; gives the first whole nanosecond by which they have flowed.
    pub(crate) fn take(&mut self, now: Nanos, units: u64) -> Nanos {
        let from = now.saturating_sub(KEPT_NS);
        if self.idle(from) {
            self.busy_since = from;
            self.taken = 0;
        }
        self.taken += u128::from(units);
        let nanos = (self.taken * SECOND).div_ceil(u128::from(self.per_second));
        self.busy_since.saturating_add(Nanos::try_from(nanos).unwrap_or(Nanos::MAX)).max(now)
    }

    /// Whether all that was taken has flowed by `now`.
    fn idle(&self, now: Nanos) -> bool {
        let flowed = u128::from(now.saturating_sub(self.busy_since)) * u128::from(self.per_second);
        flowed >= self.taken * SECOND
    }
}
