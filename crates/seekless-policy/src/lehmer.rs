//! The generator of Ozen's program, so that his two random policies draw what they drew for him.

const MULTIPLIER: u64 = 16_807;
const MODULUS: u64 = 2_147_483_647;
/// Least and greatest value apart, as C++'s `minstd_rand0` has it.
const RANGE: u32 = 2_147_483_645;

/// Lehmer's generator of 31 bits with multiplier 16807 (Park and Miller 1988), from state 1, and the way in which the
/// GNU C++ library draws a number below a limit from it.
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
