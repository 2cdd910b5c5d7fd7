//! Landlord: every file pays rent by its size; who cannot pay leaves. Exact, and nobody is ever visited to pay.

mod charging;
mod density;
mod hint;
mod lazy;

pub use charging::Charging;
pub use density::{Division, Reciprocal};
pub use hint::Hint;
pub use lazy::Lazy;

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::radix::{Key, RadixQueue};
use crate::{Error, ErrorKind, Result};

/// Credit densities are fixed-point numbers with this many binary places, so that sums and differences are exact.
const DENSITY_BITS: u32 = 64;
/// Scale of the restored fraction.
const RESTORE_ONE: u128 = 1 << 16;

/// The last use of an id that is not resident.
const ABSENT: u64 = u64::MAX;

/// Where an id stands in the queue to leave: credit density plus the rent that all had paid by then, then last use.
#[derive(Clone, Copy, Debug)]
struct Rank {
    /// High and low half of the density; two halves keep the alignment at 8 bytes.
    density: [u64; 2],
    /// Number of the request that used it last: ties go to the least recently used.
    last_use: u64,
    /// Beside the rest, as a hit needs it.
    weight: u64,
}

impl Rank {
    const NONE: Self = Self { density: [0; 2], last_use: ABSENT, weight: 0 };

    #[inline]
    fn new(density: u128, last_use: u64, weight: u64) -> Self {
        Self { density: [(density >> 64) as u64, density as u64], last_use, weight }
    }

    #[inline]
    fn density(self) -> u128 {
        u128::from(self.density[0]) << 64 | u128::from(self.density[1])
    }

    /// None for an id that is not resident.
    #[inline]
    fn key(self) -> Option<Key> {
        (self.last_use != ABSENT).then(|| (self.density(), self.last_use))
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
/// - **Cost per request:** a hit O(1) (the queue learns of the raised value when it meets the file), a miss O(1) but for the
///   moves of a radix heap, a few for each file: the least value never falls, so no values are compared on the way in.
/// - **Memory:** 32 bytes an id and 4 to 20 a resident file. No ghosts.
/// - **Shines** where sizes differ widely and requests count, not bytes: many small files, a few huge ones. **Fails** to
///   tell often used from seldom used files of one size (there it is LRU), and byte hit rates gain little.
///
/// [`Use::FirstUse`] restores nothing. A hit keeps the weight that was admitted and takes the request's cost, which a [`Hint`]
/// of the file's life may have multiplied; a lower cost than before takes no credit away.
#[derive(Clone, Debug)]
pub struct Landlord {
    capacity: u64,
    used: u64,
    /// Rent per unit of weight charged so far.
    offset: u128,
    /// Fraction of lost credit that a hit gives back, in units of 1 / [`RESTORE_ONE`].
    restore: u128,
    /// Whether a lower cost than before takes credit away, as in GreedyDual-Size.
    takes_back: bool,
    requests: u64,
    ranks: Vec<Rank>,
    queue: RadixQueue,
    residents: usize,
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
            takes_back: false,
            requests: 0,
            ranks: Vec::new(),
            queue: RadixQueue::new(),
            residents: 0,
        }
    }

    /// Goes on from a cache of pages with full restoring, whose `offset` is in whole credits; nothing is resident yet.
    pub(super) fn resume(capacity: u64, offset: u64, requests: u64, ids: u32, takes_back: bool) -> Self {
        let offset = u128::from(offset) << DENSITY_BITS;
        let mut cache = Self { offset, requests, takes_back, ..Self::full_restore(capacity) };
        cache.grow(ids);
        cache
    }

    /// Takes over a resident page, whose credit stands at `stands_at` whole credits.
    pub(super) fn restore_page(&mut self, id: Id, stands_at: u64, last_use: u64) {
        self.enter(id, Rank::new(u128::from(stands_at) << DENSITY_BITS, last_use, 1));
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        if request.kind == Use::FirstUse {
            return;
        }
        let rank = self.ranks[request.id as usize];
        let density = rank.density();
        let full = self.offset + full_density(request.cost, rank.weight);
        if full < density && self.takes_back {
            return self.take_back(request.id, Rank::new(full, self.requests, rank.weight));
        }
        let restored = full.saturating_sub(density) * self.restore / RESTORE_ONE;
        self.ranks[request.id as usize] = Rank::new(density + restored, self.requests, rank.weight);
    }

    /// The queue hears of what falls by a second entry; it drops the first when it meets it.
    #[cold]
    fn take_back(&mut self, id: Id, rank: Rank) {
        self.ranks[id as usize] = rank;
        self.queue.push(id, (rank.density(), rank.last_use));
        self.tidy();
    }

    #[inline]
    fn admit(&mut self, request: &Request) {
        let density = self.offset + full_density(request.cost, request.weight);
        self.enter(request.id, Rank::new(density, self.requests, request.weight));
    }

    #[inline]
    fn enter(&mut self, id: Id, rank: Rank) {
        self.used += rank.weight;
        self.ranks[id as usize] = rank;
        self.queue.push(id, (rank.density(), rank.last_use));
        self.residents += 1;
    }

    fn leave(&mut self, id: Id) {
        self.used -= std::mem::replace(&mut self.ranks[id as usize], Rank::NONE).weight;
        self.residents -= 1;
    }

    /// Keeps the queue's entries of what was removed, or stands twice, fewer than the residents.
    fn tidy(&mut self) {
        if self.queue.len() > 2 * self.residents + 64 {
            let ranks = &self.ranks;
            self.queue.tidy(|id| ranks[id as usize].key());
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

/// Credit per unit of weight of a file that lost none. A weight of 0 counts as 1: it takes no room, yet must rank.
#[inline]
fn full_density(cost: u32, weight: u64) -> u128 {
    match (weight, cost) {
        (0 | 1, _) => u128::from(cost) << DENSITY_BITS,
        (_, 1) => reciprocal(weight),
        _ => (u128::from(cost) << DENSITY_BITS) / u128::from(weight),
    }
}

/// 2^64 / weight, rounded down, of a weight above 1, by a division of 64 bits.
#[inline]
fn reciprocal(weight: u64) -> u128 {
    let below = u64::MAX / weight;
    // One more if 2^64 is a multiple: then 2^64 - 1 leaves the largest remainder.
    u128::from(below) + u128::from(u64::MAX - below * weight == weight - 1)
}

impl Eviction for Landlord {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.ranks.len() {
            self.ranks.resize(ids as usize, Rank::NONE);
        }
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.requests += 1;
        if self.ranks[request.id as usize].last_use != ABSENT {
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
        let Some(((density, _), victim)) = self.queue.pop(|id| ranks[id as usize].key()) else {
            return false;
        };
        self.offset = density;
        self.leave(victim);
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.make_room(0, pool);
    }

    fn remove(&mut self, id: Id) {
        if self.ranks[id as usize].last_use != ABSENT {
            self.leave(id);
            self.tidy();
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
