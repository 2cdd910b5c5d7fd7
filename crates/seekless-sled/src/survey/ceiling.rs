//! The most that reading a file can cost, by its size and its file system alone.
//!
//! A caller who compares a cost with a threshold need not have the file opened if no state of it
//! can exceed the threshold. The least is always 0. A hole and a reserved extent cost nothing, and
//! `stat` does not distinguish them from data: a reserved extent counts among the file's blocks.
//!
//! The most is a file in as many pieces as it can have. Each costs the latency of the slowest zone,
//! and every byte takes as long as on the slowest. A piece is at least a sector, because no file
//! system has smaller blocks. Where the device has several zones, one block may lie in all of them.

use super::Surveyor;
use rustix::fs::{Mode, Stat};
use seekless_device::{Row, Table, Zone};
use std::path::Path;

/// The smallest block of a file system.
const SECTOR_BYTES: u64 = 512;

/// The most that reading a file can cost, in whatever state it is; see [`Surveyor::ceiling`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceiling {
    /// The most that devices need.
    pub device_ns: u64,
    /// The most that devices and memory need together.
    pub delivery_ns: u64,
    /// Whether a survey of the file would succeed, with nothing about it unknown. The file belongs
    /// to the caller, who may read it, and the kernel has shown the cached pages of an earlier file
    /// of this file system.
    pub is_told: bool,
}

/// The slowest that a byte and a piece can be on one file system.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slowest {
    device: Pace,
    delivery: Pace,
}

#[derive(Clone, Copy, Debug)]
struct Pace {
    latency_ns: u64,
    bytes_per_second: u64,
    /// Pieces a sector.
    pieces: u64,
}

impl Slowest {
    /// The slowest of a device and of memory.
    pub(super) fn of(device: &Row, memory: &Zone) -> Slowest {
        let pieces = device.zones.len() as u64;
        Slowest {
            device: Pace::of(device.zones.iter(), pieces),
            delivery: Pace::of(device.zones.iter().chain([memory]), pieces),
        }
    }

    /// The ceiling of a file of `bytes`.
    pub(super) fn ceiling(&self, bytes: u64, is_told: bool) -> Ceiling {
        let (device_ns, delivery_ns) = (self.device.most_ns(bytes), self.delivery.most_ns(bytes));
        Ceiling { device_ns, delivery_ns, is_told }
    }
}

impl Pace {
    fn of<'a>(zones: impl Iterator<Item = &'a Zone> + Clone, pieces: u64) -> Pace {
        let latency_ns = zones.clone().map(|zone| zone.latency_ns).max().unwrap_or(u64::MAX);
        let bytes_per_second = zones.map(|zone| zone.bytes_per_second).min().unwrap_or(0);
        Pace { latency_ns, bytes_per_second, pieces }
    }

    fn most_ns(&self, bytes: u64) -> u64 {
        let pieces = u128::from(bytes.div_ceil(SECTOR_BYTES)) * u128::from(self.pieces);
        // Each piece's time of transfer is rounded to a nanosecond.
        let latency_ns = pieces * (u128::from(self.latency_ns) + 1);
        let transfer_ns = u128::from(bytes) * 1_000_000_000;
        let transfer_ns = transfer_ns.div_ceil(u128::from(self.bytes_per_second.max(1)));
        // A surveyor computes with 53 bits, so its sum may be larger by a few parts in 10^16.
        let most_ns = latency_ns + transfer_ns + (transfer_ns >> 40);
        u64::try_from(most_ns).unwrap_or(u64::MAX)
    }
}

impl Surveyor {
    /// The most that any survey of a regular file with these attributes can say that it costs. The
    /// file is not opened. `None` unless its file system is plain (see
    /// [`is_plain`](Self::is_plain)).
    pub fn ceiling(&mut self, name: &Path, stat: &Stat) -> Option<Ceiling> {
        if !self.is_plain(name, stat) {
            return None;
        }
        let asked = self.last_asked.as_ref()?;
        let bytes = u64::try_from(stat.st_size).unwrap_or(0);
        let own = stat.st_uid == self.user.as_raw();
        let readable = Mode::from_raw_mode(stat.st_mode).contains(Mode::RUSR);
        Some(asked.slowest?.ceiling(bytes, own && readable && asked.counted))
    }

    /// The ceiling of a file of `bytes` that belongs to the caller, on the file system asked about
    /// last. `None` if that is not plain, or none was asked about.
    #[must_use]
    pub fn usual_ceiling(&self, bytes: u64) -> Option<Ceiling> {
        let asked = self.last_asked.as_ref()?;
        Some(asked.slowest?.ceiling(bytes, asked.counted))
    }

    /// The slowest of a row and of memory.
    pub(super) fn slowest(&self, row: &Row) -> Slowest {
        Slowest::of(row, &self.zone(Table::MEMORY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overlay::push;
    use crate::{Confidence, Level, Sled};
    use proptest::prelude::*;
    use seekless_device::Origin;
    use std::time::Duration;

    fn zone() -> impl Strategy<Value = Zone> {
        (0..20_000_000_u64, 1_u64..1 << 34).prop_map(|(latency_ns, bytes_per_second)| Zone {
            from_byte: 0,
            latency_ns,
            latency_p90_ns: None,
            bytes_per_second,
        })
    }

    proptest! {
        /// A file of some sectors, each in memory, in some zone of the device, or a hole.
        #[test]
        fn no_state_of_a_file_exceeds_its_ceiling(
            zones in prop::collection::vec(zone(), 1..4),
            memory in zone(),
            sectors in prop::collection::vec(0_usize..5, 1..200),
            cut in 0..SECTOR_BYTES,
        ) {
            let bytes = sectors.len() as u64 * SECTOR_BYTES - cut;
            let mut sleds = Vec::new();
            for (number, state) in sectors.iter().enumerate() {
                let offset = number as u64 * SECTOR_BYTES;
                let zone = if *state == 0 { Some((Level::Memory, memory)) } else {
                    zones.get(state - 1).map(|zone| (Level::Device, *zone))
                };
                let (level, latency_ns, bandwidth) = zone.map_or(
                    (Level::Hole, 0, f64::INFINITY),
                    |(level, zone)| (level, zone.latency_ns, zone.bytes_per_second as f64),
                );
                push(&mut sleds, Sled {
                    offset,
                    bytes: SECTOR_BYTES.min(bytes - offset),
                    latency: Duration::from_nanos(latency_ns),
                    bandwidth,
                    level,
                    confidence: Confidence::Exact,
                    age: Duration::ZERO,
                });
            }
            let cost_ns = |at: &dyn Fn(Level) -> bool| -> u64 {
                let costs = sleds.iter().filter(|sled| at(sled.level)).map(Sled::cost);
                costs.map(|cost| cost.as_nanos() as u64).sum()
            };
            let row = Row { origin: Origin::Given, zones };
            let ceiling = Slowest::of(&row, &memory).ceiling(bytes, false);
            prop_assert!(cost_ns(&|level| level == Level::Device) <= ceiling.device_ns);
            prop_assert!(cost_ns(&|_| true) <= ceiling.delivery_ns);
        }
    }

    #[test]
    fn a_file_of_one_sector_costs_one_read_at_most() {
        let (disk, memory) = (Row::new(Origin::Given, 18_000_000, 9_000_000), Table::paper());
        let memory = *memory.row(Table::MEMORY).expect("a level").at(0);
        let ceiling = Slowest::of(&disk, &memory).ceiling(1, true);
        // 18 ms and 1 byte at 9 MB/s, and a nanosecond for rounding.
        assert_eq!(ceiling.device_ns, 18_000_000 + 112 + 1);
        assert_eq!(ceiling.delivery_ns, ceiling.device_ns, "memory is faster in both");
    }
}
