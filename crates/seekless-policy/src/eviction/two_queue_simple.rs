//! Simplified 2Q: a FIFO for pages requested once, LRU for pages requested again while they were in
//! it.

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::arrays::segments::Segments;

/// Resident, requested once: a FIFO.
const A1: usize = 0;
/// Resident, requested again while in A1: LRU.
const AM: usize = 1;

/// Simplified 2Q (Johnson and Shasha, VLDB 1994, section 3.1). Ozen's text describes this version,
/// while his program has the full one. The paper leaves A1's threshold open; here it is a quarter
/// of the capacity, as Kin is.
///
/// - **Idea:** a page is kept only if it is requested again before it leaves a short FIFO.
/// - **Cost per request:** O(1).
/// - **Memory:** 9 bytes an id, 17 once a weight other than 1 was seen. No ghosts.
/// - **Shines** on scans, without the memory for ghosts. **Fails** on pages whose second use comes
///   after they left A1, and takes correlated requests for reuse. The full version mends both.
///
/// Weights: a queue's size is its weight; evicts until the newcomer fits.
/// [`Use::FirstUse`](super::Use::FirstUse) promotes nothing. Cost is ignored.
pub type TwoQueueSimple = Resident<TwoQueueSimpleRule>;

/// The rule of [`TwoQueueSimple`].
#[derive(Clone, Debug, Default)]
pub struct TwoQueueSimpleRule {
    capacity: u64,
    queues: Segments<2, 2>,
}

impl Rule for TwoQueueSimpleRule {
    fn grow(&mut self, ids: u32) {
        self.queues.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.queues.list_of(id).is_some()
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.queues.move_to(AM, request.id);
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.queues.push(A1, request.id, request.weight);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let from_a1 = self.queues.size(A1) > self.capacity / 4 || self.queues.is_empty(AM);
        self.queues.back(if from_a1 { A1 } else { AM })
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.queues.remove(id);
    }

    fn reweigh(&mut self, request: &Request) {
        self.queues.reweigh(request.id, request.weight);
    }

    #[inline]
    fn weight(&self, id: Id) -> Option<u64> {
        Some(self.queues.weight(id))
    }

    fn resize(&mut self, capacity: u64) {
        self.capacity = capacity;
    }
}
