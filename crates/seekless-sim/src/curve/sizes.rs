//! The default sizes of a curve: evenly spaced on a logarithmic axis, up to the working set.

use crate::requests::Requests;

/// The smallest size, as a share of the working set.
const SMALLEST: f64 = 0.001;

/// At most `points` capacities from a thousandth of the working set to all of it. Each is about the
/// same ratio above the one before. They are in bytes, for bare ids in ids, and are whole pages or
/// ids, so small working sets give fewer.
#[must_use]
pub fn spread(requests: &Requests, points: usize) -> Vec<u64> {
    let all = requests.distinct_weight();
    if all == 0 || points == 0 {
        return Vec::new();
    }
    let step = |index: usize| {
        let share = if points == 1 { 1.0 } else { index as f64 / (points - 1) as f64 };
        let units = (all as f64 * SMALLEST.powf(1.0 - share)).round() as u64;
        units.clamp(1, all) * requests.unit_bytes()
    };
    let mut capacities: Vec<u64> = (0..points).map(step).collect();
    capacities.dedup();
    capacities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_rise_from_a_thousandth_to_everything() {
        let requests = Requests::from_pages((0..10_000).collect());
        let sizes = spread(&requests, 7);
        assert_eq!(sizes, [10, 32, 100, 316, 1000, 3162, 10_000].map(|pages| pages * 4096));
    }

    #[test]
    fn few_pages_give_few_sizes_and_none_gives_none() {
        let sizes = |count| spread(&Requests::from_pages((0..count).collect()), 50);
        assert_eq!(sizes(3), [4096, 8192, 12_288]);
        assert!(sizes(0).is_empty());
    }
}
