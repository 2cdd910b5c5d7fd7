//! Decides which ids are in a sample, by a hash of the id and the seed. So either all requests for
//! an id are in it or no request (spatial sampling; Waldspurger, Park, Garthwaite and Ahmad 2015,
//! section 3).

use seekless_device::SplitMix64;
use seekless_policy::eviction::Id;

/// A hash of ids; equal seeds give equal hashes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hash(u64);

impl Hash {
    pub(super) fn new(seed: u64) -> Self {
        Self(SplitMix64::mix(seed ^ 0x5EED_1E55_5EED_1E55))
    }

    /// Uniform over all 64 bits.
    #[inline]
    pub(super) fn of(self, id: Id) -> u64 {
        SplitMix64::mix(u64::from(id).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ self.0)
    }
}

/// The threshold below which a share `rate` of all hashes lies. The low 12 bits choose groups.
pub(super) fn threshold(rate: f64) -> u64 {
    if rate >= 1.0 { u64::MAX } else { (rate * 2f64.powi(64)) as u64 }
}

/// The share of all hashes below a threshold.
pub(super) fn rate(threshold: u64) -> f64 {
    if threshold == u64::MAX { 1.0 } else { threshold as f64 / 2f64.powi(64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_the_ids_lies_below_a_tenth() {
        for seed in 0..5 {
            let hash = Hash::new(seed);
            let below = (0..100_000).filter(|&id| hash.of(id) < threshold(0.1)).count();
            assert!((9_500..10_500).contains(&below), "{below}");
        }
        assert!((rate(threshold(0.25)) - 0.25).abs() < 1e-12 && rate(threshold(1.0)) == 1.0);
    }
}
