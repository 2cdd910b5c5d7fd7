//! Tracks: within one, angles rise evenly with the offset; between two they jump by the skew. The
//! probe walks backwards in even strides and looks for the jumps, then closes in on single ones,
//! each on a track further down: nothing there has come into the disk's cache yet.

use super::super::probing::Probing;
use super::super::statistics::{edge, mean, median, spread, standard_error};
use super::spindle::{Spindle, around};
use crate::Error;

/// Steps that a stride makes of a track.
const STRIDES: f64 = 8.0;

/// The slope of the angles at a place, in turns for each byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slope {
    pub(super) turns: f64,
    pub(super) error: f64,
}

/// Angles at even strides downwards.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// How far each angle, the first read's included, lies beyond where an even slope puts it.
    pub(super) beyond: Vec<f64>,
    /// One over the latency squared: errors are shares of it.
    pub(super) weights: Vec<f64>,
}

impl Walk {
    fn steps(&self) -> usize {
        self.beyond.len() - 1
    }
}

/// Walks down from `top`. The angles are aimed at with `slope`.
pub(super) fn walk(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    top: u64,
    stride: u64,
    steps: usize,
    slope: f64,
) -> Result<Walk, Error> {
    let expected = stride as f64 * slope;
    let first = spindle.at_once(probing, top)?;
    let mut angle = first.angle;
    let weight = |latency_ns: f64| (latency_ns / spindle.turn_ns).max(1e-3).powi(-2);
    let mut walk = Walk { beyond: vec![0.0], weights: vec![weight(first.latency_ns)] };
    let mut offset = top;
    for step in 0..steps {
        let Some(next) = offset.checked_sub(stride) else { break };
        offset = next;
        let seen = spindle.aimed(probing, offset, angle - expected, spindle.lead_ns())?;
        walk.beyond.push(walk.beyond[step] + around(angle - seen.angle - expected));
        walk.weights.push(weight(seen.latency_ns));
        angle = seen.angle;
    }
    Ok(walk)
}

/// The slope at a place, from a slope that may be off by `guess.error`.
pub(super) fn slope(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    top: u64,
    guess: Slope,
) -> Result<Slope, Error> {
    let grain = probing.grain() as f64;
    let grain_bytes = probing.grain();
    let mut known = guess;
    let mut top = top;
    for _ in 0..8 {
        let whole = 1.0 / (STRIDES * known.turns.max(known.error / 4.0));
        let safe = 0.12 / known.error.max(1e-15);
        let stride = ((whole.min(safe) / grain).floor().max(1.0) as u64) * grain_bytes;
        // Once the slope is known well enough to aim at short reads, more of them.
        let fine = known.error < 0.15 * known.turns;
        let walk = walk(probing, spindle, top, stride, if fine { 40 } else { 12 }, known.turns)?;
        top = top.saturating_sub((walk.steps() as u64 + 1) * stride);
        if walk.steps() < 8 {
            break;
        }
        let expected = stride as f64 * known.turns;
        let falls: Vec<f64> =
            walk.beyond.windows(2).map(|pair| expected + pair[1] - pair[0]).collect();
        let (fall, error) = steady(&falls);
        known = Slope { turns: fall / stride as f64, error: error / stride as f64 };
        if fine && whole <= safe {
            break;
        }
    }
    Ok(known)
}

/// The mean of falls without those that have a jump in them, and its error. Falls that follow each
/// other share an angle, so their mean is as exact as the angles at the ends of each run of them.
fn steady(falls: &[f64]) -> (f64, f64) {
    let (middle, width) = (median(falls), spread(falls).max(1e-6));
    let inside = |fall: &f64| (fall - middle).abs() < 3.0 * width;
    let kept: Vec<f64> = falls.iter().copied().filter(inside).collect();
    let runs = 1 + falls.windows(2).filter(|pair| inside(&pair[0]) != inside(&pair[1])).count() / 2;
    let error = width * (2.0 * runs as f64).sqrt() / kept.len() as f64;
    (mean(&kept), error.max(2e-4 * middle.abs()))
}

/// A border between two tracks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Border {
    /// The first byte of the upper track lies in the last `within` bytes up to here.
    pub(super) first: u64,
    pub(super) within: u64,
    /// The size of the angle's jump in standard errors.
    pub(super) sigmas: f64,
}

/// Looks for the one border among the bytes from `low` to `high`, in steps of `stride`.
pub(super) fn border(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    low: u64,
    high: u64,
    stride: u64,
    slope: f64,
) -> Result<Option<Border>, Error> {
    // Two reads more on each side say what no border looks like.
    let steps = (high.saturating_sub(low)).div_ceil(stride) as usize + 4;
    let top = high + 2 * stride;
    let walk = walk(probing, spindle, top, stride, steps, slope)?;
    if walk.steps() < steps {
        return Ok(None);
    }
    // The first read is not aimed, and says least.
    let Some(edge) = edge(&walk.beyond, &walk.weights) else { return Ok(None) };
    Ok(Some(Border {
        first: top - (edge.at as u64 - 1) * stride,
        within: stride,
        sigmas: edge.jump.abs() / edge.error.max(1e-9),
    }))
}

/// The tracks around a place.
#[derive(Clone, Debug)]
pub(super) struct Tracks {
    /// Bytes of a track, and how far that may be off.
    pub(super) bytes: f64,
    pub(super) error: f64,
    /// The smallest jump that this stands on, in standard errors.
    pub(super) sigmas: f64,
    /// Borders that were found where the tracks' size put them.
    pub(super) confirmed: u32,
}

/// A jump of less than this many standard errors is not taken for a border.
const JUMP_SIGMAS: f64 = 6.0;

/// The exact size of the tracks below `top`, where borders jump; a second and a third look further
/// down where chance has led the first astray.
pub(super) fn exact(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    top: u64,
    slope: Slope,
) -> Result<Option<Tracks>, Error> {
    let mut top = top;
    for _ in 0..3 {
        if let Some(tracks) = hunt(probing, spindle, top, slope)? {
            // Tracks have whole sectors: borders that agree on anything else are wrong.
            let off = tracks.bytes - (tracks.bytes / SECTOR).round() * SECTOR;
            let near = (tracks.bytes * slope.turns - 1.0).abs() < 5.0 * slope.error / slope.turns;
            if tracks.confirmed >= 2 && off.abs() <= tracks.error.max(1.0) && near {
                return Ok(Some(tracks));
            }
        }
        let far = (40.0 / slope.turns) as u64 / probing.grain() * probing.grain();
        top = top.saturating_sub(far);
    }
    Ok(None)
}

/// Bytes of a sector.
const SECTOR: f64 = 512.0;

fn hunt(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    top: u64,
    slope: Slope,
) -> Result<Option<Tracks>, Error> {
    let grain = probing.grain();
    let mut hunt = Hunt {
        aligned: grain,
        bytes: 1.0 / slope.turns,
        error: slope.error / slope.turns.powi(2),
        floor: top,
        last: None,
    };
    let mut sigmas = f64::INFINITY;
    let mut confirmed = 0;
    let mut origin: Option<Border> = None;
    for _ in 0..24 {
        // Once one border is known to the sector, the next ones lie further and further down.
        let tracks = 5u64.pow(confirmed);
        let Some((low, high)) = hunt.range(tracks) else { break };
        let stride = hunt.whole((high - low) as f64 / 24.0);
        let found = border(probing, spindle, low, high, stride, slope.turns)?;
        let Some(found) = found.filter(|found| found.sigmas >= JUMP_SIGMAS) else { break };
        if !hunt.take(found, low) {
            break;
        }
        if stride > grain {
            continue;
        }
        sigmas = sigmas.min(found.sigmas);
        match origin {
            None => {
                origin = Some(found);
                hunt.last = origin;
            }
            Some(origin) => {
                confirmed += 1;
                let tracks = ((origin.first - found.first) as f64 / hunt.bytes).round();
                hunt.bytes = (origin.first - found.first) as f64 / tracks;
                hunt.error = 0.5 * grain as f64 / tracks;
                hunt.last = Some(origin);
            }
        }
        if confirmed >= 3 {
            break;
        }
    }
    let (bytes, error) = (hunt.bytes, hunt.error);
    Ok((confirmed > 0).then_some(Tracks { bytes, error, sigmas, confirmed }))
}

/// The hunt for borders: what is known of the tracks' size, and from where on nothing was read.
struct Hunt {
    aligned: u64,
    bytes: f64,
    error: f64,
    floor: u64,
    last: Option<Border>,
}

impl Hunt {
    fn whole(&self, bytes: f64) -> u64 {
        (bytes / self.aligned as f64).ceil().max(1.0) as u64 * self.aligned
    }

    /// Where the next border must lie: at least this many tracks below the last, and below all that
    /// was read. `None` at the start of the disk, or where tracks blur into each other.
    fn range(&self, tracks: u64) -> Option<(u64, u64)> {
        let Some(last) = self.last else {
            let low = self.floor.checked_sub(self.whole(1.05 * self.bytes))?;
            return Some((low, self.floor));
        };
        let mut tracks = tracks as f64;
        loop {
            let slack = 2.5 * self.error * tracks + self.aligned as f64;
            let middle = last.first as f64 - self.bytes * tracks;
            let (low, high) = (middle - last.within as f64 - slack, middle + slack);
            if low < 16.0 * self.aligned as f64 + (high - low) || slack > 0.3 * self.bytes {
                return None;
            }
            let margin = (high - low) / 8.0 + 4.0 * self.aligned as f64;
            if high + margin <= self.floor as f64 {
                let align = |bytes: f64| bytes as u64 / self.aligned * self.aligned;
                return Some((align(low), align(high)));
            }
            tracks += 1.0;
        }
    }

    /// Takes in a border that was found. Returns whether it stands where it may.
    fn take(&mut self, found: Border, low: u64) -> bool {
        self.floor = low.saturating_sub(4 * found.within);
        if let Some(last) = self.last {
            let apart = last.first as f64 - found.first as f64;
            let tracks = (apart / self.bytes).round().max(1.0);
            let error = (last.within + found.within) as f64 / 12f64.sqrt() / tracks;
            let within = (last.within + found.within) as f64 / tracks;
            if (apart / tracks - self.bytes).abs() > 4.0 * self.error + within {
                return false;
            }
            if error < self.error {
                (self.bytes, self.error) = (apart / tracks, error);
            }
        }
        self.last = Some(found);
        true
    }
}

/// Skews of the tracks, and how many make a cylinder.
#[derive(Clone, Debug)]
pub(super) struct Skews {
    /// Jump between two tracks of a cylinder in turns, and its error.
    pub(super) track: Option<(f64, f64)>,
    /// Jump to the next cylinder.
    pub(super) cylinder: Option<(f64, f64)>,
    /// Tracks of a cylinder and how many standard errors speak for it; `None` if all jumps are
    /// alike.
    pub(super) heads: Option<(u32, f64)>,
    /// Each jump, in order downwards.
    pub(super) jumps: Vec<f64>,
}

/// Tracks that are walked over to see which jumps differ.
const TRACKS_SEEN: u64 = 50;
const HEADS_MAX: usize = 16;

/// Walks over some tracks whose size is known and measures each jump.
pub(super) fn skews(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    top: u64,
    track_bytes: f64,
) -> Result<Option<Skews>, Error> {
    let grain = probing.grain();
    let stride = ((track_bytes / STRIDES / grain as f64) as u64).max(1) * grain;
    let steps = (TRACKS_SEEN as f64 * track_bytes / stride as f64) as usize;
    let slope = 1.0 / track_bytes;
    let walk = walk(probing, spindle, top, stride, steps, slope)?;
    let rest: Vec<f64> = walk.beyond.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let sigma = spread(&rest).max(1e-6);
    // The jumps stand a track apart: the phase at which they are largest is that of the borders.
    let steps_of_track = track_bytes / stride as f64;
    // Where the borders lie, in strides: the shift of windows that have the jumps in their middle.
    let centred = |shift: f64| -> f64 {
        let place = |number: usize| {
            let within = ((number as f64 + 0.5 - shift) / steps_of_track).rem_euclid(1.0);
            1.0 - 2.0 * (within - 0.5).abs()
        };
        (0..rest.len()).map(|number| rest[number] * rest[number] * place(number)).sum()
    };
    let shifts = (0..16).map(|part| f64::from(part) / 16.0 * steps_of_track);
    let Some(shift) = shifts.max_by(|&one, &other| centred(one).total_cmp(&centred(other))) else {
        return Ok(None);
    };
    let levels = levels(&walk, shift + 0.5 * steps_of_track, steps_of_track);
    let first = levels.windows(2).next().map_or(0.0, |pair| pair[1] - pair[0]);
    // Around the first: a jump of half a turn may be read as one backwards.
    let jumps: Vec<f64> =
        levels.windows(2).map(|pair| first + around(pair[1] - pair[0] - first)).collect();
    if jumps.len() < 12 {
        return Ok(None);
    }
    // A level's error: that of an angle is that of a fall over the root of two.
    let error = sigma / (STRIDES - 2.0).sqrt();
    let turn = |values: &[f64]| {
        (mean(values).rem_euclid(1.0), standard_error(values).max(error / values.len() as f64))
    };
    let Some((heads, place, sigmas)) = period(&jumps, error) else {
        let (middle, width) = (median(&jumps), spread(&jumps));
        let alike = width < 3.0 * error
            && jumps.iter().all(|jump| (jump - middle).abs() < 4.5 * width.min(1.5 * error));
        let cylinder = alike.then(|| turn(&jumps));
        return Ok(Some(Skews { track: None, cylinder, heads: None, jumps }));
    };
    let (mut track, mut cylinder) = (Vec::new(), Vec::new());
    for (number, &jump) in jumps.iter().enumerate() {
        if number % heads == place { cylinder.push(jump) } else { track.push(jump) }
    }
    // Of two kinds that take turns, the larger is that of cylinders: there the arm moves.
    if heads == 2 && mean(&track) > mean(&cylinder) {
        std::mem::swap(&mut track, &mut cylinder);
    }
    Ok(Some(Skews {
        track: Some(turn(&track)),
        cylinder: Some(turn(&cylinder)),
        heads: Some((heads as u32, sigmas)),
        jumps,
    }))
}

/// The mean angle of each track, where borders lie every `period` steps from `first` on.
fn levels(walk: &Walk, first: f64, period: f64) -> Vec<f64> {
    let whole = ((walk.beyond.len() as f64 - first) / period) as usize;
    let level = |track: usize| {
        let from = first + track as f64 * period;
        let (from, to) = ((from + 1.2).ceil() as usize, (from + period - 1.2).floor() as usize);
        let places = from..=to.min(walk.steps()).max(from);
        let weight: f64 = walk.weights[places.clone()].iter().sum();
        places.map(|place| walk.beyond[place] * walk.weights[place]).sum::<f64>() / weight
    };
    (0..whole).map(level).collect()
}

/// A period of jumps stands out from the next best one by at least this many standard errors: many
/// periods are tried, so chance has many chances.
const PERIOD_SIGMAS: f64 = 5.0;

/// The period with which one jump differs from the others, its place in it, and how clearly.
fn period(jumps: &[f64], error: f64) -> Option<(usize, usize, f64)> {
    let squares = |heads: usize, place: usize| -> f64 {
        let of = |same: bool| -> f64 {
            let level: Vec<f64> = (0..jumps.len())
                .filter(|number| (number % heads == place) == same)
                .map(|number| jumps[number])
                .collect();
            let middle = mean(&level);
            level.iter().map(|jump| (jump - middle).powi(2)).sum()
        };
        of(true) + of(false)
    };
    let mut tried: Vec<(f64, usize, usize)> = (2..=HEADS_MAX.min(jumps.len() / 3))
        .flat_map(|heads| (0..heads).map(move |place| (heads, place)))
        .map(|(heads, place)| (squares(heads, place), heads, place))
        .collect();
    tried.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let &(left, heads, place) = tried.first()?;
    let variance = (left / (jumps.len() as f64 - 2.0)).max(error * error / 4.0);
    let middle = mean(jumps);
    let all: f64 = jumps.iter().map(|jump| (jump - middle).powi(2)).sum();
    let rival = tried.iter().find(|other| other.1 != heads).map_or(all, |other| other.0);
    let sigmas = ((rival.min(all) - left).max(0.0) / variance).sqrt();
    // What is left over must be noise: a third kind of jump would be something else.
    let noise = variance.sqrt() < 4.0 * error;
    (sigmas > PERIOD_SIGMAS && noise).then_some((heads, place, sigmas))
}
