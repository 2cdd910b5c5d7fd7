//! Orders for training: each epoch another permutation of the files, the same for the same seed on
//! every machine.

use crate::id::Id;
use seekless_device::SplitMix64;

/// An epoch of a training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// Of the training.
    pub seed: u64,
    /// From 0.
    pub number: u64,
}

impl Epoch {
    fn draws(self) -> SplitMix64 {
        SplitMix64::new(SplitMix64::mix(self.seed).wrapping_add(SplitMix64::mix(!self.number)))
    }
}

/// How neighbours are shuffled together, so that they are read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Bytes of neighbouring files that are a group; a larger file is one alone.
    pub bytes: u64,
    /// How many groups are mixed with each other; at least 1.
    pub mixed: usize,
}

/// Every id below `ids` once, each order equally likely (Fisher and Yates; Durstenfeld 1964).
#[must_use]
pub fn permutation(ids: u32, epoch: Epoch) -> Vec<Id> {
    let mut order: Vec<Id> = (0..ids).collect();
    shuffle(&mut order, &mut epoch.draws());
    order
}

/// Every id once, shuffled inside groups of neighbours: the groups come in any order, and the files
/// of each [`Groups::mixed`] groups that follow one another are mixed. `bytes` are those of each id
/// in the order of the archive.
#[must_use]
pub fn in_groups(bytes: &[u64], groups: Groups, epoch: Epoch) -> Vec<Id> {
    let mut draws = epoch.draws();
    let mut starts = starts(bytes, groups.bytes);
    shuffle(&mut starts, &mut draws);
    let mut order = Vec::with_capacity(bytes.len());
    for mixed in starts.chunks(groups.mixed.max(1)) {
        let first = order.len();
        mixed.iter().for_each(|&(start, end)| order.extend(start..end));
        shuffle(&mut order[first..], &mut draws);
    }
    order
}

/// The first id of each group, and the one after its last.
fn starts(bytes: &[u64], group_bytes: u64) -> Vec<(Id, Id)> {
    let (mut groups, mut start, mut sum) = (Vec::new(), 0, 0_u64);
    for (id, &bytes) in bytes.iter().enumerate() {
        let id = id as Id;
        if id > start && sum.saturating_add(bytes) > group_bytes {
            groups.push((start, id));
            (start, sum) = (id, 0);
        }
        sum = sum.saturating_add(bytes);
    }
    if !bytes.is_empty() {
        groups.push((start, bytes.len() as Id));
    }
    groups
}

fn shuffle<T>(order: &mut [T], draws: &mut SplitMix64) {
    for last in (1..order.len()).rev() {
        order.swap(last, draws.below(last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn epoch(number: u64) -> Epoch {
        Epoch { seed: 7, number }
    }

    #[test]
    fn an_epoch_is_a_permutation_of_its_own() {
        let mut order = permutation(1000, epoch(0));
        assert_eq!(order, permutation(1000, epoch(0)));
        assert_ne!(order, permutation(1000, epoch(1)));
        assert_ne!(order, permutation(1000, Epoch { seed: 8, number: 0 }));
        order.sort_unstable();
        assert!(order.into_iter().eq(0..1000));
        assert!(permutation(0, epoch(0)).is_empty());
    }

    #[test]
    fn every_order_is_as_likely_as_any_other() {
        let mut seen: HashMap<Vec<Id>, u32> = HashMap::new();
        (0..24_000).for_each(|number| *seen.entry(permutation(4, epoch(number))).or_default() += 1);
        assert_eq!(seen.len(), 24);
        // 1,000 each, with a standard deviation of 31.
        assert!(seen.values().all(|times| (850..1150).contains(times)), "{seen:?}");
    }

    #[test]
    fn groups_stay_together_and_are_mixed_within() {
        let (bytes, groups) = (vec![10; 100], Groups { bytes: 55, mixed: 2 });
        let order = in_groups(&bytes, groups, epoch(3));
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..100));
        for mixed in order.chunks(10) {
            let mut groups: Vec<Id> = mixed.iter().map(|id| id / 5).collect();
            groups.sort_unstable();
            groups.dedup();
            assert_eq!(groups.len(), 2, "ten files are of two groups of five: {mixed:?}");
        }
        assert!(order[..10].windows(2).any(|pair| pair[0] > pair[1]), "{order:?}");
    }

    #[test]
    fn a_file_larger_than_a_group_is_one_alone() {
        assert_eq!(starts(&[3, 90, 4, 4, 4], 8), [(0, 1), (1, 2), (2, 4), (4, 5)]);
        assert_eq!(starts(&[u64::MAX, u64::MAX], 8), [(0, 1), (1, 2)]);
        assert!(starts(&[], 8).is_empty());
    }
}
