//! The requests of a store in their order, made once and timed on a device in several states.
//!
//! A store that knows its device's costs decides by its loads and by which of its requests have
//! ended, not by the clock. Where requests end in the order in which they were made, or one load
//! after the other waits for all of its own, these decisions are the same in every state.

use seekless_device::{Costs, DeviceModel, Io, Nanos};
use std::collections::VecDeque;

/// What a store does.
#[derive(Clone, Copy, Debug)]
enum Step {
    Ask(Io),
    /// Waits for the next request to end.
    Wait,
}

/// Stands for the device while the store decides: each request ends when the store waits for it, in
/// the order in which they were made. No time passes.
pub(super) struct Schedule {
    steps: Vec<Step>,
    in_flight: VecDeque<Io>,
    costs: Costs,
}

impl Schedule {
    /// No requests yet, for a device that charges `costs`.
    pub(super) fn new(costs: Costs) -> Self {
        Schedule { steps: Vec::new(), in_flight: VecDeque::new(), costs }
    }

    /// When the last request that was waited for ends on `device`, idle at time 0.
    pub(super) fn time_on(&self, device: &mut dyn DeviceModel) -> Nanos {
        let (mut now, mut ends) = (0, VecDeque::new());
        for step in &self.steps {
            match step {
                Step::Ask(io) => device.submit(now, *io),
                Step::Wait => {
                    if ends.is_empty()
                        && let Some(next) = device.next_event()
                    {
                        device.advance(next, &mut |end, _| ends.push_back(end));
                    }
                    now = ends.pop_front().unwrap_or(now).max(now);
                }
            }
        }
        now
    }
}

impl DeviceModel for Schedule {
    fn submit(&mut self, _now: Nanos, io: Io) {
        self.steps.push(Step::Ask(io));
        self.in_flight.push_back(io);
    }

    fn next_event(&self) -> Option<Nanos> {
        (!self.in_flight.is_empty()).then_some(0)
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        if let Some(io) = self.in_flight.pop_front() {
            self.steps.push(Step::Wait);
            done(now, io);
        }
    }

    fn costs(&self) -> Costs {
        self.costs
    }
}
