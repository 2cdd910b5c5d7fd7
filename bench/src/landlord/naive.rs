//! Landlord as the paper describes it (Wassenberg 2006, section 3.5.3), with exact credits: to make
//! room, all files are visited twice, to find the least credit for a byte and to charge it.

use seekless::policy::eviction::{Eviction, Id, Outcome, Pool, Request};

/// Binary places of a credit for a byte, as in our own.
const BITS: u32 = 64;

/// One file in the cache.
#[derive(Clone, Copy)]
struct Tenant {
    id: Id,
    bytes: u64,
    /// Credit for each byte.
    credit: u128,
    /// When it was last used. Of equal credits the earliest leaves first.
    turn: u64,
}

/// The cache.
pub(super) struct Naive {
    capacity: u64,
    used: u64,
    turn: u64,
    tenants: Vec<Tenant>,
    /// The place of each file among the tenants.
    places: Vec<Option<u32>>,
}

impl Naive {
    pub(super) fn new(capacity: u64) -> Self {
        Self { capacity, used: 0, turn: 0, tenants: Vec::new(), places: Vec::new() }
    }

    fn take(&mut self, place: usize) -> Tenant {
        let tenant = self.tenants.swap_remove(place);
        self.places[tenant.id as usize] = None;
        if let Some(moved) = self.tenants.get(place) {
            self.places[moved.id as usize] = Some(place as u32);
        }
        self.used -= tenant.bytes;
        tenant
    }
}

fn full(request: &Request) -> u128 {
    (u128::from(request.cost) << BITS) / u128::from(request.weight.max(1))
}

impl Eviction for Naive {
    fn grow(&mut self, ids: u32) {
        self.places.resize(ids as usize, None);
    }

    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.turn += 1;
        if let Some(place) = self.places[request.id as usize] {
            let tenant = &mut self.tenants[place as usize];
            // Three quarters of the lost credit come back.
            tenant.credit += full(request).saturating_sub(tenant.credit) * 3 / 4;
            tenant.turn = self.turn;
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        while self.used + request.weight > self.capacity && self.evict_one(pool) {}
        self.places[request.id as usize] = Some(self.tenants.len() as u32);
        self.used += request.weight;
        let (id, bytes, credit, turn) = (request.id, request.weight, full(request), self.turn);
        self.tenants.push(Tenant { id, bytes, credit, turn });
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let poorest = (0..self.tenants.len())
            .min_by_key(|&place| (self.tenants[place].credit, self.tenants[place].turn));
        let Some(place) = poorest else { return false };
        let rent = self.tenants[place].credit;
        self.tenants.iter_mut().for_each(|tenant| tenant.credit -= rent);
        pool.evict(self.take(place).id);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        while self.used > capacity && self.evict_one(pool) {}
    }

    fn remove(&mut self, id: Id) {
        if let Some(place) = self.places[id as usize] {
            self.take(place as usize);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
