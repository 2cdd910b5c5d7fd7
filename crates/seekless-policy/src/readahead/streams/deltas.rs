//! Which distance most of the last reads kept.

/// How many distances are remembered.
pub(super) const DELTAS_MAX: usize = 8;

/// The last distances between the reads of a stream, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deltas {
    /// The newest is at `len - 1`.
    values: [i64; DELTAS_MAX],
    len: u8,
}

impl Deltas {
    pub(super) fn push(&mut self, delta: i64) {
        if usize::from(self.len) == DELTAS_MAX {
            self.values.rotate_left(1);
            self.len -= 1;
        }
        self.values[usize::from(self.len)] = delta;
        self.len += 1;
    }

    fn newest_first(&self) -> impl Iterator<Item = i64> + '_ {
        self.values[..usize::from(self.len)].iter().rev().copied()
    }

    /// The distance that more than half of the last ones have, and at least `votes` of them. The
    /// newest two are asked first, then the newest four, then all: a new distance is found at once,
    /// and an old one stands a few reads that do not fit (Leap, Al Maruf and Chowdhury 2020,
    /// section 4.2). The newest distance must be the one that is voted for, so that the next place
    /// follows from the last.
    pub(super) fn majority(&self, votes: usize) -> Option<i64> {
        let newest = self.newest_first().next()?;
        [2, 4, DELTAS_MAX].into_iter().find_map(|last| {
            let asked = last.min(usize::from(self.len));
            let for_it = self.newest_first().take(asked).filter(|&delta| delta == newest).count();
            (newest != 0 && for_it >= votes && 2 * for_it > asked).then_some(newest)
        })
    }

    /// The mean of the last `count` distances.
    pub(super) fn mean(&self, count: usize) -> i64 {
        let sum = self.newest_first().take(count).fold(0i64, i64::saturating_add);
        sum / count.max(1) as i64
    }

    /// The same reads seen in the mirror.
    pub(super) fn mirrored(mut self) -> Self {
        self.values.iter_mut().for_each(|delta| *delta = -*delta);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[i64]) -> Deltas {
        let mut deltas = Deltas::default();
        values.iter().for_each(|&delta| deltas.push(delta));
        deltas
    }

    #[test]
    fn two_equal_distances_are_enough() {
        assert_eq!(of(&[7]).majority(2), None);
        assert_eq!(of(&[3, 7, 7]).majority(2), Some(7));
        assert_eq!(of(&[3, 7, 7]).majority(3), None);
        assert_eq!(of(&[0, 0]).majority(2), None);
    }

    #[test]
    fn a_majority_stands_noise_and_half_does_not() {
        assert_eq!(of(&[7, 7, 2, 7]).majority(2), Some(7));
        assert_eq!(of(&[7, 2, 3, 7]).majority(2), None);
        assert_eq!(of(&[7, 7, 7, 2, 3, 7, 1, 7]).majority(2), Some(7));
        assert_eq!(of(&[7, 7, 7, 7, 7, 7, 7, 2]).majority(2), None, "the newest is another");
    }

    #[test]
    fn only_the_last_eight_count() {
        let mut deltas = of(&[7; 20]);
        (0..7).for_each(|other| deltas.push(other));
        assert_eq!(deltas.majority(2), None);
    }

    #[test]
    fn the_mean_is_of_the_last() {
        assert_eq!(of(&[-9, 4, 2, 6]).mean(3), 4);
        assert_eq!(of(&[4, -2, -4]).mirrored().mean(2), 3);
    }
}
