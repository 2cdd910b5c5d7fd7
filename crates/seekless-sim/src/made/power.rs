//! Powers from additions, multiplications and divisions alone, so that they are the same on every
//! machine; and sizes that are drawn with them.

use seekless_device::SplitMix64;

const LN_2: f64 = std::f64::consts::LN_2;

/// The natural logarithm of a number from 1.
fn ln(number: f64) -> f64 {
    let bits = number.to_bits();
    let exponent = (bits >> 52) as i32 - 1023;
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52); // from 1 to below 2
    let part = (mantissa - 1.0) / (mantissa + 1.0); // at most 1/3
    let square = part * part;
    let series = (0..20).rev().fold(0.0, |sum, at| sum * square + 1.0 / f64::from(2 * at + 1));
    f64::from(exponent) * LN_2 + 2.0 * part * series
}

/// e to the power of a number from -700 to 700.
fn exp(number: f64) -> f64 {
    let twos = (number / LN_2 + 0.5).floor();
    let rest = number - twos * LN_2; // at most half of ln 2
    let series = (1..20).rev().fold(1.0, |sum, at| 1.0 + sum * rest / f64::from(at));
    series * f64::from_bits(((twos as i64 + 1023) as u64) << 52)
}

/// `rank` to the power of `-alpha`, for ranks from 1.
pub(super) fn weight(rank: u64, alpha: f64) -> f64 {
    exp(-alpha * ln(rank as f64))
}

/// Sizes whose logarithms are spread evenly, and belong to objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sizes {
    least: u64,
    most: u64,
}

impl Sizes {
    pub(super) fn new(least: u64, most: u64) -> Self {
        Self { least, most }
    }

    pub(super) fn of(&self, object: u64, seed: u64) -> u64 {
        let draw = SplitMix64::new(SplitMix64::mix(seed) ^ object).share();
        let span = ln(self.most as f64 / self.least as f64);
        ((self.least as f64 * exp(draw * span)) as u64).clamp(self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_the_library() {
        for (rank, alpha) in [(1, 1.0), (2, 0.9), (7, 0.5), (1_000_003, 1.2), (4_000_000_000, 10.0)]
        {
            let expected = (rank as f64).powf(-alpha);
            assert!((weight(rank, alpha) / expected - 1.0).abs() < 1e-13, "{rank} {alpha}");
        }
    }

    #[test]
    fn half_of_the_sizes_are_below_the_middle_by_ratio() {
        let sizes = Sizes::new(1 << 10, 1 << 20);
        let all: Vec<u64> = (0..20_000).map(|object| sizes.of(object, 3)).collect();
        assert!(all.iter().all(|size| (1 << 10..=1 << 20).contains(size)));
        let small = all.iter().filter(|size| **size < 1 << 15).count();
        assert!((9500..10_500).contains(&small), "{small}");
        assert_eq!(Sizes::new(7, 7).of(1, 1), 7);
    }
}
