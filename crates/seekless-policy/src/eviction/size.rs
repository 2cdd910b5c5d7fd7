//! Size: the largest file leaves first.

mod heap;

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::arrays::column;
use crate::arrays::heap::IndexedHeap;
use std::cmp::Reverse;

pub use heap::SizeHeap;

/// SIZE (Williams and others, "Removal policies in network caches for World-Wide Web documents",
/// SIGCOMM 1996).
///
/// - **Idea:** one large file takes the room of hundreds of small ones, and counts one hit at a
///   time as they do.
/// - **Ties:** the least recently used leaves first. So with equal sizes it is LRU.
/// - **Cost per request:** a hit O(1) and one cache line. A miss O(log n): a heap of sizes, which
///   reads later uses when a file reaches its root.
/// - **Memory:** 20 bytes an id and 24 to 36 a resident file. No ghosts.
/// - **Shines** on hits of requests where small files are the popular ones. **Fails** on bytes, and
///   when popularity changes: small files never leave while larger ones come.
///
/// [`SizeHeap`] differs in the ties. [`Use::FirstUse`](super::Use::FirstUse) is no use. Cost is
/// ignored. A hit keeps the weight that was admitted.
pub type Size = Resident<SizeRule>;

/// The heaviest and oldest comes first.
type Key = (Reverse<u64>, u64);

/// The last use of an id that is not resident.
const ABSENT: u64 = 0;

/// The rule of [`Size`].
#[derive(Clone, Debug, Default)]
pub struct SizeRule {
    turn: u64,
    /// Weight and last use.
    keys: Vec<Key>,
    /// By weight and an earlier use.
    heap: IndexedHeap<Key>,
}

impl SizeRule {
    #[inline]
    fn next_turn(&mut self) -> u64 {
        self.turn += 1;
        self.turn
    }
}

impl Rule for SizeRule {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.keys, ids, (Reverse(0), ABSENT));
        self.heap.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.keys[id as usize].1 != ABSENT
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.keys[request.id as usize].1 = self.next_turn();
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        let key = (Reverse(request.weight), self.next_turn());
        self.keys[request.id as usize] = key;
        self.heap.push(request.id, key);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let keys = &self.keys;
        self.heap.settle_root(|id| keys[id as usize]).map(|(_, id)| id)
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.keys[id as usize].1 = ABSENT;
        self.heap.remove(id);
    }

    fn reweigh(&mut self, request: &Request) {
        let key = &mut self.keys[request.id as usize];
        key.0 = Reverse(request.weight);
        self.heap.change(request.id, *key);
    }

    #[inline]
    fn weight(&self, id: Id) -> Option<u64> {
        Some(self.keys[id as usize].0.0)
    }
}
