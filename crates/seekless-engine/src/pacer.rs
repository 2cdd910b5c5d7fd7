//! A device model on the wall clock: its time is the nanoseconds since it was made. Shared by [`Throttle`](crate::Throttle)
//! and [`Throttled`](crate::Throttled), which differ only in who waits.

use crate::Counters;
use seekless_device::{Costs, DeviceModel, Io, Nanos, parts};
use std::time::{Duration, Instant};

pub(crate) struct Pacer {
    started: Instant,
    model: Box<dyn DeviceModel + Send>,
    next_tag: u64,
    counters: Counters,
}

impl Pacer {
    pub(crate) fn new(model: Box<dyn DeviceModel + Send>) -> Self {
        let counters = Counters { exact: true, ..Counters::default() };
        Pacer { started: Instant::now(), model, next_tag: 0, counters }
    }

    /// Submits one I/O now, and counts it. Returns its tag.
    pub(crate) fn submit(&mut self, offset: u64, bytes: u64) -> u64 {
        let tag = self.next_tag;
        self.next_tag += 1;
        self.counters.requests += parts(bytes);
        self.counters.bytes += bytes;
        let now = self.now();
        self.model.submit(now, Io { tag, write: false, offset, bytes });
        tag
    }

    /// Lets the model's time pass until now; `done` hears of each completion's tag and model time.
    pub(crate) fn advance(&mut self, done: &mut dyn FnMut(u64, Nanos)) {
        let now = self.now();
        self.model.advance(now, &mut |end, io| done(io.tag, end));
    }

    /// How long until the next completion: `None` when nothing is in flight.
    pub(crate) fn next_in(&self) -> Option<Duration> {
        let due = self.model.next_event()?;
        Some(Duration::from_nanos(due.saturating_sub(self.now())))
    }

    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }

    pub(crate) fn costs(&self) -> Costs {
        self.model.costs()
    }

    fn now(&self) -> Nanos {
        Nanos::try_from(self.started.elapsed().as_nanos()).unwrap_or(Nanos::MAX)
    }
}

impl std::fmt::Debug for Pacer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pacer").field("counters", &self.counters).finish_non_exhaustive()
    }
}
