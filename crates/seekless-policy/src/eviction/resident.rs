//! What every policy that remembers only what is resident shares: capacity, weights, and the order of a request's steps.
//! Such a policy is a structure over ids and a [`Rule`] that picks its victim; the rest stands here, once.

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::weights::Weights;

/// Who leaves, and what a use changes. It never counts weights or evicts: [`Resident`] does, and tells it who came and went.
pub trait Rule {
    /// What the owner of the cache must supply.
    const NEEDS: Needs = Needs::NONE;
    /// A [`Use::FirstUse`] is a hit like any other; by default it changes nothing.
    const FIRST_USE_COUNTS: bool = false;
    /// When something does not fit, everything leaves.
    const FLUSHES: bool = false;

    /// Makes room for ids below `ids`.
    fn grow(&mut self, ids: u32);
    /// Whether `id` is resident.
    fn contains(&self, id: Id) -> bool;
    /// A resident id is used.
    fn hit(&mut self, request: &Request);
    /// An id that is not resident becomes so; there is room.
    fn enter(&mut self, request: &Request);
    /// The next to leave, if anything is resident; it [leaves](Rule::leave) at once.
    fn victim<P: Pool + ?Sized>(&mut self, pool: &P) -> Option<Id>;
    /// A resident id is so no more.
    fn leave(&mut self, id: Id);
    /// The capacity is this now, for a rule that depends on it; what no longer fits is still to leave.
    fn resize(&mut self, _capacity: u64) {}
    /// As [`Eviction::cleaned`].
    fn cleaned(&mut self, _id: Id) {}
}

/// A cache without ghosts whose victims `R` picks. See [`Lru`](super::Lru), [`Fifo`](super::Fifo), [`Clock`](super::Clock) and
/// the others that are one of these.
///
/// Evicts until the newcomer fits; what is heavier than the capacity bypasses it. 8 bytes an id once a weight other than 1 was
/// seen, besides what the rule takes.
#[derive(Clone, Debug)]
pub struct Resident<R> {
    capacity: u64,
    used: u64,
    weights: Weights,
    rule: R,
}

impl<R: Rule + Default> Resident<R> {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self::with_rule(capacity, R::default())
    }
}

impl<R: Rule> Resident<R> {
    /// An empty cache of `capacity` units of weight by a rule that has parameters.
    pub(super) fn with_rule(capacity: u64, mut rule: R) -> Self {
        rule.resize(capacity);
        Self { capacity, used: 0, weights: Weights::new(), rule }
    }

    /// Evicts until `weight` more fits.
    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        let limit = self.capacity.saturating_sub(weight);
        if self.used > limit {
            while (R::FLUSHES || self.used > limit) && self.evict_one(pool) {}
        }
    }

    #[inline]
    fn release(&mut self, id: Id) {
        self.rule.leave(id);
        self.used -= self.weights.get(id);
    }
}

impl<R: Rule> Eviction for Resident<R> {
    fn needs(&self) -> Needs {
        R::NEEDS
    }

    fn grow(&mut self, ids: u32) {
        self.rule.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        if self.rule.contains(request.id) {
            if R::FIRST_USE_COUNTS || request.kind != Use::FirstUse {
                self.rule.hit(request);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.weights.set(request.id, request.weight);
        self.rule.enter(request);
        Outcome::Admitted
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = self.rule.victim(pool) else {
            return false;
        };
        self.release(victim);
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.rule.resize(capacity);
        self.make_room(0, pool);
    }

    fn remove(&mut self, id: Id) {
        if self.rule.contains(id) {
            self.release(id);
        }
    }

    fn cleaned(&mut self, id: Id) {
        self.rule.cleaned(id);
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
