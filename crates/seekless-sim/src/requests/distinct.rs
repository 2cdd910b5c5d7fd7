//! The number of different ids in the requests, and their limit. The ids of a trace are numbered by
//! first appearance; for them one look at each suffices. Other ids are marked in a table.

use seekless_policy::eviction::Id;

/// Ids looked at together. Their largest is found without a branch.
const BLOCK: usize = 64;

/// The ids that occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Distinct {
    /// All are below this.
    pub(super) limit: u32,
    /// How many different ids there are.
    pub(super) count: u32,
}

impl Distinct {
    /// # Panics
    /// On the id 2^32 − 1, which stands for no id.
    pub(super) fn of(ids: &[Id]) -> Self {
        let (mut limit, mut in_order) = (0, true);
        for block in ids.chunks(BLOCK) {
            if block.iter().fold(0, |largest, &id| largest.max(id)) < limit {
                continue;
            }
            for &id in block {
                if id >= limit {
                    in_order &= id == limit;
                    limit = id.checked_add(1).expect("ids are below 2^32 - 1");
                }
            }
        }
        let count = if in_order { limit } else { marked(ids, limit, |_| {}) };
        Self { limit, count }
    }

    /// The weight of the ids, each counted once. If `weights` is empty, each weighs 1.
    ///
    /// # Panics
    /// If an id has no weight.
    pub(super) fn weight(self, ids: &[Id], weights: &[u64]) -> u64 {
        if weights.is_empty() {
            return u64::from(self.count);
        }
        let mut sum = 0;
        if self.count == self.limit {
            sum = weights[..self.limit as usize].iter().sum();
        } else {
            marked(ids, self.limit, |id| sum += weights[id as usize]);
        }
        sum
    }
}

/// Calls `first` with each different id once, and returns their number.
fn marked(ids: &[Id], limit: u32, mut first: impl FnMut(Id)) -> u32 {
    let mut seen = vec![false; limit as usize];
    let mut count = 0;
    for &id in ids {
        if !std::mem::replace(&mut seen[id as usize], true) {
            count += 1;
            first(id);
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_set_says_the_same(ids in prop::collection::vec(0..300_u32, 0..500), numbered in any::<bool>()) {
            let mut ids = ids;
            if numbered {
                let mut order = Vec::new();
                for id in &mut ids {
                    let place = order.iter().position(|other| other == id).unwrap_or(order.len());
                    if place == order.len() {
                        order.push(*id);
                    }
                    *id = place as u32;
                }
            }
            let set: BTreeSet<u32> = ids.iter().copied().collect();
            let weights: Vec<u64> = (0..300).map(|id| id * id).collect();
            let distinct = Distinct::of(&ids);
            prop_assert_eq!(distinct.limit, set.last().map_or(0, |last| last + 1));
            prop_assert_eq!(distinct.count as usize, set.len());
            prop_assert_eq!(distinct.weight(&ids, &weights), set.iter().map(|&id| weights[id as usize]).sum::<u64>());
            prop_assert_eq!(distinct.weight(&ids, &[]), set.len() as u64);
        }
    }
}
