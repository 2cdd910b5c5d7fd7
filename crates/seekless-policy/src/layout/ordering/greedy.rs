//! Greedy chains: the pairs of files most often read one after the other become neighbours.

use super::Ordering;
use crate::cache::{Cache, Config};
use crate::eviction::{Id, Landlord, Outcome, Request};
use seekless_device::Costs;
use std::cmp::Reverse;

const NONE: Id = Id::MAX;

/// The order of Wassenberg 2006, section 3.3. Two consecutive misses of a run are an edge; the
/// cache is empty at the start of each run. Edges are counted over all runs, the newest run first.
///
/// The most frequent edge is committed first; of equal counts the one that came first. An edge is
/// skipped if one of its ends is taken, or if it would close a cycle. Then the ids are walked in
/// order. Each id not yet placed brings its whole chain, so untraced files keep their place.
///
/// O(m log m) for m loads. The paper finds cycles by walking; here each end of a chain knows the
/// other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Greedy {
    /// Size in bytes of the cache (Landlord) whose hits cause no read. `None` is unlimited: then
    /// only first loads count.
    pub cache: Option<u64>,
}

impl Ordering for Greedy {
    fn order(&self, runs: &[&[Id]], bytes: &[u64], _costs: &Costs) -> Vec<Id> {
        let mut edges = Vec::new();
        for run in runs.iter().rev() {
            push_edges(&self.misses(run, bytes), &mut edges);
        }
        let mut chains = Chains::new(bytes.len());
        for (from, to) in by_falling_count(edges) {
            chains.join(from, to);
        }
        chains.stitch()
    }
}

impl Greedy {
    /// The loads of a run that miss the cache.
    fn misses(&self, run: &[Id], bytes: &[u64]) -> Vec<Id> {
        let known = run.iter().copied().filter(|&id| (id as usize) < bytes.len());
        let Some(capacity) = self.cache else {
            let mut loaded = vec![false; bytes.len()];
            return known
                .filter(|&id| !std::mem::replace(&mut loaded[id as usize], true))
                .collect();
        };
        let config = Config::files(capacity);
        let Ok(mut cache) = Cache::new(Landlord::new(capacity), config) else {
            return known.collect(); // Landlord has no needs, so it is never refused
        };
        cache.grow(bytes.len() as u32);
        known
            .filter(|&id| cache.access(&Request::file(id, bytes[id as usize])) != Outcome::Hit)
            .collect()
    }
}

/// Adds an edge for each two neighbours, as often as they occur.
fn push_edges(misses: &[Id], edges: &mut Vec<(Id, Id)>) {
    let pairs = misses.windows(2).map(|pair| (pair[0], pair[1]));
    edges.extend(pairs.filter(|(from, to)| from != to));
}

/// Distinct edges, most frequent first, equal counts in the order of their first appearance.
fn by_falling_count(edges: Vec<(Id, Id)>) -> impl Iterator<Item = (Id, Id)> {
    let mut sorted: Vec<_> =
        edges.into_iter().enumerate().map(|(position, edge)| (edge, position)).collect();
    sorted.sort_unstable();
    let mut counted: Vec<_> = sorted
        .chunk_by(|one, other| one.0 == other.0)
        .map(|same| (Reverse(same.len()), same[0].1, same[0].0))
        .collect();
    counted.sort_unstable();
    counted.into_iter().map(|(_, _, edge)| edge)
}

/// Disjoint chains over all ids; each begins as a chain of one.
struct Chains {
    next: Vec<Id>,
    prev: Vec<Id>,
    /// For each end of a chain: the other end. Stale inside a chain.
    other_end: Vec<Id>,
}

impl Chains {
    fn new(ids: usize) -> Self {
        Self { next: vec![NONE; ids], prev: vec![NONE; ids], other_end: (0..ids as Id).collect() }
    }

    /// Puts `to` right after `from`, unless one of them has that neighbour already or a cycle would
    /// close.
    fn join(&mut self, from: Id, to: Id) {
        let (tail, head) = (from as usize, to as usize);
        if self.next[tail] != NONE || self.prev[head] != NONE || self.other_end[tail] == to {
            return;
        }
        self.next[tail] = to;
        self.prev[head] = from;
        let (first, last) = (self.other_end[tail], self.other_end[head]);
        self.other_end[first as usize] = last;
        self.other_end[last as usize] = first;
    }

    /// Walks the ids. Each id not yet placed brings its whole chain.
    fn stitch(&self) -> Vec<Id> {
        let mut placed = vec![false; self.next.len()];
        let mut order = Vec::with_capacity(self.next.len());
        for id in 0..self.next.len() as Id {
            if placed[id as usize] {
                continue;
            }
            let mut at = self.first_of(id);
            while at != NONE {
                placed[at as usize] = true;
                order.push(at);
                at = self.next[at as usize];
            }
        }
        order
    }

    fn first_of(&self, mut id: Id) -> Id {
        while self.prev[id as usize] != NONE {
            id = self.prev[id as usize];
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::COSTS;
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn greedy(runs: &[&[Id]], ids: usize) -> Vec<Id> {
        Greedy { cache: None }.order(runs, &vec![1; ids], &COSTS)
    }

    #[test]
    fn untraced_files_keep_their_place() {
        assert_eq!(greedy(&[&[4, 2]], 6), [0, 1, 4, 2, 3, 5]);
    }

    #[test]
    fn the_more_frequent_edge_wins_and_equal_ones_go_to_the_newer_run() {
        assert_eq!(greedy(&[&[0, 1], &[0, 1], &[0, 2]], 3), [0, 1, 2]);
        assert_eq!(greedy(&[&[0, 1], &[0, 2]], 3), [0, 2, 1]);
    }

    #[test]
    fn a_cycle_is_refused() {
        assert_eq!(greedy(&[&[1, 2], &[2, 0], &[0, 1]], 3), [2, 0, 1]);
    }

    #[test]
    fn the_papers_example_repeats_are_absorbed_by_the_cache() {
        assert_eq!(greedy(&[&[0, 1, 0, 2, 0, 3]], 4), [0, 1, 2, 3]);
    }

    #[test]
    fn a_small_cache_lets_repeats_make_edges() {
        // Files over half the cache bypass it, so every load is a miss: 1 → 0 comes three times, 0
        // → 1 twice.
        let run: &[Id] = &[0, 1, 0, 1, 0, 2, 1, 0];
        assert_eq!(Greedy { cache: Some(10) }.order(&[run], &[6, 6, 6], &COSTS), [1, 0, 2]);
        assert_eq!(Greedy { cache: Some(100) }.order(&[run], &[6, 6, 6], &COSTS), [0, 1, 2]);
    }

    /// Sections 3.3.3 to 3.3.5 word by word: a list of edges, a stable sort, cycles found by
    /// walking.
    fn naive(runs: &[Vec<Id>], ids: u32) -> Vec<Id> {
        let mut edges: Vec<((Id, Id), usize)> = Vec::new();
        for run in runs.iter().rev() {
            let mut firsts: Vec<Id> = Vec::new();
            run.iter().for_each(|id| {
                if !firsts.contains(id) {
                    firsts.push(*id)
                }
            });
            for pair in firsts.windows(2) {
                let edge = (pair[0], pair[1]);
                match edges.iter_mut().find(|known| known.0 == edge) {
                    Some(known) => known.1 += 1,
                    None => edges.push((edge, 1)),
                }
            }
        }
        edges.sort_by_key(|edge| Reverse(edge.1));
        let (mut next, mut prev) = (HashMap::new(), HashMap::new());
        for ((from, to), _) in edges {
            let mut first = from;
            while let Some(&before) = prev.get(&first) {
                first = before;
            }
            if !next.contains_key(&from) && !prev.contains_key(&to) && first != to {
                next.insert(from, to);
                prev.insert(to, from);
            }
        }
        let mut order = Vec::new();
        for mut id in 0..ids {
            if order.contains(&id) {
                continue;
            }
            while let Some(&before) = prev.get(&id) {
                id = before;
            }
            order.push(id);
            while let Some(&after) = next.get(order.last().unwrap()) {
                order.push(after);
            }
        }
        order
    }

    proptest! {
        #[test]
        fn equals_the_paper_word_by_word(
            runs in prop::collection::vec(prop::collection::vec(0u32..15, 0..30), 0..6),
        ) {
            let slices: Vec<&[Id]> = runs.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(greedy(&slices, 15), naive(&runs, 15));
        }
    }
}
