//! The middle of values, which single wild ones do not move.

/// The median: of an even number the mean of the two in the middle; `None` of nothing. Sorts the
/// values.
///
/// ```
/// assert_eq!(seekless_device::median(&mut [4.0, 1.0]), Some(2.5));
/// ```
#[must_use]
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    middle(values, f64::midpoint)
}

/// As [`median`], of whole numbers; a half is rounded down.
#[must_use]
pub fn median_of(values: impl IntoIterator<Item = u64>) -> Option<u64> {
    let mut values: Vec<u64> = values.into_iter().collect();
    values.sort_unstable();
    middle(&values, u64::midpoint)
}

fn middle<T: Copy>(sorted: &[T], mean: impl Fn(T, T) -> T) -> Option<T> {
    let (count, at) = (sorted.len(), sorted.len() / 2);
    match count {
        0 => None,
        _ if count % 2 == 1 => Some(sorted[at]),
        _ => Some(mean(sorted[at - 1], sorted[at])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_and_even_numbers() {
        assert_eq!(median_of([9, 1, 5]), Some(5));
        assert_eq!(median_of([9, 1, 5, 6]), Some(5));
        assert_eq!(median_of([u64::MAX, u64::MAX]), Some(u64::MAX));
        assert_eq!((median_of([]), median(&mut [])), (None, None));
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
    }
}
