//! Hits, logged by thread without the cache's lock. A thread that takes that lock drains them
//! first: stripe by stripe, each in its own order, so that one thread's requests reach the policy
//! in the order in which it made them.
//!
//! Each stripe has lenders of its own of the buffers that its threads hit, by name. So a second hit
//! of the same file writes to no memory that the threads of another stripe use, looks at nothing
//! but the stripe and the name, and takes the stripe's lock as its only locked instruction.
//!
//! A log that *folds* notes an entry once: further hits until the next drain only count up beside
//! its lender, and say when the last of them was. That is for policies to which nothing else of
//! them counts; then most hits cost the policy nothing.

use super::sync::{Lock, LockGuard, own_number};
use super::{Lend, NamePlace, Names};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use seekless_policy::eviction::Id;
use std::hash::{BuildHasher, Hasher};

/// Hits that a stripe holds before its thread drains the log itself: what bounds the log's memory.
pub(super) const STRIPE_HITS_MAX: usize = 1024;

/// The same of a log that folds: entries that were hit. Reporting this many to the policy takes
/// about a millisecond.
pub(super) const STRIPE_ENTRIES_MAX: usize = 16 * STRIPE_HITS_MAX;

/// Upper bound on a folded count. Half the range, so that hits logged before the next drain cannot
/// overflow it.
const FOLDED_MAX: u32 = 1 << 31;

/// On cache lines of its own, so that two threads do not fight for one.
#[repr(align(128))]
struct Stripe<L>(Lock<Hits<L>>);

struct Hits<L> {
    log: Log,
    /// The stripe's lenders, all of buffers that the cache has.
    lenders: HashTable<Known<L>>,
}

/// What was hit since the last drain.
struct Log {
    /// The entries, each with the hash of its name.
    logged: Vec<(u64, Id)>,
    /// How many hits there were.
    count: u32,
    /// What a hit adds to the count of its entry: 1 in a log that folds.
    step: u32,
    /// How much may be logged.
    logged_max: usize,
}

/// A buffer that the stripe lends. On a cache line of its own: a look-up reads one.
#[repr(align(64))]
struct Known<L> {
    lender: L,
    /// Of its name.
    hash: u64,
    name: NamePlace,
    id: Id,
    /// Hits since the last drain; 0 always in a log that does not fold.
    hits: u32,
    /// The number of the last of them among those of the stripe.
    last: u32,
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

/// Hits of one entry, for the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryHits {
    pub(crate) id: Id,
    pub(crate) hits: u32,
    /// The number of the last of them among those of the stripe.
    last: u32,
}

impl<L: Lend, const STRIPES: usize> HitLog<L, STRIPES> {
    /// An empty log, which folds hits or reports each by itself.
    pub(crate) fn new(folds: bool) -> Self {
        Self {
            stripes: std::array::from_fn(|_| Stripe(Lock::new(Hits::new(folds)))),
            hasher: RandomState::default(),
        }
    }

    /// Looks for the entry called `name` among those that the calling thread's stripe knows, and
    /// logs the hit: one step for a thread that [stops](Self::stop) hits.
    #[inline]
    pub(crate) fn hit(&self, name: &str, names: &impl Names) -> Option<Hit<L::Lent>> {
        let hash = hash(&self.hasher, name);
        let Hits { log, lenders } = &mut *self.own_stripe();
        let known = lenders.find_mut(hash, |known| names.is_at(known.name, name))?;
        Some(log.hit(known))
    }

    /// As [`HitLog::hit`], of the entry `id`. If the stripe does not know it, `look` looks for it
    /// in the cache.
    pub(crate) fn hit_or(
        &self,
        id: Id,
        names: &impl Names,
        look: impl FnOnce() -> Option<L>,
    ) -> Option<Hit<L::Lent>> {
        let hash = hash(&self.hasher, names.name(id));
        let Hits { log, lenders } = &mut *self.own_stripe();
        let place = lenders.entry(hash, |known| known.id == id, |known| known.hash);
        let known = match place {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let name = names.place(id);
                place.insert(Known { lender: look()?, hash, name, id, hits: 0, last: 0 }).into_mut()
            }
        };
        Some(log.hit(known))
    }

    #[inline]
    fn own_stripe(&self) -> LockGuard<'_, Hits<L>> {
        self.stripes[own_number() % STRIPES].0.lock()
    }

    /// Hands all logged hits to `apply`, while threads log further ones. `scratch`, which is empty,
    /// is lent to keep the stripes' locks short.
    pub(crate) fn drain(&self, scratch: &mut Vec<EntryHits>, mut apply: impl FnMut(&[EntryHits])) {
        for stripe in &self.stripes {
            stripe.0.lock().take(scratch);
            in_order(scratch);
            apply(scratch);
            scratch.clear();
        }
    }

    /// Until the result is dropped no thread has a hit.
    pub(crate) fn stop<'a, N: Names>(&'a self, names: &'a N) -> PausedLog<'a, L, N, STRIPES> {
        let stripes = std::array::from_fn(|number| self.stripes[number].0.lock());
        PausedLog { stripes, hasher: &self.hasher, names }
    }
}

impl<L> Hits<L> {
    fn new(folds: bool) -> Self {
        let (step, logged_max) = if folds { (1, STRIPE_ENTRIES_MAX) } else { (0, STRIPE_HITS_MAX) };
        let log = Log { logged: Vec::new(), count: 0, step, logged_max };
        Self { log, lenders: HashTable::new() }
    }

    /// Takes all that is logged, for [`in_order`].
    fn take(&mut self, taken: &mut Vec<EntryHits>) {
        let Self { log, lenders } = self;
        let single = |id| EntryHits { id, hits: 1, last: 0 };
        if log.step == 0 {
            taken.extend(log.logged.iter().map(|&(_, id)| single(id)));
        } else {
            taken.extend(log.logged.iter().filter_map(|&(hash, id)| {
                let known = lenders.find_mut(hash, |known| known.id == id)?;
                Some(EntryHits { id, hits: std::mem::take(&mut known.hits), last: known.last })
            }));
        }
        log.logged.clear();
        log.count = 0;
    }
}

/// Puts what one stripe has logged in the order of the last hits.
fn in_order(taken: &mut [EntryHits]) {
    // Those of a log that does not fold are all equal, and stay where they are.
    taken.sort_by_key(|taken| taken.last);
}

impl Log {
    #[inline]
    fn hit<L: Lend>(&mut self, known: &mut Known<L>) -> Hit<L::Lent> {
        let mut is_full = self.count >= FOLDED_MAX;
        if known.hits == 0 {
            self.logged.push((known.hash, known.id));
            is_full |= self.logged.len() >= self.logged_max;
        }
        known.hits += self.step;
        known.last = self.count;
        self.count += self.step;
        Hit { id: known.id, buffer: known.lender.lend(), is_full }
    }
}

#[inline]
fn hash(hasher: &RandomState, name: &str) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// A log whose stripes are all held.
pub(crate) struct PausedLog<'a, L, N, const STRIPES: usize = 16> {
    stripes: [LockGuard<'a, Hits<L>>; STRIPES],
    hasher: &'a RandomState,
    names: &'a N,
}

impl<L, N: Names, const STRIPES: usize> PausedLog<'_, L, N, STRIPES> {
    /// Hands all logged hits to `apply`. `scratch` is empty.
    pub(crate) fn drain(
        &mut self,
        scratch: &mut Vec<EntryHits>,
        mut apply: impl FnMut(&[EntryHits]),
    ) {
        for hits in &mut self.stripes {
            hits.take(scratch);
            in_order(scratch);
            apply(scratch);
            scratch.clear();
        }
    }

    /// The cache lets `id` go: no stripe lends it any more. All hits of it have been reported.
    pub(crate) fn forget(&mut self, id: Id) {
        let hash = hash(self.hasher, self.names.name(id));
        for hits in &mut self.stripes {
            if let Ok(known) = hits.lenders.find_entry(hash, |known| known.id == id) {
                drop(known.remove());
            }
        }
    }
}
