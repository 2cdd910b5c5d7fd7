//! Belady for files: weight times distance. A bound to compare with, not the optimum.

use super::{Eviction, Id, NEVER, Needs, Outcome, Pool, Request};
use crate::sample::{Draws, Members};

/// Files looked at for one victim.
const SAMPLE: usize = 128;
/// Seed of [`BeladySize::new`].
const SEED: u64 = 1;

/// What is known of a resident file.
#[derive(Clone, Copy, Debug)]
struct File {
    next_use: u64,
    weight: u64,
}

impl File {
    /// How much room it takes for how long.
    #[inline]
    fn burden(&self, now: u64) -> u128 {
        u128::from(self.next_use.saturating_sub(now)) * u128::from(self.weight)
    }
}

/// The byte-size heuristic of Belady's rule (libCacheSim's `BeladySize`; the optimum for files of different sizes is
/// NP-hard, Chrobak, Woeginger, Makino and Xu, "Caching is hard", 2012).
///
/// - **Idea:** the file leaves that would take the most room for the longest: weight × requests until its next use. What is
///   never used again leaves before all that is.
/// - **Cost per request:** a hit O(1), a miss 128 looks at random files; all are looked at while no more are resident.
/// - **Memory:** 8 bytes an id and at most 28 a resident file. No ghosts.
/// - **Shines** as a figure beside every other policy's: what knowing the future is worth when sizes differ. It is a
///   heuristic: no bound in the strict sense, and with equal weights [`Opt`](super::Opt) is never worse.
///
/// Needs [`Request::next_use`]; the present is taken to be the last known one plus the requests since. Same seed, same
/// victims. [`Use`](super::Use) and cost are ignored. A hit keeps the weight that was admitted.
#[derive(Clone, Debug)]
pub struct BeladySize {
    capacity: u64,
    used: u64,
    /// Position of the present request.
    now: u64,
    members: Members,
    /// Beside the members.
    files: Vec<File>,
    /// Members that are never used again.
    done: Members,
    draws: Draws,
}

impl BeladySize {
    /// An empty cache of `capacity` units of weight, with the default seed.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self::with_seed(capacity, SEED)
    }

    /// An empty cache whose samples follow from `seed`.
    #[must_use]
    pub fn with_seed(capacity: u64, seed: u64) -> Self {
        Self {
            capacity,
            used: 0,
            now: 0,
            members: Members::new(),
            files: Vec::new(),
            done: Members::new(),
            draws: Draws::new(seed),
        }
    }

    /// A file that is never used again, else the greatest burden of the sample.
    #[inline]
    fn victim(&mut self) -> Option<Id> {
        if let Some(&done) = self.done.ids().last() {
            return Some(done);
        }
        let resident = self.files.len();
        let mut greatest = None;
        for turn in 0..resident.min(SAMPLE) {
            let at = if resident <= SAMPLE { turn } else { self.draws.below(resident) };
            let burden = self.files[at].burden(self.now);
            if greatest.is_none_or(|(most, _)| burden > most) {
                greatest = Some((burden, at));
            }
        }
        greatest.map(|(_, at)| self.members.ids()[at])
    }

    #[inline]
    fn note_done(&mut self, request: &Request) {
        match (request.next_use == NEVER, self.done.contains(request.id)) {
            (true, false) => self.done.insert(request.id),
            (false, true) => {
                self.done.remove(request.id);
            }
            _ => {}
        }
    }
}

impl Eviction for BeladySize {
    fn needs(&self) -> Needs {
        Needs { next_use: true, ..Needs::default() }
    }

    fn grow(&mut self, ids: u32) {
        self.members.grow(ids);
        self.done.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        if let Some(at) = self.members.position(request.id) {
            let file = &mut self.files[at];
            if file.next_use != NEVER {
                self.now = file.next_use;
            }
            file.next_use = request.next_use;
            self.now += 1;
            self.note_done(request);
            return Outcome::Hit;
        }
        self.now += 1;
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.shrink_to(self.capacity - request.weight, pool);
        self.used += request.weight;
        self.members.insert(request.id);
        self.files.push(File { next_use: request.next_use, weight: request.weight });
        self.note_done(request);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(victim) = self.victim() else {
            return false;
        };
        self.remove(victim);
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.shrink_to(capacity, pool);
    }

    fn remove(&mut self, id: Id) {
        if let Some(at) = self.members.position(id) {
            self.members.remove(id);
            self.done.remove(id);
            self.used -= self.files.swap_remove(at).weight;
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
