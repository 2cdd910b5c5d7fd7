//! A limit on requests or bytes a second, as Linux's blk-throttle keeps it.
//!
//! Time is cut into slices of a tenth of a second, counted from the first request after a pause.
//! What a slice allows may be used at its start, so that a device which was idle serves a short
//! burst at once. What was not used is kept for one to two slices, then it is lost. See
//! `tg_within_iops_limit`, `tg_within_bps_limit` and `throtl_trim_slice` in block/blk-throttle.c.

use crate::Nanos;

/// Length of a slice: HZ/10.
pub(crate) const SLICE_NS: Nanos = 100_000_000;

const SECOND: u128 = 1_000_000_000;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A request that its slice does not allow waits for the start of one that does.
    Requests,
    /// Bytes that their slice does not allow wait until they have flowed at the rate.
    Bytes,
}

/// One limit of a volume, in units a second.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    unit: Unit,
    per_second: u64,
    /// When the first slice that still counts began.
    start: Nanos,
    /// Taken since then: units times nanoseconds a second, so that nothing is rounded.
    taken: u128,
    /// When what was taken last may flow: requests are served in their order. `None` at first.
    last: Option<Nanos>,
}

impl Bucket {
    pub(crate) fn new(unit: Unit, per_second: u64) -> Self {
        Bucket { unit, per_second, start: 0, taken: 0, last: None }
    }

    pub(crate) fn per_second(&self) -> u64 {
        self.per_second
    }

    /// Takes `units` at time `now`, after all taken before. Returns when they may flow.
    pub(crate) fn take(&mut self, now: Nanos, units: u64) -> Nanos {
        let now = self.last.map_or(now, |last| now.max(last));
        if self.last.is_none_or(|last| now > last.saturating_add(SLICE_NS)) {
            self.start = now;
            self.taken = 0;
        }
        self.taken += u128::from(units) * SECOND;
        let then = now.max(self.allowed_from(now));
        self.forget(then);
        self.last = Some(then);
        then
    }

    /// When all that was taken is allowed, if that is after `now`.
    fn allowed_from(&self, now: Nanos) -> Nanos {
        let rate = u128::from(self.per_second);
        let slices = self.taken.div_ceil(rate * u128::from(SLICE_NS)).max(1);
        let begun = (now - self.start).div_ceil(SLICE_NS).max(1);
        let wait = match self.unit {
            Unit::Bytes if slices <= u128::from(begun) => 0,
            Unit::Bytes => self.taken.div_ceil(rate),
            Unit::Requests => (slices - 1) * u128::from(SLICE_NS),
        };
        self.start.saturating_add(Nanos::try_from(wait).unwrap_or(Nanos::MAX))
    }

    /// Forgets all slices before `now` but the last two, and what they allowed and was not used.
    fn forget(&mut self, now: Nanos) {
        let whole = (now - self.start) / SLICE_NS;
        if whole >= 2 {
            let past = (whole - 1) * SLICE_NS;
            let allowed = u128::from(self.per_second) * u128::from(past);
            self.taken = self.taken.saturating_sub(allowed);
            self.start += past;
        }
    }
}
