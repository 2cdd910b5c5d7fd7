//! Size: the largest file leaves first.

mod heap;

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::arrays::column;
use crate::arrays::heap::IndexedHeap;
use crate::arrays::list::Lists;
use std::cmp::Reverse;

pub use heap::SizeHeap;

/// SIZE (Williams and others, "Removal policies in network caches for World-Wide Web documents",
/// SIGCOMM 1996).
///
/// - **Idea:** one large file takes the room of hundreds of small ones, and counts one hit at a
///   time as they do.
/// - **Ties:** the least recently used leaves first. So with equal sizes it is LRU.
/// - **Cost per request:** a hit O(1) and one cache line. A miss O(log n): a heap of sizes, which
///   reads later uses when a file reaches its root. While all sizes are equal it runs as LRU.
/// - **Memory:** 20 bytes an id and 24 to 36 a resident file; 8 an id while all sizes are equal. No
///   ghosts.
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

/// The only list of files of one weight.
const ALL: usize = 0;

/// The rule of [`Size`].
#[derive(Clone, Debug)]
pub struct SizeRule {
    ids: u32,
    stage: Stage,
}

#[derive(Clone, Debug)]
enum Stage {
    /// All files so far had this weight; the last used in front.
    Equal(u64, Lists<1>),
    Different(BySize),
}

impl Default for SizeRule {
    fn default() -> Self {
        Self { ids: 0, stage: Stage::Equal(1, Lists::new()) }
    }
}

impl SizeRule {
    /// Called for the first file of another weight, once in the life of a cache.
    #[cold]
    fn leave_equal(&mut self) {
        let Stage::Equal(weight, list) = &self.stage else { return };
        let mut by_size = BySize::default();
        by_size.grow(self.ids);
        let mut files: Vec<Id> = list.iter(ALL).collect();
        files.reverse();
        files.into_iter().for_each(|id| by_size.enter(id, *weight));
        self.stage = Stage::Different(by_size);
    }
}

/// Files of different weights.
#[derive(Clone, Debug, Default)]
struct BySize {
    turn: u64,
    /// Weight and last use.
    keys: Vec<Key>,
    /// By weight and an earlier use.
    heap: IndexedHeap<Key>,
}

impl BySize {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.keys, ids, (Reverse(0), ABSENT));
        self.heap.grow(ids);
    }

    #[inline]
    fn note_use(&mut self, id: Id) {
        self.turn += 1;
        self.keys[id as usize].1 = self.turn;
    }

    #[inline]
    fn enter(&mut self, id: Id, weight: u64) {
        self.turn += 1;
        let key = (Reverse(weight), self.turn);
        self.keys[id as usize] = key;
        self.heap.push(id, key);
    }

    #[inline]
    fn victim(&mut self) -> Option<Id> {
        let keys = &self.keys;
        self.heap.settle_root(|id| keys[id as usize]).map(|(_, id)| id)
    }
}

impl Rule for SizeRule {
    fn grow(&mut self, ids: u32) {
        self.ids = self.ids.max(ids);
        match &mut self.stage {
            Stage::Equal(_, list) => list.grow(ids),
            Stage::Different(by_size) => by_size.grow(ids),
        }
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        match &self.stage {
            Stage::Equal(_, list) => list.contains(id),
            Stage::Different(by_size) => by_size.keys[id as usize].1 != ABSENT,
        }
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        match &mut self.stage {
            Stage::Equal(_, list) => list.move_to_front(ALL, request.id),
            Stage::Different(by_size) => by_size.note_use(request.id),
        }
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        if let Stage::Equal(weight, list) = &mut self.stage {
            if list.is_empty(ALL) {
                *weight = request.weight;
            }
            if *weight == request.weight {
                return list.push_front(ALL, request.id);
            }
            self.leave_equal();
        }
        if let Stage::Different(by_size) = &mut self.stage {
            by_size.enter(request.id, request.weight);
        }
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        match &mut self.stage {
            Stage::Equal(_, list) => list.back(ALL),
            Stage::Different(by_size) => by_size.victim(),
        }
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        match &mut self.stage {
            Stage::Equal(_, list) => list.unlink(id),
            Stage::Different(by_size) => {
                by_size.keys[id as usize].1 = ABSENT;
                by_size.heap.remove(id);
            }
        }
    }

    fn reweigh(&mut self, request: &Request) {
        if matches!(&self.stage, Stage::Equal(weight, _) if *weight != request.weight) {
            self.leave_equal();
        }
        if let Stage::Different(by_size) = &mut self.stage {
            let key = &mut by_size.keys[request.id as usize];
            key.0 = Reverse(request.weight);
            by_size.heap.change(request.id, *key);
        }
    }

    #[inline]
    fn weight(&self, id: Id) -> Option<u64> {
        Some(match &self.stage {
            Stage::Equal(weight, _) => *weight,
            Stage::Different(by_size) => by_size.keys[id as usize].0.0,
        })
    }
}
