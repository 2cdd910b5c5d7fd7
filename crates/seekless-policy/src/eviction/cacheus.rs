//! Cacheus: SR-LRU and CR-LFU take turns by weights, and the rate of learning adapts.

mod rate;

use super::sr_lru::{Form, Parts};
use super::{Eviction, Id, Outcome, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::counts::Counts;
use crate::arrays::list::Lists;
use crate::lehmer64::Lehmer64;
use rate::Rate;

/// Ghosts by the expert that evicted them; no expert if both named the page.
const BY_LRU: usize = 0;
const BY_LFU: usize = 1;
const NO_EXPERT: u8 = u8::MAX;

/// Cacheus (Rodriguez and others, "Learning cache replacement with CACHEUS", FAST 2021).
///
/// - **Idea:** LeCaR with better experts: [`SrLru`](super::SrLru), which resists scans, and
///   [`CrLfu`](super::CrLfu), which resists churn. The rate at which a mistake costs an expert
///   weight rises or falls by what it did to the hits; it begins anew, at random, when that stops
///   helping.
/// - **Ties:** those of the experts. A page that both name is no expert's mistake.
/// - **Cost per request:** a hit O(1) and three cache lines; a miss as in [`Lfu`](super::Lfu).
/// - **Memory:** 42 bytes an id and at most 24 a resident page; 8 more an id once a weight other
///   than 1 was seen.
/// - **Ghosts:** less than the capacity in the history, and half the capacity for each expert.
/// - **Shines** where the kind of workload changes over time, scans and churn included. **Fails**
///   on short traces, where it has not learned yet, and in caches that hold most of what is used.
///
/// [`Cacheus::new`] is the paper's, with the parts as in [`SrLru`](super::SrLru).
/// [`Cacheus::as_in_program`] is libCacheSim's, and equals its figures. There each part is full by
/// itself, so that the cache evicts while the other part has room; marks are lost, so that the
/// scan-resistant part never shrinks; the hit rate is rounded down to 0 or 1, so that the rate of
/// learning only falls; and it is never drawn anew.
///
/// Weights as in [`SrLru`](super::SrLru). Counts of ghosts in the history go on when they return.
/// [`Use::FirstUse`] is no use. Cost is ignored. A hit keeps the weight that was admitted.
#[derive(Clone, Debug)]
pub struct Cacheus {
    form: Form,
    parts: Parts,
    counts: Counts<true>,
    /// Of pages that left, those of each expert. They may be in the history too.
    mistakes: Lists<2>,
    mistakes_weight: [u64; 2],
    /// Whose mistake an id is.
    experts: Vec<u8>,
    by_lru: f64,
    by_lfu: f64,
    rate: Rate,
    draws: Lehmer64,
    /// The page that is asked for: its ghost may be dropped, but the owner keeps its number.
    asked: Option<Id>,
}

impl Cacheus {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self::with_form(capacity, Form::Paper)
    }

    /// The same, as libCacheSim 0.3.5 has it.
    #[must_use]
    pub fn as_in_program(capacity: u64) -> Self {
        Self::with_form(capacity, Form::Program)
    }

    fn with_form(capacity: u64, form: Form) -> Self {
        let mut draws = Lehmer64::default();
        Self {
            form,
            parts: Parts::new(capacity, form),
            counts: Counts::default(),
            mistakes: Lists::new(),
            mistakes_weight: [0; 2],
            experts: Vec::new(),
            by_lru: 0.5,
            by_lfu: 0.5,
            rate: Rate::new(capacity, form, &mut draws),
            draws,
            asked: None,
        }
    }

    /// A page that is not resident is asked for: the expert whose mistake it is loses weight.
    #[inline]
    fn learn(&mut self, id: Id) {
        match usize::from(self.experts[id as usize]) {
            BY_LRU => self.by_lru *= self.rate.loss(),
            BY_LFU => self.by_lfu *= self.rate.loss(),
            _ => {}
        }
        self.by_lru /= self.by_lru + self.by_lfu;
        self.by_lfu = 1.0 - self.by_lru;
        self.drop_mistake(id);
    }

    #[inline]
    fn drop_mistake(&mut self, id: Id) {
        let expert = std::mem::replace(&mut self.experts[id as usize], NO_EXPERT);
        if expert != NO_EXPERT {
            self.mistakes.unlink(id);
            self.mistakes_weight[usize::from(expert)] -= self.parts.last_weight(id).max(1);
        }
    }

    /// Notes whose mistake a victim may turn out to be.
    fn blame<P: Pool + ?Sized>(&mut self, expert: usize, victim: Id, pool: &mut P) {
        let weight = self.parts.last_weight(victim).max(1);
        let room = self.parts.capacity() / 2;
        if weight > room {
            return;
        }
        self.trim_mistakes(expert, room - weight, pool);
        self.mistakes.push_front(expert, victim);
        self.mistakes_weight[expert] += weight;
        self.experts[victim as usize] = expert as u8;
    }

    fn trim_mistakes<P: Pool + ?Sized>(&mut self, expert: usize, room: u64, pool: &mut P) {
        while self.mistakes_weight[expert] > room {
            let Some(oldest) = self.mistakes.back(expert) else { return };
            self.drop_mistake(oldest);
            if !self.parts.is_ghost(oldest) {
                pool.forget(oldest);
            }
        }
    }

    /// Evicts a page, as the mistake of an expert or of none.
    fn evict<P: Pool + ?Sized>(&mut self, victim: Id, expert: Option<usize>, pool: &mut P) {
        self.counts.take_out(victim);
        self.parts.move_to_history(victim);
        pool.evict(victim);
        if let Some(expert) = expert {
            self.blame(expert, victim, pool);
        }
        self.trim_history(pool);
    }

    fn trim_history<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while let Some(oldest) = self.parts.pop_ghost() {
            self.counts.clear(oldest);
            if self.experts[oldest as usize] == NO_EXPERT && self.asked != Some(oldest) {
                pool.forget(oldest);
            }
        }
    }

    fn miss<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let Request { id, weight, .. } = *request;
        let was_ghost = self.parts.is_ghost(id) || self.experts[id as usize] != NO_EXPERT;
        self.learn(id);
        self.asked = Some(id);
        let capacity = self.parts.capacity();
        let fits = match self.form {
            Form::Paper => self.parts.has_room_for(id, weight),
            Form::Program => weight <= capacity,
        };
        if fits {
            self.shrink_to(capacity - weight, pool);
        }
        self.asked = None;
        let is_ghost = self.parts.is_ghost(id);
        if !fits || !self.parts.has_room_for(id, weight) {
            if was_ghost && !is_ghost {
                pool.forget(id);
            }
            return Outcome::Bypassed;
        }
        let count = if is_ghost { self.counts.count(id).saturating_add(1) } else { 1 };
        self.counts.enter(id, count);
        self.parts.admit(id, weight);
        while let Some(victim) = self.parts.overflow() {
            self.evict(victim, None, pool);
        }
        Outcome::Admitted
    }
}

impl Eviction for Cacheus {
    fn grow(&mut self, ids: u32) {
        self.parts.grow(ids);
        self.counts.grow(ids);
        self.mistakes.grow(ids);
        column::grow(&mut self.experts, ids, NO_EXPERT);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        let is_hit = self.parts.is_resident(id);
        let outcome = if is_hit {
            if request.kind != Use::FirstUse {
                self.parts.hit(id);
                self.counts.note_use(id);
            }
            Outcome::Hit
        } else {
            self.miss(request, pool)
        };
        self.rate.count(is_hit, &mut self.draws);
        outcome
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let (Some(oldest), Some(least)) = (self.parts.oldest(), self.counts.least()) else {
            return false;
        };
        let by_lru = self.draws.hundredth() < self.by_lru;
        match (by_lru, oldest == least) {
            (_, true) => self.evict(oldest, None, pool),
            (true, false) => self.evict(oldest, Some(BY_LRU), pool),
            (false, false) => self.evict(least, Some(BY_LFU), pool),
        }
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.parts.resize(capacity);
        self.rate.resize(capacity);
        self.shrink_to(capacity, pool);
        self.trim_mistakes(BY_LRU, capacity / 2, pool);
        self.trim_mistakes(BY_LFU, capacity / 2, pool);
        self.trim_history(pool);
    }

    fn remove(&mut self, id: Id) {
        if self.parts.is_resident(id) {
            self.counts.take_out(id);
        }
        self.counts.clear(id);
        self.drop_mistake(id);
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
