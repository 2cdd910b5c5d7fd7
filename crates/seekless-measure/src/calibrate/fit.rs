//! The line through medians: Theil and Sen's, which a size that was disturbed cannot bend.

use seekless_device::median;
use serde::Serialize;

/// The reads of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeTimes {
    /// Bytes of each.
    pub bytes: u64,
    /// How many.
    pub reads: u64,
    /// Half of them took no longer.
    pub median_ns: u64,
    /// Nine of ten took no longer.
    pub p90_ns: u64,
}

/// t = latency + bytes / bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Time to the first byte.
    pub latency_ns: u64,
    /// The same, which nine of ten of the smallest reads keep.
    pub latency_p90_ns: u64,
    /// Bytes per second.
    pub bytes_per_second: u64,
}

/// The figures of the reads of one size; at least one.
pub(super) fn of_reads(bytes: u64, mut times: Vec<u64>) -> SizeTimes {
    times.sort_unstable();
    let at = |share: f64| {
        times.get(((times.len() - 1) as f64 * share).round() as usize).copied().unwrap_or(0)
    };
    SizeTimes { bytes, reads: times.len() as u64, median_ns: at(0.5), p90_ns: at(0.9) }
}

/// The line through the medians of several sizes; `None` of fewer than two.
pub(super) fn of_times(sizes: &[SizeTimes]) -> Option<Line> {
    let points: Vec<(f64, f64)> =
        sizes.iter().map(|size| (size.bytes as f64, size.median_ns as f64)).collect();
    let (latency, byte_ns) = line(&points)?;
    let small = sizes.first()?;
    let without_transfer =
        |time_ns: u64| (time_ns as f64 - small.bytes as f64 * byte_ns).round().max(0.0) as u64;
    // A throttle lets small reads pass and holds up large ones: then the line starts below what any
    // read took.
    let latency_ns = match latency.round() as u64 {
        0 => small.median_ns.max(1),
        latency => latency,
    };
    let latency_p90_ns = match without_transfer(small.p90_ns) {
        0 => small.p90_ns,
        late => late,
    };
    Some(Line {
        latency_ns,
        latency_p90_ns: latency_p90_ns.max(latency_ns),
        bytes_per_second: (1e9 / byte_ns).round().max(1.0) as u64,
    })
}

/// Latency in ns and time per byte in ns of points (bytes, ns), smallest first: the median of the
/// slopes between any two, and the median of what that leaves of the three smallest, not under 0.
/// (The larger ones are nearly all transfer: a slope that is a little off would move their rest by
/// more than the latency.) If that slopes downwards, the largest point alone says the bandwidth.
/// `None` of fewer than two sizes.
#[must_use]
pub fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let mut slopes = Vec::new();
    for (index, one) in points.iter().enumerate() {
        slopes.extend(
            points[index + 1..]
                .iter()
                .filter(|other| other.0 != one.0)
                .map(|other| (other.1 - one.1) / (other.0 - one.0)),
        );
    }
    let largest = points.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    let slope = median(&mut slopes)?;
    let slope = if slope > 0.0 { slope } else { (largest.1 / largest.0).max(1e-9) };
    let mut rests: Vec<f64> = points.iter().take(3).map(|(bytes, ns)| ns - slope * bytes).collect();
    Some((median(&mut rests)?.max(0.0), slope))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The medians of `latency.md`, section 6, with what was fitted there.
    #[test]
    fn the_measured_medians_give_the_measured_line() {
        let points = [(4096.0, 89e3), (65536.0, 114e3), (1048576.0, 652e3)];
        let (latency, byte_ns) = line(&points).expect("a line");
        assert!((80e3..92e3).contains(&latency), "{latency}");
        assert!((1.7e9..2.6e9).contains(&(1e9 / byte_ns)), "{byte_ns}");
    }

    #[test]
    fn a_disturbed_size_does_not_bend_the_line() {
        let mut points: Vec<(f64, f64)> = super::super::SIZES
            .iter()
            .map(|&bytes| (bytes as f64, 18e6 + bytes as f64 * 111.0))
            .collect();
        points[2].1 *= 5.0;
        let (latency, byte_ns) = line(&points).expect("a line");
        assert!(
            (17e6..20e6).contains(&latency) && (105.0..125.0).contains(&byte_ns),
            "{latency} {byte_ns}"
        );
    }

    /// Medians under a throttle of 9 MB/s, as measured: what is small slips through.
    #[test]
    fn a_latency_is_never_nothing() {
        let times = [
            (4 << 10, 83_200),
            (64 << 10, 123_100),
            (256 << 10, 248_200),
            (1 << 20, 153_200_000),
            (4 << 20, 463_900_000),
        ];
        let sizes: Vec<SizeTimes> =
            times.iter().map(|&(bytes, time)| of_reads(bytes, vec![time])).collect();
        let line = of_times(&sizes).expect("a line");
        assert_eq!((line.latency_ns, line.latency_p90_ns), (83_200, 83_200));
        assert!((8_000_000..10_000_000).contains(&line.bytes_per_second), "{line:?}");
    }

    #[test]
    fn one_size_is_no_line_and_noise_is_none_that_falls() {
        assert_eq!(line(&[(4096.0, 1e5)]), None);
        assert_eq!(line(&[(4096.0, 1e5), (4096.0, 2e5)]), None);
        let (latency, byte_ns) = line(&[(4096.0, 2e5), (8192.0, 1e5)]).expect("a line");
        assert!(latency >= 0.0 && byte_ns > 0.0);
    }

    proptest! {
        #[test]
        fn a_device_on_a_line_is_found_exactly(latency in 1.0e2_f64..1e9, byte_ns in 1e-3_f64..1e3) {
            let points: Vec<(f64, f64)> =
                super::super::SIZES.iter().map(|&bytes| (bytes as f64, latency + byte_ns * bytes as f64)).collect();
            let (found, slope): (f64, f64) = line(&points).expect("a line");
            prop_assert!((found - latency).abs() <= latency * 0.01 + byte_ns * 0.01);
            prop_assert!((slope - byte_ns).abs() <= byte_ns * 0.01);
        }

        #[test]
        fn any_times_give_figures(times in prop::collection::vec(prop::collection::vec(any::<u64>(), 1..9), 2..6)) {
            let sizes: Vec<SizeTimes> =
                super::super::SIZES.iter().zip(times).map(|(&bytes, times)| of_reads(bytes, times)).collect();
            let line = of_times(&sizes).expect("a line");
            prop_assert!(line.latency_ns >= 1 && line.latency_p90_ns >= line.latency_ns && line.bytes_per_second >= 1);
        }
    }
}
