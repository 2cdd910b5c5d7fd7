//! The least time in which a volume can deliver a run's files.

use seekless::policy::extents::Extent;
use seekless::policy::planner::READ_BYTES_MAX;

/// Prices of requests against bytes that are tried.
const PRICES: u32 = 40;

/// A joined piece of several files is at most so long. Longer ones gain next to nothing: they are
/// many requests anyway.
const PIECE_BYTES_MAX: u64 = 6 * READ_BYTES_MAX;

/// No way to join reads takes fewer seconds at `iops` requests and `bytes_per_second`; `extents`
/// are those of the run's files, by offset.
///
/// A way takes the longer of the time of its requests, of [`READ_BYTES_MAX`] at most, and that of
/// its bytes. So it takes at least any weighted mean of the two, of which the least over all ways
/// is found exactly, file by file. The greatest of these bounds is given: it is at most what the
/// best way takes, and less by no more than the price of one request.
pub(super) fn seconds(extents: &[Extent], iops: u64, bytes_per_second: u64) -> f64 {
    let bound = |price: u32| {
        let weight = f64::from(price) / f64::from(PRICES);
        least(extents, weight / iops as f64, (1.0 - weight) / bytes_per_second as f64)
    };
    (1..PRICES).map(bound).fold(0.0, f64::max)
}

/// The least that requests and bytes cost at these prices.
fn least(extents: &[Extent], request: f64, byte: f64) -> f64 {
    let mut before = vec![0.0];
    for (last, end) in extents.iter().enumerate().map(|(last, extent)| (last, extent.end())) {
        let mut best = f64::INFINITY;
        for first in (0..=last).rev() {
            let bytes = end.saturating_sub(extents[first].offset);
            if first < last && bytes > PIECE_BYTES_MAX {
                break;
            }
            let requests = bytes.div_ceil(READ_BYTES_MAX) as f64;
            best = best.min(before[first] + request * requests + byte * bytes as f64);
        }
        before.push(best);
    }
    before[extents.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(extents: &[(u64, u64)]) -> f64 {
        let extents: Vec<Extent> =
            extents.iter().map(|&(offset, bytes)| Extent { offset, bytes }).collect();
        seconds(&extents, 100, 1_000_000)
    }

    #[test]
    fn a_gap_is_joined_if_its_bytes_are_cheaper_than_a_request() {
        // 10 ms a request, 1 us a byte. Both ways come to 20 ms of one, and less of the other.
        assert!((bound(&[(0, 1000), (2000, 1000)]) - 0.01).abs() < 1e-3);
        // Apart: two requests, 20 ms; joined, 500 ms of bytes.
        let apart = bound(&[(0, 1000), (499_000, 1000)]);
        assert!((0.018..=0.0201).contains(&apart), "{apart}");
    }

    #[test]
    fn bytes_and_requests_bound_it_each_for_itself() {
        assert!((0.95..=1.0).contains(&bound(&[(0, 1_000_000)])));
        let far: Vec<(u64, u64)> = (0..50).map(|number| (number * 10_000_000, 10)).collect();
        assert!((0.48..=0.5).contains(&bound(&far)));
    }
}
