//! Landlord with a priority queue and pending rent: `Landlord_Lazy` of Wassenberg 2006. For the experiment of section 4.5.

use super::super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use super::density::{Density, Tenant};
use crate::weights::Weights;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const NOWHERE: u32 = u32::MAX;

/// Landlord as `Landlord_Lazy` of section 3.5.3.
///
/// - **Idea:** as [`Landlord`](super::Landlord), with the credit of each file in a float. A priority queue gives the file of
///   least credit density, the next victim; what all should have paid by then is kept aside, and charged before a file is
///   added. A hit changes a credit, so the queue is built anew.
/// - **Cost per request:** an eviction O(log n), all else O(n), as in the paper, whose queue cannot move one entry.
/// - **Memory:** 4 bytes an id (12 once a weight other than 1 was seen) and 20 to 24 a resident file. No ghosts.
/// - **Shines** where evictions are many for each addition. **Fails** on hits. It is here to be measured.
///
/// [`Use::FirstUse`] restores nothing. A hit keeps the weight that was admitted and takes the request's cost. Equal densities
/// leave by number.
#[derive(Clone, Debug)]
pub struct Lazy<D> {
    capacity: u64,
    used: u64,
    tenants: Vec<Tenant<D>>,
    positions: Vec<u32>,
    /// Bits of each density (never negative, so they order as the numbers do) and whose it is.
    queue: BinaryHeap<Reverse<(u32, Id)>>,
    /// Rent that is still to be charged.
    pending: f32,
    weights: Weights,
}

impl<D: Density> Lazy<D> {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            used: 0,
            tenants: Vec::new(),
            positions: Vec::new(),
            queue: BinaryHeap::new(),
            pending: 0.0,
            weights: Weights::new(),
        }
    }

    /// Charges everybody what is pending.
    fn commit(&mut self) {
        if self.pending > 0.0 {
            let rent = std::mem::take(&mut self.pending);
            self.tenants.iter_mut().for_each(|tenant| tenant.charge(rent));
            self.sort();
        }
    }

    /// Builds the queue anew, in its old memory.
    fn sort(&mut self) {
        let mut entries = std::mem::take(&mut self.queue).into_vec();
        entries.clear();
        entries.extend(self.tenants.iter().map(entry));
        self.queue = entries.into();
    }

    fn hit(&mut self, request: &Request) {
        self.commit();
        self.tenants[self.positions[request.id as usize] as usize].restore(request.cost);
        self.sort();
    }

    fn admit(&mut self, request: &Request) {
        self.commit();
        let tenant = Tenant::new(request.id, request.weight, request.cost);
        self.used += request.weight;
        self.weights.set(request.id, request.weight);
        self.positions[request.id as usize] = self.tenants.len() as u32;
        self.queue.push(entry(&tenant));
        self.tenants.push(tenant);
    }

    fn take(&mut self, id: Id) {
        let at = self.positions[id as usize] as usize;
        self.tenants.swap_remove(at);
        self.positions[id as usize] = NOWHERE;
        self.used -= self.weights.get(id);
        if let Some(moved) = self.tenants.get(at) {
            self.positions[moved.id as usize] = at as u32;
        }
    }

    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used > self.capacity.saturating_sub(weight) {
            if !self.evict_one(pool) {
                return;
            }
        }
    }
}

/// Where a file stands in the queue. Rounding may leave a credit a little below 0.
fn entry<D: Density>(tenant: &Tenant<D>) -> Reverse<(u32, Id)> {
    Reverse((tenant.density().max(0.0).to_bits(), tenant.id))
}

impl<D: Density> Eviction for Lazy<D> {
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
        let Some(Reverse((density, victim))) = self.queue.pop() else {
            return false;
        };
        // Densities in the queue are those of the last commit, so this is all that has come due since then.
        self.pending = f32::from_bits(density);
        self.take(victim);
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.make_room(0, pool);
    }

    fn remove(&mut self, id: Id) {
        if self.positions[id as usize] != NOWHERE {
            self.take(id);
            self.queue.retain(|entry| entry.0.1 != id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
