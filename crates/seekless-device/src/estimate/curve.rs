//! Which limit explains when stalls ended.

use super::fit::median;

/// Most stretches that are fitted.
const WINDOWS_MAX: usize = 8;

/// The fewest stretches that show two limits at once; fewer can be explained by any two.
const WINDOWS_BOTH: usize = 5;

/// The most stretches that may hold a jump.
const WINDOWS_JUMP: usize = 5;

/// A limit explains the stalls if their ends lie so near the line, as a share of a stretch.
pub(super) const STEADY: f64 = 0.1;

/// No time is better known than this, as a share of a stretch.
const EXACT: f64 = 0.01;

/// One of two limits counts alone if it explains the stalls this many times better.
const BETTER: f64 = 2.0;

/// What passed from the end of one stall to the end of the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    pub(super) requests: f64,
    pub(super) bytes: f64,
    pub(super) took_ns: f64,
    /// How much of it was spent held up.
    pub(super) stalled_ns: f64,
    /// Of how much of it that is not known.
    pub(super) unknown_ns: f64,
}

impl Window {
    /// The part of it that was spent held up, as far as that is known.
    pub(super) fn stalled_share(&self) -> f64 {
        self.stalled_ns / (self.took_ns - self.unknown_ns).max(1.0)
    }

    /// Requests and bytes a second.
    pub(super) fn rates(&self) -> (f64, f64) {
        (self.requests * 1e9 / self.took_ns, self.bytes * 1e9 / self.took_ns)
    }

    /// The same as if it had begun this much earlier.
    pub(super) fn rates_after(&self, earlier_ns: f64) -> (f64, f64) {
        Window { took_ns: self.took_ns + earlier_ns, ..*self }.rates()
    }

    fn add(&mut self, other: &Window) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.took_ns += other.took_ns;
        self.stalled_ns += other.stalled_ns;
        self.unknown_ns += other.unknown_ns;
    }

    /// All of them as one.
    pub(super) fn sum(windows: &[Window]) -> Window {
        let mut sum = Window::default();
        windows.iter().for_each(|window| sum.add(window));
        sum
    }
}

/// Limits a second that explain the stalls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Curve {
    /// Those that were known.
    Known,
    Requests(f64),
    Bytes(f64),
    Both {
        requests: f64,
        bytes: f64,
    },
    /// One limit or the other: reads were of about one size.
    Either {
        requests: f64,
        bytes: f64,
    },
}

/// A rate and how far the stalls are from it, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Fitted {
    rate: f64,
    error: f64,
}

/// The limits that explain `windows`, which follow each other, to within the share `steady` of
/// their length; `None` if none does. What is `known`, time a request and time a byte, stands as
/// long as no other limit explains them much better.
pub(super) fn fit(windows: &[Window], steady: f64, known: Option<(f64, f64)>) -> Option<Curve> {
    let length = windows.iter().map(|window| window.took_ns).sum::<f64>() / windows.len() as f64;
    let requests = best(windows, |window| window.requests);
    let bytes = best(windows, |window| window.bytes);
    let (steady, exact) = (steady * length, EXACT * length);
    let better = |one: f64, other: f64| (one + exact) * BETTER < other + exact;
    let least = requests.error.min(bytes.error);
    let pair = best_pair(windows).filter(|&(_, error)| {
        windows.len() >= WINDOWS_BOTH && error <= steady && better(error, least)
    });
    if let Some((request_ns, byte_ns)) = known {
        let due = |one: &Window| (one.requests * request_ns).max(one.bytes * byte_ns);
        let error = error(windows, due);
        if error <= steady && !better(pair.map_or(least, |(_, error)| error), error) {
            return Some(Curve::Known);
        }
    }
    if let Some((pair, _)) = pair {
        return Some(pair);
    }
    if least > steady {
        return None;
    }
    Some(if better(requests.error, bytes.error) {
        Curve::Requests(requests.rate)
    } else if better(bytes.error, requests.error) {
        Curve::Bytes(bytes.rate)
    } else {
        Curve::Either { requests: requests.rate, bytes: bytes.rate }
    })
}

/// The rate that explains the stalls best, of those that some stretches in a row show.
fn best(windows: &[Window], of: impl Fn(&Window) -> f64) -> Fitted {
    let rates = candidates(windows, 1, &of);
    let fitted = rates.map(|rate| {
        let error = error(windows, |window| of(window) * 1e9 / rate);
        Fitted { rate, error }
    });
    fitted
        .min_by(|one, other| one.error.total_cmp(&other.error))
        .unwrap_or(Fitted { rate: 1.0, error: f64::MAX })
}

/// The two limits that explain the stalls best, if both are needed.
fn best_pair(windows: &[Window]) -> Option<(Curve, f64)> {
    let mut least: Option<(Curve, f64)> = None;
    for requests in candidates(windows, 1, |window| window.requests) {
        // Where both are felt, bytes often flow in bursts: one stretch does not show their rate.
        for bytes in candidates(windows, 2, |window| window.bytes) {
            let by_requests = |window: &Window| window.requests * 1e9 / requests;
            let by_bytes = |window: &Window| window.bytes * 1e9 / bytes;
            let is_due = |window: &Window, due: f64| (due / window.took_ns - 1.0).abs() <= STEADY;
            // Each is felt in a stretch where the other is not. One may be so by chance.
            let felt = windows.iter().fold((0, 0), |felt, window| {
                let (one, other) = (by_requests(window), by_bytes(window));
                (
                    felt.0 + u32::from(one > other && is_due(window, one)),
                    felt.1 + u32::from(other > one && is_due(window, other)),
                )
            });
            if felt.0 < 2 || felt.1 < 2 {
                continue;
            }
            let error = error(windows, |window| by_requests(window).max(by_bytes(window)));
            if least.is_none_or(|(_, before)| error < before) {
                least = Some((Curve::Both { requests, bytes }, error));
            }
        }
    }
    least
}

/// Rates a second of all rows of at least `least` stretches.
fn candidates(
    windows: &[Window],
    least: usize,
    of: impl Fn(&Window) -> f64,
) -> impl Iterator<Item = f64> {
    let mut rates = [0.0; WINDOWS_MAX * (WINDOWS_MAX + 1) / 2];
    let mut count = 0;
    for first in 0..windows.len() {
        let mut sum = Window::default();
        for (number, window) in windows[first..].iter().enumerate() {
            sum.add(window);
            if number + 1 >= least {
                rates[count] = of(&sum).max(1.0) * 1e9 / sum.took_ns;
                count += 1;
            }
        }
    }
    rates.into_iter().take(count)
}

/// How far the ends of stalls are from where `expected` puts them: the mean distance in
/// nanoseconds. What a limit kept of a pause passes at once later, and what it did not keep is
/// lost: so the line may have one jump.
fn error(windows: &[Window], expected: impl Fn(&Window) -> f64) -> f64 {
    let mut late = [0.0; WINDOWS_MAX + 1];
    let late = &mut late[..=windows.len()];
    for (number, window) in windows.iter().enumerate() {
        late[number + 1] = late[number] + window.took_ns - expected(window);
    }
    let jumps = if windows.len() < WINDOWS_JUMP { 0..0 } else { 2..late.len() - 1 };
    let split = |at: usize| spread(&late[..at]) + spread(&late[at..]);
    let least = jumps.map(split).fold(spread(late), f64::min);
    least / late.len() as f64
}

/// The distances from the middle, summed up.
fn spread(values: &[f64]) -> f64 {
    let mut sorted = [0.0; WINDOWS_MAX + 1];
    let sorted = &mut sorted[..values.len()];
    sorted.copy_from_slice(values);
    let middle = median(sorted);
    values.iter().map(|value| (value - middle).abs()).sum()
}
