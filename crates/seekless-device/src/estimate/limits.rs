//! Limits on requests and bytes a second, seen from outside.
//!
//! A limit lets some reads pass, then holds one up until its time has come. From the end of one
//! stall to the end of the next it has let pass exactly what it allows in that time, thinking time
//! of the program included. Whether it counts requests or bytes shows in what stays the same from
//! stall to stall: under a limit on requests the bytes vary, under one on bytes the requests.

use super::fit::median;
use crate::Nanos;

/// Stretches from stall to stall that are looked at.
const WINDOWS: usize = 5;
/// Stretches before a limit is believed.
const WINDOWS_MIN: usize = 3;

/// Shorter stretches are joined with the next: chance may hold up a read within one.
const WINDOW_NS_MIN: Nanos = 50_000_000;

/// Less of a stretch than this was spent held up: the limit was hardly felt, so that the rate is
/// the program's.
const STALL_SHARE_MIN: f64 = 0.15;

/// From this share on three stretches are enough to believe in a limit. Otherwise it takes all
/// five, and their lengths must be multiples of the shortest, as near as [`MULTIPLE`]: the kernel's
/// throttle lets reads pass at the start of its slices, and chance does not keep such times.
const STALL_SHARE_CLEAR: f64 = 0.3;
const MULTIPLE: f64 = 0.08;

/// A rate is steady if all stretches, or all five but one, are no farther than this from the
/// median.
const STEADY: f64 = 0.1;

/// Of two steady rates the limit is the one that is steadier by this factor.
const STEADIER: f64 = 3.0;

/// Under a limit on requests, bandwidth is taken as so many times what was seen: reads then grow
/// until it shows.
const BANDWIDTH_UNSEEN: f64 = 4.0;

/// If it was not felt for so long and so many reads, there is no limit (any more).
const CALM_NS: Nanos = 3_000_000_000;
const CALM_READS: u32 = 128;

/// What passed from the end of one stall to the end of the next.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    requests: f64,
    bytes: f64,
    stalled_ns: f64,
}

/// Rates a second.
#[derive(Clone, Copy, Debug, Default)]
struct Rates {
    requests: f64,
    bytes: f64,
    /// Length of the stretch.
    took_ns: f64,
    /// Much of it was spent held up.
    is_clear: bool,
}

/// The limits, as far as they were felt.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    /// When the last stall ended; `None` before the first.
    since: Option<Nanos>,
    window: Window,
    rates: [Rates; WINDOWS],
    windows: usize,
    /// When a limit was last felt, and the reads since then.
    felt: Nanos,
    calm_reads: u32,
    requests: Option<f64>,
    /// The limit on requests may be one on bytes: all reads were of about one size.
    is_unsure: bool,
    bytes: Option<f64>,
    /// Bytes a second that passed under the limit on requests.
    bytes_seen: Option<f64>,
}

impl Limits {
    /// A read ended; `stalled_ns` says for how long, if it was held up. Returns whether something
    /// was learned.
    pub(super) fn add(
        &mut self,
        requests: u64,
        bytes: u64,
        ended: Nanos,
        stalled_ns: Option<f64>,
    ) -> bool {
        self.window.requests += requests as f64;
        self.window.bytes += bytes as f64;
        self.window.stalled_ns += stalled_ns.unwrap_or(0.0);
        self.calm_reads = self.calm_reads.saturating_add(1);
        let Some(since) = self.since else {
            if stalled_ns.is_some() {
                self.restart(ended);
                self.felt = ended;
            }
            return false;
        };
        if self.calm_reads >= CALM_READS && ended.saturating_sub(self.felt) >= CALM_NS {
            *self = Limits::default();
            return true;
        }
        let took = ended.saturating_sub(since);
        if stalled_ns.is_none() || took < WINDOW_NS_MIN {
            return false;
        }
        let Window { requests, bytes, stalled_ns } = self.window;
        self.restart(ended);
        let took = took as f64;
        if stalled_ns < STALL_SHARE_MIN * took {
            return false;
        }
        let is_clear = stalled_ns >= STALL_SHARE_CLEAR * took;
        let rates = Rates {
            requests: requests * 1e9 / took,
            bytes: bytes * 1e9 / took,
            took_ns: took,
            is_clear,
        };
        self.rates[self.windows % WINDOWS] = rates;
        self.windows += 1;
        self.windows >= WINDOWS_MIN && self.judge(ended)
    }

    fn restart(&mut self, now: Nanos) {
        self.since = Some(now);
        self.window = Window::default();
    }

    /// Says which limit was felt.
    fn judge(&mut self, now: Nanos) -> bool {
        let (requests, requests_vary, requests_steady) = self.spread(|rates| rates.requests);
        let (bytes, bytes_vary, bytes_steady) = self.spread(|rates| rates.bytes);
        if !self.is_clear() || (!requests_steady && !bytes_steady) {
            return false;
        }
        (self.felt, self.calm_reads) = (now, 0);
        if requests_vary * STEADIER < bytes_vary {
            self.limits_requests(requests, bytes, false);
        } else if bytes_vary * STEADIER < requests_vary {
            self.limits_bytes(requests, bytes);
        } else {
            let near = |known: Option<f64>, rate: f64| {
                known.is_some_and(|known| (rate / known - 1.0).abs() <= STEADY)
            };
            // All reads are of about one size. If they are larger than those before, one rate is
            // as it was, and that is the limit. If nothing is known yet, it is taken as a limit on
            // requests: then reads become larger.
            match (near(self.requests, requests), near(self.bytes.or(self.bytes_seen), bytes)) {
                (true, true) => return false,
                (true, false) => self.limits_requests(requests, bytes, false),
                (false, true) => self.limits_bytes(requests, bytes),
                (false, false) => self.limits_requests(requests, bytes, true),
            }
        }
        true
    }

    /// Requests are limited to this rate, while so many bytes a second pass.
    fn limits_requests(&mut self, requests: f64, bytes: f64, is_unsure: bool) {
        self.requests = Some(requests);
        self.is_unsure = is_unsure;
        self.bytes = self.bytes.filter(|&known| known > bytes / (1.0 + STEADY));
        self.bytes_seen = Some(bytes);
    }

    /// Bytes are limited to this rate, while so many requests a second pass.
    fn limits_bytes(&mut self, requests: f64, bytes: f64) {
        self.bytes = Some(bytes);
        let stands = |&known: &f64| !self.is_unsure && known > requests / (1.0 + STEADY);
        self.requests = self.requests.filter(stands);
    }

    /// The median of a rate, how far half of the stretches are from it, as a share, and whether it
    /// is steady.
    fn spread(&self, rate: impl Fn(&Rates) -> f64) -> (f64, f64, bool) {
        let mut rates = [0.0; WINDOWS];
        let count = self.windows.min(WINDOWS);
        let rates = &mut rates[..count];
        rates.iter_mut().zip(&self.rates).for_each(|(value, of)| *value = rate(of));
        let middle = median(rates).max(f64::MIN_POSITIVE);
        rates.iter_mut().for_each(|value| *value = (*value / middle - 1.0).abs());
        let outliers = rates.iter().filter(|&&apart| apart > STEADY).count();
        (middle, median(rates), outliers <= count / WINDOWS)
    }

    /// Whether the stretches are those of a limit rather than of chance.
    fn is_clear(&self) -> bool {
        let rates = &self.rates[..self.windows.min(WINDOWS)];
        if rates.iter().filter(|rates| rates.is_clear).count() >= WINDOWS_MIN {
            return true;
        }
        let shortest = rates.iter().map(|rates| rates.took_ns).fold(f64::MAX, f64::min);
        let is_multiple = |rates: &Rates| {
            let times = rates.took_ns / shortest;
            (times - times.round()).abs() <= MULTIPLE
        };
        rates.len() == WINDOWS && rates.iter().all(is_multiple)
    }

    /// The limit on requests.
    pub(super) fn requests_per_second(&self) -> Option<f64> {
        self.requests
    }

    /// The limit on bytes.
    pub(super) fn bytes_per_second(&self) -> Option<f64> {
        self.bytes
    }

    /// More bytes a second than ever passed, as long as only the limit on requests was felt.
    pub(super) fn bytes_unseen(&self) -> Option<f64> {
        self.bytes_seen.map(|seen| BANDWIDTH_UNSEEN * seen)
    }
}
