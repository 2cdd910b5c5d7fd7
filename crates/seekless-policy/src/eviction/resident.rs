//! The part that all policies without ghosts share: capacity, weights, and the order of a request's
//! steps.
//!
//! Such a policy is a structure over ids and a [`Rule`] that picks its victim.

use super::{Eviction, Hits, Id, Needs, Outcome, Pool, Request, Use};
use crate::arrays::weights::Weights;
use seekless_device::Costs;

/// Picks the resident id that leaves, and notes uses. [`Resident`] adds up weights and evicts. It
/// calls the rule for each id that enters, is used or leaves.
pub trait Rule {
    /// What the owner of the cache must supply.
    const NEEDS: Needs = Needs::NONE;
    /// Whether a [`Use::FirstUse`] is a hit like any other. By default it has no effect.
    const FIRST_USE_COUNTS: bool = false;
    /// As [`Eviction::folds_hits`].
    const FOLDS_HITS: bool = false;

    /// Makes room for ids below `ids`.
    fn grow(&mut self, ids: u32);
    /// Whether `id` is resident.
    fn contains(&self, id: Id) -> bool;
    /// A request begins; its outcome is open. For rules that measure time in requests.
    #[inline]
    fn tick(&mut self) {}
    /// A resident id is used.
    fn hit(&mut self, request: &Request);
    /// This many requests in turn use a resident id. A rule with [`Rule::FOLDS_HITS`] says how that
    /// comes to the same in a bounded time.
    #[inline]
    fn hit_times(&mut self, request: &Request, times: u32) {
        for _ in 0..times {
            self.tick();
            self.hit(request);
        }
    }
    /// An id that is not resident enters; there is room for it.
    fn enter(&mut self, request: &Request);
    /// The next id to leave; `None` if nothing is resident. [`Resident`] calls [`Rule::leave`] for
    /// it at once.
    fn victim<P: Pool + ?Sized>(&mut self, pool: &P) -> Option<Id>;
    /// A resident id leaves: as a victim, or because it was removed.
    fn leave(&mut self, id: Id);
    /// Evicts since there is no room: one victim, unless the rule lets several leave together. It
    /// is called until there is room. False if nothing is resident.
    #[inline]
    fn evict_for_room<P: Pool + ?Sized>(&mut self, exit: &mut Exit<'_, P>) -> bool
    where
        Self: Sized,
    {
        exit.evict_victim(self)
    }
    /// The weight with which a resident id entered, for a rule that stores weights where a hit
    /// needs them. By default [`Resident`] stores them.
    #[inline]
    fn weight(&self, _id: Id) -> Option<u64> {
        None
    }
    /// A resident id has the weight and cost of `request` from now on; for a rule that stores
    /// weights, or whose order depends on them.
    fn reweigh(&mut self, _request: &Request) {}
    /// The capacity changes, for rules that depend on it. Ids that no longer fit leave afterwards.
    fn resize(&mut self, _capacity: u64) {}
    /// As [`Eviction::cleaned`].
    fn cleaned(&mut self, _id: Id) {}
    /// As [`Eviction::foresee`], of a resident id.
    fn foresee(&mut self, _id: Id, _next_use: u64) {}
    /// As [`Eviction::charged_by`].
    fn charged_by(&mut self, _costs: &Costs, _page_bytes: u64) {}
}

/// Evicts victims: subtracts their weight, and notifies the rule and the owner.
#[derive(Debug)]
pub struct Exit<'a, P: ?Sized> {
    used: &'a mut u64,
    weights: &'a Weights,
    pool: &'a mut P,
}

impl<P: Pool + ?Sized> Exit<'_, P> {
    /// The owner.
    pub(super) fn pool(&self) -> &P {
        self.pool
    }

    /// Evicts the resident id `victim`.
    #[inline]
    pub(super) fn evict<R: Rule>(&mut self, rule: &mut R, victim: Id) {
        *self.used -= weight(rule, self.weights, victim);
        rule.leave(victim);
        self.pool.discard(victim);
    }

    /// Evicts the rule's next victim; false if nothing is resident.
    #[inline]
    fn evict_victim<R: Rule>(&mut self, rule: &mut R) -> bool {
        let Some(victim) = rule.victim(&*self.pool) else {
            return false;
        };
        self.evict(rule, victim);
        true
    }
}

/// A cache without ghosts whose victims the rule `R` picks: [`Lru`](super::Lru),
/// [`Fifo`](super::Fifo), [`Clock`](super::Clock) and others.
///
/// Evicts until a newcomer fits. An id heavier than the capacity bypasses the cache. Besides the
/// rule's memory it takes 8 bytes an id once a weight other than 1 was seen.
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
    #[must_use]
    pub fn with_rule(capacity: u64, mut rule: R) -> Self {
        rule.resize(capacity);
        Self { capacity, used: 0, weights: Weights::new(), rule }
    }

    pub(super) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The rule.
    #[must_use]
    pub fn rule(&self) -> &R {
        &self.rule
    }

    /// Takes over an id of weight 1 from another cache. `enter` adds it to the rule.
    pub(super) fn take_over_page(&mut self, enter: impl FnOnce(&mut R)) {
        self.used += 1;
        enter(&mut self.rule);
    }

    #[inline]
    fn parts<'a, P: ?Sized>(&'a mut self, pool: &'a mut P) -> (&'a mut R, Exit<'a, P>) {
        (&mut self.rule, Exit { used: &mut self.used, weights: &self.weights, pool })
    }

    /// A request for a resident id.
    #[inline(always)]
    fn hit(&mut self, request: &Request) {
        self.rule.tick();
        if R::FIRST_USE_COUNTS || request.kind != Use::FirstUse {
            self.rule.hit(request);
        }
    }

    /// Evicts until `weight` more fits.
    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        let limit = self.capacity.saturating_sub(weight);
        while self.used > limit {
            let (rule, mut exit) = self.parts(pool);
            if !rule.evict_for_room(&mut exit) {
                return;
            }
        }
    }
}

#[inline]
fn weight<R: Rule>(rule: &R, weights: &Weights, id: Id) -> u64 {
    rule.weight(id).unwrap_or_else(|| weights.get(id))
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
            self.hit(request);
            return Outcome::Hit;
        }
        self.rule.tick();
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.rule.enter(request);
        if self.rule.weight(request.id).is_none() {
            self.weights.set(request.id, request.weight);
        }
        Outcome::Admitted
    }

    #[inline]
    fn hit_all<P: Pool + ?Sized>(&mut self, hits: &[Hits], _pool: &mut P) {
        for Hits { request, times } in hits {
            if R::FIRST_USE_COUNTS || request.kind != Use::FirstUse {
                self.rule.hit_times(request, *times);
            } else {
                (0..*times).for_each(|_| self.rule.tick());
            }
        }
    }

    fn folds_hits(&self) -> bool {
        R::FOLDS_HITS
    }

    #[inline]
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let (rule, mut exit) = self.parts(pool);
        exit.evict_victim(rule)
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.rule.resize(capacity);
        self.make_room(0, pool);
    }

    fn remove(&mut self, id: Id) {
        if self.rule.contains(id) {
            self.used -= weight(&self.rule, &self.weights, id);
            self.rule.leave(id);
        }
    }

    fn cleaned(&mut self, id: Id) {
        self.rule.cleaned(id);
    }

    fn foresee(&mut self, id: Id, next_use: u64) {
        if self.rule.contains(id) {
            self.rule.foresee(id, next_use);
        }
    }

    fn charged_by(&mut self, costs: &Costs, page_bytes: u64) {
        self.rule.charged_by(costs, page_bytes);
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        self.rule.contains(id).then(|| weight(&self.rule, &self.weights, id))
    }

    fn reweigh(&mut self, request: &Request) {
        if let Some(before) = self.weight_of(request.id) {
            self.used = self.used - before + request.weight;
            self.rule.reweigh(request);
            if self.rule.weight(request.id).is_none() {
                self.weights.set(request.id, request.weight);
            }
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
