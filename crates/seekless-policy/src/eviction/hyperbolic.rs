//! Hyperbolic: how often a page was used for each request that it has been here.

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::sample::{Draws, Members};

/// Pages looked at for one victim; the paper's choice.
const SAMPLE: usize = 64;
/// Seed of [`Hyperbolic::new`].
const SEED: u64 = 1;

/// What is known of a resident page.
#[derive(Clone, Copy, Debug)]
struct Page {
    admitted: u64,
    weight: u64,
    count: u32,
    cost: u32,
}

/// The paper's priority, uses × cost / (age × weight), as a fraction. Of a weight of 0, which takes no room, as of 1.
#[derive(Clone, Copy)]
struct Priority {
    worth: f64,
    burden: f64,
}

impl Page {
    #[inline]
    fn priority(&self, now: u64) -> Priority {
        let worth = f64::from(self.count) * f64::from(self.cost);
        // Neither number reaches 2^63, and signed ones convert in one step.
        let burden = (now - self.admitted) as i64 as f64 * self.weight.max(1) as i64 as f64;
        Priority { worth, burden }
    }
}

impl Priority {
    /// Compares products: a division costs more than all else of a look.
    #[inline]
    fn is_less(&self, other: &Self) -> bool {
        self.worth * other.burden < other.worth * self.burden
    }
}

/// Hyperbolic caching (Blankstein, Sen and Freedman, "Hyperbolic caching: flexible caching for web applications", USENIX ATC
/// 2017).
///
/// - **Idea:** frequency over the time since it came in, so that a page's worth falls by itself and a newcomer has time to
///   show its own. No order of such worths lasts, so the least of 64 random pages leaves.
/// - **Cost per request:** a hit O(1), a miss 64 looks and 32 draws, without a division.
/// - **Memory:** 4 bytes an id and 28 a resident page. No ghosts.
/// - **Shines** where popularity is steady, costs differ, and pages are born all the time. **Fails** on loops and scans, which
///   its counts do not see.
///
/// Same seed, same victims. While no more than 64 pages are resident all are looked at, and the first in an order that
/// depends on history alone leaves among equals. Weights and costs as in the paper's section 3. [`Use::FirstUse`] counts for
/// nothing. A hit keeps the weight that was admitted and takes the request's cost.
#[derive(Clone, Debug)]
pub struct Hyperbolic {
    capacity: u64,
    used: u64,
    requests: u64,
    members: Members,
    /// Beside the members, so that looking at one is one step.
    pages: Vec<Page>,
    draws: Draws,
}

impl Hyperbolic {
    /// An empty cache of `capacity` units of weight, with the default seed.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self::with_seed(capacity, SEED)
    }

    /// An empty cache whose victims follow from `seed`.
    #[must_use]
    pub fn with_seed(capacity: u64, seed: u64) -> Self {
        Self {
            capacity,
            used: 0,
            requests: 0,
            members: Members::new(),
            pages: Vec::new(),
            draws: Draws::new(seed),
        }
    }

    /// The least priority of the sample, by its place. Each draw of 64 bits gives two places.
    #[inline]
    fn victim(&mut self) -> Option<usize> {
        let resident = self.pages.len();
        let now = self.requests + 1;
        let mut least = (self.pages.first()?.priority(now), 0);
        if resident <= SAMPLE {
            for (at, page) in self.pages.iter().enumerate().skip(1) {
                least = lesser(least, (page.priority(now), at));
            }
            return Some(least.1);
        }
        for turn in 0..SAMPLE / 2 {
            let bits = self.draws.bits();
            for half in [bits >> 32, bits & 0xFFFF_FFFF] {
                let at = ((half * resident as u64) >> 32) as usize;
                let looked_at = (self.pages[at].priority(now), at);
                least = if turn == 0 && half == bits >> 32 { looked_at } else { lesser(least, looked_at) };
            }
        }
        Some(least.1)
    }

    #[inline]
    fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used > self.capacity.saturating_sub(weight) {
            if !self.evict_one(pool) {
                return;
            }
        }
    }
}

/// The first of equals.
#[inline]
fn lesser(one: (Priority, usize), other: (Priority, usize)) -> (Priority, usize) {
    if other.0.is_less(&one.0) { other } else { one }
}

impl Eviction for Hyperbolic {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn grow(&mut self, ids: u32) {
        self.members.grow(ids);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.requests += 1;
        if let Some(at) = self.members.position(request.id) {
            if request.kind != Use::FirstUse {
                let page = &mut self.pages[at];
                page.count = page.count.saturating_add(1);
                page.cost = request.cost;
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.members.insert(request.id);
        let Request { weight, cost, .. } = *request;
        self.pages.push(Page { admitted: self.requests, weight, count: 1, cost });
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let Some(at) = self.victim() else {
            return false;
        };
        let victim = self.members.ids()[at];
        self.remove(victim);
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.make_room(0, pool);
    }

    fn remove(&mut self, id: Id) {
        if let Some(at) = self.members.position(id) {
            self.members.remove(id);
            self.used -= self.pages.swap_remove(at).weight;
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
