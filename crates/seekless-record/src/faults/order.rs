//! Puts the records of several rings into the order of their times.

use seekless_watch::page_faults::{Event, What};

/// Records that wait until no earlier one can come.
#[derive(Debug, Default)]
pub(super) struct InOrder {
    pending: Vec<Event>,
}

impl InOrder {
    /// Where new records are appended.
    pub(super) fn pending(&mut self) -> &mut Vec<Event> {
        &mut self.pending
    }

    /// The records up to a time, the earliest first. Losses, which have no time, are among the
    /// first.
    pub(super) fn take(&mut self, until_ns: u64) -> impl Iterator<Item = Event> + '_ {
        // Stable, since the records of one ring of one time are in order.
        self.pending.sort_by_key(|event| (event.time_ns, !matches!(event.what, What::Lost { .. })));
        let ready = self.pending.partition_point(|event| event.time_ns <= until_ns);
        self.pending.drain(..ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_two_rings_come_in_the_order_of_their_times() {
        let at = |time_ns| Event { time_ns, pid: 1, tid: 1, what: What::Ended };
        let mut order = InOrder::default();
        order.pending().extend([at(1), at(5), at(9)]); // of one ring
        order.pending().extend([at(2), at(7)]); // of another
        let times = |events: Vec<Event>| events.iter().map(|it| it.time_ns).collect::<Vec<_>>();
        assert_eq!(times(order.take(5).collect()), [1, 2, 5]);
        order.pending().push(at(6));
        assert_eq!(times(order.take(u64::MAX).collect()), [6, 7, 9]);
    }
}
