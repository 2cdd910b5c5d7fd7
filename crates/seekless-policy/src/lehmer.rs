//! The random number generator of Ozen's program. With it his two random policies make the same
//! draws.

const MULTIPLIER: u64 = 16_807;
const MODULUS: u64 = 2_147_483_647;
/// The distance of the least and the greatest value, as in C++'s `minstd_rand0`.
const RANGE: u32 = 2_147_483_645;

/// Lehmer's generator of 31 bits with multiplier 16807 (Park and Miller 1988), from state 1. A
/// number below a limit is drawn from it as the GNU C++ library does.
#[derive(Clone, Debug)]
pub(crate) struct Lehmer {
    state: u32,
}

impl Default for Lehmer {
    fn default() -> Self {
        Self { state: 1 }
    }
}

impl Lehmer {
    /// A number below `limit`, which must not be 0.
    #[inline]
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        let bucket = RANGE / limit;
        loop {
            self.state = (u64::from(self.state) * MULTIPLIER % MODULUS) as u32;
            let value = self.state - 1;
            if value < bucket * limit {
                return value / bucket;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ten_thousandth_state_is_the_published_one() {
        let mut draws = Lehmer::default();
        (0..10_000).for_each(|_| assert_eq!(draws.below(1), 0));
        assert_eq!(draws.state, 1_043_618_065, "Park and Miller 1988");
    }
}
