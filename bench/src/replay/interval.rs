//! A ratio with its interval, from ratios of rounds.

use seekless::device::SplitMix64;
use seekless_results::Figure;
use serde::Serialize;

/// How often the rounds are drawn anew.
const DRAWS: usize = 4000;

/// The geometric mean of ratios, and the interval that holds it nine times in ten, by the
/// bootstrap: rounds are drawn anew, with replacement, and the mean taken of each draw.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Interval {
    low: f64,
    mean: f64,
    high: f64,
}

impl Interval {
    pub(super) fn of_ratios(ratios: &[f64]) -> Self {
        let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
        if logs.is_empty() {
            return Interval { low: f64::NAN, mean: f64::NAN, high: f64::NAN };
        }
        let mut seed = SplitMix64::new(1);
        let mut draw = || {
            let drawn = (0..logs.len()).map(|_| logs[seed.below(logs.len() as u64) as usize]);
            drawn.sum::<f64>() / logs.len() as f64
        };
        let mut means: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
        means.sort_by(f64::total_cmp);
        let at = |share: f64| means[(share * (DRAWS - 1) as f64).round() as usize].exp();
        let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        Interval { low: at(0.05), mean, high: at(0.95) }
    }

    /// For a table of results.
    pub(super) fn figure(&self, rounds: usize) -> Figure {
        Figure::within(self.mean, [self.low, self.high], rounds)
    }

    pub(super) fn words(&self) -> String {
        if self.mean.is_nan() {
            return "unknown".to_owned();
        }
        format!("{:.2} ({:.2} to {:.2})", self.mean, self.low, self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_its_mean_and_is_narrow_for_equal_rounds() {
        let equal = Interval::of_ratios(&[1.5; 15]);
        let all = [equal.low, equal.mean, equal.high];
        assert!(all.iter().all(|value| (value - 1.5).abs() < 1e-9), "{equal:?}");
        let spread = Interval::of_ratios(&[0.5, 2.0, 1.0, 0.7, 1.4]);
        assert!(spread.low < spread.mean && spread.mean < spread.high, "{spread:?}");
        assert!(spread.low > 0.5 && spread.high < 2.0);
        assert_eq!(Interval::of_ratios(&[]).words(), "unknown");
    }
}
