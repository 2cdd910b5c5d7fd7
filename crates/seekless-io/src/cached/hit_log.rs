//! Hits, logged by thread without the cache's lock. A thread that takes that lock drains them
//! first: stripe by stripe, each in its own order, so that one thread's requests reach the policy
//! in the order in which it made them.
//!
//! Each stripe has lenders of its own of the buffers that its threads hit, by name. So a second hit
//! of the same file writes to no memory that the threads of another stripe use, looks at nothing
//! but the stripe and the name, and takes the stripe's lock as its only locked instruction.

use super::sync::{Lock, LockGuard, own_number};
use super::{Lend, Names};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use seekless_policy::eviction::Id;
use std::hash::{BuildHasher, Hasher};

/// Hits that a stripe holds before its thread drains the log itself: what bounds the log's memory.
pub(super) const STRIPE_HITS_MAX: usize = 1024;

/// On cache lines of its own, so that two threads do not fight for one.
#[repr(align(128))]
struct Stripe<L>(Lock<Hits<L>>);

struct Hits<L> {
    ids: Vec<Id>,
    /// The stripe's lenders, all of buffers that the cache has.
    lenders: HashTable<Known<L>>,
}

/// A buffer that the stripe lends. On a cache line of its own: a look-up reads one.
#[repr(align(64))]
struct Known<L> {
    lender: L,
    id: Id,
}

/// The log. Threads share its stripes evenly.
pub(crate) struct HitLog<L, const STRIPES: usize = 16> {
    stripes: [Stripe<L>; STRIPES],
    hasher: RandomState,
}

/// A hit: which entry, its buffer, and whether the log is to be drained now.
pub(crate) struct Hit<B> {
    pub(crate) id: Id,
    pub(crate) buffer: B,
    pub(crate) is_full: bool,
}

impl<L: Lend, const STRIPES: usize> HitLog<L, STRIPES> {
    pub(crate) fn new() -> Self {
        let stripe = |_| Stripe(Lock::new(Hits { ids: Vec::new(), lenders: HashTable::new() }));
        Self { stripes: std::array::from_fn(stripe), hasher: RandomState::default() }
    }

    /// Looks for the entry called `name` among those that the calling thread's stripe knows, and
    /// logs the hit: one step for a thread that [stops](Self::stop) hits.
    #[inline]
    pub(crate) fn hit(&self, name: &str, names: &impl Names) -> Option<Hit<L::Lent>> {
        let hash = hash(&self.hasher, name);
        let hits = &mut *self.own_stripe();
        let known = hits.lenders.find_mut(hash, |known| names.is(known.id, name))?;
        let (id, buffer) = (known.id, known.lender.lend());
        Some(hits.log(id, buffer))
    }

    /// As [`HitLog::hit`], of the entry `id`. If the stripe does not know it, `look` looks for it
    /// in the cache.
    pub(crate) fn hit_or(
        &self,
        id: Id,
        names: &impl Names,
        look: impl FnOnce() -> Option<L>,
    ) -> Option<Hit<L::Lent>> {
        let hash_of = |id: Id| hash(&self.hasher, names.name(id));
        let hash = hash_of(id);
        let hits = &mut *self.own_stripe();
        let place = hits.lenders.entry(hash, |known| known.id == id, |known| hash_of(known.id));
        let buffer = match place {
            Entry::Occupied(mut known) => known.get_mut().lender.lend(),
            Entry::Vacant(place) => {
                let mut known = place.insert(Known { lender: look()?, id });
                known.get_mut().lender.lend()
            }
        };
        Some(hits.log(id, buffer))
    }

    #[inline]
    fn own_stripe(&self) -> LockGuard<'_, Hits<L>> {
        self.stripes[own_number() % STRIPES].0.lock()
    }

    /// Hands all logged hits to `apply`, while threads log further ones. `scratch`, which is empty,
    /// is lent to keep the stripes' locks short.
    pub(crate) fn drain(&self, scratch: &mut Vec<Id>, mut apply: impl FnMut(&[Id])) {
        for stripe in &self.stripes {
            {
                let mut hits = stripe.0.lock();
                if hits.ids.is_empty() {
                    continue;
                }
                std::mem::swap(&mut hits.ids, scratch);
            }
            apply(scratch);
            scratch.clear();
        }
    }

    /// Until the result is dropped no thread has a hit.
    pub(crate) fn stop<'a, N: Names>(&'a self, names: &'a N) -> Stopped<'a, L, N, STRIPES> {
        let stripes = std::array::from_fn(|number| self.stripes[number].0.lock());
        Stopped { stripes, hasher: &self.hasher, names }
    }
}

impl<L> Hits<L> {
    #[inline]
    fn log<B>(&mut self, id: Id, buffer: B) -> Hit<B> {
        self.ids.push(id);
        Hit { id, buffer, is_full: self.ids.len() >= STRIPE_HITS_MAX }
    }
}

#[inline]
fn hash(hasher: &RandomState, name: &str) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// A log whose stripes are all held.
pub(crate) struct Stopped<'a, L, N, const STRIPES: usize = 16> {
    stripes: [LockGuard<'a, Hits<L>>; STRIPES],
    hasher: &'a RandomState,
    names: &'a N,
}

impl<L, N: Names, const STRIPES: usize> Stopped<'_, L, N, STRIPES> {
    /// Hands all logged hits to `apply`.
    pub(crate) fn drain(&mut self, mut apply: impl FnMut(&[Id])) {
        for hits in &mut self.stripes {
            apply(&hits.ids);
            hits.ids.clear();
        }
    }

    /// The cache lets `id` go: no stripe lends it any more.
    pub(crate) fn forget(&mut self, id: Id) {
        let hash = hash(self.hasher, self.names.name(id));
        for hits in &mut self.stripes {
            if let Ok(known) = hits.lenders.find_entry(hash, |known| known.id == id) {
                drop(known.remove());
            }
        }
    }
}
