//! The disk's cache: a read that it answers takes the overhead and no more. It holds the last reads
//! of a number of places, and a number of bytes of each.

use super::super::finding::Finding;
use super::super::probing::Probing;
use super::super::statistics::{median, spread};
use super::spindle::Spindle;
use crate::Error;

/// The largest cache that is looked for.
const SEGMENTS_MAX: usize = 256;
const SEGMENT_BYTES_MAX: u64 = 64 << 20;

/// What was found of the cache.
#[derive(Clone, Debug, Default)]
pub(super) struct Cache {
    pub(super) segments: Finding<u32>,
    pub(super) segment_bytes: Finding<u64>,
    pub(super) read_on: Finding<bool>,
    /// Rate at which cached bytes come, if that can be measured.
    pub(super) bus_bytes_per_second: Option<u64>,
    /// Places that were read, and the share of them that was still cached.
    pub(super) hits: Vec<(f64, f64)>,
}

/// Reads that only the cache can answer so soon.
struct Judge {
    hit_ns_max: f64,
}

impl Judge {
    fn is_hit(&self, probing: &mut Probing<'_>, offset: u64) -> Result<bool, Error> {
        let span = probing.read(offset, probing.grain())?;
        Ok((span.ns() as f64) < self.hit_ns_max)
    }
}

/// Looks for the cache, around places with tracks of `track_bytes`.
pub(super) fn find(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    track_bytes: f64,
) -> Result<Cache, Error> {
    // A sector that passes by chance just then would look like a hit; so every answer is asked for
    // more than once.
    let judge = Judge { hit_ns_max: spindle.overhead_ns * 1.15 + 0.01 * spindle.turn_ns };
    let mut cache = Cache::default();
    let trials = 24;
    let mut hits = 0;
    for _ in 0..trials {
        let place = probing.anywhere(SEGMENT_BYTES_MAX.min(probing.capacity() / 8));
        probing.read(place, probing.grain())?;
        hits += u32::from(judge.is_hit(probing, place)?);
    }
    let by_chance = judge.hit_ns_max / spindle.turn_ns;
    let share = f64::from(hits) / f64::from(trials);
    let way = Way { read_on: true, track_bytes };
    let read_on = read_on(probing, spindle, way, &judge)?;
    // A small segment that is filled on has soon forgotten where it began.
    if share < 3.0 * by_chance.max(0.1) && read_on.value != Some(true) {
        cache.segments =
            Finding::of(0, sigmas(1.0 - share, trials), "a second read is a turn late");
        return Ok(cache);
    }
    if share < 0.9 && read_on.value != Some(true) {
        let why = format!("{:.0} % of second reads are cached", 100.0 * share);
        cache.segments = Finding::unidentifiable(why.clone());
        cache.segment_bytes = Finding::unidentifiable(why);
        return Ok(cache);
    }
    cache.read_on = read_on;
    cache.segment_bytes = match cache.read_on.value {
        Some(read_on) => segment_bytes(probing, spindle, &judge, Way { read_on, track_bytes })?,
        None => Finding::unidentifiable("whether the disk reads on is not known"),
    };
    if let (Some(read_on), Some(bytes)) = (cache.read_on.value, cache.segment_bytes.value) {
        let way = Way { read_on, track_bytes };
        cache.bus_bytes_per_second = bus(probing, spindle, way, bytes)?;
        let passing = spindle.overhead_ns / spindle.turn_ns * track_bytes;
        let small = read_on && (bytes as f64) < 4.0 * passing;
        let fill = small.then_some((way, bytes));
        cache.segments = segments(probing, spindle, &judge, fill, &mut cache.hits)?;
    }
    Ok(cache)
}

/// How bytes come into the cache.
#[derive(Clone, Copy)]
struct Way {
    read_on: bool,
    track_bytes: f64,
}

impl Way {
    /// Brings a range into the cache, and returns where it begins.
    fn fill(
        self,
        probing: &mut Probing<'_>,
        spindle: &Spindle,
        place: u64,
        bytes: u64,
    ) -> Result<u64, Error> {
        let grain = probing.grain();
        if self.read_on {
            probing.read(place, grain)?;
            // Time to read this many bytes, with skews, and some turns more.
            let turns = 1.5 * bytes as f64 / self.track_bytes + 3.0 + probing.dice.share();
            probing.pause(turns * spindle.turn_ns);
            return Ok(place + grain);
        }
        probing.read(place, bytes)?;
        let pause = probing.dice.share() * spindle.turn_ns;
        probing.pause(pause);
        Ok(place)
    }
}

/// The rate at which the cache hands out most of a segment.
fn bus(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    way: Way,
    segment_bytes: u64,
) -> Result<Option<u64>, Error> {
    let grain = probing.grain();
    let bytes = (segment_bytes / 2).min(256 << 10) / grain * grain;
    if bytes < 8 * grain {
        return Ok(None);
    }
    let mut times = Vec::new();
    for _ in 0..12 {
        let place = probing.anywhere(SEGMENT_BYTES_MAX.min(probing.capacity() / 8));
        let from = way.fill(probing, spindle, place, bytes)?;
        times.push(probing.read(from, bytes)?.ns() as f64 - spindle.overhead_ns);
    }
    let (middle, error) = (median(&times), spread(&times) / 3.0);
    Ok((middle > 3.0 * error && middle > 1e3).then(|| (bytes as f64 * 1e9 / middle) as u64))
}

/// Standard errors between a share of trials and a half.
fn sigmas(share: f64, trials: u32) -> f64 {
    (share - 0.5) * 2.0 * f64::from(trials).sqrt()
}

/// Whether the sector behind a read is cached a few turns later.
fn read_on(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    way: Way,
    judge: &Judge,
) -> Result<Finding<bool>, Error> {
    let trials = 24;
    let mut hits = 0;
    for _ in 0..trials {
        let place = probing.anywhere(16 << 20);
        let behind = way.fill(probing, spindle, place, 0)?;
        hits += u32::from(judge.is_hit(probing, behind)?);
    }
    let share = f64::from(hits) / f64::from(trials);
    let reason = format!("{hits} of {trials} sectors behind a read were cached");
    let away = (share - 0.5).abs() * 2.0;
    if away < 0.6 {
        return Ok(Finding::unidentifiable(reason));
    }
    Ok(Finding::of(share > 0.5, sigmas(0.5 + away / 2.0, trials), reason))
}

/// How far behind a read its segment reaches (`read_on`), or how long a read it holds whole.
fn segment_bytes(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    judge: &Judge,
    way: Way,
) -> Result<Finding<u64>, Error> {
    let grain = probing.grain();
    let limit = SEGMENT_BYTES_MAX.min(probing.capacity() / 4);
    let holds = |probing: &mut Probing<'_>, bytes: u64, trials: u32| -> Result<bool, Error> {
        for _ in 0..trials {
            let place = probing.anywhere(limit + (1 << 20));
            let from = way.fill(probing, spindle, place, bytes)?;
            // Of what was read on the last sector counts, of a read its first.
            let again = if way.read_on { from + bytes - grain } else { from };
            if !judge.is_hit(probing, again)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    let mut held = grain;
    while held <= limit && holds(probing, 2 * held, 2)? {
        held *= 2;
    }
    if held > limit {
        return Ok(Finding::unidentifiable("a segment holds all that was tried"));
    }
    let mut lost = 2 * held;
    while lost - held > grain {
        let middle = (held + (lost - held) / 2) / grain * grain;
        if holds(probing, middle, 2)? { held = middle } else { lost = middle }
    }
    // The border once more: all reads on one side, none on the other.
    let trials = 12;
    let mut right = 0;
    for _ in 0..trials {
        right += u32::from(holds(probing, held, 1)?);
        right += u32::from(!holds(probing, lost, 1)?);
    }
    let share = f64::from(right) / f64::from(2 * trials);
    let reason = format!("{right} of {} reads on either side of it agree", 2 * trials);
    if share < 0.9 {
        return Ok(Finding::unidentifiable(reason));
    }
    Ok(Finding::of(held, sigmas(share, 2 * trials), reason))
}

/// How many places the cache remembers: with one more, reading them in turn finds none. With `fill`
/// each segment is waited for until it is full, and its first bytes are asked for then.
fn segments(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    judge: &Judge,
    fill: Option<(Way, u64)>,
    hits: &mut Vec<(f64, f64)>,
) -> Result<Finding<u32>, Error> {
    let mut share = |probing: &mut Probing<'_>, count: usize| -> Result<f64, Error> {
        let margin = SEGMENT_BYTES_MAX.min(probing.capacity() / 8);
        let places: Vec<u64> = (0..count).map(|_| probing.anywhere(margin)).collect();
        let mut again = Vec::with_capacity(count);
        for &place in &places {
            again.push(match fill {
                Some((way, bytes)) => way.fill(probing, spindle, place, bytes)?,
                None => {
                    probing.read(place, probing.grain())?;
                    place
                }
            });
        }
        let mut found = 0;
        for &place in &again {
            found += u32::from(judge.is_hit(probing, place)?);
        }
        let share = f64::from(found) / count as f64;
        hits.push((count as f64, share));
        Ok(share)
    };
    let mut held = 1;
    while held <= SEGMENTS_MAX && share(probing, 2 * held)? > 0.5 {
        held *= 2;
    }
    if held > SEGMENTS_MAX {
        return Ok(Finding::unidentifiable("more places than were tried"));
    }
    let mut lost = 2 * held;
    while lost - held > 1 {
        let middle = usize::midpoint(held, lost);
        if share(probing, middle)? > 0.5 { held = middle } else { lost = middle }
    }
    let (mut with, mut without) = (0.0, 0.0);
    for _ in 0..3 {
        with += share(probing, held)? / 3.0;
        without += share(probing, lost)? / 3.0;
    }
    let reason = format!(
        "of {held} places {:.0} % are cached, of {lost} {:.0} %",
        100.0 * with,
        100.0 * without
    );
    hits.sort_by(|one, next| one.0.total_cmp(&next.0));
    if with < 0.9 || without > 0.4 {
        return Ok(Finding::unidentifiable(reason));
    }
    Ok(Finding::of(held as u32, (with - without) * (6.0 * held as f64).sqrt().max(4.0), reason))
}
