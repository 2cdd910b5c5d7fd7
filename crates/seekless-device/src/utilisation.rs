//! How much of a device's time moves bytes when I/Os go to random places one at a time: Fig. 1 of
//! Wu, Xi and Xu 2010. Large I/Os use a disk better, since each pays for positioning once.

use crate::{AnyDevice, Costs, DeviceModel, DeviceSpec, Io, Nanos, Parameters, SplitMix64};
use serde::Serialize;

/// I/Os of one size at random places.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Utilisation {
    /// Size of each I/O.
    pub bytes: u64,
    /// What one takes on average.
    pub mean_ns: Nanos,
    /// The share of the time in which the bytes flow at the device's bandwidth.
    pub share: f64,
    /// The same by the paper's formula; see [`Costs::utilisation`].
    pub by_formula: f64,
}

/// The sizes of the paper's figure: 4 KiB to 16 MiB.
const SIZES: std::ops::RangeInclusive<u32> = 12..=24;
const SAMPLES: u64 = 256;
/// A volume has used up what it allows at its start, and is measured for so long.
const USED_UP_NS: Nanos = 1_000_000_000;
const MANY_NS: Nanos = 20_000_000_000;
/// Where places are random on a device without a size.
const SPAN_BYTES: u64 = 1_000_000_000_000;

impl Utilisation {
    /// What the model of `device` makes of reads of 4 KiB to 16 MiB, doubling. The same each time.
    #[must_use]
    pub fn curve(device: &DeviceSpec) -> Vec<Utilisation> {
        let span = device.parameters().capacity_bytes().unwrap_or(SPAN_BYTES);
        SIZES.map(|power| sample(device, span, 1 << power)).collect()
    }
}

fn sample(device: &DeviceSpec, span: u64, bytes: u64) -> Utilisation {
    let mut reads =
        Reads { model: lasting(device.parameters()), bytes, places: (span / bytes).max(1) };
    let mut draws = SplitMix64::new(bytes);
    let costs = reads.model.costs();
    let mean_ns = match device.parameters() {
        Parameters::Volume(_) => reads.mean_of_limits(&mut draws),
        _ => reads.go(0, SAMPLES, &mut draws) / SAMPLES,
    };
    let flow_ns = bytes as f64 / costs.bytes_per_second as f64 * 1e9;
    let share = flow_ns / mean_ns.max(1) as f64;
    Utilisation { bytes, mean_ns, share, by_formula: costs.utilisation(bytes) }
}

/// The device as it is in the long run: without credit saved up.
fn lasting(mut parameters: Parameters) -> AnyDevice {
    if let Parameters::Volume(volume) = &mut parameters {
        volume.burst = None;
    }
    parameters.model().expect("a volume's numbers stand without its burst")
}

/// Reads of one size at random places, one at a time.
struct Reads {
    model: AnyDevice,
    bytes: u64,
    places: u64,
}

impl Reads {
    /// Makes `count` reads, the first at `now`. Returns when the last has ended.
    fn go(&mut self, mut now: Nanos, count: u64, draws: &mut SplitMix64) -> Nanos {
        for tag in 0..count {
            let offset = draws.below(self.places) * self.bytes;
            self.model.submit(now, Io { tag, write: false, offset, bytes: self.bytes });
            self.model.advance(Nanos::MAX, &mut |end, _| now = end);
        }
        now
    }

    /// What a read takes of a device that lets some pass at once and holds up others: the mean of
    /// many seconds, after some in which it uses up what it allows at first.
    fn mean_of_limits(&mut self, draws: &mut SplitMix64) -> Nanos {
        let mut now = 0;
        while now < USED_UP_NS {
            now = self.go(now, SAMPLES, draws);
        }
        let (begun, mut count) = (now, 0);
        while now - begun < MANY_NS {
            now = self.go(now, SAMPLES, draws);
            count += SAMPLES;
        }
        (now - begun) / count
    }
}

impl Costs {
    /// The share of a disk's time that moves bytes, by the formula of Wu, Xi and Xu 2010, section
    /// 1: `S / (R × T + S)`. S is the size of an I/O in bytes, R the bandwidth, and T what a
    /// request costs.
    #[must_use]
    pub fn utilisation(&self, bytes: u64) -> f64 {
        let positioning = self.bytes_per_second as f64 * self.request_ns as f64 / 1e9;
        bytes as f64 / (positioning + bytes as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mebibyte_uses_a_disk_a_hundred_times_as_well_as_a_page() {
        // The paper's text, for 80 MB/s and 8 ms.
        let disk = Costs { request_ns: 8_000_000, bytes_per_second: 80_000_000, depth: 1 };
        let ratio = disk.utilisation(1 << 20) / disk.utilisation(4096);
        assert!((95.0..105.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn the_disk_agrees_with_the_formula_while_it_is_one_command() {
        let curve = Utilisation::curve(&"wu-2010-cached".parse().unwrap());
        assert_eq!((curve[0].bytes, curve.last().unwrap().bytes), (4 << 10, 16 << 20));
        assert!(curve.is_sorted_by(|one, next| one.share < next.share), "{curve:?}");
        for point in &curve {
            let apart = point.share / point.by_formula;
            assert!((0.9..1.1).contains(&apart), "{point:?}");
        }
    }

    #[test]
    fn no_volume_moves_more_bytes_than_its_bandwidth() {
        for device in
            ["gp3", "iops=500,bandwidth=150MB/s", "iops=200,bandwidth=80MB/s,burst=3000x90000"]
        {
            let curve = Utilisation::curve(&device.parse().unwrap());
            for point in &curve {
                assert!(point.share <= 1.005, "{device}: {point:?}");
            }
            // One at a time, large reads wait for the bandwidth alone.
            assert!(curve.last().unwrap().share > 0.95, "{device}: {curve:?}");
        }
    }

    #[test]
    fn a_disk_that_does_not_read_on_loses_a_revolution_for_each_command() {
        let curve = Utilisation::curve(&"wu-2010".parse().unwrap());
        // 512 KiB flow for 10.4 ms and then 8.3 ms are lost: never more than 0.56.
        let share = curve.last().unwrap().share;
        assert!((0.52..0.56).contains(&share), "{share}");
    }
}
