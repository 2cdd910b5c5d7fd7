//! Landlord with a priority queue and pending rent: `Landlord_Lazy` of Wassenberg 2006. For the
//! experiment of section 4.5.

use super::super::resident::{Resident, Rule};
use super::super::{Id, Pool, Request};
use super::density::{Density, Tenant};
use crate::sample::Rows;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Landlord as `Landlord_Lazy` of section 3.5.3.
///
/// - **Idea:** as [`Landlord`](super::Landlord), with the credit of each file in a float. A
///   priority queue gives the file of least credit density, the next victim. The rent that is due
///   is noted, and charged before a file is added. A hit changes a credit, so the queue is built
///   anew.
/// - **Cost per request:** an eviction O(log n), all else O(n), as in the paper, whose queue cannot
///   move one entry.
/// - **Memory:** 4 bytes an id (12 once a weight other than 1 was seen) and 20 to 24 a resident
///   file. No ghosts.
/// - **Shines** where there are many evictions for each addition. **Fails** on hits. It is here to
///   be measured.
///
/// [`Use::FirstUse`](crate::eviction::Use::FirstUse) restores nothing. A hit keeps the weight that
/// was admitted and takes the request's cost. Files of equal density leave by number.
pub type Lazy<D> = Resident<LazyRule<D>>;

/// The rule of [`Lazy`].
#[derive(Clone, Debug)]
pub struct LazyRule<D> {
    tenants: Rows<Tenant<D>>,
    /// The bits of each density, and its file. A density is never negative, so its bits sort as the
    /// number does.
    queue: BinaryHeap<Reverse<(u32, Id)>>,
    /// Rent that is still to be charged.
    pending: f32,
}

impl<D> Default for LazyRule<D> {
    fn default() -> Self {
        Self { tenants: Rows::new(), queue: BinaryHeap::new(), pending: 0.0 }
    }
}

impl<D: Density> LazyRule<D> {
    /// Charges all files the pending rent.
    fn commit(&mut self) {
        if self.pending > 0.0 {
            let rent = std::mem::take(&mut self.pending);
            self.tenants.all_mut().iter_mut().for_each(|tenant| tenant.charge(rent));
            self.sort();
        }
    }

    /// Builds the queue anew, in its old memory.
    fn sort(&mut self) {
        let mut entries = std::mem::take(&mut self.queue).into_vec();
        entries.clear();
        let tenants = self.tenants.ids().iter().zip(self.tenants.all());
        entries.extend(tenants.map(|(&id, tenant)| entry(id, tenant)));
        self.queue = entries.into();
    }
}

/// The place of a file in the queue. Rounding may leave a credit a little below 0.
fn entry<D: Density>(id: Id, tenant: &Tenant<D>) -> Reverse<(u32, Id)> {
    Reverse((tenant.density().max(0.0).to_bits(), id))
}

impl<D: Density> Rule for LazyRule<D> {
    fn grow(&mut self, ids: u32) {
        self.tenants.grow(ids);
    }

    fn contains(&self, id: Id) -> bool {
        self.tenants.contains(id)
    }

    fn hit(&mut self, request: &Request) {
        self.commit();
        if let Some(tenant) = self.tenants.get_mut(request.id) {
            tenant.restore(request.cost);
        }
        self.sort();
    }

    fn enter(&mut self, request: &Request) {
        self.commit();
        let tenant = Tenant::new(request.weight, request.cost);
        self.queue.push(entry(request.id, &tenant));
        self.tenants.insert(request.id, tenant);
    }

    fn reweigh(&mut self, request: &Request) {
        self.commit();
        if let Some(tenant) = self.tenants.get_mut(request.id) {
            tenant.reweigh(request.weight);
        }
        self.sort();
    }

    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let &Reverse((density, victim)) = self.queue.peek()?;
        // The densities in the queue are those of the last commit, so this is all the rent that is
        // due since then.
        self.pending = f32::from_bits(density);
        Some(victim)
    }

    fn leave(&mut self, id: Id) {
        self.tenants.remove(id);
        if self.queue.peek().is_some_and(|first| first.0.1 == id) {
            self.queue.pop();
        } else {
            self.queue.retain(|entry| entry.0.1 != id);
        }
    }
}
