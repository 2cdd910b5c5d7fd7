//! An object store: a request waits for its first byte, most of them about as long, some much
//! longer, and then comes at the rate of one stream. Many streams run at once.

use crate::completions::Completions;
use crate::figures::{duration, rate};
use crate::{Costs, DeviceModel, Error, ErrorKind, Io, Nanos, SplitMix64};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[cfg(test)]
mod tests;

/// The numbers of an object store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectStoreParameters {
    /// Bandwidth of one stream in bytes a second.
    #[serde(rename = "bandwidth", with = "rate")]
    pub bytes_per_second: u64,
    /// Requests that are served at once; the others wait for their turn.
    pub streams: u32,
    /// Requests with the same numbers draw the same latencies for the same seed.
    #[serde(default)]
    pub seed: u32,
    /// Times to the first byte, from the least to the greatest.
    pub first_byte: Vec<Quantile>,
}

/// A point of a distribution; between two points it is even.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantile {
    /// How many of a thousand requests are faster. The first point has 0, the last 1000.
    pub permille: u32,
    /// Time to the first byte.
    #[serde(rename = "latency", with = "duration")]
    pub latency_ns: Nanos,
}

impl ObjectStoreParameters {
    /// Whether an object store can have these numbers.
    ///
    /// # Errors
    /// One that it cannot have, by its name in text.
    pub fn check(&self) -> Result<(), Error> {
        let fail = |kind, what: &str| Err(Error::new(kind, format!("an object store's {what}")));
        if self.bytes_per_second == 0 {
            return fail(ErrorKind::Zero, "bandwidth must be above 0");
        }
        if self.streams == 0 {
            return fail(ErrorKind::Zero, "streams must be above 0");
        }
        let ends = (self.first_byte.first(), self.first_byte.last());
        let (Some(first), Some(last)) = ends else {
            return fail(ErrorKind::Missing, "first_byte must have points");
        };
        if (first.permille, last.permille) != (0, 1000) {
            return fail(ErrorKind::Missing, "first_byte must go from permille = 0 to 1000");
        }
        let rises = |one: &Quantile, next: &Quantile| {
            one.permille < next.permille && one.latency_ns <= next.latency_ns
        };
        if !self.first_byte.is_sorted_by(rises) {
            return fail(ErrorKind::Order, "first_byte must rise, in permille and in latency");
        }
        Ok(())
    }

    /// The latency below which `share` of 2^32 requests stay.
    fn latency_ns(&self, share: u32) -> Nanos {
        let place = |point: &Quantile| (u64::from(point.permille) << 32) / 1000;
        let share = u64::from(share);
        let after = self.first_byte.partition_point(|point| place(point) <= share);
        let (one, next) = (&self.first_byte[after - 1], &self.first_byte[after]);
        let rise = u128::from(next.latency_ns - one.latency_ns) * u128::from(share - place(one));
        one.latency_ns + (rise / u128::from(place(next) - place(one))) as Nanos
    }

    fn mean_ns(&self) -> Nanos {
        let stretch = |pair: &[Quantile]| {
            let sum = u128::from(pair[0].latency_ns) + u128::from(pair[1].latency_ns);
            sum * u128::from(pair[1].permille - pair[0].permille)
        };
        let sum: u128 = self.first_byte.windows(2).map(stretch).sum();
        Nanos::try_from(sum / 2000).unwrap_or(Nanos::MAX)
    }
}

/// The object store's model. Where a request lies plays no part.
#[derive(Clone, Debug)]
pub struct ObjectStore {
    parameters: ObjectStoreParameters,
    draws: SplitMix64,
    /// When each stream that was used is free.
    free: BinaryHeap<Reverse<Nanos>>,
    in_flight: Completions,
}

impl ObjectStore {
    /// An idle store.
    ///
    /// # Errors
    /// When no store has such numbers; see [`ObjectStoreParameters::check`].
    pub fn new(parameters: ObjectStoreParameters) -> Result<Self, Error> {
        parameters.check()?;
        let draws = SplitMix64::new(u64::from(parameters.seed));
        let (free, in_flight) = (BinaryHeap::new(), Completions::default());
        Ok(ObjectStore { parameters, draws, free, in_flight })
    }

    /// When the next stream is free, from `now` on.
    fn turn(&mut self, now: Nanos) -> Nanos {
        if self.free.len() < self.parameters.streams as usize {
            return now;
        }
        self.free.pop().map_or(now, |Reverse(free)| free.max(now))
    }
}

impl DeviceModel for ObjectStore {
    fn submit(&mut self, now: Nanos, io: Io) {
        let begin = self.turn(now);
        let latency = self.parameters.latency_ns((self.draws.bits() >> 32) as u32);
        let transfer = transfer_ns(io.bytes, self.parameters.bytes_per_second);
        let end = begin.saturating_add(latency).saturating_add(transfer);
        self.free.push(Reverse(end));
        self.in_flight.push(end, io);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.in_flight.next()
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        self.in_flight.drain(now, done);
    }

    /// A request may have any length.
    fn requests(&self, _: u64) -> u64 {
        1
    }

    /// A request costs the mean time to its first byte; the bandwidth is that of one stream, and
    /// the depth is the number of streams.
    fn costs(&self) -> Costs {
        Costs {
            request_ns: self.parameters.mean_ns(),
            bytes_per_second: self.parameters.bytes_per_second,
            depth: self.parameters.streams,
        }
    }
}

/// Time that `bytes` take at a rate above 0, rounded up.
pub(crate) fn transfer_ns(bytes: u64, bytes_per_second: u64) -> Nanos {
    let nanos = match bytes.checked_mul(1_000_000_000) {
        Some(product) => return product.div_ceil(bytes_per_second),
        None => (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_second)),
    };
    Nanos::try_from(nanos).unwrap_or(Nanos::MAX)
}
