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
    /// From another state, for each seed one.
    pub(crate) fn seeded(seed: u64) -> Self {
        Self { state: u128::from(seed) << 64 | 0xdead_beef }
    }

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

    /// As [`Lehmer64::below`], by a multiplication.
    #[inline]
    pub(crate) fn below_fast(&mut self, limit: &Limit) -> u64 {
        limit.rest_of(self.bits())
    }

    /// A hundredth from 0 to 0.99.
    #[inline]
    pub(crate) fn hundredth(&mut self) -> f64 {
        self.below(100) as f64 / 100.0
    }
}

/// A divisor with its reciprocal, for many divisions by the same number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    number: u64,
    /// 2^64 / number, rounded down.
    reciprocal: u64,
}

impl Limit {
    /// A limit, which must not be 0.
    pub(crate) fn new(number: u64) -> Self {
        let reciprocal = u64::try_from((1_u128 << 64) / u128::from(number)).unwrap_or(u64::MAX);
        Self { number, reciprocal }
    }

    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// What a division of `value` leaves.
    #[inline]
    fn rest_of(&self, value: u64) -> u64 {
        // The quotient is at most 1 too small.
        let quotient = ((u128::from(value) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = value - quotient * self.number;
        if rest >= self.number { rest - self.number } else { rest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_rest_by_multiplication_is_that_of_a_division(
            value in any::<u64>(),
            number in prop_oneof![1_u64..=u64::MAX, 1_u64..5_000_000],
        ) {
            prop_assert_eq!(Limit::new(number).rest_of(value), value % number);
        }
    }

    #[test]
    fn rests_at_the_ends_are_right() {
        for number in [1, 2, 3, (1 << 32) - 1, 1 << 32, u64::MAX - 1, u64::MAX] {
            for value in [0, 1, number - 1, number, u64::MAX - 1, u64::MAX] {
                assert_eq!(Limit::new(number).rest_of(value), value % number, "{value} {number}");
            }
        }
    }

    #[test]
    fn the_first_draws_are_those_of_128_bit_products() {
        let mut draws = Lehmer64::default();
        let first = 0xdead_beef_u128 * MULTIPLIER;
        assert_eq!(draws.bits(), (first >> 64) as u64);
        assert_eq!(draws.bits(), (first.wrapping_mul(MULTIPLIER) >> 64) as u64);
    }
}
