//! Landlord as figure 1 of Wassenberg 2006 has it: each eviction visits every file. For the
//! experiment of section 4.5.

use super::super::resident::{Exit, Resident, Rule};
use super::super::{Id, Pool, Request};
use super::density::{Density, NO_CREDIT, Tenant};
use crate::sample::Rows;

/// Landlord with credits that are charged one by one; with `CACHED`, `Landlord_Cached` of section
/// 3.5.3.
///
/// - **Idea:** as [`Landlord`](super::Landlord), with the credit of each file in a float. To make
///   room it finds the least credit density, charges every file, and evicts all files whose credit
///   falls below 0.0001. `CACHED` fuses the two loops: it finds the next least density while it
///   charges, and updates it at each addition and use.
/// - **Cost per request:** a hit O(1), a miss O(n).
/// - **Memory:** 4 bytes an id (12 once a weight other than 1 was seen) and 12 to 16 a resident
///   file. No ghosts.
/// - **Shines** nowhere: it is here to be measured. **Fails** on large caches.
///
/// [`Use::FirstUse`](crate::eviction::Use::FirstUse) restores nothing. A hit keeps the weight that
/// was admitted and takes the request's cost. Files without credit leave together, so it holds less
/// than the exact Landlord. With many files of one size all of them may leave at once.
pub type Charging<D, const CACHED: bool> = Resident<ChargingRule<D, CACHED>>;

/// The rule of [`Charging`].
#[derive(Clone, Debug)]
pub struct ChargingRule<D, const CACHED: bool> {
    tenants: Rows<Tenant<D>>,
    /// The least credit density, if it is known.
    least: Option<f32>,
}

impl<D, const CACHED: bool> Default for ChargingRule<D, CACHED> {
    fn default() -> Self {
        Self { tenants: Rows::new(), least: None }
    }
}

impl<D: Density, const CACHED: bool> ChargingRule<D, CACHED> {
    /// The first loop: the rent that takes all credit from at least one file.
    fn rent(&self) -> f32 {
        let known = if CACHED { self.least } else { None };
        known.unwrap_or_else(|| {
            self.tenants.all().iter().map(Tenant::density).fold(f32::INFINITY, f32::min)
        })
    }
}

impl<D: Density, const CACHED: bool> Rule for ChargingRule<D, CACHED> {
    fn grow(&mut self, ids: u32) {
        self.tenants.grow(ids);
    }

    fn contains(&self, id: Id) -> bool {
        self.tenants.contains(id)
    }

    fn hit(&mut self, request: &Request) {
        let Some(tenant) = self.tenants.get_mut(request.id) else { return };
        if self.least == Some(tenant.density()) {
            self.least = None;
        }
        tenant.restore(request.cost);
    }

    fn enter(&mut self, request: &Request) {
        let tenant = Tenant::new(request.weight, request.cost);
        self.least = match self.least {
            Some(least) => Some(least.min(tenant.density())),
            None if self.tenants.all().is_empty() => Some(tenant.density()),
            None => None,
        };
        self.tenants.insert(request.id, tenant);
    }

    fn reweigh(&mut self, request: &Request) {
        if let Some(tenant) = self.tenants.get_mut(request.id) {
            tenant.reweigh(request.weight);
        }
        self.least = None;
    }

    /// Charges all files until one has no credit, and picks the first without.
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        while !self.tenants.all().is_empty() {
            let rent = self.rent();
            let mut first = None;
            for (at, tenant) in self.tenants.all_mut().iter_mut().enumerate() {
                tenant.charge(rent);
                if tenant.credit < NO_CREDIT {
                    first = first.or(Some(at));
                }
            }
            self.least = None;
            if let Some(at) = first {
                return Some(self.tenants.ids()[at]);
            }
        }
        None
    }

    fn leave(&mut self, id: Id) {
        self.tenants.remove(id);
        self.least = None;
    }

    /// The second loop: charges all files and evicts those without credit.
    fn evict_for_room<P: Pool + ?Sized>(&mut self, exit: &mut Exit<'_, P>) -> bool {
        if self.tenants.all().is_empty() {
            return false;
        }
        let rent = self.rent();
        let (mut at, mut least) = (0, f32::INFINITY);
        while let Some(tenant) = self.tenants.all_mut().get_mut(at) {
            tenant.charge(rent);
            if tenant.credit < NO_CREDIT {
                let victim = self.tenants.ids()[at];
                exit.evict(self, victim);
                continue; // the last one has taken the place, and has not paid yet
            }
            least = least.min(tenant.density());
            at += 1;
        }
        self.least = Some(least);
        true
    }
}
