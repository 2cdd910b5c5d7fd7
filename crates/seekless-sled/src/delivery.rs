//! How long all of a file takes to be delivered (Van Meter and Gao 2000, section 4.2:
//! `sleds_total_delivery_time`).
//!
//! One formula: a SLED costs its latency plus its bytes at its bandwidth, and a file costs the sum
//! of its SLEDs. The plans differ in what happens to the cached part meanwhile.
//! - *Best* reads the cached part first, before anything can push it out.
//! - *Linear* with a full cache loses it: every byte that is fetched pushes out a cached byte that
//!   is still to be read (the paper's Fig. 3). Once more bytes were fetched than the cache has room
//!   for, all the rest is fetched too.

use crate::{Confidence, Level, Plan, Sled};
use seekless_device::Table;
use serde::Serialize;
use std::time::Duration;

/// An estimated time of delivery, as a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeliveryTime {
    /// The time if all unknown ranges are in memory, and no cached range leaves it before it is
    /// read.
    pub low: Duration,
    /// The time if no unknown range is in memory, and (in the linear plan) the cache is full.
    pub high: Duration,
}

/// Estimates the time to deliver all of a file by a plan, when it is unknown how much room the
/// cache has.
#[must_use]
pub fn total_delivery_time(sleds: &[Sled], plan: Plan) -> DeliveryTime {
    delivery_time(sleds, plan, None)
}

/// Like [`total_delivery_time`], when `room` more bytes fit into the cache before others must
/// leave; `None` if that is unknown.
#[must_use]
pub fn delivery_time(sleds: &[Sled], plan: Plan, room: Option<u64>) -> DeliveryTime {
    let mut delivery = Delivery::new(plan, room);
    delivery.add(sleds);
    delivery.time()
}

/// Estimates the time to deliver many files, one after the other.
#[derive(Debug)]
pub struct Delivery {
    plan: Plan,
    fetched: Fetched,
    time: DeliveryTime,
}

impl Delivery {
    /// Starts with no file; `room` is as in [`delivery_time`].
    #[must_use]
    pub fn new(plan: Plan, room: Option<u64>) -> Self {
        let fetched = Fetched { room: room.unwrap_or(0), bytes: 0, from: None, seeks: false };
        Delivery { plan, fetched, time: DeliveryTime::default() }
    }

    /// Adds the next file. Bytes fetched of one file push out cached bytes of the next.
    pub fn add(&mut self, sleds: &[Sled]) {
        let memory = memory_of(sleds);
        self.fetched.seeks = true;
        for sled in sleds {
            let low = match sled.confidence {
                Confidence::Unknown => sled.cost().min(Sled { bytes: sled.bytes, ..memory }.cost()),
                _ => sled.cost(),
            };
            let high = match self.plan {
                Plan::Best => sled.cost(),
                Plan::Linear => self.fetched.cost(sled),
            };
            self.time.low = self.time.low.saturating_add(low);
            self.time.high = self.time.high.saturating_add(high);
        }
    }

    /// The time of all files together.
    #[must_use]
    pub fn time(&self) -> DeliveryTime {
        DeliveryTime { high: self.time.high.max(self.time.low), ..self.time }
    }
}

/// The cost of memory: as the file's own SLEDs say, otherwise the assumed one.
fn memory_of(sleds: &[Sled]) -> Sled {
    let found = sleds.iter().find(|sled| sled.level == Level::Memory);
    found.copied().unwrap_or_else(|| {
        let assumed = Table::assumed();
        let zone = assumed.row(Table::MEMORY).map(|row| *row.at(0));
        let (latency_ns, bandwidth) =
            zone.map_or((0, f64::INFINITY), |zone| (zone.latency_ns, zone.bytes_per_second as f64));
        Sled {
            offset: 0,
            bytes: 1,
            latency: Duration::from_nanos(latency_ns),
            bandwidth,
            level: Level::Memory,
            confidence: Confidence::Exact,
            age: Duration::ZERO,
        }
    })
}

/// What a linear reader has fetched so far.
#[derive(Debug)]
struct Fetched {
    room: u64,
    bytes: u64,
    /// The last SLED that was fetched. A cached byte costs as much once it is pushed out.
    from: Option<Sled>,
    /// Whether nothing was fetched of this file yet.
    seeks: bool,
}

impl Fetched {
    fn cost(&mut self, sled: &Sled) -> Duration {
        match (sled.level, self.from) {
            (Level::Hole, _) => sled.cost(),
            (Level::Memory, Some(from)) if self.bytes > self.room => {
                self.bytes = self.bytes.saturating_add(sled.bytes);
                // Within one file, reading continues where the last fetch ended and pays no second
                // latency.
                let latency =
                    if std::mem::take(&mut self.seeks) { from.latency } else { Duration::ZERO };
                Sled { bytes: sled.bytes, latency, ..from }.cost()
            }
            (Level::Memory, _) => sled.cost(),
            _ => {
                self.bytes = self.bytes.saturating_add(sled.bytes);
                (self.from, self.seeks) = (Some(*sled), false);
                sled.cost()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A level of the paper's Table 2.
    fn sled(level: Level, name: &str, offset: u64, bytes: u64) -> Sled {
        let zone = *Table::paper().row(name).expect("a level").at(0);
        let latency = Duration::from_nanos(zone.latency_ns);
        let (bandwidth, confidence) = (zone.bytes_per_second as f64, Confidence::Exact);
        Sled { offset, bytes, latency, bandwidth, level, confidence, age: Duration::ZERO }
    }

    fn time(sleds: &[Sled], plan: Plan, room: Option<u64>) -> (u64, u64) {
        let time = delivery_time(sleds, plan, room);
        (time.low.as_millis() as u64, time.high.as_millis() as u64)
    }

    #[test]
    fn a_file_of_one_level_takes_its_latency_and_its_bytes() {
        let file = [sled(Level::Device, "disk", 0, 9_000_000)];
        assert_eq!(time(&file, Plan::Linear, None), (1018, 1018));
        assert_eq!(time(&file, Plan::Best, None), (1018, 1018));
        assert_eq!(total_delivery_time(&[], Plan::Best), DeliveryTime::default());
    }

    /// The paper's Fig. 3 at its Table 2: 18 MB on disk, then 27 MB that are cached.
    #[test]
    fn linear_reading_may_lose_what_is_cached_and_the_best_order_does_not() {
        let file = [
            sled(Level::Device, "disk", 0, 18_000_000),
            sled(Level::Memory, "memory", 18_000_000, 27_000_000),
        ];
        assert_eq!(time(&file, Plan::Best, None), (2580, 2580), "18 ms + 2 s + 27/48 s");
        assert_eq!(time(&file, Plan::Linear, None), (2580, 5018), "at worst all 45 MB from disk");
        assert_eq!(
            time(&file, Plan::Linear, Some(18_000_000)),
            (2580, 2580),
            "there is room for both"
        );
        let turned = [
            sled(Level::Memory, "memory", 0, 27_000_000),
            sled(Level::Device, "disk", 27_000_000, 18_000_000),
        ];
        assert_eq!(
            time(&turned, Plan::Linear, None),
            (2580, 2580),
            "the cached part comes first anyway"
        );
    }

    #[test]
    fn what_is_fetched_of_one_file_pushes_out_what_is_cached_of_the_next() {
        let fetched = [sled(Level::Device, "disk", 0, 9_000_000)];
        let cached = [sled(Level::Memory, "memory", 0, 9_000_000)];
        let all = |room| {
            let mut delivery = Delivery::new(Plan::Linear, room);
            [&fetched, &cached, &cached].iter().for_each(|file| delivery.add(&file[..]));
            (delivery.time().low.as_millis(), delivery.time().high.as_millis())
        };
        assert_eq!(all(Some(9_000_000)), (1393, 1393), "1018 ms and twice 187.5 ms");
        assert_eq!(all(None), (1393, 3054), "three times 1018 ms");
    }

    #[test]
    fn what_is_unknown_gives_a_range() {
        let unknown =
            Sled { confidence: Confidence::Unknown, ..sled(Level::Unknown, "disk", 0, 9_000_000) };
        let (low, high) = time(&[unknown], Plan::Best, None);
        assert_eq!((low, high), (2, 1018), "from memory at 4 GB/s, or all from disk");
    }

    #[test]
    fn a_hole_costs_nothing_and_what_never_ends_takes_for_ever() {
        let hole = Sled {
            bandwidth: f64::INFINITY,
            latency: Duration::ZERO,
            ..sled(Level::Hole, "disk", 0, 1 << 40)
        };
        assert_eq!(time(&[hole], Plan::Linear, None), (0, 0));
        let stuck = Sled { bandwidth: 0.0, ..sled(Level::Network, "nfs", 0, 1) };
        assert_eq!(total_delivery_time(&[stuck, stuck], Plan::Linear).high, Duration::MAX);
    }
}
