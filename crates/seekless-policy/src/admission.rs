//! Admission: whether an object that missed comes into the cache at all, before any policy. The
//! rules are libCacheSim's, and make its decisions; and TinyLFU's.

mod adapt_size;

use crate::arrays::column;
use crate::eviction::{Id, Request, Sketch};
use crate::lehmer64::Lehmer64;
use adapt_size::AdaptSize;

/// How finely chances are drawn.
const CHANCES: u64 = 10_000_000;

/// Which objects come in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Those that weigh less than this.
    Size(u64),
    /// Each miss with this chance, from 0 to 1.
    Probability(f64),
    /// Each miss with the chance e^(-exponent × weight).
    BySize(f64),
    /// Those that missed before, ever: all but objects that are asked for once. The set is exact; a
    /// Bloom filter would also admit some others.
    Bloom,
    /// As [`Rule::BySize`], with an exponent that is learned from the requests (Berger, Sitaraman
    /// and Harchol-Balter, "AdaptSize", NSDI 2017).
    AdaptSize,
    /// Those that were asked for more often lately than the object that the policy evicted last
    /// (Einziger, Friedman and Manes, "TinyLFU", 2017). The paper compares with the next victim,
    /// which a policy does not name beforehand.
    TinyLfu,
}

/// A rule with what it has learned.
#[derive(Clone, Debug)]
pub struct Admission {
    state: State,
    draws: Lehmer64,
}

#[derive(Clone, Debug)]
enum State {
    Size(u64),
    Probability(u64),
    BySize(f64),
    Bloom { missed: Vec<bool> },
    AdaptSize(Box<AdaptSize>),
    TinyLfu(Sketch),
}

impl Admission {
    /// A rule that has seen no request, before a cache of this capacity. Without a seed its draws
    /// are those of a new thread of libCacheSim.
    #[must_use]
    pub fn new(rule: Rule, seed: Option<u64>, capacity: u64) -> Self {
        let state = match rule {
            Rule::Size(weight) => State::Size(weight),
            Rule::Probability(chance) => State::Probability((chance * CHANCES as f64) as u64),
            Rule::BySize(exponent) => State::BySize(exponent),
            Rule::Bloom => State::Bloom { missed: Vec::new() },
            Rule::AdaptSize => State::AdaptSize(Box::new(AdaptSize::new(capacity))),
            Rule::TinyLfu => State::TinyLfu(Sketch::new()),
        };
        let draws = seed.map_or_else(Lehmer64::default, Lehmer64::seeded);
        Self { state, draws }
    }

    /// Makes room for ids below `ids`; never shrinks.
    pub fn grow(&mut self, ids: u32) {
        match &mut self.state {
            State::Bloom { missed } => column::grow(missed, ids, false),
            State::AdaptSize(state) => state.grow(ids),
            _ => {}
        }
    }

    /// Notes a request, a hit or a miss, before [`Admission::admits`]. `resident` is the number of
    /// objects in the cache.
    #[inline]
    pub fn requested(&mut self, request: &Request, resident: u64) {
        match &mut self.state {
            State::AdaptSize(state) => state.requested(request.id, request.weight),
            State::TinyLfu(sketch) => {
                sketch.fit(resident);
                sketch.add(request.id.into());
            }
            _ => {}
        }
    }

    /// Whether the object of a miss comes in. `victim` is the one that the policy evicted last, if
    /// it has evicted one.
    pub fn admits(&mut self, request: &Request, victim: Option<Id>) -> bool {
        let weight = request.weight as f64;
        match &mut self.state {
            State::Size(limit) => request.weight < *limit,
            State::Probability(chance) => self.draws.below(CHANCES) < *chance,
            State::BySize(exponent) => drawn(&mut self.draws) < (-*exponent * weight).exp(),
            State::Bloom { missed } => std::mem::replace(&mut missed[request.id as usize], true),
            State::AdaptSize(state) => drawn(&mut self.draws) < (-weight / state.scale()).exp(),
            State::TinyLfu(sketch) => victim.is_none_or(|victim| {
                sketch.estimate(request.id.into()) > sketch.estimate(victim.into())
            }),
        }
    }
}

/// A number from 0 to 1.
fn drawn(draws: &mut Lehmer64) -> f64 {
    draws.below(CHANCES) as f64 / CHANCES as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(rule: Rule, seed: Option<u64>, misses: &[(Id, u64)]) -> Vec<bool> {
        let mut admission = Admission::new(rule, seed, 1000);
        admission.grow(100);
        let each = |&(id, weight): &(Id, u64)| {
            let request = Request::file(id, weight);
            admission.requested(&request, 4);
            admission.admits(&request, None)
        };
        misses.iter().map(each).collect()
    }

    #[test]
    fn sizes_below_the_limit_and_second_misses_come_in() {
        let misses = [(0, 9), (1, 10), (0, 11), (1, 1)];
        assert_eq!(admitted(Rule::Size(10), None, &misses), [true, false, false, true]);
        assert_eq!(admitted(Rule::Bloom, None, &misses), [false, false, true, true]);
    }

    #[test]
    fn chances_come_true_and_a_seed_repeats_them() {
        let misses: Vec<_> = (0..100).cycle().take(20_000).map(|id| (id, 700)).collect();
        let share = |rule, seed| {
            let taken = admitted(rule, seed, &misses);
            assert_eq!(taken, admitted(rule, seed, &misses));
            taken.iter().filter(|&&taken| taken).count() as f64 / misses.len() as f64
        };
        for seed in [None, Some(1), Some(2)] {
            assert!((share(Rule::Probability(0.3), seed) - 0.3).abs() < 0.02);
            let half = 2_f64.ln() / 700.0;
            assert!((share(Rule::BySize(half), seed) - 0.5).abs() < 0.02);
        }
        let one = admitted(Rule::Probability(0.3), Some(1), &misses);
        assert!(one != admitted(Rule::Probability(0.3), Some(2), &misses));
    }

    #[test]
    fn tiny_lfu_keeps_what_is_asked_for_more_often() {
        let mut admission = Admission::new(Rule::TinyLfu, None, 1000);
        for id in [1, 1, 1, 2] {
            admission.requested(&Request::file(id, 1), 64);
        }
        let mut admits = |id, victim| admission.admits(&Request::file(id, 1), victim);
        assert!(admits(2, None) && admits(1, Some(2)));
        assert!(!admits(2, Some(1)) && !admits(2, Some(2)));
    }
}
