//! SLRU: LRU in segments. A hit moves a page up one segment, overflow moves pages down.

use super::{Eviction, Id, Outcome, Pool, Request, Use};
use crate::arrays::segments::Segments;

/// Most segments of one cache.
const SEGMENTS_MAX: usize = 4;
/// The share of the protected segment, in millionths of the capacity.
const PROTECTED: u64 = WHOLE / 5 * 4;
const WHOLE: u64 = 1_000_000;

/// The segment that a newcomer enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    /// The lowest segment, which may hold all that the others leave free.
    Lowest,
    /// The lowest segment that is not full. If all are full, the oldest page of the lowest segment
    /// leaves.
    LowestWithRoom,
}

/// Segmented LRU (Karedla, Love and Wherry, "Caching strategies to improve disk system
/// performance", Computer 1994).
///
/// - **Idea:** newcomers are on probation. A hit promotes a page to the protected segment, whose
///   overflow returns to probation. A scan passes through probation and does not touch the
///   protected pages.
/// - **Cost per request:** O(1), and a demotion for each promotion once a segment is full.
/// - **Memory:** 9 bytes an id; 17 once a weight other than 1 was seen. No ghosts.
/// - **Shines** on popular pages among scans. **Fails** where a loop is larger than probation, and
///   on popularity that drifts faster than the protected segment turns over.
///
/// [`Slru::new`] is the paper's: two segments, the protected one at most 80 % of the capacity,
/// probation the rest. The paper leaves the share open; 80 % is common. [`Slru::four`] has four
/// equal segments; a newcomer enters the lowest that is not full, and the remainder of the division
/// by four stays empty. That is libCacheSim's, and equals its published figures.
///
/// Weights: a segment holds weight. A page heavier than the next segment stays in its own. A hit
/// never evicts. [`Use::FirstUse`] promotes nothing. Cost is ignored. A hit keeps the weight that
/// was admitted.
#[derive(Clone, Debug)]
pub struct Slru {
    capacity: u64,
    segments: usize,
    entry: Entry,
    /// The share of the protected segment, in millionths.
    protected: u64,
    /// Segment 0 is the lowest.
    pages: Segments<SEGMENTS_MAX, SEGMENTS_MAX>,
}

impl Slru {
    /// Two segments, probation and protected.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self::with_segments(capacity, 2, Entry::Lowest)
    }

    /// Two segments, the protected one at most this share of the capacity.
    #[must_use]
    pub fn protecting(capacity: u64, share: f64) -> Self {
        let protected = (share.clamp(0.0, 1.0) * WHOLE as f64).round() as u64;
        Self { protected, ..Self::new(capacity) }
    }

    /// Four equal segments.
    #[must_use]
    pub fn four(capacity: u64) -> Self {
        Self::with_segments(capacity, SEGMENTS_MAX, Entry::LowestWithRoom)
    }

    fn with_segments(capacity: u64, segments: usize, entry: Entry) -> Self {
        Self { capacity, segments, entry, protected: PROTECTED, pages: Segments::new() }
    }

    /// The largest weight of a segment.
    #[inline]
    fn quota(&self, segment: usize) -> u64 {
        match (self.entry, segment) {
            (Entry::LowestWithRoom, _) => self.capacity / self.segments as u64,
            (Entry::Lowest, 0) => self.capacity,
            (Entry::Lowest, _) => {
                (u128::from(self.capacity) * u128::from(self.protected) / u128::from(WHOLE)) as u64
            }
        }
    }

    #[inline]
    fn has_room(&self, segment: usize, weight: u64) -> bool {
        weight <= self.quota(segment) && self.pages.size(segment) <= self.quota(segment) - weight
    }

    /// Moves a page up one segment, if it is not too heavy. The overflow of the segments above
    /// probation moves down.
    #[inline]
    fn hit(&mut self, id: Id, from: usize) {
        let above = (from + 1).min(self.segments - 1);
        let to = if self.pages.weight(id) <= self.quota(above) { above } else { from };
        self.pages.move_to(to, id);
        if to != from {
            self.sink(to);
        }
    }

    fn sink(&mut self, from: usize) {
        for segment in (1..=from).rev() {
            while self.pages.size(segment) > self.quota(segment) {
                let Some(oldest) = self.pages.back(segment) else { break };
                self.pages.move_to(segment - 1, oldest);
            }
        }
    }

    /// Makes room for a newcomer and returns the segment that it enters.
    #[inline]
    fn enter<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) -> usize {
        let mut entered = 0;
        if self.entry == Entry::LowestWithRoom {
            if let Some(segment) =
                (0..self.segments).find(|&segment| self.has_room(segment, weight))
            {
                entered = segment;
            } else {
                while !self.has_room(0, weight) && self.evict_from(0, pool) {}
            }
        }
        self.shrink_to(self.capacity - weight, pool);
        entered
    }

    /// Evicts the oldest of a segment; false if it is empty.
    #[inline]
    fn evict_from<P: Pool + ?Sized>(&mut self, segment: usize, pool: &mut P) -> bool {
        let Some(victim) = self.pages.back(segment) else {
            return false;
        };
        self.remove(victim);
        pool.discard(victim);
        true
    }
}

impl Eviction for Slru {
    fn grow(&mut self, ids: u32) {
        self.pages.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        if let Some(segment) = self.pages.list_of(id) {
            if request.kind != Use::FirstUse {
                self.hit(id, segment);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        let segment = self.enter(request.weight, pool);
        self.pages.push(segment, id, request.weight);
        Outcome::Admitted
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        (0..self.segments).any(|segment| self.evict_from(segment, pool))
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.sink(self.segments - 1);
        self.shrink_to(capacity, pool);
    }

    fn remove(&mut self, id: Id) {
        self.pages.remove(id);
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        self.pages.resident_weight_of(id)
    }

    fn reweigh(&mut self, request: &Request) {
        self.pages.reweigh(request.id, request.weight);
    }

    #[inline]
    fn resident_weight(&self) -> u64 {
        self.pages.resident()
    }
}
