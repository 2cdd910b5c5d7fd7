//! Random choices from a fixed seed, so that the tour is the same on every machine.

use seekless_device::SplitMix64;

/// Makes random choices.
#[derive(Clone, Debug)]
pub(crate) struct Dice(SplitMix64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(SplitMix64::new(seed))
    }

    /// A number from 0 to below 1.
    pub(crate) fn share(&mut self) -> f64 {
        self.0.share()
    }

    /// A number below `bound`; 0 if that is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.share() * bound as f64) as usize
    }

    /// True with this probability.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        self.share() < probability
    }
}
