//! GD-Wheel: GreedyDual in wheels of queues, so that no heap is needed.

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::arrays::column;
use crate::arrays::queues::Queues;
use crate::arrays::weights::Weights;

/// Queues of a wheel; the paper's choice.
const QUEUES: u32 = 1 << BITS;
const BITS: u32 = 8;
/// The paper has two wheels; a third leaves room for sizes.
const WHEELS: usize = 3;
const CREDIT_MAX: u64 = (1 << (BITS * WHEELS as u32)) - 1;

/// GD-Wheel (Li and Cox, "GD-Wheel: a cost-aware replacement policy for key-value stores", EuroSys
/// 2015).
///
/// - **Idea:** that of [`Gds`](super::Gds). Credits are whole numbers, and the offset that all pay
///   is the place of a hand: a file stands as many queues before the hand as it has credit. Larger
///   credits stand in a second wheel, of which a queue is a round of the first, and so on.
/// - **Ties:** of equal places the least recently used leaves first.
/// - **Cost per request:** a hit O(1), and writes to the neighbours in two queues; a miss O(1), a
///   search of 256 bits, and a move from wheel to wheel at most twice for each file.
/// - **Memory:** 16 bytes an id, 24 once a weight other than 1 was seen, and 6 KB. No ghosts.
/// - **Shines** where costs differ and a heap would be slow. **Fails** where popularity matters. A
///   file of the second or third wheel forgets where the hand of the first one was, so credits are
///   exact to 256 parts only.
///
/// The paper's caches have sizes of one class, and the credit is the cost. Here it is the cost ×
/// the largest weight so far / the weight, at least 1 and below 2^24, as in GreedyDual-Size.
/// Quotients are rounded down, so that none returns to the front of a wheel.
/// [`Use::FirstUse`](super::Use::FirstUse) restores nothing. A hit keeps the weight that was
/// admitted and takes the request's cost.
pub type GdWheel = Resident<GdWheelRule>;

/// The rule of [`GdWheel`].
#[derive(Clone, Debug)]
pub struct GdWheelRule {
    /// Queue `q` of wheel `w` is queue `w * 256 + q`.
    queues: Queues,
    /// A bit for each queue that is not empty.
    filled: [[u64; QUEUES as usize / 64]; WHEELS],
    hands: [u32; WHEELS],
    credits: Vec<u32>,
    weights: Weights,
    largest: u64,
    members: usize,
}

impl Default for GdWheelRule {
    fn default() -> Self {
        let mut queues = Queues::new();
        queues.grow_queues(QUEUES * WHEELS as u32);
        Self {
            queues,
            filled: [[0; QUEUES as usize / 64]; WHEELS],
            hands: [0; WHEELS],
            credits: Vec::new(),
            weights: Weights::new(),
            largest: 1,
            members: 0,
        }
    }
}

impl GdWheelRule {
    #[inline]
    fn push(&mut self, wheel: usize, at: u32, id: Id) {
        let at = at % QUEUES;
        self.queues.push(wheel as u32 * QUEUES + at, id);
        self.filled[wheel][at as usize / 64] |= 1 << (at % 64);
    }

    #[inline]
    fn unlink(&mut self, id: Id) {
        let Some(queue) = self.queues.queue_of(id) else { return };
        self.queues.unlink(id);
        if self.queues.is_empty(queue) {
            let at = queue % QUEUES;
            self.filled[(queue / QUEUES) as usize][at as usize / 64] &= !(1 << (at % 64));
        }
    }

    /// Gives an id its full credit, in the wheel for credits of that order.
    #[inline]
    fn place(&mut self, id: Id, cost: u32) {
        let weight = self.weights.get(id).max(1);
        self.largest = self.largest.max(weight);
        let credit = u128::from(cost) * u128::from(self.largest) / u128::from(weight);
        let credit = credit.clamp(1, u128::from(CREDIT_MAX)) as u32;
        self.credits[id as usize] = credit;
        let wheel = (credit.ilog2() / BITS) as usize;
        self.push(wheel, (credit >> (BITS * wheel as u32)) + self.hands[wheel], id);
    }

    /// The first filled queue of a wheel from its hand to its end.
    #[inline]
    fn next_filled(&self, wheel: usize) -> Option<u32> {
        let hand = self.hands[wheel];
        let first = hand as usize / 64;
        let words = self.filled[wheel].iter().enumerate().skip(first);
        words
            .map(|(at, &word)| match at == first {
                true => (at, word & (u64::MAX << (hand % 64))),
                false => (at, word),
            })
            .find(|&(_, word)| word != 0)
            .map(|(at, word)| at as u32 * 64 + word.trailing_zeros())
    }

    /// A wheel below has made a round: the next queue of this one moves there.
    fn migrate(&mut self, wheel: usize) {
        self.hands[wheel] = (self.hands[wheel] + 1) % QUEUES;
        if self.hands[wheel] == 0 && wheel + 1 < WHEELS {
            self.migrate(wheel + 1);
        }
        let below = BITS * (wheel as u32 - 1);
        while let Some(id) = self.queues.oldest(wheel as u32 * QUEUES + self.hands[wheel]) {
            self.unlink(id);
            let left = (self.credits[id as usize] >> below) % QUEUES;
            self.push(wheel - 1, left + self.hands[wheel - 1], id);
        }
    }
}

impl Rule for GdWheelRule {
    fn grow(&mut self, ids: u32) {
        self.queues.grow(ids);
        column::grow(&mut self.credits, ids, 0);
        self.weights.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.queues.queue_of(id).is_some()
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.unlink(request.id);
        self.place(request.id, request.cost);
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.weights.set(request.id, request.weight);
        self.members += 1;
        self.place(request.id, request.cost);
    }

    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        if self.members == 0 {
            return None;
        }
        loop {
            if let Some(at) = self.next_filled(0) {
                self.hands[0] = at;
                return self.queues.oldest(at);
            }
            self.hands[0] = 0;
            self.migrate(1);
        }
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.unlink(id);
        self.members -= 1;
    }

    /// The credit changes at the next use.
    fn reweigh(&mut self, request: &Request) {
        self.weights.set(request.id, request.weight);
    }

    #[inline]
    fn weight(&self, id: Id) -> Option<u64> {
        Some(self.weights.get(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eviction::{Eviction, PageState};

    #[derive(Default)]
    struct Victims(Vec<Id>);

    impl Pool for Victims {
        fn evict(&mut self, victim: Id) {
            self.0.push(victim);
        }
        fn forget(&mut self, _id: Id) {}
        fn state(&self, _id: Id) -> PageState {
            PageState::default()
        }
    }

    fn cost(id: Id, cost: u32) -> Request {
        Request { cost, ..Request::page(id) }
    }

    #[test]
    fn what_is_cheapest_leaves_first_across_the_wheels() {
        let mut policy = GdWheel::new(4);
        policy.grow(16);
        let mut victims = Victims::default();
        for request in [cost(0, 300), cost(1, 3), cost(2, 70_000), cost(3, 200)] {
            policy.request(&request, &mut victims);
        }
        while policy.evict_one(&mut victims) {}
        assert_eq!(victims.0, [1, 3, 0, 2]);
    }

    #[test]
    fn credit_is_counted_from_where_the_hand_is() {
        let mut policy = GdWheel::new(2);
        policy.grow(16);
        let mut victims = Victims::default();
        for request in [cost(0, 100), cost(1, 10), cost(2, 80), cost(3, 95)] {
            policy.request(&request, &mut victims);
        }
        // 1 leaves at place 10, so 2 stands at 90, in front of 0; and 3 at 185.
        assert_eq!(victims.0, [1, 2]);
        policy.request(&cost(4, 1), &mut victims);
        assert_eq!(victims.0, [1, 2, 0], "0 stands at 100");
    }
}
