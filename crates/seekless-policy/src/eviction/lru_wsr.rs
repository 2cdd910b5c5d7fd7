//! LRU-WSR: a dirty page gets a second chance before it leaves, a clean one does not.

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::list::Lists;
use crate::weights::Weights;

const ALL: usize = 0;

/// LRU with write sequence reordering (Jung, Shim, Park, Kang and Cha, "LRU-WSR: integration of LRU and writes sequence
/// reordering for flash memory", IEEE Transactions on Consumer Electronics 54(3), 2008).
///
/// - **Idea:** a write costs flash more than a read. At the LRU end a clean page leaves; a dirty one is marked *cold* and
///   goes round once more; a dirty one marked already leaves. A hit takes the mark away.
/// - **Cost per request:** a hit O(1); a miss O(1) amortised: each page that goes round was hit or loaded since.
/// - **Memory:** 9 bytes an id; 17 once a weight other than 1 was seen. No ghosts.
/// - **Shines** where hot pages are written again and again. **Fails** when nearly all is dirty, where it is a slower LRU,
///   and where reads are dearer than writes.
///
/// Needs the owner to say what is dirty. Weights: evicts until the newcomer fits. [`Use::FirstUse`] promotes nothing.
/// Cost is ignored.
#[derive(Clone, Debug)]
pub struct LruWsr {
    capacity: u64,
    used: u64,
    order: Lists<1>,
    cold: Vec<bool>,
    weights: Weights,
}

impl LruWsr {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { capacity, used: 0, order: Lists::new(), cold: Vec::new(), weights: Weights::new() }
    }

    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used > self.capacity.saturating_sub(weight) {
            if !self.evict_one(pool) {
                return;
            }
        }
    }
}

impl Eviction for LruWsr {
    fn needs(&self) -> Needs {
        Needs { state: true, ..Needs::default() }
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.cold.len() {
            self.cold.resize(ids as usize, false);
        }
        self.order.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        if self.order.contains(id) {
            if request.kind != Use::FirstUse {
                self.cold[id as usize] = false;
                self.order.move_to_front(ALL, id);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.weights.set(id, request.weight);
        self.cold[id as usize] = false;
        self.order.push_front(ALL, id);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        while let Some(last) = self.order.back(ALL) {
            if pool.state(last).dirty && !self.cold[last as usize] {
                self.cold[last as usize] = true;
                self.order.move_to_front(ALL, last);
                continue;
            }
            self.remove(last);
            pool.evict(last);
            pool.forget(last);
            return true;
        }
        false
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.make_room(0, pool);
    }

    fn remove(&mut self, id: Id) {
        if self.order.contains(id) {
            self.order.unlink(id);
            self.used -= self.weights.get(id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
