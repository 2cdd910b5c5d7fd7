//! Numbers that look random and are the same for the same seed, on every machine: for samples,
//! simulated choices and made-up content. It lives in this crate because this is the lowest one
//! that all its users may know.

/// The generator SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014). Not for secrets.
///
/// ```
/// use seekless_device::SplitMix64;
///
/// let (mut one, mut other) = (SplitMix64::new(7), SplitMix64::new(7));
/// assert_eq!(one.bits(), other.bits());
/// assert!(one.below(6) < 6);
/// ```
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// The odd number nearest to 2^64 divided by the golden ratio.
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

    /// The numbers that belong to `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        SplitMix64 { state: seed }
    }

    /// The generator's finaliser: scatters the bits of a number. Different numbers stay different,
    /// and 0 stays 0.
    #[inline]
    #[must_use]
    pub fn mix(mut bits: u64) -> u64 {
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Any 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(Self::STEP);
        Self::mix(self.state)
    }

    /// A number below `limit`; 0 if that is 0. Some numbers are more likely than others by a share
    /// of less than `limit / 2^64`.
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// A number from 0 to below 1.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_program() {
        // Sebastiano Vigna's splitmix64.c from the seed 1234567.
        let mut numbers = SplitMix64::new(1_234_567);
        let published =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(published.map(|_| numbers.bits()), published);
    }

    #[test]
    fn numbers_below_a_limit_are_even() {
        let (mut numbers, mut counts) = (SplitMix64::new(1), [0; 6]);
        (0..6000).for_each(|_| counts[numbers.below(6) as usize] += 1);
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
        assert_eq!(numbers.below(0), 0);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&numbers.share())));
    }
}
