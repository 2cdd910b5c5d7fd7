//! Limits on requests and bytes a second, seen from outside.
//!
//! A limit lets some reads pass, then holds one up until its time has come. From the end of one
//! stall to the end of the next it has let pass exactly what it allows in that time, short thinking
//! times of the program included. So the ends of stalls lie on a straight line: against the
//! requests that passed if these are limited, against the bytes if those are, and against whichever
//! asks for more if both are (`curve`). The line is fitted to the last stalls together: the time of
//! one end is not exact, since the kernel's clock ticks and the program may be woken late.
//!
//! The limit that is not felt cannot be known, but what has passed is a bound below it. So a limit
//! that was seen clearly stands until more passes than it allows, or until it is seen elsewhere.

use super::curve::{Curve, STEADY, Window, fit};
use crate::Nanos;

/// Stretches from stall to stall that are looked at.
const WINDOWS: usize = 8;
/// Stretches before a limit is believed.
const WINDOWS_MIN: usize = 3;
/// If no line fits all stretches, the limits may just have changed: then so many of the last count.
const WINDOWS_NEW: usize = 4;

/// Shorter stretches are joined with the next: chance may hold up a read within one.
const WINDOW_NS_MIN: Nanos = 50_000_000;

/// If the program reads nothing for so long, a stretch does not count: a limit keeps what was not
/// used for a slice or two only.
const IDLE_NS_MAX: Nanos = 50_000_000;

/// Less of a stretch than this was spent held up: the limit was hardly felt, so that the rate is
/// the program's.
const STALL_SHARE_MIN: f64 = 0.15;

/// From this share on three stretches in a row are enough to believe in a limit. Otherwise it takes
/// five, and their lengths must be multiples of the shortest, as near as [`MULTIPLE`]: the kernel's
/// throttle lets reads pass at the start of its slices, and chance does not keep such times.
const STALL_SHARE_CLEAR: f64 = 0.4;
const WINDOWS_UNCLEAR: usize = 5;
const MULTIPLE: f64 = 0.08;
/// They must also end much nearer to a line.
const STEADY_UNCLEAR: f64 = 0.02;
/// Fewer stretches must end nearer to a line too.
const STEADY_FEW: f64 = STEADY / 2.0;

/// Two rates that differ by less are the same.
const SAME: f64 = 0.1;

/// More than so many times a limit cannot pass.
const EXCEEDED: f64 = 1.2;

/// A limit that is not felt, or felt together with the other, is raised so many times at a time.
const PROBE: f64 = 1.08;
/// But not beyond so many times what passed.
const PROBE_MAX: f64 = 1.5;

/// Under a limit on requests, bandwidth is taken as so many times what was seen: reads then grow
/// until it shows. Reads are often a third or half of what they may be.
const BANDWIDTH_UNSEEN: f64 = 4.0;

/// If it was not felt for so long and so many reads, there is no limit (any more).
const CALM_NS: Nanos = 3_000_000_000;
const CALM_READS: u32 = 128;

/// A read that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    /// What the device counts for it.
    pub(super) requests: u64,
    pub(super) bytes: u64,
    pub(super) ended: Nanos,
    /// For how long nothing was in flight before it was submitted.
    pub(super) idle_ns: Nanos,
    /// For how long it was held up, if it was.
    pub(super) stalled_ns: Option<f64>,
}

/// A limit on requests.
#[derive(Clone, Copy, Debug)]
struct Requests {
    per_second: f64,
    /// It may be a limit on bytes: all reads were of about one size.
    is_unsure: bool,
}

/// The limits, as far as they were felt.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    /// When the last stall ended; `None` before the first, or after a pause.
    since: Option<Nanos>,
    /// What passed since then.
    window: Window,
    /// The last stretches, oldest first.
    windows: [Window; WINDOWS],
    count: usize,
    /// So many of the last follow each other without one in which no limit was felt.
    in_a_row: usize,
    /// When a limit was last felt, and the reads since then.
    felt: Nanos,
    calm_reads: u32,
    requests: Option<Requests>,
    bytes: Option<f64>,
    /// Which limit was raised last when both were felt.
    probes_requests: bool,
    /// The most bytes a second that passed in one of the last stretches.
    bytes_seen: Option<f64>,
}

impl Limits {
    /// Returns whether something was learned.
    pub(super) fn add(&mut self, read: Passed) -> bool {
        let Passed { requests, bytes, ended, idle_ns, stalled_ns } = read;
        if idle_ns > IDLE_NS_MAX {
            self.since = None;
        }
        self.window.requests += requests as f64;
        self.window.bytes += bytes as f64;
        self.window.stalled_ns += stalled_ns.unwrap_or(0.0);
        self.calm_reads = self.calm_reads.saturating_add(1);
        if self.calm_reads >= CALM_READS && ended.saturating_sub(self.felt) >= CALM_NS {
            *self = Limits { felt: ended, ..Limits::default() };
            return true;
        }
        if stalled_ns.is_none() {
            return false;
        }
        let took = match self.since {
            Some(since) => ended.saturating_sub(since),
            None => {
                self.restart(ended);
                return false;
            }
        };
        if took < WINDOW_NS_MIN {
            return false;
        }
        let window = Window { took_ns: took as f64, ..self.window };
        self.restart(ended);
        if window.stalled_share() < STALL_SHARE_MIN {
            self.in_a_row = 0;
            return false;
        }
        self.push(window);
        self.count >= WINDOWS_MIN && self.judge(ended)
    }

    fn restart(&mut self, now: Nanos) {
        self.since = Some(now);
        self.window = Window::default();
    }

    fn push(&mut self, window: Window) {
        if self.count == WINDOWS {
            self.forget(WINDOWS - 1);
        }
        self.windows[self.count] = window;
        self.count += 1;
        self.in_a_row += 1;
    }

    /// Keeps only the last `count` stretches.
    fn forget(&mut self, count: usize) {
        self.windows.copy_within(self.count - count..self.count, 0);
        self.count = count;
    }

    /// Says which limits were felt.
    fn judge(&mut self, now: Nanos) -> bool {
        let Some(steady) = self.steady() else { return false };
        let windows = &self.windows[..self.count];
        let known = self.known();
        let curve = match fit(windows, steady, known) {
            Some(curve) => curve,
            None if self.count > WINDOWS_NEW => {
                let newest = &windows[self.count - WINDOWS_NEW..];
                let Some(curve) = fit(newest, steady, known) else { return false };
                self.forget(WINDOWS_NEW);
                curve
            }
            None => return false,
        };
        (self.felt, self.calm_reads) = (now, 0);
        self.take(curve);
        self.probe();
        true
    }

    /// Reads are as large as both limits together make worth while, so that a limit which is taken
    /// for too low confirms itself: as much passes as it allows. So one that need not be felt is
    /// raised a little. If it is a limit, the other is felt less from then on.
    fn probe(&mut self) {
        let newest = &self.windows[self.count.saturating_sub(WINDOWS_NEW)..self.count];
        let (Some(requests), Some(bytes)) = (&mut self.requests, &mut self.bytes) else { return };
        let is_felt = |rate: f64, limit: f64| rate >= limit * (1.0 - SAME);
        let requests_felt =
            newest.iter().all(|window| is_felt(window.rates().0, requests.per_second));
        let bytes_felt = newest.iter().all(|window| is_felt(window.rates().1, *bytes));
        if requests_felt && bytes_felt {
            self.probes_requests = !self.probes_requests;
        }
        let (request_factor, byte_factor) = match (requests_felt, bytes_felt) {
            (true, true) if self.probes_requests => (2.0 * PROBE - 1.0, 1.0),
            (true, true) => (1.0, 2.0 * PROBE - 1.0),
            (false, true) => (PROBE, 1.0),
            (true, false) => (1.0, PROBE),
            (false, false) => return,
        };
        let raised =
            |limit: f64, factor: f64, seen: f64| (limit * factor).min(seen * PROBE_MAX).max(limit);
        let sum = Window::sum(newest).rates();
        requests.per_second = raised(requests.per_second, request_factor, sum.0);
        *bytes = raised(*bytes, byte_factor, sum.1);
    }

    /// The limits of which it is sure: nanoseconds a request and a byte.
    fn known(&self) -> Option<(f64, f64)> {
        let request_ns = match self.requests {
            Some(Requests { is_unsure: true, .. }) => return None,
            Some(Requests { per_second, .. }) => 1e9 / per_second,
            None => 0.0,
        };
        let byte_ns = self.bytes.map_or(0.0, |rate| 1e9 / rate);
        (request_ns + byte_ns > 0.0).then_some((request_ns, byte_ns))
    }

    fn take(&mut self, curve: Curve) {
        let (requests_seen, bytes_seen) = (self.seen(|rates| rates.0), self.seen(|rates| rates.1));
        let bytes_before = self.bytes_seen.replace(bytes_seen);
        // A limit that stands is not exceeded.
        self.bytes = self.bytes.filter(|&known| bytes_seen <= known * EXCEEDED);
        self.requests = self.requests.filter(|known| requests_seen <= known.per_second * EXCEEDED);
        let sure = |per_second| Some(Requests { per_second, is_unsure: false });
        match curve {
            Curve::Known => {}
            Curve::Requests(rate) => self.requests = sure(rate),
            Curve::Bytes(rate) => {
                self.bytes = Some(rate);
                self.requests = self.requests.filter(|known| !known.is_unsure);
            }
            Curve::Both { requests, bytes } => {
                (self.requests, self.bytes) = (sure(requests), Some(bytes));
            }
            Curve::Either { requests, bytes } => self.take_either(requests, bytes, bytes_before),
        }
    }

    /// All reads are of about one size, so that the limit may be one on requests or one on bytes.
    fn take_either(&mut self, requests: f64, bytes: f64, bytes_before: Option<f64>) {
        let near = |known: f64, rate: f64| (rate / known - 1.0).abs() <= SAME;
        let is_known = self.requests.is_some_and(|known| near(known.per_second, requests))
            || self.bytes.is_some_and(|known| near(known, bytes));
        match self.requests {
            _ if is_known => {}
            // Then reads become larger.
            None => self.requests = Some(Requests { per_second: requests, is_unsure: true }),
            // They have become larger. If no more bytes pass, it was the bytes from the start.
            Some(known) => {
                self.bytes = Some(bytes);
                let was_bytes = known.is_unsure && bytes_before.is_some_and(|it| near(it, bytes));
                self.requests = self.requests.filter(|_| !was_bytes);
            }
        }
    }

    /// The highest of the rates of stretches in a row: of so many that what a limit kept of a pause
    /// makes little of them.
    fn seen(&self, of: impl Fn((f64, f64)) -> f64) -> f64 {
        let windows = &self.windows[..self.count];
        let rows = windows.windows(self.count.min(WINDOWS_NEW));
        rows.map(|row| of(Window::sum(row).rates())).fold(0.0, f64::max)
    }

    /// How near to a line the stalls must end to be those of a limit rather than of chance, as a
    /// share of a stretch; `None` if they are too short.
    fn steady(&self) -> Option<f64> {
        let newest = &self.windows[self.count.saturating_sub(WINDOWS_UNCLEAR)..self.count];
        let in_a_row = newest.iter().rev().take(self.in_a_row);
        let clear = |window: &&Window| window.stalled_share() >= STALL_SHARE_CLEAR;
        if in_a_row.filter(clear).count() >= WINDOWS_MIN {
            return Some(if self.count < WINDOWS_UNCLEAR { STEADY_FEW } else { STEADY });
        }
        let shortest = newest.iter().map(|window| window.took_ns).fold(f64::MAX, f64::min);
        let is_multiple = |window: &Window| {
            let times = window.took_ns / shortest;
            (times - times.round()).abs() <= MULTIPLE
        };
        (newest.len() == WINDOWS_UNCLEAR && newest.iter().all(is_multiple))
            .then_some(STEADY_UNCLEAR)
    }

    /// The limit on requests.
    pub(super) fn requests_per_second(&self) -> Option<f64> {
        self.requests.map(|known| known.per_second)
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
