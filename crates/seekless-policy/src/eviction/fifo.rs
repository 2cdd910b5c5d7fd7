//! FIFO: the page that entered first leaves first.

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::list::Lists;

const ALL: usize = 0;

/// First in, first out (folklore). Belady, "A study of replacement algorithms for a virtual-storage
/// computer", 1966, shows that a larger cache may miss more.
///
/// - **Idea:** a queue. A hit changes nothing, so hits need no lock and no writes.
/// - **Cost per request:** O(1); a hit reads one word.
/// - **Memory:** 8 bytes an id; 16 once a weight other than 1 was seen. No ghosts.
/// - **Shines** where hits must be cheap and reuse is far apart. **Fails** on pages that are used
///   all the time: they leave as soon as pages that are used once.
///
/// Weights: evicts until the newcomer fits. [`Use`](super::Use) and cost are ignored.
pub type Fifo = Resident<FifoRule>;

/// The rule of [`Fifo`].
#[derive(Clone, Debug, Default)]
pub struct FifoRule {
    queue: Lists<1>,
}

impl Rule for FifoRule {
    fn grow(&mut self, ids: u32) {
        self.queue.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.queue.contains(id)
    }

    #[inline]
    fn hit(&mut self, _request: &Request) {}

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.queue.push_front(ALL, request.id);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        self.queue.back(ALL)
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.queue.unlink(id);
    }
}
