//! Landlord as figure 1 of Wassenberg 2006 has it: everybody is visited to pay. For the experiment of section 4.5.

use super::super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use super::density::{Density, NO_CREDIT, Tenant};
use crate::weights::Weights;

const NOWHERE: u32 = u32::MAX;

/// Landlord with credits that are charged one by one; with `CACHED`, as `Landlord_Cached` of section 3.5.3.
///
/// - **Idea:** as [`Landlord`](super::Landlord), with the credit of each file in a float. Room is made by finding the least
///   credit density, charging everybody and evicting all whose credit falls below 0.0001. `CACHED` fuses the two loops: the
///   next least density is found while charging, and kept up to date by what is added or used in between.
/// - **Cost per request:** a hit O(1), a miss O(n).
/// - **Memory:** 4 bytes an id (12 once a weight other than 1 was seen) and 12 to 16 a resident file. No ghosts.
/// - **Shines** nowhere: it is here to be measured. **Fails** on large caches.
///
/// [`Use::FirstUse`] restores nothing. A hit keeps the weight that was admitted and takes the request's cost. Files without
/// credit leave together, so it holds less than the exact Landlord; with many files of one size all of them may leave at once.
#[derive(Clone, Debug)]
pub struct Charging<D, const CACHED: bool> {
    capacity: u64,
    used: u64,
    tenants: Vec<Tenant<D>>,
    positions: Vec<u32>,
    /// The least credit density, if it is known.
    least: Option<f32>,
    weights: Weights,
}

impl<D: Density, const CACHED: bool> Charging<D, CACHED> {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            used: 0,
            tenants: Vec::new(),
            positions: Vec::new(),
            least: None,
            weights: Weights::new(),
        }
    }

    fn hit(&mut self, request: &Request) {
        let tenant = &mut self.tenants[self.positions[request.id as usize] as usize];
        if self.least == Some(tenant.density()) {
            self.least = None;
        }
        tenant.restore(request.cost);
    }

    fn admit(&mut self, request: &Request) {
        let tenant = Tenant::new(request.id, request.weight, request.cost);
        self.least = match self.least {
            Some(least) => Some(least.min(tenant.density())),
            None if self.tenants.is_empty() => Some(tenant.density()),
            None => None,
        };
        self.used += request.weight;
        self.weights.set(request.id, request.weight);
        self.positions[request.id as usize] = self.tenants.len() as u32;
        self.tenants.push(tenant);
    }

    /// The first loop: the rent that takes all credit from at least one file.
    fn rent(&self) -> f32 {
        let known = if CACHED { self.least } else { None };
        known.unwrap_or_else(|| self.tenants.iter().map(Tenant::density).fold(f32::INFINITY, f32::min))
    }

    /// The second loop: charges everybody and evicts at most `most` of those without credit. False if there is nobody.
    fn charge<P: Pool + ?Sized>(&mut self, most: usize, pool: &mut P) -> bool {
        if self.tenants.is_empty() {
            return false;
        }
        let rent = self.rent();
        let (mut at, mut evicted, mut least) = (0, 0, f32::INFINITY);
        while let Some(tenant) = self.tenants.get_mut(at) {
            tenant.charge(rent);
            if tenant.credit < NO_CREDIT && evicted < most {
                evicted += 1;
                let victim = tenant.id;
                self.take(at);
                pool.evict(victim);
                pool.forget(victim);
                continue; // the last one has taken the place, and has not paid yet
            }
            least = least.min(tenant.density());
            at += 1;
        }
        self.least = Some(least);
        true
    }

    fn take(&mut self, at: usize) {
        let id = self.tenants.swap_remove(at).id;
        self.positions[id as usize] = NOWHERE;
        self.used -= self.weights.get(id);
        if let Some(moved) = self.tenants.get(at) {
            self.positions[moved.id as usize] = at as u32;
        }
    }

    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used > self.capacity.saturating_sub(weight) {
            if !self.charge(usize::MAX, pool) {
                return;
            }
        }
    }
}

impl<D: Density, const CACHED: bool> Eviction for Charging<D, CACHED> {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.positions.len() {
            self.positions.resize(ids as usize, NOWHERE);
        }
        self.weights.grow(ids);
    }

    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        if self.positions[request.id as usize] != NOWHERE {
            if request.kind != Use::FirstUse {
                self.hit(request);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.admit(request);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let before = self.tenants.len();
        while self.tenants.len() == before {
            if !self.charge(1, pool) {
                return false;
            }
        }
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.make_room(0, pool);
    }

    fn remove(&mut self, id: Id) {
        let at = self.positions[id as usize];
        if at != NOWHERE {
            self.take(at as usize);
            self.least = None;
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
