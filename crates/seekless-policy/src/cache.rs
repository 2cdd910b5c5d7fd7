//! The cache that the simulator and the live engine both drive: policy, bypass rule and frame table, without I/O,
//! clock or lock. For the same order of requests both get the same decisions, since both run this code.

use crate::eviction::{Eviction, Id, Needs, Outcome, PageState, Pool, Request};
use crate::{Error, ErrorKind, Result};

/// In the cache, as the policy sees it.
const RESIDENT: u8 = 1;
/// Being read from the device. In flight and not resident is an *orphan*: evicted before its read ended.
const IN_FLIGHT: u8 = 2;

/// How large a cache is and what it leaves alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Units of weight that may be resident: bytes for files, pages for pages.
    pub capacity: u64,
    /// A file heavier than this is read but not kept, under every policy; none keeps all that fits.
    pub bypass_above: Option<u64>,
}

impl Config {
    /// A cache of files: those over half the capacity bypass it, since one of them would push out everything else.
    #[must_use]
    pub fn files(bytes: u64) -> Self {
        Self { capacity: bytes, bypass_above: Some(bytes / 2) }
    }

    /// A cache of pages, whatever each weighs.
    #[must_use]
    pub fn pages(pages: u64) -> Self {
        Self { capacity: pages, bypass_above: None }
    }
}

/// What the owner of the cache has to do, in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Start reading it; end with [`Cache::complete`].
    Fetch(Id),
    /// Evicted: drop the cache's reference to its bytes. Never given for an id in flight; that one is an orphan and
    /// gets its `Drop` when it completes.
    Drop(Id),
}

/// What a request came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Resident and filled.
    Ready,
    /// Being fetched: by this request, if a [`Command::Fetch`] was pushed, else by an earlier one.
    Wait,
    /// Read it, do not keep it.
    Bypass,
}

/// How a fetch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// The bytes are there.
    Yes,
    /// They are not; the id leaves the cache.
    Failed,
}

/// Policy and frame table. Ids must be announced by [`Cache::grow`] before they are asked for; a request for another
/// panics, as an index out of bounds does.
#[derive(Debug)]
pub struct Cache<E> {
    policy: E,
    config: Config,
    frames: Frames,
}

impl<E: Eviction> Cache<E> {
    /// An empty cache around an empty `policy` of the same capacity. Refuses a policy that must know the future, the
    /// pages' state or their neighbours, none of which this owner can tell.
    pub fn new(policy: E, config: Config) -> Result<Self> {
        Self::with_offer(policy, config, Needs::default())
    }

    /// As [`Cache::new`], by an owner that supplies what `offer` says.
    pub fn with_offer(mut policy: E, config: Config, offer: Needs) -> Result<Self> {
        check_needs(policy.needs(), offer)?;
        policy.set_capacity(config.capacity, &mut Frames::default().pool(&mut Ignore));
        Ok(Self { policy, config, frames: Frames::default() })
    }

    /// Makes room for ids below `ids`; never shrinks.
    pub fn grow(&mut self, ids: u32) {
        self.policy.grow(ids);
        if ids as usize > self.frames.states.len() {
            self.frames.states.resize(ids as usize, 0);
        }
    }

    /// One request. A miss that is kept pushes its victims' `Drop`s, then its `Fetch`.
    pub fn step(&mut self, request: &Request, out: &mut Vec<Command>) -> Step {
        let before = self.frames.states[request.id as usize];
        let outcome = self.decide(request, out);
        match (before & IN_FLIGHT != 0, outcome) {
            (true, _) => Step::Wait,
            (false, Outcome::Hit) => Step::Ready,
            (false, Outcome::Bypassed) => Step::Bypass,
            (false, Outcome::Admitted) => {
                self.frames.states[request.id as usize] |= IN_FLIGHT;
                out.push(Command::Fetch(request.id));
                Step::Wait
            }
        }
    }

    /// A step whose fetch completes at once: the simulator's fast loop. The same decisions as [`Cache::step`].
    #[inline]
    pub fn access(&mut self, request: &Request) -> Outcome {
        self.decide(request, &mut Ignore)
    }

    /// A hit that a thread logged earlier without taking the lock. Applied only if it is still resident; false says
    /// that it was dropped.
    pub fn touch(&mut self, request: &Request) -> bool {
        if !self.resident(request.id) {
            return false;
        }
        let outcome = self.decide(request, &mut Ignore);
        debug_assert_eq!(outcome, Outcome::Hit);
        true
    }

    /// The fetch of `id` ended. Pushes a `Drop` if it failed, or if it was evicted meanwhile: its waiters get their
    /// bytes and the cache keeps none.
    pub fn complete(&mut self, id: Id, filled: Filled, out: &mut Vec<Command>) {
        let state = &mut self.frames.states[id as usize];
        *state &= !IN_FLIGHT;
        if filled == Filled::Failed && *state & RESIDENT != 0 {
            *state &= !RESIDENT;
            self.policy.remove(id);
        }
        if *state & RESIDENT == 0 {
            out.push(Command::Drop(id));
        }
    }

    /// Whether `id` is in the cache, filled or being filled.
    #[must_use]
    pub fn resident(&self, id: Id) -> bool {
        self.frames.states.get(id as usize).is_some_and(|state| state & RESIDENT != 0)
    }

    /// Whether a fetch of `id` has started and not ended.
    #[must_use]
    pub fn in_flight(&self, id: Id) -> bool {
        self.frames.states.get(id as usize).is_some_and(|state| state & IN_FLIGHT != 0)
    }

    /// Weight of all that is resident.
    #[must_use]
    pub fn resident_weight(&self) -> u64 {
        self.policy.resident_weight()
    }

    /// The capacity and bypass rule in force.
    #[must_use]
    pub fn config(&self) -> Config {
        self.config
    }

    /// Another capacity and bypass rule. What no longer fits is evicted; what is resident stays, even above the new
    /// bypass limit, until it is evicted.
    pub fn set_config(&mut self, config: Config, out: &mut Vec<Command>) {
        self.config = config;
        self.policy.set_capacity(config.capacity, &mut self.frames.pool(out));
    }

    /// Another capacity; a bypass limit stays the same share of it.
    pub fn set_capacity(&mut self, capacity: u64, out: &mut Vec<Command>) {
        let Config { capacity: old, bypass_above } = self.config;
        let scale = |limit| (u128::from(capacity) * u128::from(limit) / u128::from(old.max(1))) as u64;
        self.set_config(Config { capacity, bypass_above: bypass_above.map(scale) }, out);
    }

    /// Evicts one victim of the policy's choice, for memory pressure or fragmentation; false if nothing is resident.
    pub fn evict_one(&mut self, out: &mut Vec<Command>) -> bool {
        self.policy.evict_one(&mut self.frames.pool(out))
    }

    /// What the policy thinks of the request, after the bypass rule. A resident id never bypasses.
    #[inline]
    fn decide<S: Sink>(&mut self, request: &Request, sink: &mut S) -> Outcome {
        if self.config.bypass_above.is_some_and(|limit| request.weight > limit) && !self.resident(request.id)
        {
            return Outcome::Bypassed;
        }
        let outcome = self.policy.request(request, &mut self.frames.pool(sink));
        if outcome == Outcome::Admitted {
            self.frames.states[request.id as usize] |= RESIDENT;
        }
        outcome
    }
}

fn check_needs(needs: Needs, offer: Needs) -> Result<()> {
    let unmet = [
        (needs.next_use && !offer.next_use, "the future (the next use of each page)"),
        (needs.state && !offer.state, "the state of each page"),
        (needs.neighbours && !offer.neighbours, "which pages are neighbours"),
        (needs.unit_weights && !offer.unit_weights, "pages only, all of one weight"),
    ];
    match unmet.iter().find(|(missing, _)| *missing) {
        Some((_, what)) => {
            let message =
                format!("this policy needs {what}, which this cache cannot supply; use another policy");
            Err(Error::new(ErrorKind::NeedsUnmet, message))
        }
        None => Ok(()),
    }
}

/// One state byte an id.
#[derive(Debug, Default)]
struct Frames {
    states: Vec<u8>,
}

impl Frames {
    fn pool<'a, S: Sink>(&'a mut self, sink: &'a mut S) -> FramePool<'a, S> {
        FramePool { states: &mut self.states, sink }
    }
}

/// Where `Drop`s go.
trait Sink {
    fn drop_id(&mut self, id: Id);
}

impl Sink for Vec<Command> {
    fn drop_id(&mut self, id: Id) {
        self.push(Command::Drop(id));
    }
}

/// For callers without buffers to drop.
struct Ignore;

impl Sink for Ignore {
    #[inline]
    fn drop_id(&mut self, _id: Id) {}
}

struct FramePool<'a, S> {
    states: &'a mut [u8],
    sink: &'a mut S,
}

impl<S: Sink> Pool for FramePool<'_, S> {
    #[inline]
    fn evict(&mut self, victim: Id) {
        let state = &mut self.states[victim as usize];
        *state &= !RESIDENT;
        if *state & IN_FLIGHT == 0 {
            self.sink.drop_id(victim);
        }
    }

    /// Ids are the owner's for good here, so a ghost that ends frees nothing.
    #[inline]
    fn forget(&mut self, _id: Id) {}

    fn state(&self, id: Id) -> PageState {
        let in_flight = self.states[id as usize] & IN_FLIGHT != 0;
        PageState { in_flight, ..PageState::default() }
    }
}

#[cfg(test)]
mod tests;
