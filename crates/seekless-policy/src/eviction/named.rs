//! Policies by name: one registry, visited with static types by the simulator and boxed for everybody else.

use super::about::nearest;
use super::landlord::{Charging, Division, Lazy, Reciprocal};
use super::{Arc, Eviction, Id, Landlord, Lru, Needs, Outcome, Pool, Request};
use super::{BeladySize, Fifo, Fwf, Gds, Gdsf, Hyperbolic, Lfu, LfuDa, Lru2, Mq, Opt, Random, Slru};
use super::{Car, Cflru, Clock, ClockOzen, ClockPro, ClockProOzen, Fab, LruWsr, Random2, Random2Ozen, Rrip};
use super::{Clock2QPlus, Clock2QPlusShort, Lirs, Qdlp, S3Fifo, S3Fifo2024, Sieve, TwoLists, WTinyLfu};
use super::{SpatialClock, SpatialClockOzen, TwoQueue, TwoQueueSimple};
use crate::{Error, ErrorKind, Result};

/// Seed of the bimodal insertions.
const RRIP_SEED: u64 = 3;

/// What the policy called `name` needs of its owner.
pub fn needs_of(name: &str) -> Result<Needs> {
    Ok(named(name, 1)?.needs())
}

/// What to do with a policy whose type is known: how the simulator gets a loop of its own for each policy.
pub trait Visitor {
    /// What comes out.
    type Output;
    /// Called once with the policy that has the name.
    fn visit<E: Eviction + Send + 'static>(self, policy: E) -> Self::Output;
}

/// Builds the policy called `name` with `capacity` units of weight and hands it, with its own type, to `visitor`.
pub fn visit<V: Visitor>(name: &str, capacity: u64, visitor: V) -> Result<V::Output> {
    Ok(match name {
        "lru" => visitor.visit(Lru::new(capacity)),
        "arc" => visitor.visit(Arc::new(capacity)),
        "landlord" => visitor.visit(Landlord::new(capacity)),
        "landlord@full" => visitor.visit(Gds::full_landlord(capacity)),
        "landlord@naive" => visitor.visit(Charging::<Division, false>::new(capacity)),
        "landlord@naive-reciprocal" => visitor.visit(Charging::<Reciprocal, false>::new(capacity)),
        "landlord@cached" => visitor.visit(Charging::<Division, true>::new(capacity)),
        "landlord@cached-reciprocal" => visitor.visit(Charging::<Reciprocal, true>::new(capacity)),
        "landlord@lazy" => visitor.visit(Lazy::<Division>::new(capacity)),
        "landlord@lazy-reciprocal" => visitor.visit(Lazy::<Reciprocal>::new(capacity)),
        "fifo" => visitor.visit(Fifo::new(capacity)),
        "slru" => visitor.visit(Slru::new(capacity)),
        "slru@4" => visitor.visit(Slru::four(capacity)),
        "lfu" => visitor.visit(Lfu::new(capacity)),
        "lfu-da" => visitor.visit(LfuDa::new(capacity)),
        "fwf" => visitor.visit(Fwf::new(capacity)),
        "random" => visitor.visit(Random::new(capacity)),
        "lru-2" => visitor.visit(Lru2::new(capacity)),
        "lru-2@history" => visitor.visit(Lru2::with_history(capacity)),
        "mq" => visitor.visit(Mq::new(capacity)),
        "mq@fixed" => visitor.visit(Mq::fixed(capacity)),
        "gds" => visitor.visit(Gds::new(capacity)),
        "gdsf" => visitor.visit(Gdsf::new(capacity)),
        "hyperbolic" => visitor.visit(Hyperbolic::new(capacity)),
        "opt" => visitor.visit(Opt::new(capacity)),
        "opt@bypass" => visitor.visit(Opt::with_bypass(capacity)),
        "belady-size" => visitor.visit(BeladySize::new(capacity)),
        "clock" => visitor.visit(Clock::new(capacity)),
        "clock@read-hits" => visitor.visit(Clock::read_hits_only(capacity)),
        "clock@ozen" => visitor.visit(ClockOzen::new(capacity)),
        "2q" => visitor.visit(TwoQueue::new(capacity)),
        "2q@simple" => visitor.visit(TwoQueueSimple::new(capacity)),
        "2q@ozen" => visitor.visit(TwoQueue::as_published(capacity)),
        "clock-pro" => visitor.visit(ClockPro::new(capacity)),
        "clock-pro@ozen" => visitor.visit(ClockProOzen::new(capacity)),
        "rrip" => visitor.visit(Rrip::new(capacity)),
        "brrip" => visitor.visit(Rrip::duel(capacity, RRIP_SEED)),
        "brrip@alone" => visitor.visit(Rrip::bimodal(capacity, RRIP_SEED)),
        "brrip@ozen" => visitor.visit(Rrip::bimodal_as_published(capacity)),
        "cflru" => visitor.visit(Cflru::new(capacity)),
        "lru-wsr" => visitor.visit(LruWsr::new(capacity)),
        "fab" => visitor.visit(Fab::new(capacity)),
        "fab@ozen" => visitor.visit(Fab::as_published(capacity)),
        "spatial-clock" => visitor.visit(SpatialClock::new(capacity)),
        "spatial-clock@ozen" => visitor.visit(SpatialClockOzen::new(capacity)),
        "arc@ozen" => visitor.visit(Arc::as_published(capacity)),
        "car" => visitor.visit(Car::new(capacity)),
        "car@read-hits" => visitor.visit(Car::read_hits_only(capacity)),
        "car@ozen" => visitor.visit(Car::as_published(capacity)),
        "random2" => visitor.visit(Random2::new(capacity)),
        "random2@ozen" => visitor.visit(Random2Ozen::new(capacity)),
        "sieve" => visitor.visit(Sieve::new(capacity)),
        "s3-fifo" => visitor.visit(S3Fifo::new(capacity)),
        "s3-fifo@2024" => visitor.visit(S3Fifo2024::new(capacity)),
        "qdlp" => visitor.visit(Qdlp::new(capacity)),
        "clock2q+" => visitor.visit(Clock2QPlus::new(capacity)),
        "clock2q+@short-ghosts" => visitor.visit(Clock2QPlusShort::new(capacity)),
        "lirs" => visitor.visit(Lirs::new(capacity)),
        "linux" => visitor.visit(TwoLists::new(capacity)),
        "w-tinylfu" => visitor.visit(WTinyLfu::new(capacity)),
        "w-tinylfu@fixed" => visitor.visit(WTinyLfu::fixed(capacity)),
        _ => return Err(unknown(name)),
    })
}

pub(super) fn unknown(name: &str) -> Error {
    Error::new(
        ErrorKind::UnknownName,
        format!(
            "no policy is called {name:?}; near it are {}; `seekless sim --policies` lists all",
            nearest(name).join(", ")
        ),
    )
}

/// The object-safe face of [`Eviction`]; every policy has it by the one blanket implementation.
pub trait DynEviction: Send {
    /// As [`Eviction::needs`].
    fn needs_dyn(&self) -> Needs;
    /// As [`Eviction::grow`].
    fn grow_dyn(&mut self, ids: u32);
    /// As [`Eviction::request`].
    fn request_dyn(&mut self, request: &Request, pool: &mut dyn Pool) -> Outcome;
    /// As [`Eviction::evict_one`].
    fn evict_one_dyn(&mut self, pool: &mut dyn Pool) -> bool;
    /// As [`Eviction::set_capacity`].
    fn set_capacity_dyn(&mut self, capacity: u64, pool: &mut dyn Pool);
    /// As [`Eviction::remove`].
    fn remove_dyn(&mut self, id: Id);
    /// As [`Eviction::cleaned`].
    fn cleaned_dyn(&mut self, id: Id);
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

    fn resident_weight_dyn(&self) -> u64 {
        self.resident_weight()
    }
}

/// A policy chosen by name at run time; an [`Eviction`] like any other, one indirect call a request slower.
pub struct Named {
    name: String,
    policy: Box<dyn DynEviction>,
}

impl Named {
    /// The name it was asked for by.
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

    fn resident_weight(&self) -> u64 {
        self.policy.resident_weight_dyn()
    }
}
