//! Hits, logged by thread without the cache's lock. A thread that takes that lock drains them
//! first: stripe by stripe, each in its own order, so that one thread's requests reach the policy
//! in the order in which it made them.
//!
//! Each stripe has shares of its own of the buffers that its threads hit. So a second hit of the
//! same file writes to no memory that the threads of another stripe use.

use super::sync::{Mutex, MutexGuard, lock, own_number};
use foldhash::fast::RandomState;
use seekless_policy::eviction::Id;
use std::collections::HashMap;

/// Hits that a stripe holds before its thread drains the log itself: what bounds the log's memory.
pub(super) const STRIPE_HITS_MAX: usize = 1024;

/// On cache lines of its own, so that two threads do not fight for one.
#[repr(align(128))]
struct Stripe<T>(Mutex<Hits<T>>);

struct Hits<T> {
    ids: Vec<Id>,
    count: u64,
    bytes: u64,
    /// The stripe's own shares, all of buffers that the cache has.
    shares: HashMap<Id, T, RandomState>,
}

/// The log. Threads share its stripes evenly.
pub(crate) struct HitLog<T, const STRIPES: usize = 16>([Stripe<T>; STRIPES]);

impl<T: Clone + AsRef<[u8]>, const STRIPES: usize> HitLog<T, STRIPES> {
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|_| Stripe(Mutex::new(Hits::new()))))
    }

    /// Looks for the buffer of `id` and, if the cache has it, logs the hit for the calling thread:
    /// one step for a thread that [stops](Self::stop) hits. `look` gives a share of it for this
    /// stripe. True beside the buffer says that the log is to be drained now.
    pub(crate) fn hit(&self, id: Id, look: impl FnOnce() -> Option<T>) -> Option<(T, bool)> {
        let mut hits = lock(&self.0[own_number() % STRIPES].0);
        let buffer = match hits.shares.get(&id) {
            Some(share) => share.clone(),
            None => hits.shares.entry(id).insert_entry(look()?).get().clone(),
        };
        hits.ids.push(id);
        hits.count += 1;
        hits.bytes += buffer.as_ref().len() as u64;
        Some((buffer, hits.ids.len() >= STRIPE_HITS_MAX))
    }

    /// Hands all logged hits to `apply`, while threads log further ones. `scratch` is lent to keep
    /// the stripes' locks short.
    pub(crate) fn drain(&self, scratch: &mut Vec<Id>, mut apply: impl FnMut(Id)) {
        for stripe in &self.0 {
            {
                let mut hits = lock(&stripe.0);
                if hits.ids.is_empty() {
                    continue;
                }
                std::mem::swap(&mut hits.ids, scratch);
            }
            scratch.drain(..).for_each(&mut apply);
        }
    }

    /// Until the result is dropped no thread has a hit.
    pub(crate) fn stop(&self) -> Stopped<'_, T, STRIPES> {
        Stopped(std::array::from_fn(|number| lock(&self.0[number].0)))
    }

    /// Hits ever logged, and the bytes that they delivered.
    pub(crate) fn totals(&self) -> (u64, u64) {
        self.0.iter().fold((0, 0), |(count, bytes), stripe| {
            let hits = lock(&stripe.0);
            (count + hits.count, bytes + hits.bytes)
        })
    }
}

impl<T> Hits<T> {
    fn new() -> Self {
        Self { ids: Vec::new(), count: 0, bytes: 0, shares: HashMap::default() }
    }
}

/// A log whose stripes are all held.
pub(crate) struct Stopped<'a, T, const STRIPES: usize = 16>([MutexGuard<'a, Hits<T>>; STRIPES]);

impl<T, const STRIPES: usize> Stopped<'_, T, STRIPES> {
    /// Hands all logged hits to `apply`.
    pub(crate) fn drain(&mut self, mut apply: impl FnMut(Id)) {
        self.0.iter_mut().flat_map(|hits| hits.ids.drain(..)).for_each(&mut apply);
    }

    /// The cache lets `id` go: no stripe has it any more.
    pub(crate) fn forget(&mut self, id: Id) {
        for hits in &mut self.0 {
            hits.shares.remove(&id);
        }
    }
}
