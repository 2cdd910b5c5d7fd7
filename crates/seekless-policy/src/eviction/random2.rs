//! Random2: of two pages drawn at random, the one unused for longer leaves.

mod ozen;

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::arrays::column;
use crate::sample::{Draws, Members};
pub use ozen::Random2Ozen;

/// Seed of [`Random2::new`].
const SEED: u64 = 2;

/// Power of two random choices (Mitzenmacher, Richa and Sitaraman 2000; for eviction Luu, "Caches:
/// LRU v. random", 2014).
///
/// - **Idea:** loops cannot defeat random eviction, but it evicts hot pages too. The older of two
///   drawn pages is rarely hot.
/// - **Cost per request:** O(1): a hit writes one number.
/// - **Memory:** 12 bytes an id and 4 a resident page; 8 more an id once a weight other than 1 was
///   seen. No ghosts.
/// - **Shines** on loops a little larger than the cache, and where keeping an order costs too much.
///   **Fails** against LRU where recency alone matters.
///
/// The two draws differ unless only one page is resident. Same seed, same victims. Weights: evicts
/// until the newcomer fits, whatever the sizes. [`Use::FirstUse`](super::Use::FirstUse) does not
/// count as use. Cost is ignored. Ozen's program evicts the younger of the two: [`Random2Ozen`].
pub type Random2 = Resident<Random2Rule>;

/// The rule of [`Random2`].
#[derive(Clone, Debug)]
pub struct Random2Rule {
    uses: u64,
    last_uses: Vec<u64>,
    members: Members,
    draws: Draws,
}

impl Default for Random2Rule {
    fn default() -> Self {
        Self { uses: 0, last_uses: Vec::new(), members: Members::new(), draws: Draws::new(SEED) }
    }
}

impl Random2 {
    /// An empty cache whose victims follow from `seed`.
    #[must_use]
    pub fn with_seed(capacity: u64, seed: u64) -> Self {
        Self::with_rule(capacity, Random2Rule { draws: Draws::new(seed), ..Random2Rule::default() })
    }
}

impl Rule for Random2Rule {
    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.last_uses, ids, 0);
        self.members.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.members.contains(id)
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.uses += 1;
        self.last_uses[request.id as usize] = self.uses;
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.hit(request);
        self.members.insert(request.id);
    }

    /// The older of two different members, or the only one.
    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let count = self.members.ids().len();
        if count < 2 {
            return self.members.ids().first().copied();
        }
        let first = self.draws.below(count);
        let second = (first + 1 + self.draws.below(count - 1)) % count;
        let (first, second) = (self.members.ids()[first], self.members.ids()[second]);
        let older = self.last_uses[first as usize] < self.last_uses[second as usize];
        Some(if older { first } else { second })
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.members.remove(id);
    }
}
