//! Local moves on an order of sets of runs: they join pieces that the Gray code leaves apart where
//! few of all sets occur.

/// A move reaches at most so many places far.
const REACH_MAX: usize = 64;
/// A part of at most so many sets is moved elsewhere.
const PART_MAX: usize = 3;
/// For each set and place within reach, about so many pairs of sets are compared in a round.
const PAIRS: usize = 40;
/// So many words of sets are compared in all: about a fifth of a second.
const WORDS_MAX: usize = 100_000_000;

/// An order of sets. Their runs are bits, so that two are compared in a few instructions.
struct Sequence<'a> {
    order: &'a mut [u32],
    /// The words of each set.
    words: usize,
    bits: Vec<u64>,
    reach: usize,
}

/// Puts `order` in fewer pieces, counted over all runs. A run's files come in one piece where the
/// sets with it follow each other. So the number of pieces is half the sum of the runs in which
/// neighbours differ, where the order begins and ends with no run.
///
/// The moves are those of the travelling salesman's 2-opt and Or-opt: a part is reversed, or a
/// short part is moved, either way round. The more sets there are, the less far moves reach, so
/// that the cost is bounded. `sets` are the runs of each set.
pub(super) fn join_pieces(order: &mut [u32], sets: &[Vec<u32>]) {
    let runs = sets.iter().flatten().max().map_or(0, |&last| last as usize + 1);
    let words = runs.div_ceil(64).max(1);
    let place_words = PAIRS * words * order.len().max(1);
    let reach = (WORDS_MAX / place_words).min(REACH_MAX);
    if reach < PART_MAX {
        return;
    }
    let mut sequence = Sequence::new(order, sets, words, reach);
    for _ in 0..WORDS_MAX / (place_words * reach) {
        if !(sequence.reverse_parts() | sequence.move_parts()) {
            return;
        }
    }
}

impl<'a> Sequence<'a> {
    fn new(order: &'a mut [u32], sets: &[Vec<u32>], words: usize, reach: usize) -> Self {
        let mut bits = vec![0; words * sets.len()];
        for (set, runs) in sets.iter().enumerate() {
            for &run in runs {
                bits[set * words + run as usize / 64] |= 1 << (run % 64);
            }
        }
        Sequence { order, words, bits, reach }
    }

    /// The runs of the set at a place of the order, counted from 1. At 0 and behind the last one
    /// is no run.
    fn at(&self, place: usize) -> Option<&[u64]> {
        let set = *self.order.get(place.checked_sub(1)?)? as usize;
        Some(&self.bits[set * self.words..(set + 1) * self.words])
    }

    /// In how many runs the sets at two places differ.
    fn between(&self, one: usize, other: usize) -> i64 {
        let ones = |set: &[u64]| set.iter().map(|word| i64::from(word.count_ones())).sum();
        match (self.at(one), self.at(other)) {
            (Some(one), Some(other)) => one
                .iter()
                .zip(other)
                .map(|(one, other)| i64::from((one ^ other).count_ones()))
                .sum(),
            (Some(set), None) | (None, Some(set)) => ones(set),
            (None, None) => 0,
        }
    }

    /// Reverses each part whose ends then fit better. Returns whether there was one.
    fn reverse_parts(&mut self) -> bool {
        let mut has_gained = false;
        for first in 1..=self.order.len() {
            for last in first + 1..=self.order.len().min(first + self.reach) {
                let now = self.between(first - 1, first) + self.between(last, last + 1);
                let then = self.between(first - 1, last) + self.between(first, last + 1);
                if then < now {
                    self.order[first - 1..last].reverse();
                    has_gained = true;
                }
            }
        }
        has_gained
    }

    /// Moves each short part to the place near it where it fits best. Returns whether there was
    /// one.
    fn move_parts(&mut self) -> bool {
        let mut has_gained = false;
        for first in 1..=self.order.len() {
            for last in first..=self.order.len().min(first + PART_MAX - 1) {
                has_gained |= self.move_part(first, last);
            }
        }
        has_gained
    }

    fn move_part(&mut self, first: usize, last: usize) -> bool {
        let left = self.between(first - 1, first) + self.between(last, last + 1)
            - self.between(first - 1, last + 1);
        let places = first.saturating_sub(self.reach)..=self.order.len().min(last + self.reach);
        let places = places.filter(|&place| place + 1 < first || place > last);
        let best = places
            .flat_map(|place| [(place, false), (place, true)])
            .map(|(place, reversed)| {
                let (head, tail) = if reversed { (last, first) } else { (first, last) };
                let added = self.between(place, head) + self.between(tail, place + 1)
                    - self.between(place, place + 1);
                (added, place, reversed)
            })
            .min();
        match best {
            Some((added, place, reversed)) if added < left => {
                if reversed {
                    self.order[first - 1..last].reverse();
                }
                let sets = last - first + 1;
                match place < first {
                    true => self.order[place..last].rotate_right(sets),
                    false => self.order[first - 1..place].rotate_left(sets),
                }
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// How many pieces the files of each run come in, over all runs.
    fn pieces(order: &[u32], sets: &[Vec<u32>]) -> usize {
        let mut before: &[u32] = &[];
        let mut pieces = 0;
        for &set in order {
            let now = &sets[set as usize];
            pieces += now.iter().filter(|run| !before.contains(run)).count();
            before = now;
        }
        pieces
    }

    #[test]
    fn a_set_between_two_that_are_alike_is_moved() {
        let sets = [vec![1, 0], vec![3, 2], vec![4, 1, 0]];
        let mut order = [0, 1, 2];
        join_pieces(&mut order, &sets);
        assert_eq!(pieces(&order, &sets), 5, "{order:?}");
    }

    proptest! {
        #[test]
        fn the_order_keeps_all_sets_and_never_has_more_pieces(
            sets in proptest::collection::vec(proptest::collection::btree_set(0..70u32, 0..6), 0..90)
        ) {
            let sets: Vec<Vec<u32>> =
                sets.into_iter().map(|set| set.into_iter().rev().collect()).collect();
            let before: Vec<u32> = (0..sets.len() as u32).collect();
            let mut after = before.clone();
            join_pieces(&mut after, &sets);
            prop_assert!(pieces(&after, &sets) <= pieces(&before, &sets));
            after.sort_unstable();
            prop_assert_eq!(before, after);
        }
    }
}
