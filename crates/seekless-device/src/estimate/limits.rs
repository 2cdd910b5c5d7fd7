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
//!
//! A line that fits can still be wrong: a few stretches are explained by many limits. *Proof* is
//! something else: several stretches show the very same rate of requests while their bytes differ,
//! or of bytes while their requests differ. A limit that is proved is not changed to explain stalls
//! of the other one.

use super::curve::{Curve, STEADY, Window, fit};
use crate::{Nanos, PART_BYTES};

/// Stretches from stall to stall that are looked at.
const WINDOWS: usize = 8;
/// Stretches before a limit is believed.
const WINDOWS_MIN: usize = 3;
/// If no line fits all stretches, the limits may just have changed: then this many of the last
/// count.
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

/// More than this many times a limit cannot pass.
const EXCEEDED: f64 = 1.2;

/// A limit that is not felt, or felt together with the other, is raised by this factor at a time.
const PROBE: f64 = 1.08;
/// But not beyond this many times the rate that passed.
const PROBE_MAX: f64 = 1.5;

/// Under a limit on requests, bandwidth is taken as this many times the one seen: reads then grow
/// until the limit shows. Reads are often a third or half of what they may be.
const BANDWIDTH_UNSEEN: f64 = 4.0;

/// Under a limit on bytes, requests are taken to be limited at this many times the rate seen. A
/// request is then worth a tenth of the bytes of a read: so the bytes read in vain to save
/// requests, if there is no such limit, take little time.
const REQUESTS_UNSEEN: f64 = 10.0;

/// A limit that was not felt for this time and number of reads is gone.
const CALM_NS: Nanos = 3_000_000_000;
const CALM_READS: u32 = 128;
/// Unless about as much passed as it allows, and at least this share: then it is raised by this
/// factor.
const NEAR: f64 = 0.8;
const RAISED: f64 = 1.25;

/// A read that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    /// What the device counts for it.
    pub(super) requests: u64,
    pub(super) bytes: u64,
    pub(super) ended: Nanos,
    /// For how long nothing was in flight before it was submitted.
    pub(super) idle_ns: Nanos,
    pub(super) stalled: Stalled,
}

/// For how long a read was held up, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stalled {
    Not,
    For(f64),
    /// For some of this time, or not.
    Unknown(f64),
}

/// (The number of last stretches, how near their rates must be to each other) that prove a limit:
/// chance makes neither. The rates of the other kind must be [`PROOF_APART`] times apart.
const PROOFS: [(u32, f64); 2] = [(3, 0.004), (4, 0.015)];
const PROOF_APART: f64 = 1.2;

/// A limit that stalls prove passes at once what it kept of some time in which it was not felt.
const KEPT_NS: f64 = 250e6;

/// A limit that was felt.
#[derive(Clone, Copy, Debug)]
struct Limit {
    per_second: f64,
    proof: Proof,
}

/// How sure a limit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// It may be one on bytes instead of requests: all reads were of about one size.
    OneSize,
    /// It explains the last stalls, alone or together with the other.
    Fitted,
    /// Several stretches show just this rate, whatever the rate of the other kind.
    Proved,
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
    /// How many of the last follow each other without one in which no limit was felt.
    in_a_row: usize,
    /// When a limit was last felt, and the reads since then.
    felt: Nanos,
    calm_reads: u32,
    /// What passed since then.
    calm: Window,
    requests: Option<Limit>,
    bytes: Option<Limit>,
    /// Which limit was raised last when both were felt.
    probes_requests: bool,
    /// The most bytes a second that passed in one of the last stretches.
    bytes_seen: Option<f64>,
    /// The most requests a second that ever passed in such stretches.
    requests_seen: f64,
}

impl Limits {
    /// Returns whether something was learned.
    pub(super) fn add(&mut self, read: Passed) -> bool {
        let Passed { requests, bytes, ended, idle_ns, stalled } = read;
        if idle_ns > IDLE_NS_MAX {
            self.since = None;
        }
        self.window.requests += requests as f64;
        self.window.bytes += bytes as f64;
        match stalled {
            Stalled::Not => {}
            Stalled::For(nanos) => self.window.stalled_ns += nanos,
            Stalled::Unknown(nanos) => self.window.unknown_ns += nanos,
        }
        self.calm_reads = self.calm_reads.saturating_add(1);
        self.calm.requests += requests as f64;
        self.calm.bytes += bytes as f64;
        if self.calm_reads >= CALM_READS && ended.saturating_sub(self.felt) >= CALM_NS {
            self.doubt(ended);
            return true;
        }
        let Stalled::For(_) = stalled else { return false };
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

    /// No limit was felt for a while. If about as much passed as one allows, it may be there all
    /// the same, since reads are as large as it makes worth while: it is raised until it is felt
    /// or out of reach. Any other is forgotten.
    fn doubt(&mut self, now: Nanos) {
        let took_ns = now.saturating_sub(self.felt) as f64;
        let (requests, bytes) = Window { took_ns, ..self.calm }.rates();
        let raised = |limit: Option<Limit>, rate: f64| {
            let per_second = limit?.per_second;
            let near = per_second * NEAR..per_second * EXCEEDED;
            let raised = Limit { per_second: per_second * RAISED, proof: Proof::Fitted };
            near.contains(&rate).then_some(raised)
        };
        let (requests, bytes) = (raised(self.requests, requests), raised(self.bytes, bytes));
        let bytes_seen = self.bytes_seen.filter(|_| requests.is_some() || bytes.is_some());
        *self = Limits { requests, bytes, bytes_seen, felt: now, ..Limits::default() };
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
        if self.count >= WINDOWS_NEW {
            self.requests_seen = self.requests_seen.max(self.seen(Window::rates).0);
        }
    }

    /// Keeps only the last `count` stretches.
    fn forget(&mut self, count: usize) {
        self.windows.copy_within(self.count - count..self.count, 0);
        self.count = count;
    }

    /// Says which limits were felt.
    fn judge(&mut self, now: Nanos) -> bool {
        let has_proved = self.prove(now);
        self.explain(now) || has_proved
    }

    /// Looks for limits that stretches prove.
    fn prove(&mut self, now: Nanos) -> bool {
        let windows = &self.windows[..self.count];
        let is_known = |limit: Option<Limit>, rate: f64| {
            limit.is_some_and(|known| known.proof == Proof::Proved && same(known.per_second, rate))
        };
        let swapped = |(requests, bytes)| (bytes, requests);
        let requests = proved(windows, |rates| rates, |rate| is_known(self.bytes, rate));
        let bytes = proved(windows, swapped, |rate| is_known(self.requests, rate));
        let (requests, bytes) = match (requests, bytes) {
            // Neither was known: the same stretches may not prove both.
            (Some(one), Some(other)) if one.windows & other.windows != 0 => {
                match one.windows.count_ones() < other.windows.count_ones() {
                    true => (None, Some(other)),
                    false => (Some(one), None),
                }
            }
            both => both,
        };
        if requests.is_none() && bytes.is_none() {
            return false;
        }
        (self.felt, self.calm_reads, self.calm) = (now, 0, Window::default());
        let (requests_changed, bytes_changed) =
            (take_proven(&mut self.requests, requests), take_proven(&mut self.bytes, bytes));
        if requests_changed || bytes_changed {
            // What was guessed came from the same stalls.
            let is_proved = |limit: &Limit| limit.proof == Proof::Proved;
            self.requests = self.requests.filter(is_proved);
            self.bytes = self.bytes.filter(is_proved);
            self.bytes_seen = Some(self.seen(Window::rates).1);
        }
        requests_changed || bytes_changed
    }

    /// Fits limits to all stalls together.
    fn explain(&mut self, now: Nanos) -> bool {
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
        (self.felt, self.calm_reads, self.calm) = (now, 0, Window::default());
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
        let is_felt = |rate: f64, limit: &Limit| rate >= limit.per_second * (1.0 - SAME);
        let requests_felt = newest.iter().all(|window| is_felt(window.rates().0, requests));
        let bytes_felt = newest.iter().all(|window| is_felt(window.rates().1, bytes));
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
        let raise = |limit: &mut Limit, factor: f64, seen: f64| {
            if limit.proof != Proof::Proved {
                let before = limit.per_second;
                limit.per_second = (before * factor).min(seen * PROBE_MAX).max(before);
            }
        };
        let sum = Window::sum(newest).rates();
        raise(requests, request_factor, sum.0);
        raise(bytes, byte_factor, sum.1);
    }

    /// The limits that are certain: nanoseconds a request and a byte.
    fn known(&self) -> Option<(f64, f64)> {
        let request_ns = match self.requests {
            Some(Limit { proof: Proof::OneSize, .. }) => return None,
            Some(Limit { per_second, .. }) => 1e9 / per_second,
            None => 0.0,
        };
        let byte_ns = self.bytes.map_or(0.0, |limit| 1e9 / limit.per_second);
        (request_ns + byte_ns > 0.0).then_some((request_ns, byte_ns))
    }

    fn take(&mut self, curve: Curve) {
        let (requests_seen, bytes_seen) = self.seen(Window::rates);
        let bytes_before = self.bytes_seen.replace(bytes_seen);
        // A limit that stands is not exceeded.
        let stands = |known: &Limit, seen: f64, kept: f64| match known.proof {
            Proof::Proved => kept <= known.per_second,
            _ => seen <= known.per_second * EXCEEDED,
        };
        let kept = self.seen(|row| row.rates_after(KEPT_NS));
        self.bytes = self.bytes.filter(|known| stands(known, bytes_seen, kept.1));
        self.requests = self.requests.filter(|known| stands(known, requests_seen, kept.0));
        let guess = |limit: &mut Option<Limit>, per_second| {
            if limit.is_none_or(|known| known.proof != Proof::Proved) {
                *limit = Some(Limit { per_second, proof: Proof::Fitted });
            }
        };
        match curve {
            Curve::Known => {}
            Curve::Requests(rate) => guess(&mut self.requests, rate),
            Curve::Bytes(rate) => {
                guess(&mut self.bytes, rate);
                self.requests = self.requests.filter(|known| known.proof != Proof::OneSize);
            }
            Curve::Both { requests, bytes } => {
                guess(&mut self.requests, requests);
                guess(&mut self.bytes, bytes);
            }
            Curve::Either { requests, bytes } => self.take_either(requests, bytes, bytes_before),
        }
    }

    /// All reads are of about one size, so that the limit may be one on requests or one on bytes.
    fn take_either(&mut self, requests: f64, bytes: f64, bytes_before: Option<f64>) {
        let near = |known: f64, rate: f64| (rate / known - 1.0).abs() <= SAME;
        let is_known = self.requests.is_some_and(|known| near(known.per_second, requests))
            || self.bytes.is_some_and(|known| near(known.per_second, bytes));
        match self.requests {
            _ if is_known => {}
            // Then reads become larger.
            None => {
                self.requests = Some(Limit { per_second: requests, proof: Proof::OneSize });
            }
            // They have become larger. If no more bytes pass, it was the bytes from the start.
            Some(known) => {
                if self.bytes.is_none_or(|known| known.proof != Proof::Proved) {
                    self.bytes = Some(Limit { per_second: bytes, proof: Proof::Fitted });
                }
                let is_unsure = known.proof == Proof::OneSize;
                let was_bytes = is_unsure && bytes_before.is_some_and(|it| near(it, bytes));
                self.requests = self.requests.filter(|_| !was_bytes);
            }
        }
    }

    /// The highest rates of requests and bytes over several stretches in a row: enough of them that
    /// the allowance saved up during a pause counts little.
    fn seen(&self, rates: impl Fn(&Window) -> (f64, f64)) -> (f64, f64) {
        let windows = &self.windows[..self.count];
        let rows = windows.windows(self.count.min(WINDOWS_NEW));
        rows.map(|row| rates(&Window::sum(row)))
            .fold((0.0, 0.0), |most, one| (f64::max(most.0, one.0), f64::max(most.1, one.1)))
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
        self.bytes.map(|known| known.per_second)
    }

    /// More bytes a second than ever passed, as long as only the limit on requests was felt. No
    /// more than that limit lets pass: each part of a read counts as a request.
    pub(super) fn bytes_unseen(&self) -> Option<f64> {
        let most = self.requests.map_or(f64::MAX, |known| known.per_second * PART_BYTES as f64);
        self.bytes_seen.map(|seen| (BANDWIDTH_UNSEEN * seen).min(most))
    }

    /// More requests a second than ever passed, as long as only the limit on bytes was felt.
    pub(super) fn requests_unseen(&self) -> Option<f64> {
        self.bytes?;
        Some(REQUESTS_UNSEEN * self.requests_seen).filter(|&rate| rate > 0.0)
    }
}

/// A rate that stretches prove, and which ones, a bit each.
#[derive(Clone, Copy, Debug)]
struct Proven {
    per_second: f64,
    windows: u32,
}

/// The rate that most stretches show, if they prove it. `rates` gives the rates of a stretch, first
/// the one to prove. Stretches whose other rate `is_known` to be a limit are not counted.
fn proved(
    windows: &[Window],
    rates: impl Fn((f64, f64)) -> (f64, f64),
    is_known: impl Fn(f64) -> bool,
) -> Option<Proven> {
    let rates = |window: &Window| rates(window.rates());
    let around = |(middle, (count, near)): (&Window, (u32, f64))| {
        let (per_second, _) = rates(middle);
        let (mut bits, mut sum) = (0u32, 0.0);
        let (mut least, mut most) = (f64::MAX, 0.0_f64);
        for (place, window) in windows.iter().enumerate() {
            let (rate, other) = rates(window);
            if (rate / per_second - 1.0).abs() <= near && !is_known(other) {
                bits |= 1 << place;
                sum += rate;
                (least, most) = (least.min(other), most.max(other));
            }
        }
        (bits.count_ones() >= count && most >= least * PROOF_APART)
            .then(|| Proven { per_second: sum / f64::from(bits.count_ones()), windows: bits })
    };
    let tries = PROOFS.into_iter().flat_map(|proof| windows.iter().map(move |it| (it, proof)));
    tries.filter_map(around).max_by_key(|proven| proven.windows.count_ones())
}

/// Puts what was proved in the place of a guess or of another limit. Returns whether it is new.
fn take_proven(limit: &mut Option<Limit>, found: Option<Proven>) -> bool {
    let Some(Proven { per_second, .. }) = found else { return false };
    let is_new = !limit
        .is_some_and(|known| known.proof == Proof::Proved && same(known.per_second, per_second));
    if is_new {
        *limit = Some(Limit { per_second, proof: Proof::Proved });
    }
    is_new
}

/// Whether two measurements can be of one limit.
fn same(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() <= 0.02
}
