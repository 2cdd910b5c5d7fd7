//! The arm: how long it takes over a distance. A read elsewhere takes the overhead and the move,
//! and then waits for its sector. Of all moments to ask for it, the last that still catches the
//! sector in its turn shows the move without the wait.

use super::super::probing::Probing;
use super::super::statistics::{least_squares, median, spread};
use super::spindle::{Anchor, Spindle};
use crate::Error;
use seekless_device::{DiskZone, LongSeek, Seek};

/// Where tracks and cylinders lie, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct Map {
    pub(super) zones: Vec<DiskZone>,
    pub(super) heads: u64,
}

impl Map {
    fn zone(&self, byte: u64) -> (usize, &DiskZone) {
        let after = self.zones.partition_point(|zone| zone.from_byte <= byte).max(1);
        (after - 1, &self.zones[after - 1])
    }

    /// Turns that a byte takes at a place.
    pub(super) fn slope(&self, byte: u64) -> f64 {
        1.0 / self.zone(byte).1.track_bytes as f64
    }

    /// The cylinder of a byte; each zone begins with a whole one.
    pub(super) fn cylinder(&self, byte: u64) -> u64 {
        let (number, zone) = self.zone(byte);
        let of =
            |zone: &DiskZone, bytes: u64| (bytes / zone.track_bytes.max(1)).div_ceil(self.heads);
        let before: u64 = (0..number)
            .map(|number| {
                of(
                    &self.zones[number],
                    self.zones[number + 1].from_byte - self.zones[number].from_byte,
                )
            })
            .sum();
        before + (byte - zone.from_byte) / zone.track_bytes.max(1) / self.heads
    }
}

/// The least time from asking for a sector at `to` until it ends, from the track of `from`.
pub(super) fn reach(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    map: &Map,
    from: u64,
    to: u64,
) -> Result<f64, Error> {
    let grain = probing.grain();
    let (mut here, mut there) = (from, to);
    let mut anchor = Anchor::default();
    let turn = -(grain as f64) * map.slope(to);
    let (mut made, mut missed) = (EARLY, 0.0);
    let mut turns_least = f64::INFINITY;
    for trial in 0..11 {
        (here, there) = (here - grain, there - grain);
        spindle.at_once(probing, here)?;
        anchor.turn(turn);
        if trial == 0 {
            anchor.add(spindle.at_once(probing, there)?, 0.0);
            continue;
        }
        // The first lead is so early that the sector is caught in the first turn possible.
        let lead = if trial == 1 { EARLY } else { f64::midpoint(made, missed) };
        let seen = spindle.aimed(probing, there, anchor.angle(), lead * spindle.turn_ns)?;
        anchor.add(seen, 0.0);
        let turns = (seen.latency_ns / spindle.turn_ns - lead).round();
        turns_least = turns_least.min(turns);
        if turns > turns_least { missed = lead } else { made = lead }
    }
    Ok((made + turns_least) * spindle.turn_ns)
}

/// A lead of nearly a turn.
const EARLY: f64 = 0.97;

/// The curve of the arm's moves.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub(super) seek: Seek,
    /// Standard error of a move as the fit leaves it, in nanoseconds.
    pub(super) error_ns: f64,
    /// Distance in cylinders and time of the move.
    pub(super) points: Vec<(f64, f64)>,
}

/// Moves upwards are at least so long.
const BYTES_UP: u64 = 128 << 20;

/// Distances that are measured, from one cylinder to nearly all.
const DISTANCES: usize = 22;

/// Measures the moves and fits the curve.
pub(super) fn find(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    map: &Map,
) -> Result<Option<Arm>, Error> {
    let capacity = probing.capacity();
    let grain = probing.grain();
    let cylinders = map.cylinder(capacity - 1).max(1) as f64;
    let mut points = Vec::new();
    for number in 0..DISTANCES {
        let cylinders = cylinders.powf(number as f64 / (DISTANCES - 1) as f64) * 0.97;
        let mut times = Vec::new();
        for _ in 0..3 {
            let bytes = (cylinders.max(1.0) / map.cylinder(capacity - 1).max(1) as f64
                * capacity as f64) as u64;
            let room = capacity.saturating_sub(bytes + (64 << 10));
            let low = (32 * grain + probing.dice.below(room.max(1))) / grain * grain;
            let high = (low + bytes) / grain * grain;
            // A disk that reads on soon comes to what lies a little further: so that way goes back.
            let upwards = bytes > BYTES_UP && probing.dice.below(2) == 0;
            let (from, to) = if upwards { (low, high) } else { (high, low) };
            let distance = map.cylinder(from).abs_diff(map.cylinder(to));
            if distance == 0 || high >= capacity {
                continue;
            }
            let least = reach(probing, spindle, map, from, to)?;
            times.push((distance as f64, least - spindle.overhead_ns));
        }
        if times.is_empty() {
            continue;
        }
        let middle =
            |part: fn(&(f64, f64)) -> f64| median(&times.iter().map(part).collect::<Vec<_>>());
        points.push((middle(|time| time.0), middle(|time| time.1)));
    }
    let points = plausible(&points);
    Ok(fit(&points).map(|(seek, error_ns)| Arm { seek, error_ns, points }))
}

/// Without points that stand far off those behind them: a sector that the disk had in its cache, or
/// that it missed.
fn plausible(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let near = |number: usize| -> f64 {
        let low = number.saturating_sub(3);
        let high = (number + 4).min(points.len());
        median(&points[low..high].iter().map(|point| point.1).collect::<Vec<_>>())
    };
    let kept =
        (0..points.len()).filter(|&number| (0.4..2.5).contains(&(points[number].1 / near(number))));
    kept.map(|number| points[number]).collect()
}

/// The curve through the points: a root over short distances and a line over long ones, parted
/// where both together fit best; the root alone if the line does not fit much better.
fn fit(points: &[(f64, f64)]) -> Option<(Seek, f64)> {
    let root = |points: &[(f64, f64)]| line(points, f64::sqrt);
    let straight = |points: &[(f64, f64)]| line(points, |distance| distance);
    let whole = root(points)?;
    let parted = (5..points.len().saturating_sub(3)).filter_map(|at| {
        let (short, long) = points.split_at(at);
        let (short_fit, long_fit) = (root(short)?, straight(long)?);
        (long_fit.1 > 0.0).then_some((at, short_fit, long_fit))
    });
    let best = parted.min_by(|one, next| (one.1.2 + one.2.2).total_cmp(&(next.1.2 + next.2.2)));
    let count = points.len() as f64;
    let nanos = |value: f64| value.max(0.0).round() as u64;
    let settle_of = |fit: (f64, f64, f64)| nanos(fit.0);
    let (seek, rest, free) = match best {
        Some((at, short, long)) if (short.2 + long.2) * 2.0 < whole.2 => {
            let settle_ns = settle_of(short).min(nanos(long.0));
            let seek = Seek {
                settle_ns,
                base_ns: settle_of(short) - settle_ns,
                root_ns: nanos(short.1),
                long: Some(LongSeek {
                    from_cylinders: (points[at - 1].0 * points[at].0).sqrt() as u32,
                    base_ns: nanos(long.0) - settle_ns,
                    cylinder_ns: nanos(long.1),
                }),
            };
            (seek, short.2 + long.2, count - 5.0)
        }
        _ => {
            let seek = Seek {
                settle_ns: settle_of(whole),
                base_ns: 0,
                root_ns: nanos(whole.1),
                long: None,
            };
            (seek, whole.2, count - 2.0)
        }
    };
    // Residuals are shares of the time, as the weights are.
    let middle = median(&points.iter().map(|point| point.1).collect::<Vec<_>>());
    // Half as much again, since the curve was chosen by the same points.
    Some((seek, 1.5 * (rest / free.max(1.0)).sqrt() * middle))
}

/// Intercept, slope and weighted sum of squares of `time = a + b × of(distance)`; errors are taken
/// as shares of the time. Points that stand far off count less, the further the less.
fn line(points: &[(f64, f64)], of: fn(f64) -> f64) -> Option<(f64, f64, f64)> {
    let columns = [vec![1.0; points.len()], points.iter().map(|point| of(point.0)).collect()];
    let times: Vec<f64> = points.iter().map(|point| point.1).collect();
    let shares: Vec<f64> = times.iter().map(|time| 1.0 / time.abs().max(1e5)).collect();
    let mut weights: Vec<f64> = shares.iter().map(|share| share * share).collect();
    let mut squares = f64::INFINITY;
    let mut fit = Vec::new();
    for _ in 0..6 {
        fit = least_squares(&columns, &times, &weights)?;
        let off: Vec<f64> = (0..times.len())
            .map(|row| (times[row] - fit[0].0 - fit[1].0 * columns[1][row]) * shares[row])
            .collect();
        let width = 2.0 * spread(&off).max(1e-6);
        squares = off.iter().map(|off| off * off / (1.0 + (off / width).powi(2))).sum();
        for (row, off) in off.iter().enumerate() {
            weights[row] = shares[row].powi(2) / (1.0 + (off / width).powi(2));
        }
    }
    Some((fit[0].0, fit[1].0, squares))
}
