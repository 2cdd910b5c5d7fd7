//! A device that is known only by how long requests take, by their size and by how many run at
//! once: the output of a benchmark.
//!
//! Between two sizes and between two depths the latency is a straight line over their logarithms,
//! which are themselves straight lines between powers of two. So the line over sizes is exact where
//! a request takes a fixed time and its transfer, and integers suffice.

use crate::completions::Completions;
use crate::figures::{durations, size};
use crate::{Costs, DeviceModel, Error, ErrorKind, Io, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[cfg(test)]
mod tests;

/// Latencies by size and depth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyTableParameters {
    /// Requests that run at once, one for each column, rising.
    pub depths: Vec<u32>,
    /// Latencies of reads, a row for each size, rising.
    pub reads: Vec<LatencyRow>,
    /// The same for writes; without rows they take as long as reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<LatencyRow>,
}

/// Latencies of requests of one size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyRow {
    /// The size.
    #[serde(rename = "size", with = "size")]
    pub bytes: u64,
    /// One for each depth.
    #[serde(rename = "latency", with = "durations")]
    pub latency_ns: Vec<Nanos>,
}

impl LatencyTableParameters {
    /// Whether a device can have these numbers.
    ///
    /// # Errors
    /// What makes no sense, by its name in text.
    pub fn check(&self) -> Result<(), Error> {
        let fail = |kind, what: &str| Err(Error::new(kind, format!("a latency table's {what}")));
        if self.depths.first().is_none_or(|&depth| depth == 0) {
            return fail(ErrorKind::Missing, "depths must begin with at least 1");
        }
        if !self.depths.is_sorted_by(|one, next| one < next) {
            return fail(ErrorKind::Order, "depths must rise");
        }
        if self.reads.is_empty() {
            return fail(ErrorKind::Missing, "reads must have rows");
        }
        for rows in [&self.reads, &self.writes] {
            if rows.iter().any(|row| row.latency_ns.len() != self.depths.len()) {
                return fail(ErrorKind::Missing, "rows must have a latency for each depth");
            }
            if rows.iter().any(|row| row.latency_ns.contains(&0) || row.bytes == 0) {
                return fail(ErrorKind::Zero, "sizes and latencies must be above 0");
            }
            if !rows.is_sorted_by(|one, next| one.bytes < next.bytes) {
                return fail(ErrorKind::Order, "rows must rise in size");
            }
        }
        Ok(())
    }

    /// Latency of a request of `bytes` when `depth` run, itself among them. Less than the least
    /// size takes as long as that. More than the greatest size or depth takes as much longer as it
    /// is more.
    fn latency_ns(&self, write: bool, bytes: u64, depth: u32) -> Nanos {
        let rows = if write && !self.writes.is_empty() { &self.writes } else { &self.reads };
        let after = rows.partition_point(|row| row.bytes <= bytes);
        let at = |row: &LatencyRow| self.at_depth(row, depth);
        match (after.checked_sub(1).map(|last| &rows[last]), rows.get(after)) {
            (None, Some(least)) => at(least),
            (Some(one), Some(next)) => between((one.bytes, at(one)), (next.bytes, at(next)), bytes),
            (Some(greatest), None) => scaled(at(greatest), bytes, greatest.bytes),
            (None, None) => 0,
        }
    }

    fn at_depth(&self, row: &LatencyRow, depth: u32) -> Nanos {
        let after = self.depths.partition_point(|&known| known <= depth);
        let at = |place: usize| (u64::from(self.depths[place]), row.latency_ns[place]);
        match after {
            0 => at(0).1,
            _ if after < self.depths.len() => between(at(after - 1), at(after), u64::from(depth)),
            _ => scaled(at(after - 1).1, u64::from(depth), at(after - 1).0),
        }
    }
}

/// The line between two points, at `place`.
fn between(one: (u64, Nanos), next: (u64, Nanos), place: u64) -> Nanos {
    let [from, at, to] = [one.0, place, next.0].map(logarithm);
    let (ahead, left) = (u128::from(at - from), u128::from(to - at));
    let sum = u128::from(one.1) * left + u128::from(next.1) * ahead;
    (sum / (ahead + left)) as Nanos
}

fn scaled(nanos: Nanos, more: u64, than: u64) -> Nanos {
    Nanos::try_from(u128::from(nanos) * u128::from(more) / u128::from(than)).unwrap_or(Nanos::MAX)
}

/// 2^56 times the logarithm to base 2, straight between powers of two; the number is above 0.
fn logarithm(number: u64) -> u64 {
    let whole = number.ilog2();
    let beyond = number - (1 << whole);
    let share = if whole <= 56 { beyond << (56 - whole) } else { beyond >> (whole - 56) };
    (u64::from(whole) << 56) + share
}

/// The table as a device. A request's latency is that of the number of requests in flight when it
/// comes, itself among them.
#[derive(Clone, Debug)]
pub struct LatencyTable {
    parameters: LatencyTableParameters,
    in_flight: Completions,
    /// Requests in flight; those that have ended, but were not handed back, do not count.
    running: u32,
    ended: VecDeque<(Nanos, Io)>,
}

impl LatencyTable {
    /// An idle device.
    ///
    /// # Errors
    /// When the table makes no sense; see [`LatencyTableParameters::check`].
    pub fn new(parameters: LatencyTableParameters) -> Result<Self, Error> {
        parameters.check()?;
        Ok(LatencyTable {
            parameters,
            in_flight: Completions::default(),
            running: 0,
            ended: VecDeque::new(),
        })
    }

    fn run(&mut self, now: Nanos) {
        while let Some(ended) = self.in_flight.pop_until(now) {
            self.running -= 1;
            self.ended.push_back(ended);
        }
    }
}

impl DeviceModel for LatencyTable {
    fn submit(&mut self, now: Nanos, io: Io) {
        self.run(now);
        self.running += 1;
        let latency = self.parameters.latency_ns(io.write, io.bytes, self.running);
        self.in_flight.push(now.saturating_add(latency), io);
    }

    fn next_event(&self) -> Option<Nanos> {
        let ended = self.ended.front().map(|&(end, _)| end);
        ended.or_else(|| self.in_flight.next())
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        self.run(now);
        while let Some((end, io)) = self.ended.pop_front() {
            done(end, io);
        }
    }

    /// A request costs the latency of the least size alone. The bandwidth is that of what a request
    /// of the greatest size takes longer. The depth is the first that gives nine tenths of the most
    /// requests a second.
    fn costs(&self) -> Costs {
        let rows = &self.parameters.reads;
        let (least, greatest) = (&rows[0], &rows[rows.len() - 1]);
        let request_ns = least.latency_ns[0];
        let (bytes, nanos) = match greatest.latency_ns[0].checked_sub(request_ns) {
            None | Some(0) => (greatest.bytes, greatest.latency_ns[0]),
            Some(more) => (greatest.bytes - least.bytes, more),
        };
        let rate = u128::from(bytes) * 1_000_000_000 / u128::from(nanos);
        let columns = || self.parameters.depths.iter().zip(&least.latency_ns);
        let speed = |(&depth, &nanos): (&u32, &Nanos)| f64::from(depth) / nanos as f64;
        let most = columns().map(speed).fold(0.0, f64::max);
        let depth = columns().find(|&column| speed(column) >= 0.9 * most);
        Costs {
            request_ns,
            bytes_per_second: u64::try_from(rate).unwrap_or(u64::MAX).max(1),
            depth: depth.map_or(1, |(&depth, _)| depth),
        }
    }
}
