//! The random number generator of libCacheSim. With it our policies make the same draws.

const MULTIPLIER: u128 = 0xda94_2042_e4dd_58b5;

/// Lehmer's generator of 128 bits (L'Ecuyer 1999), of which the upper half is drawn; from the state
/// that a thread of libCacheSim begins with.
#[derive(Clone, Debug)]
pub(crate) struct Lehmer64 {
    state: u128,
}

impl Default for Lehmer64 {
    fn default() -> Self {
        Self { state: 0xdead_beef }
    }
}

impl Lehmer64 {
    /// The next 64 bits.
    #[inline]
    pub(crate) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(MULTIPLIER);
        (self.state >> 64) as u64
    }

    /// A number below `limit`, which must not be 0: the rest of a division, as in libCacheSim.
    #[inline]
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }

    /// A hundredth from 0 to 0.99.
    #[inline]
    pub(crate) fn hundredth(&mut self) -> f64 {
        self.below(100) as f64 / 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_draws_are_those_of_128_bit_products() {
        let mut draws = Lehmer64::default();
        let first = 0xdead_beef_u128 * MULTIPLIER;
        assert_eq!(draws.bits(), (first >> 64) as u64);
        assert_eq!(draws.bits(), (first.wrapping_mul(MULTIPLIER) >> 64) as u64);
    }
}
