//! What cloud volumes have beside their limits: requests saved up for a burst, and a latency.

use crate::figures::{duration, is_zero, rate};
use crate::{Costs, DeviceModel, Error, ErrorKind, Io, Nanos, Volume, parts};
use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// The numbers of a cloud volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolumeParameters {
    /// Requests a second, at which credit is earned too.
    pub iops: u64,
    /// Bytes a second.
    #[serde(rename = "bandwidth", with = "rate")]
    pub bytes_per_second: u64,
    /// What every request takes beside its waiting for the limits.
    #[serde(rename = "latency", with = "duration", default, skip_serializing_if = "is_zero")]
    pub latency_ns: Nanos,
    /// What the volume may do for a while.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
}

/// How fast a volume is while it has credit. Idle, it earns as much as it would serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// Requests a second while there is credit.
    pub iops: u64,
    /// Requests that can be saved up; a new volume has them.
    pub credit: u64,
}

impl VolumeParameters {
    /// Whether a volume can have these numbers.
    ///
    /// # Errors
    /// One that it cannot have, by its name in text.
    pub fn check(&self) -> Result<(), Error> {
        let fail = |kind, what: &str| Err(Error::new(kind, format!("a volume's {what}")));
        if self.iops == 0 || self.bytes_per_second == 0 {
            return fail(ErrorKind::Zero, "iops and bandwidth must be above 0");
        }
        match self.burst {
            Some(burst) if burst.iops <= self.iops || burst.credit == 0 => {
                fail(ErrorKind::Order, "burst must have more iops than the volume, and some credit")
            }
            _ => Ok(()),
        }
    }
}

/// A [`Volume`] with credit and latency.
#[derive(Clone, Debug)]
pub struct BurstVolume {
    parameters: VolumeParameters,
    credit: Option<Credit>,
    volume: Volume,
}

impl BurstVolume {
    /// An idle volume with all its credit.
    ///
    /// # Errors
    /// When no volume has such numbers; see [`VolumeParameters::check`].
    pub fn new(parameters: VolumeParameters) -> Result<Self, Error> {
        parameters.check()?;
        let iops = parameters.burst.map_or(parameters.iops, |burst| burst.iops);
        Ok(BurstVolume {
            credit: parameters.burst.map(|burst| Credit::full(parameters.iops, burst.credit)),
            volume: Volume::new(iops, parameters.bytes_per_second),
            parameters,
        })
    }
}

impl DeviceModel for BurstVolume {
    /// A request without credit comes to the limits when it has been earned.
    fn submit(&mut self, now: Nanos, io: Io) {
        let then = match &mut self.credit {
            Some(credit) => credit.take(now, parts(io.bytes)),
            None => now,
        };
        self.volume.submit(then, io);
    }

    fn next_event(&self) -> Option<Nanos> {
        Some(self.volume.next_event()?.saturating_add(self.parameters.latency_ns))
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        let latency = self.parameters.latency_ns;
        if let Some(limits) = now.checked_sub(latency) {
            self.volume.advance(limits, &mut |end, io| done(end.saturating_add(latency), io));
        }
    }

    /// Without the burst, which does not last. The depth is what it takes for requests of that
    /// latency to reach the limit.
    fn costs(&self) -> Costs {
        let VolumeParameters { iops, bytes_per_second, latency_ns, .. } = self.parameters;
        let depth = u128::from(latency_ns) * u128::from(iops) / 1_000_000_000;
        let depth = u32::try_from(depth).unwrap_or(u32::MAX).max(1);
        let shared = (1_000_000_000 * u64::from(depth)).div_ceil(iops);
        Costs { request_ns: shared.max(latency_ns), bytes_per_second, depth }
    }
}

/// Requests that may be made at once.
#[derive(Clone, Debug)]
struct Credit {
    per_second: u64,
    /// Requests times nanoseconds a second, so that nothing is rounded. Below 0 by what is owed.
    saved: i128,
    saved_max: i128,
    last: Nanos,
}

const SECOND: i128 = 1_000_000_000;

impl Credit {
    fn full(per_second: u64, requests: u64) -> Self {
        let saved_max = i128::from(requests) * SECOND;
        Credit { per_second, saved: saved_max, saved_max, last: 0 }
    }

    /// Takes `requests` at `now`. Returns when they have been earned.
    fn take(&mut self, now: Nanos, requests: u64) -> Nanos {
        let passed = now.saturating_sub(self.last);
        self.last = self.last.max(now);
        let earned = i128::from(passed) * i128::from(self.per_second);
        self.saved = (self.saved + earned).min(self.saved_max) - i128::from(requests) * SECOND;
        let owed = u128::try_from(-self.saved).unwrap_or(0);
        let wait = owed.div_ceil(u128::from(self.per_second));
        now.saturating_add(Nanos::try_from(wait).unwrap_or(Nanos::MAX))
    }
}
