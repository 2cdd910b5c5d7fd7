//! The weight of each id, in a column that takes no memory and no cache line while every weight is
//! 1.

use crate::id::Id;

/// Weights by id. The column is allocated when the first weight other than 1 is set; pages never
/// need it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weights {
    ids: usize,
    column: Vec<u64>,
}

impl Weights {
    /// No ids yet.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Makes room for ids below `ids`; never shrinks.
    pub(crate) fn grow(&mut self, ids: u32) {
        self.ids = self.ids.max(ids as usize);
        if !self.column.is_empty() {
            self.column.resize(self.ids, 1);
        }
    }

    /// The weight last set for `id`; 1 if no weight was set.
    #[inline]
    #[must_use]
    pub(crate) fn get(&self, id: Id) -> u64 {
        if self.column.is_empty() { 1 } else { self.column[id as usize] }
    }

    /// Sets the weight of `id`.
    #[inline]
    pub(crate) fn set(&mut self, id: Id, weight: u64) {
        if self.column.is_empty() {
            if weight == 1 {
                return;
            }
            self.column.resize(self.ids, 1);
        }
        self.column[id as usize] = weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_appears_with_the_first_weight_other_than_one() {
        let mut weights = Weights::new();
        weights.grow(3);
        weights.set(1, 1);
        assert!(weights.column.is_empty());
        weights.set(2, 7);
        assert_eq!([weights.get(0), weights.get(1), weights.get(2)], [1, 1, 7]);
        weights.grow(5);
        assert_eq!(weights.get(4), 1);
    }
}
