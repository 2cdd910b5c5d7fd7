//! A device model on a clock. Shared by [`Throttle`](crate::Throttle) and
//! [`Throttled`](crate::Throttled), which differ in which thread waits.

use crate::Counters;
use crate::clock::Clock;
use seekless_device::{Costs, DeviceModel, Io, Nanos, parts};
use std::time::Duration;

pub(crate) struct Pacer {
    clock: Clock,
    model: Box<dyn DeviceModel + Send>,
    next_tag: u64,
    counters: Counters,
}

impl Pacer {
    pub(crate) fn new(model: Box<dyn DeviceModel + Send>, clock: Clock) -> Self {
        let counters = Counters { exact: true, ..Counters::default() };
        Pacer { clock, model, next_tag: 0, counters }
    }

    /// Submits one I/O now, and counts it. Returns its tag.
    pub(crate) fn submit(&mut self, write: bool, offset: u64, bytes: u64) -> u64 {
        let tag = self.next_tag;
        self.next_tag += 1;
        self.counters.requests += parts(bytes);
        self.counters.bytes += bytes;
        let now = self.clock.now();
        self.model.submit(now, Io { tag, write, offset, bytes });
        tag
    }

    /// Lets the model's time pass until now; calls `done` with the tag and the model time of each
    /// completion.
    pub(crate) fn advance(&mut self, done: &mut dyn FnMut(u64, Nanos)) {
        let now = self.clock.now();
        self.model.advance(now, &mut |end, io| done(io.tag, end));
    }

    /// How long until the next completion: `None` when nothing is in flight.
    pub(crate) fn next_in(&self) -> Option<Duration> {
        let due = self.model.next_event()?;
        Some(Duration::from_nanos(due.saturating_sub(self.clock.now())))
    }

    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }

    pub(crate) fn now(&self) -> Nanos {
        self.clock.now()
    }

    pub(crate) fn costs(&self) -> Costs {
        self.model.costs()
    }

    /// Whether the wait for the next completion may be skipped.
    pub(crate) fn may_skip(&self) -> bool {
        self.clock.skips()
    }

    /// Jumps to the next completion.
    pub(crate) fn skip(&self) {
        if let Some(due) = self.model.next_event() {
            self.clock.skip_to(due);
        }
    }
}

impl std::fmt::Debug for Pacer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pacer").field("counters", &self.counters).finish_non_exhaustive()
    }
}
