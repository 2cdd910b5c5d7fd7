//! Hyperbolic: the uses of a page divided by the requests since it entered.

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::sample::{Draws, Rows};

/// Pages looked at for one victim; the paper's choice.
const SAMPLE: usize = 64;
/// Seed of [`Hyperbolic::new`].
const SEED: u64 = 1;

/// The data of a resident page.
#[derive(Clone, Copy, Debug)]
struct Page {
    admitted: u64,
    weight: u64,
    count: u32,
    cost: u32,
}

/// The paper's priority, uses × cost / (age × weight), as a fraction. A weight of 0 counts as 1.
#[derive(Clone, Copy)]
struct Priority {
    worth: f64,
    burden: f64,
}

impl Page {
    #[inline]
    fn priority(&self, now: u64) -> Priority {
        let worth = f64::from(self.count) * f64::from(self.cost);
        // Neither number reaches 2^63, and signed numbers convert in one step.
        let burden = (now - self.admitted) as i64 as f64 * self.weight.max(1) as i64 as f64;
        Priority { worth, burden }
    }
}

impl Priority {
    /// Compares products, since a division would cost more than the rest of a look.
    #[inline]
    fn is_less(&self, other: &Self) -> bool {
        self.worth * other.burden < other.worth * self.burden
    }
}

/// Hyperbolic caching (Blankstein, Sen and Freedman, "Hyperbolic caching: flexible caching for web
/// applications", USENIX ATC 2017).
///
/// - **Idea:** a page's worth is its frequency since it entered. So the worth of an unused page
///   falls by itself, and a newcomer has time to show its own. No order of such worths lasts, so
///   the least of 64 random pages leaves.
/// - **Cost per request:** a hit O(1), a miss 64 looks and 32 draws, without a division.
/// - **Memory:** 4 bytes an id and 28 a resident page. No ghosts.
/// - **Shines** where popularity is steady, costs differ, and new pages come all the time.
///   **Fails** on loops and scans, which its counts do not show.
///
/// Same seed, same victims. While at most 64 pages are resident all are looked at. Of equal pages
/// the first leaves, in an order that depends on history alone. Weights and costs are as in section
/// 3 of the paper. [`Use::FirstUse`](super::Use::FirstUse) does not count. A hit keeps the weight
/// that was admitted and takes the request's cost.
pub type Hyperbolic = Resident<HyperbolicRule>;

/// The rule of [`Hyperbolic`].
#[derive(Clone, Debug)]
pub struct HyperbolicRule {
    requests: u64,
    pages: Rows<Page>,
    draws: Draws,
}

impl Default for HyperbolicRule {
    fn default() -> Self {
        Self { requests: 0, pages: Rows::new(), draws: Draws::new(SEED) }
    }
}

impl Hyperbolic {
    /// An empty cache whose victims follow from `seed`.
    #[must_use]
    pub fn with_seed(capacity: u64, seed: u64) -> Self {
        Self::with_rule(
            capacity,
            HyperbolicRule { draws: Draws::new(seed), ..HyperbolicRule::default() },
        )
    }
}

impl HyperbolicRule {
    /// The place of the least priority in the sample. Each draw of 64 bits gives two places.
    #[inline]
    fn least(&mut self) -> Option<usize> {
        let pages = self.pages.all();
        let resident = pages.len();
        let now = self.requests + 1;
        let mut least = (pages.first()?.priority(now), 0);
        if resident <= SAMPLE {
            for (at, page) in pages.iter().enumerate().skip(1) {
                least = lesser(least, (page.priority(now), at));
            }
            return Some(least.1);
        }
        for turn in 0..SAMPLE / 2 {
            let bits = self.draws.bits();
            for half in [bits >> 32, bits & 0xFFFF_FFFF] {
                let at = ((half * resident as u64) >> 32) as usize;
                let looked_at = (pages[at].priority(now), at);
                least = if turn == 0 && half == bits >> 32 {
                    looked_at
                } else {
                    lesser(least, looked_at)
                };
            }
        }
        Some(least.1)
    }
}

/// The lesser of two; of equals the first.
#[inline]
fn lesser(one: (Priority, usize), other: (Priority, usize)) -> (Priority, usize) {
    if other.0.is_less(&one.0) { other } else { one }
}

impl Rule for HyperbolicRule {
    fn grow(&mut self, ids: u32) {
        self.pages.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.pages.contains(id)
    }

    #[inline]
    fn tick(&mut self) {
        self.requests += 1;
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        if let Some(page) = self.pages.get_mut(request.id) {
            page.count = page.count.saturating_add(1);
            page.cost = request.cost;
        }
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        let Request { id, weight, cost, .. } = *request;
        self.pages.insert(id, Page { admitted: self.requests, weight, count: 1, cost });
    }

    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let at = self.least()?;
        Some(self.pages.ids()[at])
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.pages.remove(id);
    }

    fn reweigh(&mut self, request: &Request) {
        if let Some(page) = self.pages.get_mut(request.id) {
            page.weight = request.weight;
        }
    }

    #[inline]
    fn weight(&self, id: Id) -> Option<u64> {
        Some(self.pages.get(id).map_or(0, |page| page.weight))
    }
}
