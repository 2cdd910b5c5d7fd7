//! Pseudo-random choices for generated command lines, the same in every run.

use seekless::device::SplitMix64;

/// A generator of choices, from a seed.
#[derive(Debug)]
pub(crate) struct Random(SplitMix64);

impl Random {
    /// The generator for one case of one seed.
    pub(crate) fn new(seed: u64, case: u64) -> Self {
        let seed =
            seed.wrapping_mul(0xd134_2543_de82_ef95) ^ case.wrapping_mul(0x2545_f491_4f6c_dd1d);
        Random(SplitMix64::new(seed))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.0.bits() % bound as u64) as usize
    }

    /// True in `percent` of a hundred cases, on average.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(crate) fn weighted<T: Copy>(&mut self, from: &[(usize, T)]) -> T {
        let mut at = self.below(from.iter().map(|(weight, _)| weight).sum());
        for &(weight, value) in from {
            if at < weight {
                return value;
            }
            at -= weight;
        }
        from[0].1
    }
}
