//! The cache that the simulator and the live engine both drive: a policy, the bypass rule and the
//! frame table, without I/O, clock or lock. For the same order of requests both get the same
//! decisions, since both run this code.

pub mod allocator;
mod changed;
mod command;
mod frames;
pub mod page_keys;
pub mod paged;
pub mod placed;
mod together;
pub mod write_back;

use crate::arrays::column;
use crate::eviction::{Eviction, Hits, Id, Needs, Outcome, Pool, Request, Use};
use crate::{Error, ErrorKind, Result};
pub use changed::Changed;
use command::Ignore;
pub use command::{Command, Sink};
use frames::{DIRTY, Frames, IN_FLIGHT, IN_WRITE_BACK, RESIDENT, WRITE_AGAIN, begin_write_back};
pub use together::Together;
use together::{Leaving, Noting};

/// The size of a cache, and which files it does not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Units of weight that may be resident: bytes for files, pages for pages.
    pub capacity: u64,
    /// A file heavier than this is read but not kept, under every policy. `None` keeps all files
    /// that fit.
    pub bypass_above: Option<u64>,
}

impl Config {
    /// A cache of files. Files over half the capacity bypass it, since one of them would push out
    /// all others.
    #[must_use]
    pub fn files(bytes: u64) -> Self {
        Self { capacity: bytes, bypass_above: Some(bytes / 2) }
    }

    /// A cache of pages, which all weigh 1.
    #[must_use]
    pub fn pages(pages: u64) -> Self {
        Self { capacity: pages, bypass_above: None }
    }
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Resident and filled.
    Ready,
    /// Being fetched: by this request if it pushed a [`Command::Fetch`], else by an earlier one.
    Wait,
    /// The caller reads it, and the cache does not keep it.
    Bypass,
}

/// How a fetch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// The bytes are there.
    Yes,
    /// They are not there; the id leaves the cache.
    Failed,
}

/// A policy and the frame table. The owner announces ids by [`Cache::grow`] before it requests
/// them. A request for another id panics, as an index out of bounds does.
#[derive(Debug)]
pub struct Cache<E> {
    policy: E,
    config: Config,
    frames: Frames,
    fetch_on_write: bool,
    changed: Option<Changed>,
    leaving: Option<Box<Leaving>>,
}

impl<E: Eviction> Cache<E> {
    /// An empty cache around an empty `policy` of the same capacity.
    ///
    /// # Errors
    /// The policy must know the future, the state of pages or their neighbours. This owner supplies
    /// none of these; [`Cache::with_offer`] is for owners that do.
    pub fn new(policy: E, config: Config) -> Result<Self> {
        Self::with_offer(policy, config, Needs::default())
    }

    /// As [`Cache::new`], for an owner that supplies what `offer` says.
    ///
    /// # Errors
    /// The policy needs more than `offer` says.
    pub fn with_offer(mut policy: E, config: Config, offer: Needs) -> Result<Self> {
        check_needs(policy.needs(), offer)?;
        policy.set_capacity(config.capacity, &mut Frames::default().pool(&mut Ignore));
        let (frames, changed, leaving) = Default::default();
        Ok(Self { policy, config, frames, fetch_on_write: false, changed, leaving })
    }

    /// Whether a write to an id that is not resident reads it first. By default it does not: a page
    /// is written whole.
    #[must_use]
    pub fn fetch_on_write(mut self, fetch: bool) -> Self {
        self.fetch_on_write = fetch;
        self
    }

    /// Keeps a list of dirty ids, so that [`Cache::flush`] finds them: 4 to 8 bytes a dirty id.
    #[must_use]
    pub fn list_dirty(mut self) -> Self {
        self.frames.log = Some(Vec::new());
        self
    }

    /// From now on the entries of a unit leave together: with each victim of the policy all others
    /// of its unit, but for the id that is requested.
    pub fn leave_together(&mut self, together: Together) {
        self.leaving = Some(Box::new(Leaving { together, victims: Vec::new() }));
    }

    /// Makes room for ids below `ids`; never shrinks.
    pub fn grow(&mut self, ids: u32) {
        self.policy.grow(ids);
        column::grow(&mut self.frames.states, ids, 0);
    }

    /// One request. A miss that is kept pushes the `WriteBack`s and `Drop`s of its victims, then
    /// its `Fetch`. A write leaves the id dirty, and fetches it only under
    /// [`Cache::fetch_on_write`]. A request for an id that is in flight or in write-back revives it
    /// without I/O.
    pub fn step(&mut self, request: &Request, out: &mut Vec<Command>) -> Step {
        let (step, fetches) = self.step_with(request, out);
        if fetches {
            out.push(Command::Fetch(request.id));
        }
        step
    }

    /// As [`Cache::step`], for an owner with a sink of its own. Also says whether this request
    /// starts the fetch of its id.
    pub fn step_with<S: Sink>(&mut self, request: &Request, sink: &mut S) -> (Step, bool) {
        let before = self.frames.states[request.id as usize];
        let outcome = self.decide(request, sink);
        let revived =
            before & IN_WRITE_BACK != 0 || (request.kind == Use::Write && !self.fetch_on_write);
        match outcome {
            _ if before & IN_FLIGHT != 0 => (Step::Wait, false),
            Outcome::Hit => (Step::Ready, false),
            Outcome::Bypassed => (Step::Bypass, false),
            Outcome::Admitted if revived => (Step::Ready, false),
            Outcome::Admitted => {
                self.frames.states[request.id as usize] |= IN_FLIGHT;
                (Step::Wait, true)
            }
        }
    }

    /// A step whose fetch completes at once, for the fast loop of the simulator. Makes the same
    /// decisions as [`Cache::step`].
    #[inline]
    pub fn access(&mut self, request: &Request) -> Outcome {
        self.decide(request, &mut Ignore)
    }

    /// The policy alone, for an owner whose requests are all reads, fetched at once, who asks the
    /// cache nothing else, and who sees to ids whose weight changes ([`Changed::request`]). `None`
    /// if the decisions depend on what the cache adds to the policy: the bypass rule and the frame
    /// table, which such an owner leaves out of date.
    #[inline]
    pub fn policy_alone(&mut self) -> Option<&mut E> {
        let is_plain = self.config.bypass_above.is_none() && self.leaving.is_none();
        let alone = is_plain && !self.policy.needs().state;
        alone.then_some(&mut self.policy)
    }

    /// As [`Cache::access`], for an owner that counts victims and writes.
    #[inline]
    pub fn access_with<S: Sink>(&mut self, request: &Request, sink: &mut S) -> Outcome {
        self.decide(request, sink)
    }

    /// The owner has learned when `id` is requested next: [`Eviction::foresee`].
    pub fn foresee(&mut self, id: Id, next_use: u64) {
        self.policy.foresee(id, next_use);
    }

    /// Applies hits that a thread logged earlier without taking the lock, in their order: reads of
    /// files that are resident. False if one is not; then that hit is ignored.
    pub fn touch(&mut self, hits: &[Hits]) -> bool {
        let are_resident = hits.iter().all(|hits| self.resident(hits.request.id));
        if are_resident && self.leaving.is_none() && self.changed.is_none() {
            self.policy.hit_all(hits, &mut self.frames.pool(&mut Ignore));
            return true;
        }
        for Hits { request, times } in hits {
            for _ in 0..*times {
                if self.resident(request.id) {
                    let outcome = self.decide(request, &mut Ignore);
                    debug_assert_eq!(outcome, Outcome::Hit);
                }
            }
        }
        are_resident
    }

    /// Whether hits may be reported id by id: [`Eviction::folds_hits`].
    #[must_use]
    pub fn folds_hits(&self) -> bool {
        self.leaving.is_none() && self.changed.is_none() && self.policy.folds_hits()
    }

    /// The fetch of `id` ended. Pushes a `Drop` if it failed or if `id` was evicted meanwhile. In
    /// that case the waiters get their bytes, and the cache keeps none.
    pub fn complete<S: Sink>(&mut self, id: Id, filled: Filled, sink: &mut S) {
        self.frames.states[id as usize] &= !IN_FLIGHT;
        match filled {
            Filled::Failed if self.resident(id) => self.discard(id, sink),
            _ => self.drop_orphan(id, sink),
        }
    }

    /// Removes `id`, whose bytes are no longer true or no longer needed. If it is in flight or in
    /// write-back, it becomes an orphan. Does nothing to an id that is not resident. What was
    /// written to it is lost.
    pub fn discard<S: Sink>(&mut self, id: Id, sink: &mut S) {
        if self.resident(id) {
            self.frames.states[id as usize] &= !(RESIDENT | WRITE_AGAIN);
            self.policy.remove(id);
            self.frames.clean(id);
            self.drop_orphan(id, sink);
            sink.forgotten(id);
        }
    }

    /// The write-back of `id` ended. Pushes a `Drop` if it was evicted and has not been requested
    /// since; or a `WriteBack`, if it was written to and evicted or flushed in the meantime.
    pub fn written<S: Sink>(&mut self, id: Id, sink: &mut S) {
        debug_assert!(self.in_write_back(id), "a write of {id} ended that had not begun");
        let state = &mut self.frames.states[id as usize];
        let again = *state & WRITE_AGAIN != 0;
        *state &= !(IN_WRITE_BACK | WRITE_AGAIN);
        if again {
            let was_dirty = *state & DIRTY != 0;
            begin_write_back(state, id, sink);
            self.frames.clean(id);
            if was_dirty {
                self.policy.cleaned(id);
            }
        }
        self.drop_orphan(id, sink);
    }

    fn drop_orphan<S: Sink>(&self, id: Id, sink: &mut S) {
        if self.frames.states[id as usize] & (RESIDENT | IN_FLIGHT | IN_WRITE_BACK) == 0 {
            sink.dropped(id);
        }
    }

    /// Starts the write-back of the dirty ids for which `chosen` is true, in the order in which
    /// they became dirty. They stay resident, and are in write-back until [`Cache::written`]. A
    /// write meanwhile makes an id dirty again. Does nothing without [`Cache::list_dirty`].
    pub fn flush(&mut self, chosen: impl FnMut(Id) -> bool, out: &mut Vec<Command>) {
        for id in self.frames.take(chosen) {
            self.begin_write_back(id, out);
        }
    }

    /// As [`Cache::flush`], for an owner that keeps the dirty ids itself, such as
    /// [`write_back::DirtyPages`]. Ids that are not dirty are left alone.
    pub fn flush_each<S: Sink>(&mut self, ids: &[Id], sink: &mut S) {
        for &id in ids {
            if self.is_dirty(id) {
                self.begin_write_back(id, sink);
            }
        }
    }

    fn begin_write_back<S: Sink>(&mut self, id: Id, sink: &mut S) {
        self.frames.clean(id);
        self.policy.cleaned(id);
        begin_write_back(&mut self.frames.states[id as usize], id, sink);
    }

    /// How many ids are dirty.
    #[must_use]
    pub fn dirty(&self) -> u64 {
        self.frames.dirty
    }

    /// Whether `id` is dirty.
    #[must_use]
    pub fn is_dirty(&self, id: Id) -> bool {
        self.frames.states.get(id as usize).is_some_and(|state| state & DIRTY != 0)
    }

    /// Whether a write-back of `id` has started and not ended.
    #[must_use]
    pub fn in_write_back(&self, id: Id) -> bool {
        self.frames.states.get(id as usize).is_some_and(|state| state & IN_WRITE_BACK != 0)
    }

    /// How many write-backs of `id` have to end until the device has what is decided on now: the
    /// one under way, and the one that follows it.
    #[must_use]
    pub fn writes_left(&self, id: Id) -> u32 {
        let state = self.frames.states.get(id as usize).copied().unwrap_or(0);
        u32::from(state & IN_WRITE_BACK != 0) + u32::from(state & WRITE_AGAIN != 0)
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

    /// Weight of all resident ids.
    #[must_use]
    pub fn resident_weight(&self) -> u64 {
        self.policy.resident_weight()
    }

    /// The capacity and bypass rule in force.
    #[must_use]
    pub fn config(&self) -> Config {
        self.config
    }

    /// Changes the capacity and the bypass rule. Ids that no longer fit are evicted. A resident
    /// file above the new bypass limit stays until it is evicted.
    pub fn set_config<S: Sink>(&mut self, config: Config, sink: &mut S) {
        self.config = config;
        let Some(mut leaving) = self.leaving.take() else {
            return self.policy.set_capacity(config.capacity, &mut self.frames.pool(sink));
        };
        let victims = &mut leaving.victims;
        let mut pool = Noting { pool: self.frames.pool(sink), victims };
        self.policy.set_capacity(config.capacity, &mut pool);
        self.neighbours_leave(leaving, None, sink);
    }

    /// Changes the capacity; a bypass limit stays the same share of it.
    pub fn set_capacity(&mut self, capacity: u64, out: &mut Vec<Command>) {
        let Config { capacity: old, bypass_above } = self.config;
        let scale =
            |limit| (u128::from(capacity) * u128::from(limit) / u128::from(old.max(1))) as u64;
        self.set_config(Config { capacity, bypass_above: bypass_above.map(scale) }, out);
    }

    /// Evicts one victim that the policy picks, for memory pressure or fragmentation; false if
    /// nothing is resident.
    pub fn evict_one(&mut self, out: &mut Vec<Command>) -> bool {
        let Some(mut leaving) = self.leaving.take() else {
            return self.policy.evict_one(&mut self.frames.pool(out));
        };
        let victims = &mut leaving.victims;
        let evicted = self.policy.evict_one(&mut Noting { pool: self.frames.pool(out), victims });
        self.neighbours_leave(leaving, None, out);
        evicted
    }

    /// The others of the victims' units leave too, but for what is `requested`.
    fn neighbours_leave<S: Sink>(
        &mut self,
        mut leaving: Box<Leaving>,
        requested: Option<Id>,
        sink: &mut S,
    ) {
        for victim in leaving.victims.drain(..) {
            for id in leaving.together.unit(victim) {
                if Some(id) != requested && self.resident(id) {
                    self.policy.remove(id);
                    self.frames.pool(sink).evict(id);
                    sink.forgotten(id);
                }
            }
        }
        self.leaving = Some(leaving);
    }

    #[cold]
    fn decide_together<S: Sink>(&mut self, request: &Request, sink: &mut S) -> Outcome {
        let Some(mut leaving) = self.leaving.take() else { return Outcome::Bypassed };
        let victims = &mut leaving.victims;
        let mut pool = Noting { pool: self.frames.pool(sink), victims };
        let outcome = self.policy.request(request, &mut pool);
        self.neighbours_leave(leaving, Some(request.id), sink);
        outcome
    }

    /// Applies the bypass rule, then asks the policy. A resident id never bypasses.
    #[inline]
    fn decide<S: Sink>(&mut self, request: &Request, sink: &mut S) -> Outcome {
        match self.changed {
            None => self.decide_as_is(request, sink),
            Some(changed) => self.decide_changed(changed, request, sink),
        }
    }

    #[inline]
    fn decide_as_is<S: Sink>(&mut self, request: &Request, sink: &mut S) -> Outcome {
        if self.config.bypass_above.is_some_and(|limit| request.weight > limit)
            && !self.resident(request.id)
        {
            return Outcome::Bypassed;
        }
        let outcome = match self.leaving {
            None => self.policy.request(request, &mut self.frames.pool(sink)),
            Some(_) => self.decide_together(request, sink),
        };
        if outcome == Outcome::Admitted {
            self.frames.states[request.id as usize] |= RESIDENT;
            let (weight, capacity) = (self.policy.resident_weight(), self.config.capacity);
            debug_assert!(weight <= capacity, "{weight} are kept, and {capacity} fit");
        }
        debug_assert_eq!(outcome != Outcome::Bypassed, self.resident(request.id), "{request:?}");
        if request.kind == Use::Write && outcome != Outcome::Bypassed {
            self.frames.soil(request.id);
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
        (needs.equal_weights && !offer.equal_weights, "all pages, files or objects of one size"),
    ];
    match unmet.iter().find(|(missing, _)| *missing) {
        Some((_, what)) => {
            let message = format!(
                "this policy needs {what}, which this cache cannot supply; use another policy"
            );
            Err(Error::new(ErrorKind::NeedsUnmet, message))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
