//! Least squares: how much of the differences in time do misses explain, and how much does the
//! pattern add? Each figure is taken relative to its mean in the test, so that tests can be joined.

use super::Row;
use serde::Serialize;

/// One fit.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Regression {
    /// Which policies.
    pub(super) policies: &'static str,
    /// Rows that were fitted.
    pub(super) rows: usize,
    /// What explains the time, and by how many of its standard deviations the time changes with one
    /// of the cause's.
    pub(super) causes: Vec<(&'static str, f64)>,
    /// The share of the variance of time that is explained.
    pub(super) r_squared: f64,
}

const CAUSES: [&str; 5] = ["reads", "writes", "run length", "sequential", "clustered"];

/// Fits misses alone, then all causes; nothing if there are too few rows.
pub(super) fn of<'a>(
    policies: &'static str,
    tests: impl Iterator<Item = &'a [Row]>,
) -> Vec<Regression> {
    let (mut times, mut causes) = (Vec::new(), vec![Vec::new(); CAUSES.len()]);
    for rows in tests {
        times.extend(relative(rows, |row| row.seconds));
        let of: [fn(&Row) -> f64; 5] = [
            |row| row.reads as f64,
            |row| row.writes as f64,
            |row| row.shape.mean_run,
            |row| row.shape.sequential,
            |row| row.shape.clustered,
        ];
        for (column, of) in causes.iter_mut().zip(of) {
            column.extend(relative(rows, of));
        }
    }
    let fit = |count: usize| {
        let kept: Vec<usize> = (0..count).filter(|&at| varies(&causes[at])).collect();
        let columns: Vec<Vec<f64>> = kept.iter().map(|&at| standard(&causes[at])).collect();
        let (weights, r_squared) = least_squares(&columns, &standard(&times))?;
        let causes = kept.iter().map(|&at| CAUSES[at]).zip(weights).collect();
        Some(Regression { policies, rows: times.len(), causes, r_squared })
    };
    let mut fits: Vec<Regression> = [2, CAUSES.len()].into_iter().filter_map(fit).collect();
    // In a test without patterns the second fit is the first.
    fits.dedup_by_key(|fit| fit.causes.len());
    fits
}

fn relative(rows: &[Row], of: fn(&Row) -> f64) -> Vec<f64> {
    let mean = rows.iter().map(of).sum::<f64>() / rows.len().max(1) as f64;
    rows.iter().map(|row| if mean == 0.0 { 0.0 } else { of(row) / mean - 1.0 }).collect()
}

fn deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt())
}

fn varies(values: &[f64]) -> bool {
    deviation(values).1 > 1e-9
}

/// With mean 0 and deviation 1.
fn standard(values: &[f64]) -> Vec<f64> {
    let (mean, deviation) = deviation(values);
    values.iter().map(|value| (value - mean) / deviation.max(1e-12)).collect()
}

/// The weights of standardised columns, and the share of the variance that they explain. `None`
/// with too few rows.
fn least_squares(columns: &[Vec<f64>], goal: &[f64]) -> Option<(Vec<f64>, f64)> {
    let (count, rows) = (columns.len(), goal.len());
    if rows < count + 3 || count == 0 {
        return None;
    }
    let product = |one: &[f64], other: &[f64]| -> f64 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    };
    // The normal equations, with a trace of ridge for columns that nearly depend on each other.
    let mut matrix: Vec<Vec<f64>> = columns
        .iter()
        .enumerate()
        .map(|(at, one)| {
            let mut row: Vec<f64> = columns.iter().map(|other| product(one, other)).collect();
            row[at] += 1e-4 * rows as f64;
            row.push(product(one, goal));
            row
        })
        .collect();
    for pivot in 0..count {
        let best = (pivot..count)
            .max_by(|&a, &b| matrix[a][pivot].abs().total_cmp(&matrix[b][pivot].abs()))?;
        matrix.swap(pivot, best);
        let top = matrix[pivot].clone();
        for (at, row) in matrix.iter_mut().enumerate() {
            if at != pivot {
                let factor = row[pivot] / top[pivot];
                row.iter_mut().zip(&top).for_each(|(value, top)| *value -= factor * top);
            }
        }
    }
    let weights: Vec<f64> = (0..count).map(|at| matrix[at][count] / matrix[at][at]).collect();
    let fitted = |row: usize| -> f64 {
        columns.iter().zip(&weights).map(|(column, weight)| column[row] * weight).sum()
    };
    let left: f64 = (0..rows).map(|row| (goal[row] - fitted(row)).powi(2)).sum();
    Some((weights, 1.0 - left / product(goal, goal).max(1e-12)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_two_columns_is_found_again() {
        let one: Vec<f64> = (0..20).map(|at| f64::from(at % 5)).collect();
        let other: Vec<f64> = (0..20).map(|at| f64::from(at * 7 % 11)).collect();
        let goal: Vec<f64> = one.iter().zip(&other).map(|(a, b)| 3.0 * a - b).collect();
        let columns = [standard(&one), standard(&other)];
        let (weights, r_squared) = least_squares(&columns, &standard(&goal)).unwrap();
        assert!(r_squared > 0.999_99, "{r_squared}");
        let ratio = weights[0] / weights[1] * deviation(&other).1 / deviation(&one).1;
        assert!((ratio + 3.0).abs() < 1e-2, "{ratio}");
        assert!(least_squares(&columns, &[1.0, 2.0]).is_none());
    }

    #[test]
    fn what_does_not_matter_gets_no_weight() {
        let one: Vec<f64> = (0..40).map(f64::from).collect();
        let noise: Vec<f64> = (0..40).map(|at| f64::from(at * at % 7)).collect();
        let (weights, _) =
            least_squares(&[standard(&one), standard(&noise)], &standard(&one)).unwrap();
        assert!((weights[0] - 1.0).abs() < 1e-2 && weights[1].abs() < 1e-2, "{weights:?}");
    }
}
