//! A cache that chooses its policy by itself, while it is used.

mod books;
mod choice;

use super::{Eviction, Id, Named, Outcome, Pool, Request, Use, named};
use books::{Books, Side};
use choice::Choice;

/// Policies to choose from, each for other requests: frequency and sizes, recency, loops, popular
/// pages among many that come once. The first is followed at first: it keeps small files, of which
/// more fit, and of equal pages those used often or late.
const CANDIDATES: [&str; COUNT] = ["gdsf", "arc", "clock-pro", "w-tinylfu@fixed"];
/// How many these are.
const COUNT: usize = 4;
/// A change is considered once in this many requests.
const EACH: u32 = 64;

/// Follows the policy that is best for the requests of late.
///
/// - **Idea:** each candidate sees all requests, as though it had the cache for itself, without
///   data. What the cache holds follows one of them, the leader: to make room it evicts what the
///   leader does not keep. So a change of the leader moves nothing. Of equal pages it costs at most
///   one miss for each that the new leader keeps and the cache lacks.
/// - **Change:** when another has had more hits than the leader, by 16 and one for each fifty
///   objects that it keeps and the cache lacks.
/// - **Bound:** once the cache has lost more than 0.3 % of all requests against the best single
///   candidate, it changes only to the one that has had most hits over all requests.
/// - **Cost per request:** that of all four candidates.
/// - **Memory:** that of all four and 10 bytes an id, 18 where weights differ: 111 and 149 in all,
///   also for what only one of them keeps or remembers.
/// - **Shines** where no single policy fits: unknown or changing programs. **Fails** on short
///   traces, where what a change has to fetch is more than a hundredth of the requests, and on
///   loops in small caches, where candidates that are equally good lead in turns.
///
/// Weights: any. Hits count by requests, not by bytes. Costs: as `gdsf`.
///
/// Source: Seekless. That a cache may follow the simulated caches of others is in Fiat and others,
/// Competitive paging algorithms, Journal of Algorithms 1991.
#[derive(Debug)]
pub struct Auto {
    capacity: u64,
    candidates: [Named; COUNT],
    leader: usize,
    books: Books,
    choice: Choice,
    /// The number of the last request; it wraps around.
    turn: u32,
    /// Whether an id may have outgrown a candidate.
    has_grown: bool,
}

impl Auto {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        let candidate = |name| named(name, capacity).expect("candidates are in the table");
        Self {
            capacity,
            candidates: CANDIDATES.map(candidate),
            leader: 0,
            books: Books::default(),
            choice: Choice::default(),
            turn: 0,
            has_grown: false,
        }
    }

    /// The name of the policy that is followed now.
    #[must_use]
    pub fn follows(&self) -> &str {
        CANDIDATES[self.leader]
    }

    /// All candidates see a request. The answer has a bit for each that has a hit.
    fn ask<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> u8 {
        let (id, books) = (request.id, &mut self.books);
        let mut hits = 0;
        for (number, candidate) in self.candidates.iter_mut().enumerate() {
            match candidate.request(request, &mut Side { books, number, pool }) {
                Outcome::Hit => hits |= 1 << number,
                Outcome::Admitted => books.keep(number, id),
                Outcome::Bypassed => {
                    candidate.remove(id);
                    books.drop(number, id);
                }
            }
        }
        hits
    }

    /// Evicts until `weight` more fits: what the leader does not keep, then the rest.
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        let limit = self.capacity.saturating_sub(weight);
        while self.books.weight_here() > limit && self.evict_one(pool) {}
    }

    fn resize<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        self.has_grown = false;
        let (capacity, books) = (self.capacity, &mut self.books);
        for (number, candidate) in self.candidates.iter_mut().enumerate() {
            candidate.set_capacity(capacity, &mut Side { books, number, pool });
        }
    }

    /// Changes over if another candidate leads. What is here stays.
    fn consider(&mut self) {
        let lacking = std::array::from_fn(|number| self.books.lacking(number));
        if let Some(next) = self.choice.next(self.leader, lacking, self.books.here()) {
            self.change(next);
        }
    }

    fn change(&mut self, leader: usize) {
        self.leader = leader;
        self.choice.changed();
    }
}

impl Eviction for Auto {
    fn grow(&mut self, ids: u32) {
        self.books.grow(ids);
        self.candidates.iter_mut().for_each(|candidate| candidate.grow(ids));
    }

    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let Request { id, weight, .. } = *request;
        let was_here = self.books.is_here(id);
        if !was_here {
            if weight > self.capacity {
                return Outcome::Bypassed;
            }
            // To the candidates an id that comes back with another weight is another one.
            if self.books.is_known_otherwise(id, weight) {
                self.remove(id);
            }
        }
        if self.has_grown {
            self.resize(pool);
        }
        // A hit keeps the weight that was admitted, with the candidates that lack the id, too.
        let weight = if was_here { self.books.weight(id) } else { weight };
        let hits = self.ask(&Request { weight, ..*request }, pool);
        if !was_here {
            self.make_room(weight, pool);
            self.books.come(id, weight);
        }
        if request.kind != Use::Prefetch {
            self.choice.count(self.leader, hits, was_here);
            self.turn = self.turn.wrapping_add(1);
            if self.turn.is_multiple_of(EACH) {
                self.consider();
            }
        }
        if was_here { Outcome::Hit } else { Outcome::Admitted }
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let victim = self.books.victim(self.leader);
        victim.inspect(|&id| self.books.leave(id, pool)).is_some()
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.resize(pool);
        self.make_room(0, pool);
    }

    fn remove(&mut self, id: Id) {
        self.candidates.iter_mut().for_each(|candidate| candidate.remove(id));
        self.books.remove(id);
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        self.books.is_here(id).then(|| self.books.weight(id))
    }

    fn reweigh(&mut self, request: &Request) {
        if self.books.is_here(request.id) {
            self.candidates.iter_mut().for_each(|candidate| candidate.reweigh(request));
            self.books.reweigh(request.id, request.weight);
            self.has_grown = true;
        }
    }

    fn resident_weight(&self) -> u64 {
        self.books.weight_here()
    }
}

#[cfg(test)]
mod tests;
