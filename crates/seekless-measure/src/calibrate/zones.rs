//! The zones of a disk: its outer tracks, which come first, hold more than the inner ones and are
//! read faster (Van Meter and Gao 2000, section 6, on the zones of disks).
//!
//! Runs of sequential reads at several places take turns. Where the bandwidth of a place differs
//! from that of the places before it by more than the runs of one place differ among themselves, a
//! zone begins. So a device without zones, such as a flash drive, gets none, whatever it says of
//! itself.

use crate::Error;
use seekless_device::median;
use serde::Serialize;
use std::ops::Range;

/// The places, from the first byte to the last.
const SPOTS: usize = 5;
/// Runs at each place.
const ROUNDS: u64 = 5;
/// Over less of a disk, the bandwidth differs by less than the noise.
const SPAN_BYTES_MIN: u64 = 4 << 30;
/// Bandwidths that differ by less than this share are one zone.
const DIFFERENCE_MIN: f64 = 0.05;
/// A device has zones if its fastest and its slowest place also differ by this many standard
/// errors. With the seeds of the test below, at most 2 of 400 devices without zones did.
const ERRORS_MIN: f64 = 5.0;
/// Where it has zones, another one begins at a place that differs by this many from those before.
const BORDER_ERRORS_MIN: f64 = 2.0;

/// A part of a device with one bandwidth, up to the next zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BandwidthZone {
    /// The first byte of the device; 0 for the first zone.
    pub from_byte: u64,
    /// Bytes per second.
    pub bytes_per_second: u64,
}

/// What the runs at one place have shown.
#[derive(Clone, Debug)]
struct Spot {
    /// Where on the device.
    byte: u64,
    /// Bytes per second, of each run.
    rates: Vec<f64>,
}

/// Whether the data of a device spans enough of it for its zones to differ.
pub(super) fn may_differ(span: &Range<u64>) -> bool {
    span.end.saturating_sub(span.start) >= SPAN_BYTES_MIN
}

/// Measures the zones of a device whose data lies in `span`. `run` reads near a byte of the device,
/// and returns where it did and the bytes per second; `None` when no time is left. Each run comes
/// `step` bytes after the last at its place, since a drive remembers what was read. Empty if there
/// is one zone, or nothing was found out.
///
/// # Errors
/// Those of `run`.
pub(super) fn measure(
    span: Range<u64>,
    step: u64,
    run: &mut dyn FnMut(u64) -> Result<Option<(u64, f64)>, Error>,
) -> Result<Vec<BandwidthZone>, Error> {
    if !may_differ(&span) {
        return Ok(Vec::new());
    }
    let part = (span.end - span.start) / SPOTS as u64;
    let start = |spot: usize| span.start + part * spot as u64 + part / 2;
    let mut spots: Vec<Spot> =
        (0..SPOTS).map(|spot| Spot { byte: start(spot), rates: Vec::new() }).collect();
    for round in 0..ROUNDS {
        for (number, spot) in spots.iter_mut().enumerate() {
            let Some((byte, rate)) = run(start(number) + round * step)? else {
                return Ok(Vec::new()); // a few runs do not show how much runs differ
            };
            spot.byte = if round == 0 { byte } else { spot.byte };
            spot.rates.push(rate);
        }
    }
    Ok(zones(spots))
}

fn zones(mut spots: Vec<Spot>) -> Vec<BandwidthZone> {
    spots.sort_by_key(|spot| spot.byte);
    spots.dedup_by_key(|spot| spot.byte); // the same data is nearest to several places
    let error = error_of_difference(&spots);
    let rates: Vec<f64> = spots.iter().map(|spot| middle(&spot.rates)).collect();
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    // The error is a share of a median, so the difference is, too.
    if (most - least) / middle(&rates) <= DIFFERENCE_MIN.max(ERRORS_MIN * error) {
        return Vec::new();
    }
    let threshold = DIFFERENCE_MIN.max(BORDER_ERRORS_MIN * error);
    let mut zones: Vec<(u64, Vec<f64>)> = Vec::new();
    let mut before = 0;
    for spot in spots {
        let rate = middle(&spot.rates);
        match zones.last_mut() {
            Some((_, rates)) if (rate / middle(rates) - 1.0).abs() <= threshold => {
                rates.extend(&spot.rates);
            }
            None => zones.push((0, spot.rates)),
            // The border lies somewhere between the two places.
            Some(_) => zones.push((before + (spot.byte - before) / 2, spot.rates)),
        }
        before = spot.byte;
    }
    let zone = |(from_byte, rates): (u64, Vec<f64>)| BandwidthZone {
        from_byte,
        bytes_per_second: (middle(&rates).round() as u64).max(1),
    };
    zones.into_iter().map(zone).collect()
}

/// The standard error of the difference between the medians of two places, as a share: by how much
/// runs at one place differ from its median, of all places together.
fn error_of_difference(spots: &[Spot]) -> f64 {
    let mut shares: Vec<f64> = spots
        .iter()
        .flat_map(|spot| {
            let middle = middle(&spot.rates);
            spot.rates.iter().map(move |rate| (rate / middle - 1.0).abs())
        })
        .collect();
    // Of a normal distribution, 1.48 median deviations are a standard deviation, and a median's
    // error is 1.25 times a mean's. Of five runs, one is the median itself and deviates by nothing,
    // which makes the median deviation a third too small.
    let deviation = 1.48 * 1.33 * median(&mut shares).unwrap_or(0.0);
    deviation * 1.25 * (2.0 / ROUNDS as f64).sqrt()
}

fn middle(rates: &[f64]) -> f64 {
    median(&mut rates.to_vec()).unwrap_or(0.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_device::SplitMix64;

    const TB: u64 = 1_000_000_000_000;

    /// A planted device of 4 TB: `rate` says its bandwidth at a byte, as a run reads it with a
    /// normal error of this share.
    fn probe(rate: &dyn Fn(u64) -> f64, error: f64, seed: u64) -> Vec<BandwidthZone> {
        let mut dice = SplitMix64::new(seed);
        let mut uniform = move || dice.below(1 << 20) as f64 / f64::from(1 << 20);
        let mut run = |byte: u64| {
            let normal = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
            Ok(Some((byte, rate(byte) * (1.0 + error * normal).max(0.1))))
        };
        measure(0..4 * TB, 8 << 20, &mut run).expect("a run does not fail")
    }

    fn at(zones: &[BandwidthZone], byte: u64) -> f64 {
        let zone = zones.iter().rev().find(|zone| zone.from_byte <= byte).expect("from byte 0");
        zone.bytes_per_second as f64
    }

    #[test]
    fn the_zones_of_a_disk_are_found_from_the_outer_to_the_inner() {
        // As the square root of the area that is left, like tracks of equal density.
        let rate = |byte: u64| 210e6 * (1.0 - 0.72 * byte as f64 / (4 * TB) as f64).sqrt();
        for seed in 0..50 {
            let zones = probe(&rate, 0.02, seed);
            assert!(zones.len() >= 4 && zones[0].from_byte == 0, "{zones:?}");
            let falls = |pair: &[BandwidthZone]| {
                pair[0].from_byte < pair[1].from_byte
                    && pair[0].bytes_per_second > pair[1].bytes_per_second
            };
            assert!(zones.windows(2).all(falls), "{zones:?}");
            for tenth in [1, 3, 5, 7, 9] {
                let byte = 4 * TB * tenth / 10;
                let off = at(&zones, byte) / rate(byte) - 1.0;
                assert!(off.abs() < 0.1, "{tenth} tenths: {off}");
            }
        }
    }

    #[test]
    fn two_zones_have_their_border_between_the_places_that_differ() {
        let rate = |byte: u64| if byte < 2 * TB { 200e6 } else { 100e6 };
        let zones = probe(&rate, 0.0, 1);
        let rates: Vec<u64> = zones.iter().map(|zone| zone.bytes_per_second).collect();
        // The middle place, at half of the device, is in the second zone.
        assert_eq!(rates, [200_000_000, 100_000_000]);
        assert!((4 * TB * 3 / 10..2 * TB).contains(&zones[1].from_byte), "{zones:?}");
    }

    #[test]
    fn a_device_with_one_bandwidth_has_no_zones_however_noisy_it_is() {
        for error in [0.0, 0.01, 0.05, 0.1, 0.2] {
            let found = (0..400).filter(|&seed| !probe(&|_| 500e6, error, seed).is_empty()).count();
            assert!(found <= 4, "{found} of 400 with an error of {error}");
        }
    }

    #[test]
    fn a_small_span_and_a_run_that_has_no_time_show_nothing() {
        let mut runs = 0;
        let mut run = |byte: u64| {
            runs += 1;
            Ok((runs < 7).then_some((byte, 1e8 / runs as f64)))
        };
        assert_eq!(measure(0..SPAN_BYTES_MIN - 1, 1, &mut run).expect("none fails"), []);
        assert_eq!(measure(0..TB, 1, &mut run).expect("none fails"), []);
        assert_eq!(runs, 7);
    }
}
