//! One row: what one device or level costs, zone by zone.

use crate::figures::{duration, is_zero, optional_duration, rate};
use crate::{Costs, Error, ErrorKind, Nanos};
use serde::{Deserialize, Serialize};

/// What one device or level costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Where the figures come from.
    #[serde(default)]
    pub origin: Origin,
    /// In order of [`Zone::from_byte`], the first from byte 0. Most devices have one.
    pub zones: Vec<Zone>,
}

/// What a device costs from one of its bytes on: the outer tracks of a disk are faster than the
/// inner ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// First byte of the device (of the partition, as FIEMAP counts) to which this applies.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub from_byte: u64,
    /// Time to the first byte, the median. In text `"18ms"`.
    #[serde(rename = "latency", with = "duration")]
    pub latency_ns: Nanos,
    /// The same, which nine of ten reads keep; `None` if that was not measured.
    #[serde(
        rename = "latency_p90",
        with = "optional_duration",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub latency_p90_ns: Option<Nanos>,
    /// Bytes per second from then on, not 0. In text `"9MB/s"`.
    #[serde(rename = "bandwidth", with = "rate")]
    pub bytes_per_second: u64,
}

/// Where a row's figures come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Origin {
    /// Usual for such devices; this one was not measured.
    Assumed,
    /// Measured by `seekless probe`.
    Calibrated,
    /// Measured, and corrected since by what reads really cost.
    Refined,
    /// Written by the user.
    #[default]
    Given,
}

impl Row {
    /// A row of one zone.
    #[must_use]
    pub fn new(origin: Origin, latency_ns: Nanos, bytes_per_second: u64) -> Self {
        let zone = Zone { from_byte: 0, latency_ns, latency_p90_ns: None, bytes_per_second };
        Row { origin, zones: vec![zone] }
    }

    /// What reading at a byte of the device costs.
    ///
    /// # Panics
    /// The row has no zone, which [`Row::check`] refuses.
    #[must_use]
    pub fn at(&self, byte: u64) -> &Zone {
        let after = self.zones.partition_point(|zone| zone.from_byte <= byte);
        &self.zones[after.saturating_sub(1)]
    }

    /// The first byte beyond `byte` at which another zone begins.
    #[must_use]
    pub fn zone_end(&self, byte: u64) -> Option<u64> {
        self.zones.iter().map(|zone| zone.from_byte).find(|&from| from > byte)
    }

    /// The three numbers that decisions need, of the first zone.
    #[must_use]
    pub fn costs(&self, depth: u32) -> Costs {
        let zone = self.at(0);
        Costs { request_ns: zone.latency_ns, bytes_per_second: zone.bytes_per_second, depth }
    }

    /// Checks that the row has zones, in order from byte 0, each with a bandwidth above 0. `name`
    /// is for the message.
    ///
    /// # Errors
    /// The row breaks one of these rules.
    pub fn check(&self, name: &str) -> Result<(), Error> {
        let fail = |kind, what: &str| Err(Error::new(kind, format!("device {name:?}: {what}")));
        match self.zones.first() {
            None => return fail(ErrorKind::Missing, "it has no zone: give latency and bandwidth"),
            Some(first) if first.from_byte != 0 => {
                return fail(ErrorKind::Missing, "its first zone must start with from_byte = 0");
            }
            Some(_) => {}
        }
        if !self.zones.is_sorted_by(|one, next| one.from_byte < next.from_byte) {
            return fail(ErrorKind::Order, "its zones must be in order of from_byte");
        }
        match self.zones.iter().any(|zone| zone.bytes_per_second == 0) {
            true => fail(ErrorKind::Zero, "a bandwidth of 0 would never finish a read"),
            false => Ok(()),
        }
    }
}

impl Zone {
    /// What a read of `bytes` costs: the first byte's latency and the rest at full bandwidth.
    #[must_use]
    pub fn read_ns(&self, bytes: u64) -> Nanos {
        let transfer = u128::from(bytes) * 1_000_000_000 / u128::from(self.bytes_per_second.max(1));
        self.latency_ns.saturating_add(Nanos::try_from(transfer).unwrap_or(Nanos::MAX))
    }
}
