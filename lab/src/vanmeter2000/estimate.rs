//! Means with 90 % confidence intervals by Student's t, as in the paper's graphs.

use serde::Serialize;

/// The 95 % quantile of Student's t for 1, 2, ... degrees of freedom: a two-sided interval of 90 %.
const QUANTILES: [f64; 20] = [
    6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771,
    1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725,
];

/// A mean, and its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Estimate {
    pub(super) mean: f64,
    /// Half the 90 % interval; `None` for a single value.
    pub(super) plus_minus: Option<f64>,
}

pub(super) fn estimate(values: &[f64]) -> Estimate {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 {
        return Estimate { mean, plus_minus: None };
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    Estimate { mean, plus_minus: Some(quantile(values.len() - 1) * (variance / count).sqrt()) }
}

fn quantile(degrees: usize) -> f64 {
    // Beyond the table, the first terms of the expansion around the normal distribution's.
    QUANTILES.get(degrees - 1).copied().unwrap_or(1.645 + 1.524 / degrees as f64)
}

impl Estimate {
    pub(super) fn low(&self) -> f64 {
        self.mean - self.plus_minus.unwrap_or(0.0)
    }

    pub(super) fn high(&self) -> f64 {
        self.mean + self.plus_minus.unwrap_or(0.0)
    }

    /// `1.32 ± 0.04`.
    pub(super) fn words(&self) -> String {
        let digits = if self.mean < 0.1 { 4 } else { 2 };
        match self.plus_minus {
            Some(half) => format!("{:.digits$} ± {half:.digits$}", self.mean),
            None => format!("{:.digits$}", self.mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_passes_have_eleven_degrees_of_freedom() {
        let values: Vec<f64> = (1..=12).map(f64::from).collect();
        let estimate = estimate(&values);
        assert!((estimate.mean - 6.5).abs() < 1e-12);
        // The deviation of 1 to 12 is the root of 13; 1.796 of it over the root of 12.
        let half = 1.796 * (13.0_f64 / 12.0).sqrt();
        assert!((estimate.plus_minus.unwrap() - half).abs() < 1e-9);
    }

    #[test]
    fn a_single_value_has_no_interval_and_the_table_goes_on_smoothly() {
        assert_eq!(estimate(&[3.0]).plus_minus, None);
        assert!((quantile(21) - 1.721).abs() < 0.004 && quantile(20) > quantile(21));
    }
}
