//! How few seeks any order could have: a bound from the assignment problem.

use crate::eviction::Id;
use std::collections::{BinaryHeap, HashMap};

/// Bids that the auction makes for each file, at most. The bound holds after any number.
const BIDS_A_FILE: usize = 64;

/// Prices rise in parts of a transition. The bound misses the relaxation's by at most so small a
/// part for each file.
const PART: u64 = 256;

/// No order of the files has fewer seeks than this over all of `runs`: loads of a file that does
/// not lie directly after the file loaded before. Only first loads count, and not the first of a
/// run. Ids outside `0..files` are ignored.
///
/// # Why it holds
/// Let w(a, b) be how many runs load b right after a. An order keeps the transitions between files
/// that it lays side by side, so each file has at most one successor and is the successor of at
/// most one file. Without the demand that all this forms one sequence it is an assignment problem,
/// and its best value is no less than what any order keeps.
///
/// Give each file b any price p(b) >= 0. An assignment keeps, for each a with successor b,
/// w(a, b) = (w(a, b) - p(b)) + p(b). The brackets sum to no more than the sum over all a of
/// max(0, max over b of w(a, b) - p(b)). The rest sums to no more than the sum of all prices, since
/// no file is successor twice. So both sums together bound what is kept, whatever the prices are.
///
/// Bertsekas' auction finds prices for which that is close to the best assignment.
#[must_use]
pub fn seeks_min(runs: &[&[Id]], files: usize) -> u64 {
    let mut weights: HashMap<(Id, Id), u64> = HashMap::new();
    let mut transitions = 0;
    let mut seen = vec![usize::MAX; files];
    for (number, run) in runs.iter().enumerate() {
        let mut before = None;
        for &id in run.iter() {
            let Some(seen) = seen.get_mut(id as usize) else { continue };
            if std::mem::replace(seen, number) == number {
                continue;
            }
            if let Some(before) = before.replace(id) {
                *weights.entry((before, id)).or_default() += 1;
                transitions += 1;
            }
        }
    }
    transitions - Auction::new(&weights).kept_max(transitions)
}

/// Files bid for their successors. Weights and prices are in parts of a transition.
struct Auction {
    /// The successors of each file that has some, with the runs in which they follow.
    successors: Vec<Vec<(usize, u64)>>,
    prices: Vec<u64>,
    /// Which file has each successor.
    winners: Vec<Option<usize>>,
}

impl Auction {
    fn new(weights: &HashMap<(Id, Id), u64>) -> Self {
        let mut pairs: Vec<((Id, Id), u64)> =
            weights.iter().map(|(&pair, &runs)| (pair, runs)).collect();
        pairs.sort_unstable();
        let mut numbers: HashMap<Id, usize> = HashMap::new();
        let mut successors: Vec<Vec<(usize, u64)>> = Vec::new();
        let mut last = None;
        for ((before, after), runs) in pairs {
            if last.replace(before) != Some(before) {
                successors.push(Vec::new());
            }
            let next = numbers.len();
            let number = *numbers.entry(after).or_insert(next);
            if let Some(own) = successors.last_mut() {
                own.push((number, runs * PART));
            }
        }
        let count = numbers.len();
        Auction { successors, prices: vec![0; count], winners: vec![None; count] }
    }

    /// The most transitions that any order keeps, rounded down, of `transitions`.
    fn kept_max(mut self, transitions: u64) -> u64 {
        let mut bidders: BinaryHeap<usize> = (0..self.successors.len()).collect();
        for _ in 0..self.successors.len().saturating_mul(BIDS_A_FILE) {
            let Some(bidder) = bidders.pop() else { break };
            bidders.extend(self.bid(bidder));
        }
        let profits =
            (0..self.successors.len()).map(|file| self.best(file).map_or(0, |best| best.0));
        let bound = profits.sum::<u64>() + self.prices.iter().sum::<u64>();
        (bound / PART).min(transitions)
    }

    /// The bidder takes the successor that profits it most, and raises its price until another is
    /// as good. Returns who had it before. A bidder that no successor profits bids no more: prices
    /// never fall.
    fn bid(&mut self, bidder: usize) -> Option<usize> {
        let (profit, successor, second) = self.best(bidder)?;
        self.prices[successor] += profit - second + 1;
        self.winners[successor].replace(bidder)
    }

    /// The largest profit of a file, its successor, and the next largest profit.
    fn best(&self, file: usize) -> Option<(u64, usize, u64)> {
        let mut best = None;
        let mut second = 0;
        for &(successor, weight) in &self.successors[file] {
            let Some(profit) =
                weight.checked_sub(self.prices[successor]).filter(|&profit| profit > 0)
            else {
                continue;
            };
            match best {
                Some((most, _)) if profit <= most => second = second.max(profit),
                _ => {
                    second = best.map_or(second, |(most, _)| most);
                    best = Some((profit, successor));
                }
            }
        }
        best.map(|(profit, successor)| (profit, successor, second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::ordering::{Greedy, Ordering, tests::COSTS};
    use proptest::prelude::*;

    fn seeks(order: &[Id], runs: &[&[Id]]) -> u64 {
        let mut place = vec![0; order.len()];
        (0..).zip(order).for_each(|(at, &id)| place[id as usize] = at);
        let of = |run: &&[Id]| {
            let mut first: Vec<Id> = Vec::new();
            run.iter().for_each(|id| {
                if !first.contains(id) {
                    first.push(*id);
                }
            });
            let apart = |pair: &&[Id]| place[pair[1] as usize] != place[pair[0] as usize] + 1;
            first.windows(2).filter(apart).count() as u64
        };
        runs.iter().map(of).sum()
    }

    /// Calls `each` with every order of `rest` after `order`.
    fn all_orders(order: &mut Vec<Id>, rest: &mut Vec<Id>, each: &mut dyn FnMut(&[Id])) {
        if rest.is_empty() {
            each(order);
        }
        for at in 0..rest.len() {
            order.push(rest.swap_remove(at));
            all_orders(order, rest, each);
            let id = order.pop().unwrap();
            rest.push(id);
            let last = rest.len() - 1;
            rest.swap(at, last);
        }
    }

    #[test]
    fn one_run_needs_no_seek_and_opposite_runs_seek_half_the_time() {
        assert_eq!(seeks_min(&[&[3, 0, 2, 3, 9, 1]], 4), 0);
        assert_eq!(seeks_min(&[&[0, 1, 2], &[2, 1, 0]], 3), 2);
        assert_eq!(seeks_min(&[], 0), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_order_has_fewer_seeks(
            runs in prop::collection::vec(prop::collection::vec(0u32..6, 0..12), 1..6),
        ) {
            let runs: Vec<&[Id]> = runs.iter().map(Vec::as_slice).collect();
            let mut least = u64::MAX;
            all_orders(&mut Vec::new(), &mut (0..6).collect(), &mut |order| {
                least = least.min(seeks(order, &runs));
            });
            prop_assert!(seeks_min(&runs, 6) <= least);
        }
    }

    #[test]
    fn the_bound_is_near_what_greedy_chains_reach() {
        // Runs of one sequence, each with some files put off.
        let mut state = 1u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let runs: Vec<Vec<Id>> = (0..5)
            .map(|_| {
                let mut run: Vec<Id> = (0..2000).collect();
                (0..200).for_each(|_| {
                    let at = draw(1990) as usize;
                    run[at..at + 1 + draw(9) as usize].rotate_left(1);
                });
                run
            })
            .collect();
        let runs: Vec<&[Id]> = runs.iter().map(Vec::as_slice).collect();
        let greedy = seeks(&Greedy { cache: None }.order(&runs, &[1; 2000], &COSTS), &runs);
        let least = seeks_min(&runs, 2000);
        assert!(least <= greedy && least * 10 >= greedy * 8, "{least} of {greedy}");
    }
}
