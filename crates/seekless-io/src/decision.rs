//! What the cache decided, in the order in which it was decided: the seam by which a test holds the
//! engine to the simulator's figures. Off unless asked for.

use seekless_policy::eviction::{
    Eviction, Hits, Id, Named, Needs, Outcome, PageState, Pool, Request,
};
use std::sync::{Arc, Mutex};

use crate::lock;

/// One request to the cache, and what it did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// A request, and the ids that the policy evicted for it, in its order. Ids are entry numbers
    /// in archive order. Before them stand those that had no room any more since the device turned
    /// out to charge something else, and one more if too much memory lay between the buffers, which
    /// no simulator foresees.
    Requested {
        /// As the policy was given it.
        request: Request,
        /// Its victims; also those still held by a user or in flight.
        evicted: Vec<Id>,
    },
    /// The read of `id` failed or was cancelled, and it left the cache.
    Removed {
        /// Which entry.
        id: Id,
    },
}

/// The decisions so far, if they are recorded.
pub(crate) struct Recorder {
    victims: Arc<Mutex<Vec<Id>>>,
    decisions: Vec<Decision>,
}

impl Recorder {
    /// Closes the request that the policy has just decided.
    pub(crate) fn requested(&mut self, request: Request) {
        let evicted = std::mem::take(&mut *lock(&self.victims));
        self.decisions.push(Decision::Requested { request, evicted });
    }

    pub(crate) fn removed(&mut self, id: Id) {
        self.decisions.push(Decision::Removed { id });
    }

    pub(crate) fn decisions(&self) -> Vec<Decision> {
        self.decisions.clone()
    }
}

/// A policy whose victims are noted as it names them: an id evicted in flight gets its `Drop` only
/// later, but was decided now.
pub(crate) struct Watched {
    policy: Named,
    victims: Option<Arc<Mutex<Vec<Id>>>>,
}

impl Watched {
    pub(crate) fn new(policy: Named, record: bool) -> (Self, Option<Recorder>) {
        let victims = record.then(|| Arc::new(Mutex::new(Vec::new())));
        let recorder = victims.clone().map(|victims| Recorder { victims, decisions: Vec::new() });
        (Self { policy, victims }, recorder)
    }

    fn watch<P: Pool + ?Sized, T>(
        &mut self,
        pool: &mut P,
        act: impl FnOnce(&mut Named, &mut dyn Pool) -> T,
    ) -> T {
        let mut watch = Watch { pool, victims: self.victims.as_deref() };
        act(&mut self.policy, &mut watch)
    }
}

struct Watch<'a, P: ?Sized> {
    pool: &'a mut P,
    victims: Option<&'a Mutex<Vec<Id>>>,
}

impl<P: Pool + ?Sized> Pool for Watch<'_, P> {
    fn evict(&mut self, victim: Id) {
        if let Some(victims) = self.victims {
            lock(victims).push(victim);
        }
        self.pool.evict(victim);
    }

    fn forget(&mut self, id: Id) {
        self.pool.forget(id);
    }

    fn state(&self, id: Id) -> PageState {
        self.pool.state(id)
    }
}

impl Eviction for Watched {
    fn needs(&self) -> Needs {
        self.policy.needs()
    }

    fn grow(&mut self, ids: u32) {
        self.policy.grow(ids);
    }

    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.watch(pool, |policy, pool| policy.request(request, pool))
    }

    fn hit_all<P: Pool + ?Sized>(&mut self, hits: &[Hits], pool: &mut P) {
        self.watch(pool, |policy, pool| policy.hit_all(hits, pool));
    }

    fn folds_hits(&self) -> bool {
        self.policy.folds_hits()
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        self.watch(pool, |policy, pool| policy.evict_one(pool))
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.watch(pool, |policy, pool| policy.set_capacity(capacity, pool));
    }

    fn remove(&mut self, id: Id) {
        self.policy.remove(id);
    }

    fn foresee(&mut self, id: Id, next_use: u64) {
        self.policy.foresee(id, next_use);
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        self.policy.weight_of(id)
    }

    fn reweigh(&mut self, request: &Request) {
        self.policy.reweigh(request);
    }

    fn resident_weight(&self) -> u64 {
        self.policy.resident_weight()
    }
}
