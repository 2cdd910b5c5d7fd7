//! A cache that chooses its policy by itself, while it is used.

mod choice;
mod shadows;

use super::{Eviction, Id, Named, Outcome, Pool, Request, Use, named};
use crate::arrays::column;
use choice::Choice;
use shadows::Shadows;

/// Policies to choose from: they win on different traces. The cache begins with the first.
const CANDIDATES: [&str; 6] = ["s3-fifo", "lru", "arc", "lirs", "w-tinylfu", "lfu-da"];

/// What the owner was told of an id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Told {
    /// It has left, or never came.
    #[default]
    Nothing,
    /// It is resident.
    Resident,
    /// It was evicted, and its ghost stays.
    Evicted,
}

/// What is known of an id.
#[derive(Clone, Copy, Debug, Default)]
struct About {
    /// The number of its last use; it wraps around.
    last_use: u32,
    told: Told,
    /// Whether it was used again since it entered.
    again: bool,
}

/// Follows the policy that is best for the requests of late.
///
/// - **Idea:** small shadows of a few policies see a sample of the requests. If one of them would
///   have had more hits, by more than chance and by half a percent of the requests, in two windows
///   in turn, the cache changes over to it. What is resident stays: the new policy is told of all
///   of it in the order of the last uses, of what was used again twice.
/// - **Bound:** hits lost against the best single policy are added up. From 0.3 % of the requests
///   on, only the one that leads over all requests is followed.
/// - **Cost per request:** that of the policy followed, a hash of the key, and for a request in the
///   sample, six more policies. The sample halves whenever the shadows know more than 4,096 pages,
///   so a cache of 1,000,000 pages has some 1 of 1,024 requests in it; one of 1,000 pages has all.
///   A change costs a sort of all resident pages.
/// - **Memory:** that of the policy followed, 8 bytes an id, and some 1 MB for the shadows. During
///   a change both policies are there.
/// - **Shines** where no single policy fits: unknown or changing programs. **Fails** where a change
///   comes too late: phases shorter than some thousands of requests.
///
/// Weights: as the policy followed. Hits count by requests, not by bytes. Cost is ignored. What is
/// removed stays in the shadows, in all alike.
///
/// Source: Seekless. The shadows are those of Waldspurger and others, FAST 2015 and ATC 2017
/// (SHARDS, miniature simulation); to choose by the experts' losses is the idea of LeCaR (Vietri
/// and others, HotStorage 2018).
#[derive(Debug)]
pub struct Auto {
    capacity: u64,
    ids: u32,
    turn: u32,
    about: Vec<About>,
    policy: Named,
    shadows: Shadows,
    choice: Choice,
}

/// The owner of the cache, and what it is told.
struct Watched<'a, P: ?Sized> {
    about: &'a mut [About],
    pool: &'a mut P,
}

impl<P: Pool + ?Sized> Pool for Watched<'_, P> {
    fn evict(&mut self, victim: Id) {
        self.about[victim as usize].told = Told::Evicted;
        self.pool.evict(victim);
    }

    fn forget(&mut self, id: Id) {
        self.about[id as usize].told = Told::Nothing;
        self.pool.forget(id);
    }
}

impl Auto {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            ids: 0,
            turn: 0,
            about: Vec::new(),
            policy: candidate(0, capacity),
            shadows: Shadows::new(&CANDIDATES, capacity),
            choice: Choice::new(CANDIDATES.len()),
        }
    }

    /// The name of the policy that is followed now.
    #[must_use]
    pub fn follows(&self) -> &str {
        self.policy.name()
    }

    /// Changes over to another policy. What is resident stays; ghosts are forgotten.
    fn change<P: Pool + ?Sized>(&mut self, number: usize, pool: &mut P) {
        let mut resident = Vec::new();
        for id in 0..self.ids {
            let about = &mut self.about[id as usize];
            match about.told {
                Told::Resident => {
                    let weight = self.policy.weight_of(id).unwrap_or(1);
                    resident.push((self.turn.wrapping_sub(about.last_use), id, weight));
                }
                Told::Evicted => {
                    about.told = Told::Nothing;
                    pool.forget(id);
                }
                Told::Nothing => {}
            }
        }
        resident.sort_unstable_by_key(|(unused_for, id, _)| (std::cmp::Reverse(*unused_for), *id));
        self.policy = candidate(number, self.capacity);
        self.policy.grow(self.ids);
        let mut watched = Watched { about: &mut self.about, pool };
        for again in [false, true] {
            for (_, id, weight) in &resident {
                let about = watched.about[*id as usize];
                if about.told == Told::Resident && (about.again || !again) {
                    self.policy.request(&Request::file(*id, *weight), &mut watched);
                }
            }
        }
    }

    /// The shadows see a request of their sample, and may lead to a change.
    fn learn<P: Pool + ?Sized>(&mut self, request: &Request, was_hit: bool, pool: &mut P) {
        let window = self.shadows.request(request, was_hit);
        let next = window.and_then(|it| self.choice.window(it.asked, it.own, &it.hits));
        if let Some(number) = next {
            self.change(number, pool);
        }
    }
}

fn candidate(number: usize, capacity: u64) -> Named {
    named(CANDIDATES[number], capacity).expect("candidates are in the table")
}

impl Eviction for Auto {
    fn grow(&mut self, ids: u32) {
        self.ids = self.ids.max(ids);
        column::grow(&mut self.about, ids, About::default());
        self.policy.grow(ids);
    }

    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.turn = self.turn.wrapping_add(1);
        let mut watched = Watched { about: &mut self.about, pool };
        let outcome = self.policy.request(request, &mut watched);
        let about = &mut self.about[request.id as usize];
        if outcome != Outcome::Bypassed {
            about.last_use = self.turn;
            about.again = outcome == Outcome::Hit;
            about.told = Told::Resident;
        }
        if request.kind != Use::Prefetch && self.shadows.samples(request.key) {
            self.learn(request, outcome == Outcome::Hit, pool);
        }
        outcome
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        self.policy.evict_one(&mut Watched { about: &mut self.about, pool })
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.policy.set_capacity(capacity, &mut Watched { about: &mut self.about, pool });
        self.shadows.set_capacity(capacity);
    }

    fn remove(&mut self, id: Id) {
        self.policy.remove(id);
        self.about[id as usize].told = Told::Nothing;
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        self.policy.weight_of(id)
    }

    fn reweigh(&mut self, request: &Request) {
        self.policy.reweigh(request);
        self.shadows.reweigh(request);
    }

    fn resident_weight(&self) -> u64 {
        self.policy.resident_weight()
    }
}

#[cfg(test)]
mod tests;
