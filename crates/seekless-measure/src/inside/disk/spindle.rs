//! The rotation. A read from the platter ends when its sector has passed the head, so its end,
//! counted in turns, is the sector's angle. Reads go backwards: a disk's cache has what lies behind
//! a read, never what lies before it.

use super::super::probing::Probing;
use super::super::statistics::{least_squares, median, spread};
use crate::Error;

/// Turns that a disk can make: 1,500 to 40,000 a minute.
const TURN_NS: std::ops::RangeInclusive<f64> = 1.5e6..=40e6;

/// The rotation as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spindle {
    pub(super) turn_ns: f64,
    pub(super) turn_error_ns: f64,
    /// The least time from the start of a read to its end, on the track under the head.
    pub(super) reach_ns: f64,
    reach_error_ns: f64,
    /// Time of a command beside positioning and transfer.
    pub(super) overhead_ns: f64,
    /// How many standard errors speak for a rotation.
    pub(super) sigmas: f64,
    /// Turns that a byte takes, and the error of that.
    pub(super) slope: f64,
    pub(super) slope_error: f64,
    zero: f64,
}

/// A read that ended at an angle, in turns from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) angle: f64,
    pub(super) latency_ns: f64,
}

/// The nearest to zero of all angles that are this one.
pub(super) fn around(turns: f64) -> f64 {
    turns - turns.round()
}

impl Spindle {
    pub(super) fn angle(&self, time: f64) -> f64 {
        ((time - self.zero) / self.turn_ns).rem_euclid(1.0)
    }

    /// Reads a sector so that the read begins `lead` before the sector is expected to end: a short
    /// read has a small error.
    pub(super) fn aimed(
        &self,
        probing: &mut Probing<'_>,
        offset: u64,
        expected: f64,
        lead_ns: f64,
    ) -> Result<Seen, Error> {
        let now = probing.now() as f64;
        let start = self.angle(now + lead_ns);
        probing.wait_until(now + (expected - start).rem_euclid(1.0) * self.turn_ns);
        self.at_once(probing, offset)
    }

    /// Reads a sector now.
    pub(super) fn at_once(&self, probing: &mut Probing<'_>, offset: u64) -> Result<Seen, Error> {
        let span = probing.read(offset, probing.grain())?;
        let latency_ns = span.ns() as f64;
        Ok(Seen { angle: self.angle(span.begin as f64 + latency_ns), latency_ns })
    }

    /// A lead that suffices on neighbouring tracks too.
    pub(super) fn lead_ns(&self) -> f64 {
        self.reach_ns + 0.05 * self.turn_ns
    }
}

/// Ends of reads one sector before the other, with the turns between them.
struct Course {
    offset: u64,
    ends: Vec<f64>,
    turns: Vec<f64>,
}

impl Course {
    fn step(&mut self, probing: &mut Probing<'_>) -> Result<(f64, f64), Error> {
        self.offset -= probing.grain();
        let span = probing.read(self.offset, probing.grain())?;
        let before = self.ends.last().copied().unwrap_or(span.end as f64);
        self.ends.push(span.end as f64);
        Ok((span.end as f64 - before, span.ns() as f64))
    }

    /// Time of a turn and of a step, each with its error.
    fn fit(&self) -> Option<[(f64, f64); 2]> {
        let first = self.ends[0];
        let times: Vec<f64> = self.ends.iter().map(|end| end - first).collect();
        let steps: Vec<f64> = (0..times.len()).map(|step| -(step as f64)).collect();
        let columns = [vec![1.0; times.len()], self.turns.clone(), steps];
        let fit = least_squares(&columns, &times, &vec![1.0; times.len()])?;
        let rest: f64 = (0..times.len())
            .map(|row| {
                let line = (0..3).map(|column| fit[column].0 * columns[column][row]).sum::<f64>();
                (times[row] - line).powi(2)
            })
            .sum();
        let sigma = (rest / (times.len() as f64 - 3.0)).sqrt();
        Some([(fit[1].0, fit[1].1 * sigma), (fit[2].0, fit[2].1 * sigma)])
    }
}

/// Finds the rotation, or says why it was not found.
pub(super) fn find(probing: &mut Probing<'_>) -> Result<Result<Spindle, String>, Error> {
    let mut course =
        Course { offset: probing.anywhere(16 << 20), ends: Vec::new(), turns: Vec::new() };
    let mut steps = Vec::new();
    course.step(probing)?;
    course.turns.push(0.0);
    for _ in 0..32 {
        steps.push(course.step(probing)?.0);
    }
    let guess = median(&steps);
    if !TURN_NS.contains(&guess) {
        return Ok(Err(format!(
            "reads of the sector before take {:.3} ms, and a turn takes 1.5 to 40 ms: nothing turns",
            guess / 1e6
        )));
    }
    let count = |course: &mut Course, step: f64, turn: f64| {
        let before = course.turns.last().copied().unwrap_or(0.0);
        course.turns.push(before + (step / turn).round().max(0.0));
    };
    steps.iter().for_each(|&step| count(&mut course, step, guess));
    // Pauses of any length do not change where a sector passes: only the rotation does that.
    let (mut east, mut north) = (0.0, 0.0);
    let pauses = 48;
    for _ in 0..pauses {
        let pause = probing.dice.share() * 1.5 * guess;
        probing.pause(pause);
        let (step, _) = course.step(probing)?;
        count(&mut course, step, guess);
        let angle = std::f64::consts::TAU * step / guess;
        (east, north) = (east + angle.cos(), north + angle.sin());
    }
    // Rayleigh's test: without a rotation this is distributed as exp(-z).
    let z = (east * east + north * north) / f64::from(pauses);
    let sigmas = (2.0 * z).sqrt();
    if sigmas < 6.0 || z < 0.5 * f64::from(pauses) {
        return Ok(Err(why_no_angle(&steps, sigmas)));
    }
    // Pauses that double make the time of a turn exact.
    let Some(mut fit) = course.fit() else {
        return Ok(Err("the reads do not distinguish turns from steps".to_owned()));
    };
    for power in 0..12 {
        let turns = f64::from(1 << power);
        if turns * fit[0].1 > 0.1 * fit[0].0 {
            continue;
        }
        for _ in 0..2 {
            let ahead = turns * fit[0].0 - fit[1].0;
            let last = course.ends[course.ends.len() - 1];
            probing.wait_until(last + ahead - 0.4 * fit[0].0);
            let (step, _) = course.step(probing)?;
            count(&mut course, step + fit[1].0, fit[0].0);
        }
        fit = course.fit().unwrap_or(fit);
    }
    let (turn_ns, turn_error_ns) = fit[0];
    let grain = probing.grain() as f64;
    let spindle = Spindle {
        turn_ns,
        turn_error_ns: turn_error_ns.max(turn_ns * 1e-9),
        reach_ns: 0.4 * turn_ns,
        reach_error_ns: turn_ns,
        overhead_ns: 0.4 * turn_ns,
        sigmas,
        slope: fit[1].0 / turn_ns / grain,
        slope_error: fit[1].1 / turn_ns / grain,
        zero: course.ends[0],
    };
    Ok(Ok(spindle))
}

/// Why the ends of reads, this long one after the other, show no rotation.
fn why_no_angle(steps: &[f64], sigmas: f64) -> String {
    let (middle, spread) = (median(steps), spread(steps));
    let angle = format!("ends of reads keep no angle ({sigmas:.1} sigma)");
    if spread < 0.05 * middle {
        format!("{angle}: all reads take {:.3} ms, so nothing turns", middle / 1e6)
    } else {
        format!("{angle}: reads take {:.3} ± {:.3} ms", middle / 1e6, spread / 1e6)
    }
}

impl Spindle {
    /// Measures how soon a read can end, once the slope is known.
    pub(super) fn learn_reach(
        &mut self,
        probing: &mut Probing<'_>,
        slope: f64,
    ) -> Result<(), Error> {
        self.slope = slope;
        let reaches = reaches(probing, self)?;
        self.reach_ns = median(&reaches);
        let error = 1.25 * spread(&reaches) / (reaches.len() as f64).sqrt();
        self.reach_error_ns = error.max(3e-4 * self.turn_ns);
        self.overhead_ns = self.reach_ns;
        Ok(())
    }
}

/// What a read takes that the cache answers, and its error. Without a cache, what the last moment
/// to catch a sector leaves; a disk that reads on may have gone to the next track by then, and the
/// way back takes time.
pub(super) fn overhead(probing: &mut Probing<'_>, spindle: &Spindle) -> Result<(f64, f64), Error> {
    let mut again = Vec::new();
    for _ in 0..32 {
        let place = probing.anywhere(16 << 20);
        probing.read(place, probing.grain())?;
        again.push(probing.read(place, probing.grain())?.ns() as f64);
    }
    let middle = median(&again);
    let alike = again.iter().filter(|&&time| (time - middle).abs() < 0.2 * middle).count();
    if alike * 10 >= again.len() * 9 && middle < 1.1 * spindle.reach_ns {
        let error = 1.25 * spread(&again) / (again.len() as f64).sqrt();
        return Ok((middle, error.max(1e-3 * middle)));
    }
    let transfer = probing.grain() as f64 * spindle.slope * spindle.turn_ns;
    Ok(((spindle.reach_ns - transfer).max(1.0), spindle.reach_error_ns))
}

/// The least lead with which a read still ends within the turn, by halving, at several places.
fn reaches(probing: &mut Probing<'_>, spindle: &Spindle) -> Result<Vec<f64>, Error> {
    let grain = probing.grain();
    let mut found = Vec::new();
    for _ in 0..15 {
        let mut offset = probing.anywhere(16 << 20);
        let mut anchor = Anchor::default();
        anchor.add(spindle.at_once(probing, offset)?, 0.0);
        let (mut missed, mut made) = (0.0, spindle.turn_ns);
        for trial in 0..18 {
            offset -= grain;
            // First the angle, from reads with some time to spare.
            let settling = trial < 8;
            let lead = if settling { 0.4 * spindle.turn_ns } else { f64::midpoint(missed, made) };
            anchor.turn(-(grain as f64) * spindle.slope);
            let seen = spindle.aimed(probing, offset, anchor.angle(), lead)?;
            anchor.add(seen, 0.0);
            match seen.latency_ns < lead + 0.5 * spindle.turn_ns {
                _ if settling => {}
                true => made = lead,
                false => missed = lead,
            }
        }
        found.push(made);
    }
    Ok(found)
}

/// An angle that was seen several times: short reads count more, since the error of a time is a
/// share of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Anchor {
    angle: f64,
    weight: f64,
}

impl Anchor {
    pub(super) fn angle(&self) -> f64 {
        self.angle.rem_euclid(1.0)
    }

    /// Goes on to another place, this many turns further.
    pub(super) fn turn(&mut self, turns: f64) {
        self.angle += turns;
    }

    /// Adds what was seen `ahead` turns behind the place.
    pub(super) fn add(&mut self, seen: Seen, ahead: f64) {
        let weight = seen.latency_ns.max(1.0).powi(-2);
        self.weight += weight;
        self.angle += around(seen.angle - ahead - self.angle) * weight / self.weight;
    }
}
