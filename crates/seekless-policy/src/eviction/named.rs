//! Policies by name, boxed. The simulator takes them with static types instead, by [`visit`].

use super::parameters::visit;
use super::table::Visitor;
use super::{Eviction, Hits, Id, Needs, Outcome, Pool, Request};
use crate::Result;
use seekless_device::Costs;

/// What the policy called `name` needs from its owner.
///
/// # Errors
/// There is no such policy.
pub fn needs_of(name: &str) -> Result<Needs> {
    Ok(named(name, 1)?.needs())
}

/// [`Eviction`] as an object-safe trait. One blanket implementation gives it to every policy.
pub trait DynEviction: Send {
    /// As [`Eviction::needs`].
    fn needs_dyn(&self) -> Needs;
    /// As [`Eviction::grow`].
    fn grow_dyn(&mut self, ids: u32);
    /// As [`Eviction::request`].
    fn request_dyn(&mut self, request: &Request, pool: &mut dyn Pool) -> Outcome;
    /// As [`Eviction::hit_all`].
    fn hit_all_dyn(&mut self, hits: &[Hits], pool: &mut dyn Pool);
    /// As [`Eviction::folds_hits`].
    fn folds_hits_dyn(&self) -> bool;
    /// As [`Eviction::evict_one`].
    fn evict_one_dyn(&mut self, pool: &mut dyn Pool) -> bool;
    /// As [`Eviction::set_capacity`].
    fn set_capacity_dyn(&mut self, capacity: u64, pool: &mut dyn Pool);
    /// As [`Eviction::remove`].
    fn remove_dyn(&mut self, id: Id);
    /// As [`Eviction::cleaned`].
    fn cleaned_dyn(&mut self, id: Id);
    /// As [`Eviction::foresee`].
    fn foresee_dyn(&mut self, id: Id, next_use: u64);
    /// As [`Eviction::charged_by`].
    fn charged_by_dyn(&mut self, costs: &Costs, page_bytes: u64);
    /// As [`Eviction::weight_of`].
    fn weight_of_dyn(&self, id: Id) -> Option<u64>;
    /// As [`Eviction::reweigh`].
    fn reweigh_dyn(&mut self, request: &Request);
    /// As [`Eviction::resident_weight`].
    fn resident_weight_dyn(&self) -> u64;
}

impl<E: Eviction + Send> DynEviction for E {
    fn needs_dyn(&self) -> Needs {
        self.needs()
    }

    fn grow_dyn(&mut self, ids: u32) {
        self.grow(ids);
    }

    fn request_dyn(&mut self, request: &Request, pool: &mut dyn Pool) -> Outcome {
        self.request(request, pool)
    }

    fn hit_all_dyn(&mut self, hits: &[Hits], pool: &mut dyn Pool) {
        self.hit_all(hits, pool);
    }

    fn folds_hits_dyn(&self) -> bool {
        self.folds_hits()
    }

    fn evict_one_dyn(&mut self, pool: &mut dyn Pool) -> bool {
        self.evict_one(pool)
    }

    fn set_capacity_dyn(&mut self, capacity: u64, pool: &mut dyn Pool) {
        self.set_capacity(capacity, pool);
    }

    fn remove_dyn(&mut self, id: Id) {
        self.remove(id);
    }

    fn cleaned_dyn(&mut self, id: Id) {
        self.cleaned(id);
    }

    fn foresee_dyn(&mut self, id: Id, next_use: u64) {
        self.foresee(id, next_use);
    }

    fn charged_by_dyn(&mut self, costs: &Costs, page_bytes: u64) {
        self.charged_by(costs, page_bytes);
    }

    fn weight_of_dyn(&self, id: Id) -> Option<u64> {
        self.weight_of(id)
    }

    fn reweigh_dyn(&mut self, request: &Request) {
        self.reweigh(request);
    }

    fn resident_weight_dyn(&self) -> u64 {
        self.resident_weight()
    }
}

/// A policy chosen by name at run time. It is an [`Eviction`] like any other, with one indirect
/// call more a request.
pub struct Named {
    name: String,
    policy: Box<dyn DynEviction>,
}

impl Named {
    /// The name by which it was chosen.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl std::fmt::Debug for Named {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("Named").field(&self.name).finish()
    }
}

struct Boxing;

impl Visitor for Boxing {
    type Output = Box<dyn DynEviction>;

    fn visit<E: Eviction + Send + 'static>(self, policy: E) -> Self::Output {
        Box::new(policy)
    }
}

/// The policy called `name` (see [`NAMES`](super::NAMES)) with `capacity` units of weight.
///
/// # Errors
/// There is no such policy.
pub fn named(name: &str, capacity: u64) -> Result<Named> {
    Ok(Named { name: name.to_owned(), policy: visit(name, capacity, Boxing)? })
}

impl Eviction for Named {
    fn needs(&self) -> Needs {
        self.policy.needs_dyn()
    }

    fn grow(&mut self, ids: u32) {
        self.policy.grow_dyn(ids);
    }

    fn request<P: Pool + ?Sized>(&mut self, request: &Request, mut pool: &mut P) -> Outcome {
        self.policy.request_dyn(request, &mut pool)
    }

    fn hit_all<P: Pool + ?Sized>(&mut self, hits: &[Hits], mut pool: &mut P) {
        self.policy.hit_all_dyn(hits, &mut pool);
    }

    fn folds_hits(&self) -> bool {
        self.policy.folds_hits_dyn()
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, mut pool: &mut P) -> bool {
        self.policy.evict_one_dyn(&mut pool)
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, mut pool: &mut P) {
        self.policy.set_capacity_dyn(capacity, &mut pool);
    }

    fn remove(&mut self, id: Id) {
        self.policy.remove_dyn(id);
    }

    fn cleaned(&mut self, id: Id) {
        self.policy.cleaned_dyn(id);
    }

    fn foresee(&mut self, id: Id, next_use: u64) {
        self.policy.foresee_dyn(id, next_use);
    }

    fn charged_by(&mut self, costs: &Costs, page_bytes: u64) {
        self.policy.charged_by_dyn(costs, page_bytes);
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        self.policy.weight_of_dyn(id)
    }

    fn reweigh(&mut self, request: &Request) {
        self.policy.reweigh_dyn(request);
    }

    fn resident_weight(&self) -> u64 {
        self.policy.resident_weight_dyn()
    }
}
