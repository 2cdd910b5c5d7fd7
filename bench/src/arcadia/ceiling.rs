//! The least time in which a volume can deliver a run's files.
//!
//! A way to join reads takes the longer of the time of its requests, of [`READ_BYTES_MAX`] at most,
//! and that of its bytes. So it takes at least any weighted mean of the two. For each of some
//! weights the least of that over all ways is found exactly, file by file. Each gives a bound, and
//! the greatest is given: it is at most what the best way takes, and less by no more than the price
//! of one request.

use seekless::device::DeviceSpec;
use seekless::policy::layout::extents::Extent;
use seekless::policy::planner::READ_BYTES_MAX;

/// Prices of requests against bytes that are tried.
const PRICES: u32 = 40;

/// A joined piece of several files is at most so long. Longer ones gain next to nothing: they are
/// many requests anyway.
const PIECE_BYTES_MAX: u64 = 6 * READ_BYTES_MAX;

/// The limits of a volume.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) iops: u64,
    pub(super) bytes_per_second: u64,
}

impl Limits {
    /// Those of a device that is a volume.
    pub(super) fn of(spec: &DeviceSpec) -> Option<Self> {
        match *spec {
            DeviceSpec::Volume { iops, bytes_per_second } => Some(Self { iops, bytes_per_second }),
            _ => None,
        }
    }
}

/// The ways to join reads that are best at some price of requests against bytes.
pub(super) struct Ways {
    limits: Limits,
    best: Vec<Best>,
}

/// A way than which no other is cheaper at a price.
#[derive(Clone, Copy, Debug, Default)]
struct Best {
    /// What a byte costs, in requests.
    byte: f64,
    way: Way,
}

/// What a way to join reads comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) requests: u64,
    pub(super) bytes: u64,
}

impl Ways {
    /// `extents` are those of the run's files, by offset. Those for which `known` is false are read
    /// only when the run asks for them: a read is for one of these, or ends with a known one, and
    /// brings others of them only if they lie between. So nothing is read in the hope of them.
    pub(super) fn new(extents: &[Extent], known: impl Fn(usize) -> bool, limits: Limits) -> Self {
        let Limits { iops, bytes_per_second } = limits;
        let best = |price: u32| {
            let weight = f64::from(price) / f64::from(PRICES);
            let byte = (1.0 - weight) / weight * iops as f64 / bytes_per_second as f64;
            Best { byte, way: best(extents, &known, byte) }
        };
        Self { limits, best: (1..PRICES).map(best).collect() }
    }

    /// No way takes fewer seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.dearest().1
    }

    /// The way that is the cheapest where requests and bytes take about as long.
    pub(super) fn way(&self) -> Way {
        self.dearest().0
    }

    fn dearest(&self) -> (Way, f64) {
        let bounds = self.best.iter().map(|best| (best.way, self.mean(best)));
        bounds.max_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or_default()
    }

    /// The mean of the times of requests and of bytes, in seconds, in which a byte weighs as much
    /// as it costs.
    fn mean(&self, best: &Best) -> f64 {
        let Limits { iops, bytes_per_second } = self.limits;
        let whole = iops as f64 + best.byte * bytes_per_second as f64;
        best.cost() / whole
    }

    /// No way that reads at most `bytes_max` takes fewer seconds. Such a way saves all that it
    /// could read more, at any price of a byte.
    pub(super) fn seconds_within(&self, bytes_max: f64) -> f64 {
        let requests = self.best.iter().map(|best| best.cost() - best.byte * bytes_max);
        let seconds = requests.fold(0.0, f64::max) / self.limits.iops as f64;
        seconds.max(self.seconds())
    }
}

impl Best {
    fn cost(&self) -> f64 {
        self.way.requests as f64 + self.byte * self.way.bytes as f64
    }
}

/// The way that costs the least, if a byte costs this many requests.
fn best(extents: &[Extent], known: &impl Fn(usize) -> bool, byte: f64) -> Way {
    let mut before = vec![Best { byte, way: Way::default() }];
    for (last, end) in extents.iter().enumerate().map(|(last, extent)| (last, extent.end())) {
        let mut best: Option<Best> = None;
        for first in (0..=last).rev() {
            let bytes = end.saturating_sub(extents[first].offset);
            if first < last && bytes > PIECE_BYTES_MAX {
                break;
            }
            if first < last && !known(first) && !known(last) {
                continue;
            }
            let Way { requests, bytes: others } = before[first].way;
            let requests = requests + bytes.div_ceil(READ_BYTES_MAX);
            let with = Best { byte, way: Way { requests, bytes: others + bytes } };
            if best.is_none_or(|best| with.cost() < best.cost()) {
                best = Some(with);
            }
        }
        before.extend(best);
    }
    before[extents.len()].way
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { iops: 100, bytes_per_second: 1_000_000 };

    fn ways(extents: &[(u64, u64)], known: impl Fn(usize) -> bool) -> Ways {
        let extents: Vec<Extent> =
            extents.iter().map(|&(offset, bytes)| Extent { offset, bytes }).collect();
        Ways::new(&extents, known, LIMITS)
    }

    fn bound(extents: &[(u64, u64)]) -> f64 {
        ways(extents, |_| true).seconds()
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

    #[test]
    fn fewer_bytes_in_vain_take_more_requests() {
        // Each gap is a tenth of what a request costs, and as long as a file.
        let files: Vec<(u64, u64)> = (0..100).map(|number| (number * 2000, 1000)).collect();
        let ways = ways(&files, |_| true);
        let (free, bound) = (ways.seconds(), ways.seconds_within(110_000.0));
        // 18 requests, and all gaps but 17.
        assert!((0.175..=0.182).contains(&free), "{free}");
        // Only a tenth of the gaps may be read, which saves as many of the requests.
        assert!((0.86..=0.9).contains(&bound), "{bound}");
        assert_eq!(ways.seconds_within(1e9), free);
    }

    #[test]
    fn what_is_not_known_is_read_by_itself_or_with_what_is() {
        let requests = |known: fn(usize) -> bool| {
            ways(&[(0, 10), (10, 10), (20, 10), (30, 10)], known).way().requests
        };
        assert_eq!(requests(|_| true), 1);
        assert_eq!(requests(|_| false), 4);
        assert_eq!(requests(|number| number == 0), 1, "the others lie between");
        assert_eq!(requests(|number| number == 1), 2);
    }
}
