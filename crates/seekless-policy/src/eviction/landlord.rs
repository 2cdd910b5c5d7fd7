//! Landlord: every file pays rent by its size; who cannot pay leaves. Exact, and nobody is ever visited to pay.

mod charging;
mod density;
mod lazy;

pub use charging::Charging;
pub use density::{Division, Reciprocal};
pub use lazy::Lazy;

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::heap::IndexedHeap;
use crate::weights::Weights;
use crate::{Error, ErrorKind, Result};

/// Credit densities are fixed-point numbers with this many binary places, so that sums and differences are exact.
const DENSITY_BITS: u32 = 64;
/// Scale of the restored fraction.
const RESTORE_ONE: u128 = 1 << 16;

/// Where an id stands in the queue to leave: credit density plus the rent that all had paid by then, then last use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// High and low half of the density; two halves keep the alignment at 8 bytes.
    density: [u64; 2],
    /// Number of the request that used it last: ties go to the least recently used.
    last_use: u64,
}

impl Rank {
    fn new(density: u128, last_use: u64) -> Self {
        Self { density: [(density >> 64) as u64, density as u64], last_use }
    }

    fn density(self) -> u128 {
        u128::from(self.density[0]) << 64 | u128::from(self.density[1])
    }
}

/// Landlord (Young, "On-line file caching", 1998), as Wassenberg 2006 section 3.5.3 uses it; GreedyDual-Size (Cao and
/// Irani 1997) is the case of full restoring.
///
/// - **Idea:** a file comes in with credit equal to its cost. Room is made by charging each file rent in proportion to
///   its size until some credit is 0; those may leave. A hit restores part of the lost credit: 75 % by default, as 0 A.D.
///   does. With cost 1 a small file outstays a large one.
/// - **Rent without visits:** instead of lowering every credit, an offset rises; a file stores offset at its last
///   restoring plus credit density. The least stored value is the next victim, and becomes the offset. Densities are
///   fixed-point integers, so this equals charging everybody, to the last bit.
/// - **Ties** (equal credit density): the least recently used leaves first. Evicts one at a time until there is room, so
///   others without credit may stay.
/// - **Cost per request:** a hit O(1) (the heap learns of the raised value when it reaches the root), a miss O(log n).
/// - **Memory:** 28 bytes an id, 36 once a weight other than 1 was seen, and 32 a resident file. No ghosts.
/// - **Shines** where sizes differ widely and requests count, not bytes: many small files, a few huge ones. **Fails** to
///   tell often used from seldom used files of one size (there it is LRU), and byte hit rates gain little.
///
/// [`Use::FirstUse`] restores nothing. A hit keeps the weight that was admitted and takes the request's cost.
#[derive(Clone, Debug)]
pub struct Landlord {
    capacity: u64,
    used: u64,
    /// Rent per unit of weight charged so far.
    offset: u128,
    /// Fraction of lost credit that a hit gives back, in units of 1 / [`RESTORE_ONE`].
    restore: u128,
    requests: u64,
    ranks: Vec<Rank>,
    queue: IndexedHeap<Rank>,
    weights: Weights,
}

impl Landlord {
    /// The default: a hit restores 75 % of the lost credit.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self::from_scaled(capacity, RESTORE_ONE * 3 / 4)
    }

    /// A hit restores all lost credit: GreedyDual-Size.
    #[must_use]
    pub fn full_restore(capacity: u64) -> Self {
        Self::from_scaled(capacity, RESTORE_ONE)
    }

    /// A hit restores `fraction` (0 to 1) of the lost credit; 0 makes it FIFO by size.
    pub fn with_restore(capacity: u64, fraction: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&fraction) {
            let message =
                format!("a hit can restore a fraction of 0 to 1 of the lost credit, not {fraction}");
            return Err(Error::new(ErrorKind::BadParameter, message));
        }
        Ok(Self::from_scaled(capacity, (fraction * RESTORE_ONE as f64).round() as u128))
    }

    fn from_scaled(capacity: u64, restore: u128) -> Self {
        Self {
            capacity,
            used: 0,
            offset: 0,
            restore,
            requests: 0,
            ranks: Vec::new(),
            queue: IndexedHeap::new(),
            weights: Weights::new(),
        }
    }

    fn hit(&mut self, request: &Request) {
        if request.kind == Use::FirstUse {
            return;
        }
        let density = self.ranks[request.id as usize].density();
        let full = self.offset + full_density(request.cost, self.weights.get(request.id));
        let restored = full.saturating_sub(density) * self.restore / RESTORE_ONE;
        self.ranks[request.id as usize] = Rank::new(density + restored, self.requests);
    }

    fn admit(&mut self, request: &Request) {
        let rank = Rank::new(self.offset + full_density(request.cost, request.weight), self.requests);
        self.used += request.weight;
        self.weights.set(request.id, request.weight);
        self.ranks[request.id as usize] = rank;
        self.queue.push(request.id, rank);
    }

    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used > self.capacity.saturating_sub(weight) {
            if !self.evict_one(pool) {
                return;
            }
        }
    }
}

/// Credit per unit of weight of a file that lost none. A weight of 0 counts as 1: it takes no room, yet must rank.
#[inline]
fn full_density(cost: u32, weight: u64) -> u128 {
    let credit = u128::from(cost) << DENSITY_BITS;
    if weight <= 1 { credit } else { credit / u128::from(weight) }
}

impl Eviction for Landlord {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.ranks.len() {
            self.ranks.resize(ids as usize, Rank::default());
        }
        self.queue.grow(ids);
        self.weights.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.requests += 1;
        if self.queue.contains(request.id) {
            self.hit(request);
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
        let ranks = &self.ranks;
        let Some((rank, victim)) = self.queue.settle_root(|id| ranks[id as usize]) else {
            return false;
        };
        self.offset = rank.density();
        self.remove(victim);
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.make_room(0, pool);
    }

    fn remove(&mut self, id: Id) {
        if self.queue.remove(id) {
            self.used -= self.weights.get(id);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
