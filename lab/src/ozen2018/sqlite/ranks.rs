//! Compares two orders of the same policies: ranks, their correlation after Spearman (1904) and
//! Kendall (1938, tau-b), and pairs in the opposite order.

/// Rank of each value, the smallest 1; equal values share the mean of their ranks.
pub(in crate::ozen2018) fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|&&other| other < value).count();
    let equal = |value: f64| values.iter().filter(|&&other| other == value).count();
    values.iter().map(|&value| below(value) as f64 + (equal(value) as f64 + 1.0) / 2.0).collect()
}

/// Spearman's rho: the correlation of the ranks. 0 if all values of one side are equal.
pub(in crate::ozen2018) fn spearman(left: &[f64], right: &[f64]) -> f64 {
    let (left, right) = (ranks(left), ranks(right));
    let mean = (left.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    ratio(product(&left, &right), (product(&left, &left) * product(&right, &right)).sqrt())
}

/// Kendall's tau-b: pairs in the same order minus pairs in the opposite order, of all pairs without
/// ties.
pub(in crate::ozen2018) fn kendall(left: &[f64], right: &[f64]) -> f64 {
    let sign = |a: f64, b: f64| f64::from(i8::from(a > b) - i8::from(a < b));
    let (mut agree, mut untied_left, mut untied_right) = (0.0, 0.0, 0.0);
    for (one, other) in pairs(left.len()) {
        let (a, b) = (sign(left[one], left[other]), sign(right[one], right[other]));
        agree += a * b;
        untied_left += a * a;
        untied_right += b * b;
    }
    ratio(agree, (untied_left * untied_right).sqrt())
}

/// The pairs that `left` and `right` order differently; first the one that `left` has first. The
/// flag says whether the two are within `near` (a fraction) of each other on either side, so that
/// chance may have ordered them.
pub(super) fn reversed(left: &[f64], right: &[f64], near: f64) -> Vec<(usize, usize, bool)> {
    let apart = |a: f64, b: f64| (a - b).abs() > near * a.min(b);
    let ordered = |(a, b)| if left[a] <= left[b] { (a, b) } else { (b, a) };
    pairs(left.len())
        .map(ordered)
        .filter(|&(a, b)| left[a] < left[b] && right[a] > right[b])
        .map(|(a, b)| (a, b, !(apart(left[a], left[b]) && apart(right[a], right[b]))))
        .collect()
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |one| (one + 1..count).map(move |other| (one, other)))
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_the_mean_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }

    #[test]
    fn correlations_are_those_of_the_textbooks() {
        let (iq, hours) = (
            [106.0, 100.0, 86.0, 101.0, 99.0, 103.0, 97.0, 113.0, 112.0, 110.0],
            [7.0, 27.0, 2.0, 50.0, 28.0, 29.0, 20.0, 12.0, 6.0, 17.0],
        );
        assert!((spearman(&iq, &hours) + 29.0 / 165.0).abs() < 1e-12);
        assert_eq!(kendall(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 4.0, 3.0]), 4.0 / 6.0);
        assert_eq!(
            (spearman(&[1.0, 2.0], &[5.0, 5.0]), kendall(&[1.0, 2.0], &[5.0, 5.0])),
            (0.0, 0.0)
        );
        let up: Vec<f64> = (0..10).map(f64::from).collect();
        let down: Vec<f64> = up.iter().rev().copied().collect();
        assert_eq!((kendall(&up, &up), kendall(&up, &down)), (1.0, -1.0));
    }

    #[test]
    fn reversed_pairs_are_told_from_near_ties() {
        let (his, ours) = ([100.0, 100.2, 150.0], [120.0, 110.0, 90.0]);
        assert_eq!(reversed(&his, &ours, 0.01), [(0, 1, true), (0, 2, false), (1, 2, false)]);
    }
}
