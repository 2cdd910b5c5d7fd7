//! Policies: which page or file leaves a cache. Each policy is one file behind [`Eviction`].
//!
//! A policy knows of requests only, not of threads, pins or completions. Ids are dense numbers that
//! the owner of the cache gives out. A policy is arrays and index-linked lists over them.

mod arc;
mod auto;
mod belady;
mod belady_size;
mod cacheus;
mod camp;
mod car;
mod cart;
mod cflru;
mod clock;
mod clock2q_plus;
mod clock_pro;
mod device_time;
mod fab;
mod family;
mod fifo;
mod frd;
mod fwf;
mod gd_wheel;
mod gds;
mod gdsf;
mod hyperbolic;
pub mod landlord;
mod lecar;
mod lfu;
mod lfu_da;
mod lhd;
mod lirs;
mod lru;
mod lru2;
mod lru_k;
mod lru_wsr;
mod mq;
mod mru;
mod named;
mod one_list;
mod opt;
mod parameters;
mod probation;
mod qdlp;
mod random;
mod random2;
mod resident;
mod rrip;
mod s3_fifo;
mod sampled;
mod sieve;
mod size;
mod slru;
mod spatial_clock;
mod sr_lru;
mod table;
mod two_lists;
mod two_queue;
mod two_queue_simple;
mod w_tiny_lfu;

pub use crate::id::Id;
pub use arc::Arc;
pub use auto::Auto;
pub use belady::Belady;
pub use belady_size::BeladySize;
pub use cacheus::Cacheus;
pub use camp::Camp;
pub use car::Car;
pub use cart::Cart;
pub use cflru::Cflru;
pub use clock::{Clock, ClockOzen};
pub use clock_pro::{ClockPro, ClockProOzen};
pub use clock2q_plus::{Clock2QPlus, Clock2QPlusShort};
pub use device_time::DeviceTime;
pub use fab::Fab;
pub use family::Family;
pub use fifo::Fifo;
pub use frd::Frd;
pub use fwf::Fwf;
pub use gd_wheel::GdWheel;
pub use gds::Gds;
pub use gdsf::Gdsf;
pub use hyperbolic::Hyperbolic;
pub use landlord::Landlord;
pub use lecar::LeCaR;
pub use lfu::{CrLfu, Lfu};
pub use lfu_da::LfuDa;
pub use lhd::Lhd;
pub use lirs::Lirs;
pub use lru::Lru;
pub use lru_k::LruK;
pub use lru_wsr::LruWsr;
pub use lru2::Lru2;
pub use mq::Mq;
pub use mru::Mru;
pub use named::{DynEviction, Named, named, needs_of};
pub use opt::Opt;
pub use parameters::{Parameter, TUNABLE, parameters_of, split_names, visit};
pub use probation::Probation;
pub use qdlp::Qdlp;
pub use random::Random;
pub use random2::{Random2, Random2Ozen};
pub use resident::{Exit, Resident, Rule};
pub use rrip::Rrip;
pub use s3_fifo::{S3Fifo, S3Fifo2024};
pub use sampled::{SampledLfu, SampledLru};
pub use sieve::Sieve;
pub use size::{Size, SizeHeap};
pub use slru::Slru;
pub use spatial_clock::{SpatialClock, SpatialClockOzen};
pub use sr_lru::SrLru;
pub use table::{About, NAMES, POLICIES, Visitor, bytes_per_id, nearest};
pub use two_lists::TwoLists;
pub use two_queue::TwoQueue;
pub use two_queue_simple::TwoQueueSimple;
pub use w_tiny_lfu::WTinyLfu;
pub(crate) use w_tiny_lfu::sketch::Sketch;

use seekless_device::Costs;

/// The `next_use` of a page that is never used again.
pub const NEVER: u64 = u64::MAX;

/// Why a page is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Use {
    /// A demand read.
    Read,
    /// A demand write.
    Write,
    /// Fetched before it is requested.
    Prefetch,
    /// The first demand for a prefetched page. It promotes nothing.
    FirstUse,
}

/// One request to a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The page or file.
    pub id: Id,
    /// Its share of the capacity: bytes for files, 1 for pages.
    pub weight: u64,
    /// The cost of a miss, in the owner's unit; 1 unless the owner knows better.
    pub cost: u32,
    /// Why it is requested.
    pub kind: Use,
    /// A stable name; neighbouring pages have neighbouring keys.
    pub key: u64,
    /// Position of the next request for `id`, or [`NEVER`]; read only if [`Needs::next_use`].
    pub next_use: u64,
}

impl Request {
    /// A demand read of a whole file of `bytes` bytes, at cost 1.
    #[must_use]
    pub fn file(id: Id, bytes: u64) -> Self {
        Self { id, weight: bytes, cost: 1, kind: Use::Read, key: u64::from(id), next_use: NEVER }
    }

    /// A demand read of one page.
    #[must_use]
    pub fn page(id: Id) -> Self {
        Self::file(id, 1)
    }
}

/// Hits of one resident id, with no other call between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hits {
    /// What each of them is.
    pub request: Request,
    /// How many there are.
    pub times: u32,
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was resident.
    Hit,
    /// It was not resident. Now it is, and enough was evicted to make room.
    Admitted,
    /// It was not resident and is not now: too large, or not worth keeping.
    Bypassed,
}

/// The state of a resident page, which the owner knows and a policy may consider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PageState {
    /// Written to, and not yet written back.
    pub dirty: bool,
    /// Being written to the device.
    pub in_write_back: bool,
    /// Being read from the device.
    pub in_flight: bool,
}

/// The state of a page that is neither dirty nor being read or written.
pub const CLEAN: PageState = PageState { dirty: false, in_write_back: false, in_flight: false };

/// The owner of the cache, as a policy sees it: the arrays of the simulator, or the frame table of
/// the live engine.
pub trait Pool {
    /// `victim` leaves the cache. The owner cannot refuse. A victim that is still held or in flight
    /// becomes the owner's orphan.
    fn evict(&mut self, victim: Id);
    /// `id` is neither resident nor a ghost any more. The owner may give its number to another
    /// page.
    fn forget(&mut self, id: Id);
    /// `victim` leaves the cache, and no ghost of it stays.
    #[inline]
    fn discard(&mut self, victim: Id) {
        self.evict(victim);
        self.forget(victim);
    }
    /// The state of a resident page. Only policies with [`Needs::state`] call it.
    fn state(&self, _id: Id) -> PageState {
        CLEAN
    }
}

/// A borrowed owner is an owner. So a policy behind a name takes any owner.
impl<P: Pool + ?Sized> Pool for &mut P {
    fn evict(&mut self, victim: Id) {
        (**self).evict(victim);
    }

    fn forget(&mut self, id: Id) {
        (**self).forget(id);
    }

    fn state(&self, id: Id) -> PageState {
        (**self).state(id)
    }
}

/// What a policy cannot work without. An owner that cannot supply it refuses the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Needs {
    /// [`Request::next_use`] must be true: the policy knows the future.
    pub next_use: bool,
    /// [`Pool::state`] must be true.
    pub state: bool,
    /// [`Request::key`] must place neighbours together.
    pub neighbours: bool,
    /// Every weight must be 1: the policy is for pages only.
    pub unit_weights: bool,
    /// All weights must be equal.
    pub equal_weights: bool,
}

impl Needs {
    /// Nothing but the requests.
    pub const NONE: Self = Self {
        next_use: false,
        state: false,
        neighbours: false,
        unit_weights: false,
        equal_weights: false,
    };
}

/// The eviction rule of a cache.
pub trait Eviction {
    /// What the owner must supply; by default only the requests.
    fn needs(&self) -> Needs {
        Needs::NONE
    }
    /// Makes room for ids below `ids`. Only this method allocates in proportion to the number of
    /// ids.
    fn grow(&mut self, ids: u32);
    /// A request for a page or file. A hit refreshes it; a miss evicts until it fits, and admits
    /// it. A hit keeps the weight that was admitted, or that [`Eviction::reweigh`] gave it since.
    ///
    /// # Panics
    /// On an id that [`Eviction::grow`] made no room for.
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome;
    /// Hits of resident ids, in their order, as [`Eviction::request`] takes them one by one. A
    /// policy behind a name is called once for all.
    #[inline]
    fn hit_all<P: Pool + ?Sized>(&mut self, hits: &[Hits], pool: &mut P) {
        for Hits { request, times } in hits {
            for _ in 0..*times {
                let outcome = self.request(request, pool);
                debug_assert_eq!(outcome, Outcome::Hit, "{request:?}");
            }
        }
    }
    /// Whether hits may be reported id by id: of all hits between two other calls, only each id's
    /// number counts, and the order of the ids' last ones.
    fn folds_hits(&self) -> bool {
        false
    }
    /// Evicts one victim, for fragmentation or memory pressure; false if nothing is resident.
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool;
    /// Changes the capacity, in units of weight, and evicts until the rest fits.
    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P);
    /// Evicts until at most `weight` is resident.
    #[inline]
    fn shrink_to<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.resident_weight() > weight && self.evict_one(pool) {}
    }
    /// Removes `id`, which was invalidated or could not be read. Does not call `evict` or `forget`.
    /// An unknown id is no error.
    fn remove(&mut self, id: Id);
    /// The owner has written `id` back: it is clean until the next write. Only policies with
    /// [`Needs::state`] use it.
    fn cleaned(&mut self, _id: Id) {}
    /// The owner has learned that the next request for `id` has position `next_use`, or [`NEVER`]
    /// if it is not requested again. Only policies with [`Needs::next_use`] use it. An id that is
    /// not resident is no error.
    fn foresee(&mut self, _id: Id, _next_use: u64) {}
    /// What lies below the cache charges `costs`, and a page has `page_bytes` bytes. Called before
    /// the first request, by owners that know it. Only policies that weigh device time use it.
    fn charged_by(&mut self, _costs: &Costs, _page_bytes: u64) {}
    /// The weight of a resident id; `None` of any other. Policies with [`Needs::unit_weights`] or
    /// [`Needs::equal_weights`] know none.
    fn weight_of(&self, _id: Id) -> Option<u64> {
        None
    }
    /// A resident id has the weight and cost of `request` from now on. Uses nothing and evicts
    /// nothing: if the rest no longer fits, the owner calls [`Eviction::set_capacity`] after the
    /// request. An id that is not resident is no error. Policies with [`Needs::unit_weights`]
    /// or [`Needs::equal_weights`] do nothing.
    fn reweigh(&mut self, _request: &Request) {}
    /// Weight of all resident ids; never above the capacity, but between [`Eviction::reweigh`] and
    /// [`Eviction::set_capacity`].
    fn resident_weight(&self) -> u64;
}

#[cfg(test)]
mod tests;
