//! A device's costs, estimated from reads that it served: for programs that do not know them.
//!
//! Two things are looked at. A read that is *alone* on the device shows its latency and its
//! bandwidth (`fit`). A *limit* on requests or bytes a second lets many reads pass at once and then
//! holds one up, so that no single read shows the rate: it shows in the amount that passes from the
//! end of one stall to the end of the next (`limits`). Both forget all but the last: 64 reads, and
//! 8 stalls.
//!
//! A limit that begins, changes or ends while the program runs is therefore noticed within some
//! stalls. A device that becomes slower as a whole is noticed when half of the last 16 reads took
//! several times longer than expected.

mod curve;
mod fit;
mod limits;
#[cfg(test)]
mod tests;

use crate::{Costs, Nanos, parts};
use fit::Fit;
use limits::{Limits, Passed, Stalled};

/// A read that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Its length.
    pub bytes: u64,
    /// When it was submitted, on any clock that all reads share.
    pub submitted: Nanos,
    /// When it ended. If it is not later than the submission, the read is only known to have ended:
    /// its time is unknown.
    pub ended: Nanos,
    /// How many reads were in flight after it was submitted, itself included.
    pub in_flight: u32,
}

/// Reads before the first estimate.
const READS_MIN: usize = 8;

/// A read is held up if it took this many times as long as expected, and at least [`STALL_NS_MIN`]:
/// a disk's longest seek is some three times its shortest.
const STALL_FACTOR: f64 = 4.0;

/// No limit shows in a shorter wait, which may be chance.
const STALL_NS_MIN: f64 = 5e6;

/// If at least half of this many reads in a row were held up, the device itself has become slower.
const CHANGE_READS: u32 = 16;

/// An estimate replaces the one before if one of its figures is larger or smaller by this factor.
const CHANGE: f64 = 1.1;

/// The most requests at once that are assumed of a device.
const DEPTH_MAX: f64 = 64.0;

/// An estimate that each read improves.
///
/// - **Cost a read:** O(1) for most; each eighth fits a line through 64 reads.
/// - **Memory:** some 3 KB, all of it in this value.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// What was assumed before the first read.
    assumed: Costs,
    /// Reads that had the device to themselves.
    alone: Fit,
    /// What each of several reads in flight added to the time.
    among_others: Fit,
    limits: Limits,
    last_end: Nanos,
    /// The last reads, a bit each: whether they were held up. The newest is the lowest.
    held_up: u32,
    reads: usize,
    costs: Option<Costs>,
}

impl Estimate {
    /// Nothing has been read yet. What reads do not show stays as it is `assumed`.
    #[must_use]
    pub fn new(assumed: Costs) -> Self {
        Self {
            assumed,
            alone: Fit::default(),
            among_others: Fit::default(),
            limits: Limits::default(),
            last_end: 0,
            held_up: 0,
            reads: 0,
            costs: None,
        }
    }

    /// The device's costs, as far as its reads show them; `None` after too few.
    #[must_use]
    pub fn costs(&self) -> Option<Costs> {
        self.costs
    }

    /// Learns from a read that the device served. Reads come in the order of their ends; reads of
    /// nothing are ignored. Returns whether [`Estimate::costs`] has changed by more than a tenth.
    pub fn add(&mut self, read: Served) -> bool {
        if read.bytes == 0 {
            return false;
        }
        let first = self.reads == 0;
        self.reads += 1;
        let since = if first { read.submitted } else { read.submitted.max(self.last_end) };
        let waited = read.ended.saturating_sub(since) as f64;
        let idle_ns = since.saturating_sub(if first { since } else { self.last_end });
        self.last_end = self.last_end.max(read.ended);
        let is_held_up = self.is_held_up(read.bytes, waited);
        self.held_up = self.held_up << 1 | u32::from(is_held_up);
        let window_ended = self.limits.add(Passed {
            requests: parts(read.bytes),
            bytes: read.bytes,
            ended: read.ended,
            idle_ns,
            stalled: if is_held_up { Stalled::For(waited) } else { Stalled::Not },
        });
        let recent = self.held_up & ((1 << CHANGE_READS) - 1);
        if recent.count_ones() > CHANGE_READS / 2 {
            self.alone = Fit::default();
            self.among_others = Fit::default();
            self.held_up = 0;
        }
        if !is_held_up && read.ended > read.submitted {
            match read.in_flight {
                0 | 1 => self.alone.add(read.bytes, waited),
                _ => self.among_others.add(read.bytes, waited),
            }
        }
        let due = self.reads.is_multiple_of(READS_MIN);
        (window_ended || due) && self.revise()
    }

    /// A read has ended whose time is not the device's alone: its bytes count as passed, but not
    /// how long it was held up. Returns as [`Estimate::add`].
    pub fn passed(&mut self, read: Served) -> bool {
        let since = read.submitted.max(self.last_end);
        let window_ended = self.limits.add(Passed {
            requests: parts(read.bytes),
            bytes: read.bytes,
            ended: read.ended,
            idle_ns: since.saturating_sub(self.last_end),
            stalled: Stalled::Unknown(read.ended.saturating_sub(since) as f64),
        });
        self.last_end = self.last_end.max(read.ended);
        window_ended && self.revise()
    }

    fn is_held_up(&self, bytes: u64, waited: f64) -> bool {
        let expected = match (self.alone.line(), self.among_others.line()) {
            (Some(line), _) | (None, Some(line)) => line.at(bytes),
            (None, None) => {
                return self
                    .alone
                    .least()
                    .is_some_and(|least| waited > STALL_NS_MIN.max(2.0 * STALL_FACTOR * least));
            }
        };
        waited > STALL_NS_MIN.max(STALL_FACTOR * expected)
    }

    /// Takes a new estimate, if it differs.
    fn revise(&mut self) -> bool {
        let Some(costs) = self.estimated() else { return false };
        let differs = self.costs.is_none_or(|before| {
            apart(before.request_ns, costs.request_ns)
                || apart(before.bytes_per_second, costs.bytes_per_second)
                || apart(before.depth.into(), costs.depth.into())
        });
        if differs {
            self.costs = Some(costs);
        }
        differs
    }

    fn estimated(&self) -> Option<Costs> {
        let (alone, among_others) = (self.alone.line(), self.among_others.line());
        let (requests, bytes) = (self.limits.requests_per_second(), self.limits.bytes_per_second());
        if alone.is_none() && among_others.is_none() && requests.is_none() && bytes.is_none() {
            return None;
        }
        let assumed_ns = self.assumed.request_ns as f64;
        // Several at once may hide each other's latency, so they give only a lower bound.
        let among_ns = among_others.map(|line| line.request_ns);
        let request_ns =
            alone.map_or(assumed_ns, |line| line.request_ns).max(among_ns.unwrap_or(0.0));
        let byte_ns = match (alone, among_others) {
            (Some(one), Some(other)) => {
                one.byte_ns.unwrap_or(f64::MAX).min(other.byte_ns.unwrap_or(f64::MAX))
            }
            (Some(line), None) | (None, Some(line)) => line.byte_ns.unwrap_or(f64::MAX),
            (None, None) => f64::MAX,
        };
        let fastest =
            if byte_ns < f64::MAX { 1e9 / byte_ns } else { self.assumed.bytes_per_second as f64 };
        if requests.is_some() || bytes.is_some() {
            let requests = requests.or(self.limits.requests_unseen());
            let request_ns = requests.map_or(request_ns, |rate| request_ns.max(1e9 / rate));
            // What a single read shows is not its own time on a limited device, nor on a busy one.
            let rate = bytes.or(self.limits.bytes_unseen()).unwrap_or(fastest);
            return Some(costs(request_ns, rate, 1.0));
        }
        let depth = match among_ns {
            Some(among_ns) => (request_ns / among_ns.max(1.0)).clamp(1.0, DEPTH_MAX),
            None => f64::from(self.assumed.depth),
        };
        Some(costs(request_ns, fastest, depth))
    }
}

fn costs(request_ns: f64, bytes_per_second: f64, depth: f64) -> Costs {
    Costs {
        request_ns: request_ns.round().max(1.0) as u64,
        bytes_per_second: bytes_per_second.round().max(1.0) as u64,
        depth: depth.round().max(1.0) as u32,
    }
}

fn apart(one: u64, other: u64) -> bool {
    let (low, high) = (one.min(other).max(1) as f64, one.max(other).max(1) as f64);
    high > low * CHANGE
}
