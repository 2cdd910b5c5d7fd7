//! A cache that chooses its policy by itself, while it is used.

mod books;
mod choice;
mod shadows;

use super::{Eviction, Id, Named, Outcome, Pool, Request, Use, named};
use books::{Books, Side};
use choice::Choice;
use shadows::{Shadows, Window};

/// Policies to choose from: they win on different traces.
const CANDIDATES: [&str; 6] = ["s3-fifo", "lru", "arc", "lirs", "w-tinylfu", "lfu-da"];

/// The one that is followed at first, and the one that is compared with it at first where there is
/// no room for all.
const FIRST: [usize; 2] = [2, 4];
/// For so many ids all policies are compared in full size. For more it is two, and the others have
/// shadows.
const ALL_MAX: u32 = 1 << 16;
/// So many hits by chance do not count.
const CHANCE: f64 = 16.0;
/// The hits that a change costs for each page that is not here, at least.
const PRICE: f64 = 0.5;
/// A change is considered once in so many requests.
const EACH: u32 = 64;
/// Requests of a window where all are compared in full size.
const WINDOW: u32 = 4096;

/// Follows the policy that is best for the requests of late.
///
/// - **Idea:** beside the policy that is followed, others see all requests, as though each had the
///   cache for itself, without data. The cache changes over to one that is ahead in hits by more
///   than half the pages that it keeps and the cache does not have: it pays for the change. What it
///   keeps is fetched when it is requested next; what it does not keep leaves as that comes in.
/// - **Bound:** hits lost against the best single policy are added up. From 0.3 % of the requests
///   on, only the one that leads over all requests is followed.
/// - **Ids:** up to 65,536 ids all six policies are compared. Of more ids the policy followed and
///   one other; small shadows of all six see a sample of the requests, and say which other.
/// - **Cost per request:** that of all policies compared. Where it is two, a hash of the key, and
///   for a request in the sample six small policies. The sample halves whenever the shadows know
///   more than 4,096 pages. A change costs a pass over all ids and a sort of what leaves.
/// - **Memory:** 24 bytes an id and that of the policies compared; where it is two, some 1 MB for
///   the shadows. The owner keeps the ids of all that one of the policies keeps or remembers.
/// - **Shines** where no single policy fits: unknown or changing programs. **Fails** on short
///   traces: it has to see hits that it lost, and a change loses those on what is not here.
///
/// Weights: as the policy followed. Hits count by requests, not by bytes. Cost is ignored. What is
/// removed stays in the shadows, in all alike.
///
/// Source: Seekless. The shadows are those of Waldspurger and others, FAST 2015 and ATC 2017
/// (SHARDS, miniature simulation); to choose by the experts' losses is the idea of LeCaR (Vietri
/// and others, HotStorage 2018); that a change waits until it has paid is the rule of ski rental.
#[derive(Debug)]
pub struct Auto {
    capacity: u64,
    ids: u32,
    /// The number of the last request; it wraps around.
    turn: u32,
    books: Books,
    /// Those in full size, the one that is followed among them.
    policies: [Option<Named>; CANDIDATES.len()],
    lead: usize,
    /// Whether there was no room for all.
    few: bool,
    /// What is here and the policy followed does not keep; the next to leave at the end.
    leftovers: Vec<Id>,
    /// Hits by which each is ahead of the cache, since it was not ahead last.
    ahead: [u32; CANDIDATES.len()],
    window: Window,
    shadows: Shadows,
    choice: Choice,
    /// Whether a policy that is not followed may keep more than fits.
    is_overweight: bool,
}

impl Auto {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            ids: 0,
            turn: 0,
            books: Books::default(),
            policies: std::array::from_fn(|number| Some(candidate(number, capacity))),
            lead: FIRST[0],
            few: false,
            leftovers: Vec::new(),
            ahead: [0; CANDIDATES.len()],
            window: Window::new(CANDIDATES.len()),
            shadows: Shadows::new(&CANDIDATES, capacity),
            choice: Choice::new(CANDIDATES.len()),
            is_overweight: false,
        }
    }

    /// The name of the policy that is followed now.
    #[must_use]
    pub fn follows(&self) -> &str {
        CANDIDATES[self.lead]
    }

    /// The policy followed decides.
    fn decide<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let Request { id, weight, .. } = *request;
        if self.books.is_kept_otherwise(id, weight) {
            self.reweigh_absent(request);
        }
        let (policy, books) = (self.lead, &mut self.books);
        let was_here = books.is_here(id);
        let lead = self.policies[policy].as_mut().expect("it is there in full size");
        let outcome = lead.request(request, &mut Side { books, policy, leads: true, pool });
        if !was_here && outcome == Outcome::Bypassed {
            books.reweigh(id, weight);
            books.forget_unknown(id, pool);
            return outcome;
        }
        if !was_here {
            books.comes(id, weight);
        }
        if outcome == Outcome::Admitted {
            books.keep(policy, id);
        }
        self.trim(pool);
        // Of what is left over, and of what it has not yet, the policy thinks otherwise.
        if was_here { Outcome::Hit } else { Outcome::Admitted }
    }

    /// The others see the request as though they were followed.
    fn compare<P: Pool + ?Sized>(&mut self, request: &Request, was_hit: bool, pool: &mut P) {
        let counts = request.kind != Use::Prefetch;
        self.window.own += u32::from(counts && was_hit);
        self.window.count(self.lead, counts && was_hit);
        for policy in 0..CANDIDATES.len() {
            let Some(other) = self.policies[policy].as_mut().filter(|_| policy != self.lead) else {
                continue;
            };
            let books = &mut self.books;
            let outcome = other.request(request, &mut Side { books, policy, leads: false, pool });
            match outcome {
                Outcome::Hit => {}
                Outcome::Admitted => self.books.keep(policy, request.id),
                Outcome::Bypassed => {
                    other.remove(request.id);
                    self.books.forget(policy, request.id, pool);
                }
            }
            let is_hit = outcome == Outcome::Hit;
            if counts {
                self.window.count(policy, is_hit);
                let ahead = self.ahead[policy] + u32::from(is_hit);
                self.ahead[policy] = ahead.saturating_sub(u32::from(was_hit));
            }
        }
        if std::mem::take(&mut self.is_overweight) {
            self.resize_others(pool);
        }
    }

    /// What grew may not fit the policies that are not followed.
    #[cold]
    fn resize_others<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        for (policy, other) in self.policies.iter_mut().enumerate() {
            if let Some(other) = other.as_mut().filter(|_| policy != self.lead) {
                let side = &mut Side { books: &mut self.books, policy, leads: false, pool };
                other.set_capacity(self.capacity, side);
            }
        }
    }

    /// A page that is not here is requested with another weight.
    #[cold]
    fn reweigh_absent(&mut self, request: &Request) {
        for policy in 0..CANDIDATES.len() {
            if !self.books.keeps(policy, request.id) {
                continue;
            }
            let Some(known) = &mut self.policies[policy] else { continue };
            if policy == self.lead {
                known.remove(request.id);
                self.books.drop(policy, request.id);
            } else {
                known.reweigh(request);
                self.is_overweight = true;
            }
        }
        self.books.reweigh(request.id, request.weight);
    }

    /// Leftovers leave until the rest fits.
    fn trim<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.books.here_weight() > self.capacity && self.evict_leftover(pool) {}
    }

    /// The leftover that was used longest ago leaves.
    fn evict_leftover<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        while let Some(id) = self.leftovers.pop() {
            if self.books.is_here(id) && !self.books.keeps(self.lead, id) {
                self.books.leave_over(id, pool);
                return true;
            }
        }
        false
    }

    /// Changes over to another policy. What is here stays, as long as there is room.
    fn change(&mut self, number: usize) {
        self.lead = number;
        let is_left = |books: &Books, id| !books.keeps(number, id);
        self.leftovers = self.books.here_by_last_use(self.turn, is_left);
        self.ahead.fill(0);
        self.choice.changed();
    }

    /// A policy sees the requests from now on. It is told what is here in the order of the last
    /// uses, and of what was used again twice.
    fn start<P: Pool + ?Sized>(&mut self, policy: usize, pool: &mut P) {
        let mut newcomer = candidate(policy, self.capacity);
        newcomer.grow(self.ids);
        let here = self.books.here_by_last_use(self.turn, |_, _| true);
        let again = here.iter().rev().filter(|id| self.books.again(**id));
        let order: Vec<Id> = here.iter().rev().chain(again).copied().collect();
        for id in order {
            let (key, weight) = (self.books.key(id), self.books.weight(id));
            let request = Request { key, ..Request::file(id, weight) };
            let books = &mut self.books;
            match newcomer.request(&request, &mut Side { books, policy, leads: false, pool }) {
                Outcome::Hit => {}
                Outcome::Admitted => self.books.keep(policy, id),
                Outcome::Bypassed => {
                    newcomer.remove(id);
                    self.books.drop(policy, id);
                }
            }
        }
        self.policies[policy] = Some(newcomer);
        self.ahead[policy] = 0;
    }

    /// A policy sees no more requests.
    fn stop<P: Pool + ?Sized>(&mut self, policy: usize, pool: &mut P) {
        if self.policies[policy].take().is_some() {
            (0..self.books.ids()).for_each(|id| self.books.forget(policy, id, pool));
        }
    }

    /// What a request says of the policies may lead to a change.
    fn learn<P: Pool + ?Sized>(&mut self, request: &Request, was_hit: bool, pool: &mut P) {
        self.window.asked += 1;
        if self.few {
            let is_sampled = self.shadows.samples(request.key);
            if let Some(window) =
                is_sampled.then(|| self.shadows.request(request, was_hit)).flatten()
            {
                self.choice.window(&window);
                self.replace(pool);
            }
        } else if self.window.asked >= WINDOW {
            let window = std::mem::replace(&mut self.window, Window::new(CANDIDATES.len()));
            self.choice.window(&window);
        }
        if self.turn.is_multiple_of(EACH)
            && let Some(next) = self.next()
        {
            self.change(next);
        }
    }

    /// The policy beside the one followed leaves for one whose shadow was better.
    fn replace<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        let (lead, other) = (self.lead, self.others().next());
        let Some(other) = other else { return };
        if let Some(better) = self.choice.nominee(lead, other) {
            self.stop(other, pool);
            self.start(better, pool);
        }
    }

    /// Those that are compared with the one that is followed.
    fn others(&self) -> impl Iterator<Item = usize> + '_ {
        (0..CANDIDATES.len()).filter(|&it| it != self.lead && self.policies[it].is_some())
    }

    /// The policy to change to.
    fn next(&mut self) -> Option<usize> {
        if self.choice.loses() {
            let leader = self.choice.leader(self.lead)?;
            let is_there = self.policies[leader].is_some();
            return is_there.then(|| self.choice.follow(leader));
        }
        let best = self.others().max_by_key(|&it| self.ahead[it])?;
        let price = CHANCE + PRICE * f64::from(self.books.owed(best));
        (f64::from(self.ahead[best]) > price).then_some(best)
    }

    /// Two policies stay in full size: all would take too much memory.
    fn fit<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        self.few = true;
        let second = if self.turn == 0 { FIRST[1] } else { self.choice.second(self.lead) };
        for policy in 0..CANDIDATES.len() {
            if policy != self.lead && policy != second {
                self.stop(policy, pool);
            }
        }
    }
}

/// The owner of a cache that no request has reached yet.
struct NoOwner;

impl Pool for NoOwner {
    fn evict(&mut self, _victim: Id) {}

    fn forget(&mut self, _id: Id) {}
}

fn candidate(number: usize, capacity: u64) -> Named {
    named(CANDIDATES[number], capacity).expect("candidates are in the table")
}

impl Eviction for Auto {
    fn grow(&mut self, ids: u32) {
        self.ids = self.ids.max(ids);
        if self.turn == 0 && ids > ALL_MAX {
            self.fit(&mut NoOwner);
        }
        self.books.grow(ids);
        self.policies.iter_mut().flatten().for_each(|policy| policy.grow(ids));
    }

    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.turn = self.turn.wrapping_add(1);
        if !self.few && self.ids > ALL_MAX {
            self.fit(pool);
        }
        if self.books.is_another(request.id, request.key) {
            self.remove(request.id);
        }
        let outcome = self.decide(request, pool);
        self.compare(request, outcome == Outcome::Hit, pool);
        self.books.used(request, self.turn, outcome == Outcome::Hit);
        if request.kind != Use::Prefetch {
            self.learn(request, outcome == Outcome::Hit, pool);
        }
        outcome
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        if self.evict_leftover(pool) {
            return true;
        }
        let (policy, before) = (self.lead, self.books.here());
        let Some(lead) = &mut self.policies[policy] else { return false };
        while self.books.here() == before {
            let books = &mut self.books;
            if !lead.evict_one(&mut Side { books, policy, leads: true, pool }) {
                return false;
            }
        }
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        for (policy, known) in self.policies.iter_mut().enumerate() {
            let leads = policy == self.lead;
            let side = &mut Side { books: &mut self.books, policy, leads, pool };
            known.iter_mut().for_each(|known| known.set_capacity(capacity, side));
        }
        self.trim(pool);
        self.shadows.set_capacity(capacity);
    }

    fn remove(&mut self, id: Id) {
        self.policies.iter_mut().flatten().for_each(|policy| policy.remove(id));
        self.books.remove(id);
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        self.books.is_here(id).then(|| self.books.weight(id))
    }

    fn reweigh(&mut self, request: &Request) {
        if self.books.is_here(request.id) {
            self.policies.iter_mut().flatten().for_each(|policy| policy.reweigh(request));
            self.books.reweigh(request.id, request.weight);
            self.is_overweight = true;
        }
        self.shadows.reweigh(request);
    }

    fn resident_weight(&self) -> u64 {
        self.books.here_weight()
    }
}

#[cfg(test)]
mod tests;
