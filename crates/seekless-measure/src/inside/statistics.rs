//! The few statistics that the inference stands on. Medians and the median deviation where single
//! values may be wild, least squares where they are not.

/// The median; NaN of nothing.
pub(super) fn median(values: &[f64]) -> f64 {
    seekless_device::median(&mut values.to_vec()).unwrap_or(f64::NAN)
}

/// The standard deviation, estimated from the median deviation, which wild values do not move.
pub(super) fn spread(values: &[f64]) -> f64 {
    let middle = median(values);
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    1.4826 * median(&deviations)
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard error of the mean.
pub(super) fn standard_error(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::INFINITY;
    }
    let middle = mean(values);
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    (squares / (values.len() - 1) as f64 / values.len() as f64).sqrt()
}

/// Coefficients of the columns that fit `values` best by weighted least squares, with their
/// standard errors (for weights that are one over the variance); `None` if the columns do not
/// distinguish them.
pub(super) fn least_squares(
    columns: &[Vec<f64>],
    values: &[f64],
    weights: &[f64],
) -> Option<Vec<(f64, f64)>> {
    let count = columns.len();
    let product = |one: &[f64], other: &[f64]| -> f64 {
        one.iter().zip(other).zip(weights).map(|((one, other), weight)| one * other * weight).sum()
    };
    // Gauss and Jordan on the normal equations, beside the unit matrix and the right side.
    let mut rows: Vec<Vec<f64>> = (0..count)
        .map(|row| {
            let left = columns.iter().map(|column| product(&columns[row], column));
            let unit = (0..count).map(|column| f64::from(u8::from(column == row)));
            left.chain(unit).chain([product(&columns[row], values)]).collect()
        })
        .collect();
    for pivot in 0..count {
        let best = (pivot..count)
            .max_by(|&one, &other| rows[one][pivot].abs().total_cmp(&rows[other][pivot].abs()))?;
        rows.swap(pivot, best);
        let scale = rows[pivot][pivot];
        if scale.abs() < 1e-300 || !scale.is_finite() {
            return None;
        }
        rows[pivot].iter_mut().for_each(|value| *value /= scale);
        let unit = rows[pivot].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(number, _)| *number != pivot) {
            let factor = row[pivot];
            row.iter_mut().zip(&unit).for_each(|(value, unit)| *value -= factor * unit);
        }
    }
    let solution = |number: usize| (rows[number][2 * count], rows[number][count + number].sqrt());
    Some((0..count).map(solution).collect())
}

/// A sequence that changes its level once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Edge {
    /// The index of the first value of the second level.
    pub(super) at: usize,
    /// By how much the level changes, and the error of that.
    pub(super) jump: f64,
    pub(super) error: f64,
}

/// Where a sequence changes its level once, by weighted least squares; at least two values stand on
/// either side. `None` of fewer than four.
pub(super) fn edge(values: &[f64], weights: &[f64]) -> Option<Edge> {
    let level = |from: usize, to: usize| {
        let weight: f64 = weights[from..to].iter().sum();
        let product = |place: usize| values[place] * weights[place];
        let level = (from..to).map(product).sum::<f64>() / weight;
        let left = |place: usize| weights[place] * (values[place] - level).powi(2);
        (level, weight, (from..to).map(left).sum::<f64>())
    };
    let split = |at: usize| {
        let (one, other) = (level(0, at), level(at, values.len()));
        let variance = (one.2 + other.2) / (values.len() as f64 - 2.0).max(1.0);
        let error = (variance * (1.0 / one.1 + 1.0 / other.1)).sqrt();
        (Edge { at, jump: other.0 - one.0, error }, one.2 + other.2)
    };
    let last = values.len().checked_sub(2)?;
    let best = (2..=last).map(split).min_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(best.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_is_found_again() {
        let one: Vec<f64> = (0..20).map(f64::from).collect();
        let other: Vec<f64> = (0..20).map(|number| f64::from(number * number % 7)).collect();
        let values: Vec<f64> =
            one.iter().zip(&other).map(|(one, other)| 3.0 + 0.5 * one - 2.0 * other).collect();
        let unit = vec![1.0; 20];
        let fit = least_squares(&[unit.clone(), one, other], &values, &unit).expect("a fit");
        let near = |value: f64, known: f64| (value - known).abs() < 1e-9;
        assert!(near(fit[0].0, 3.0) && near(fit[1].0, 0.5) && near(fit[2].0, -2.0), "{fit:?}");
        assert!(least_squares(&[unit.clone(), unit.clone()], &values, &unit).is_none());
    }

    #[test]
    fn an_edge_stands_where_the_level_changes() {
        let values = [0.1, -0.1, 0.0, 1.1, 5.0, 0.9];
        let found = edge(&values, &[1.0, 1.0, 1.0, 1.0, 1e-4, 1.0]).expect("an edge");
        assert!(found.at == 3 && (found.jump - 1.0).abs() < 0.01, "{found:?}");
        assert!(edge(&[1.0, 2.0, 3.0], &[1.0; 3]).is_none());
    }

    #[test]
    fn one_wild_value_moves_neither_median_nor_spread() {
        let values = [1.0, 1.1, 0.9, 1.05, 0.95, 1000.0];
        assert!((median(&values) - 1.025).abs() < 0.03 && spread(&values) < 0.2);
        assert!(median(&[]).is_nan());
    }
}
