//! LRU-K: the page whose K-th last use is longest ago leaves first.

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::arrays::column;
use crate::arrays::heap::IndexedHeap;

/// The K without a parameter.
const K: u32 = 2;
/// Stands before the turn of a page with K uses: it leaves after all that have fewer.
const KNOWN: u64 = 1 << 63;

/// LRU-K for any K (E. O'Neil, P. O'Neil and Weikum, "The LRU-K page replacement algorithm for
/// database disk buffering", SIGMOD 1993). [`Lru2`](super::Lru2) is faster for K = 2 and may keep
/// history.
///
/// - **Idea:** the time since the K-th last use estimates how often a page is used, the more
///   steadily the larger K is. Pages used less often than K times leave first, the least recently
///   used of them before the others.
/// - **History:** a page is forgotten when it leaves. The correlated reference period is 0.
/// - **Cost per request:** a hit O(1). A miss O(log n) amortised: the heap reads later uses when a
///   page reaches its root.
/// - **Memory:** 12 + 8 K bytes an id, and at most 24 a resident page; 8 more an id once a weight
///   other than 1 was seen. No ghosts.
/// - **Shines** on popularity that stays, among scans. **Fails** where what is popular changes: a
///   page needs K uses before it counts.
///
/// Weights: the uses alone decide; evicts until the newcomer fits.
/// [`Use::FirstUse`](super::Use::FirstUse) does not count. Cost is ignored. A hit keeps the weight
/// that was admitted.
pub type LruK = Resident<LruKRule>;

/// The rule of [`LruK`].
#[derive(Clone, Debug)]
pub struct LruKRule {
    k: u32,
    turn: u64,
    /// Uses of each page since it entered; 0 if it is not resident.
    counts: Vec<u32>,
    /// The turns of the last K uses of each page, in a ring.
    turns: Vec<u64>,
    heap: IndexedHeap<u64>,
}

impl Default for LruKRule {
    fn default() -> Self {
        Self { k: K, turn: 0, counts: Vec::new(), turns: Vec::new(), heap: IndexedHeap::new() }
    }
}

impl LruK {
    /// An empty cache of `capacity` units of weight that looks at the `k`-th last use, from 1.
    #[must_use]
    pub fn of(capacity: u64, k: u32) -> Self {
        Self::with_rule(capacity, LruKRule { k: k.max(1), ..LruKRule::default() })
    }
}

impl LruKRule {
    #[inline]
    fn use_once(&mut self, id: Id) {
        self.turn += 1;
        let count = &mut self.counts[id as usize];
        // Counts above K matter by their place in the ring alone.
        *count = if *count >= 2 * self.k - 1 { self.k } else { *count + 1 };
        let place = (*count - 1) % self.k;
        self.turns[id as usize * self.k as usize + place as usize] = self.turn;
    }
}

/// What the heap sorts a page by, from its uses and their turns; it only rises.
#[inline]
fn key(k: u32, counts: &[u32], turns: &[u64], id: Id) -> u64 {
    let count = counts[id as usize];
    let at = |place: u32| turns[id as usize * k as usize + (place % k) as usize];
    // The place of the next use holds the K-th last one.
    if count >= k { KNOWN | at(count) } else { at(count + k - 1) }
}

impl Rule for LruKRule {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.counts, ids, 0);
        let turns = ids as usize * self.k as usize;
        if turns > self.turns.len() {
            self.turns.resize(turns, 0);
        }
        self.heap.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.counts[id as usize] != 0
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.use_once(request.id);
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.use_once(request.id);
        let key = key(self.k, &self.counts, &self.turns, request.id);
        self.heap.push(request.id, key);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let Self { heap, counts, turns, k, .. } = self;
        heap.settle_root(|id| key(*k, counts, turns, id)).map(|(_, id)| id)
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.heap.remove(id);
        self.counts[id as usize] = 0;
    }
}
