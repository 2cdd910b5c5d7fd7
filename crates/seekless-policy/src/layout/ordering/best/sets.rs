//! The sets of runs that load each file, in an order in which neighbours differ little.

use crate::eviction::Id;
use std::cmp::Ordering;
use std::collections::HashMap;

/// No run.
const EMPTY: u32 = 0;

/// The set of runs of each file. Sets are numbered as they appear.
pub(super) struct Sets {
    /// The runs of each set, the newest first.
    runs: Vec<Vec<u32>>,
    /// The set of each file.
    of: Vec<u32>,
}

impl Sets {
    /// Ids that are not below `files` are passed over.
    pub(super) fn new(runs: &[&[Id]], files: usize) -> Self {
        let (mut sets, mut of) = (vec![Vec::new()], vec![EMPTY; files]);
        for (number, run) in (0..runs.len() as u32).zip(runs).rev() {
            let mut larger = HashMap::new();
            for &id in run.iter() {
                let Some(set) = of.get_mut(id as usize) else { continue };
                if sets[*set as usize].last() == Some(&number) {
                    continue;
                }
                *set = *larger.entry(*set).or_insert_with(|| {
                    let mut with = sets[*set as usize].clone();
                    with.push(number);
                    sets.push(with);
                    sets.len() as u32 - 1
                });
            }
        }
        Sets { runs: sets, of }
    }

    /// How many runs load each file.
    pub(super) fn counts(&self) -> Vec<u32> {
        self.of.iter().map(|&set| self.runs[set as usize].len() as u32).collect()
    }

    /// The place of each file's set in the order of a Gray code, in which sets that follow each
    /// other differ in one run if all sets occur.
    pub(super) fn places(&self) -> Vec<u32> {
        let mut sorted: Vec<u32> = (0..self.runs.len() as u32).collect();
        sorted.sort_by(|&one, &other| gray(&self.runs[one as usize], &self.runs[other as usize]));
        let mut places = vec![0; sorted.len()];
        for (place, &set) in (0..).zip(&sorted) {
            places[set as usize] = place;
        }
        self.of.iter().map(|&set| places[set as usize]).collect()
    }
}

/// Compares two sets by their place in the reflected Gray code. Each lists its runs in falling
/// order.
fn gray(one: &[u32], other: &[u32]) -> Ordering {
    let common = one.iter().zip(other).take_while(|(run, other)| run == other).count();
    // The larger of the first runs that differ is a bit that one set has and the other has not.
    let by_bit = one.get(common).cmp(&other.get(common));
    if common % 2 == 0 { by_bit } else { by_bit.reverse() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_that_follow_each_other_differ_in_one_run() {
        let mut sets: Vec<Vec<u32>> = (0..32u32)
            .map(|bits| (0..5).rev().filter(|run| bits >> run & 1 == 1).collect())
            .collect();
        sets.sort_by(|one, other| gray(one, other));
        assert!(sets[0].is_empty());
        for pair in sets.windows(2) {
            let only =
                |one: &[u32], other: &[u32]| one.iter().filter(|run| !other.contains(run)).count();
            assert_eq!(only(&pair[0], &pair[1]) + only(&pair[1], &pair[0]), 1, "{pair:?}");
        }
    }

    #[test]
    fn files_of_the_same_runs_are_one_set() {
        let sets = Sets::new(&[&[0, 1, 1, 9], &[1, 2, 0], &[2]], 4);
        assert_eq!(sets.counts(), [2, 2, 2, 0]);
        assert_eq!((sets.of[0] == sets.of[1], sets.of[1] == sets.of[2]), (true, false));
        assert_eq!(sets.places()[3], 0, "no run at all comes first");
    }
}
