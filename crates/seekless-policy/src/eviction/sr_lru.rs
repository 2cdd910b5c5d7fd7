//! SR-LRU: LRU of which a part takes all newcomers, so that a scan passes through that part alone.

mod parts;

use super::{Eviction, Id, Outcome, Pool, Request, Use};
pub(super) use parts::{Form, Parts};

/// Scan-resistant LRU (Rodriguez and others, "Learning cache replacement with CACHEUS", FAST 2021).
///
/// - **Idea:** newcomers enter the scan-resistant part, and a hit moves a page to the other part,
///   whose oldest pages come back as demoted. A hit of a demoted page says that the part for reuse
///   is too small; a request for a ghost that never had a hit, that the other one is.
/// - **Ties:** none; each part is in the order of its last moves.
/// - **Cost per request:** O(1), and a demotion for each promotion.
/// - **Memory:** 10 bytes an id; 18 once a weight other than 1 was seen.
/// - **Ghosts:** less than the capacity.
/// - **Shines** on reuse among scans. **Fails** on loops larger than the cache, and while the parts
///   learn their sizes.
///
/// The oldest page of the scan-resistant part leaves when the cache is full. Its limit bounds the
/// other part only, and begins with 1 % of the capacity; the first pages fill the other part. Both
/// as in the authors' program. Weights: parts hold weight, and the limit moves by the weight of the
/// page that was hit; evicts until the newcomer fits. [`Use::FirstUse`] promotes nothing. Cost is
/// ignored. A hit keeps the weight that was admitted.
#[derive(Clone, Debug)]
pub struct SrLru {
    parts: Parts,
    /// The page that is asked for: its ghost may be dropped, but the owner keeps its number.
    asked: Option<Id>,
}

impl SrLru {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { parts: Parts::new(capacity, Form::Paper), asked: None }
    }

    fn evict<P: Pool + ?Sized>(&mut self, victim: Id, pool: &mut P) {
        self.parts.move_to_history(victim);
        pool.evict(victim);
        self.trim(pool);
    }

    fn trim<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while let Some(oldest) = self.parts.pop_ghost() {
            if self.asked != Some(oldest) {
                pool.forget(oldest);
            }
        }
    }
}

impl Eviction for SrLru {
    fn grow(&mut self, ids: u32) {
        self.parts.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let Request { id, weight, kind, .. } = *request;
        if self.parts.is_resident(id) {
            if kind != Use::FirstUse {
                self.parts.hit(id);
            }
            return Outcome::Hit;
        }
        if !self.parts.has_room_for(id, weight) {
            return Outcome::Bypassed;
        }
        let was_ghost = self.parts.is_ghost(id);
        self.asked = Some(id);
        self.shrink_to(self.parts.capacity() - weight, pool);
        self.asked = None;
        if !self.parts.has_room_for(id, weight) {
            if was_ghost {
                pool.forget(id);
            }
            return Outcome::Bypassed;
        }
        self.parts.admit(id, weight);
        while let Some(victim) = self.parts.overflow() {
            self.evict(victim, pool);
        }
        Outcome::Admitted
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = self.parts.oldest() else {
            return false;
        };
        self.evict(victim, pool);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.parts.resize(capacity);
        self.shrink_to(capacity, pool);
        self.trim(pool);
    }

    fn remove(&mut self, id: Id) {
        self.parts.remove(id);
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        self.parts.weight_of(id)
    }

    fn reweigh(&mut self, request: &Request) {
        self.parts.reweigh(request);
    }

    #[inline]
    fn resident_weight(&self) -> u64 {
        self.parts.resident_weight()
    }
}
