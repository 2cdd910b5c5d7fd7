//! Which reads meet on a plane: two at once take twice as long as one.

use super::super::finding::{Curve, Finding};
use super::super::probing::Probing;
use super::super::statistics::{mean, median, spread, standard_error};
use super::super::timed::Request;
use crate::Error;

/// The largest chunk and the largest distance in chunks that are tried.
const CHUNK_BYTES_MAX: u64 = 4 << 20;
const DEGREE_MAX: u64 = 1024;
/// A dip of fewer standard errors is chance.
const DIP_SIGMAS: f64 = 6.0;

/// What two reads take that meet, and that do not.
#[derive(Clone, Debug)]
pub(super) struct Meeting {
    /// Time of the later of two reads of the same sector, and of two that do not meet.
    together_ns: f64,
    apart_ns: f64,
    /// Standard deviation of one measurement.
    noise_ns: f64,
}

/// The time until the last of some requests ends.
pub(super) fn last(probing: &mut Probing<'_>, requests: &[Request]) -> Result<f64, Error> {
    let spans = probing.run(requests)?;
    Ok(spans.iter().map(|span| span.ns() as f64).fold(0.0, f64::max))
}

/// The mean time until some requests end: of a queue that is served at one rate it lies in the
/// middle. Errors of single readings cancel out in it, where the last end is late by the largest.
pub(super) fn mean_end(probing: &mut Probing<'_>, requests: &[Request]) -> Result<f64, Error> {
    let spans = probing.run(requests)?;
    Ok(spans.iter().map(|span| span.ns() as f64).sum::<f64>() / requests.len() as f64)
}

fn pair(probing: &mut Probing<'_>, one: u64, other: u64) -> Result<f64, Error> {
    let grain = probing.grain();
    last(probing, &[Request::read(one, grain), Request::read(other, grain)])
}

/// Why reads of two places take no less than reads of one: two at once take `two`, and a read of a
/// place that was read just before takes `again`.
fn why_alike(probing: &mut Probing<'_>, again: f64, two: f64) -> Result<String, Error> {
    let mut fresh = Vec::new();
    for _ in 0..16 {
        let place = probing.anywhere(1 << 20);
        fresh.push(probing.read(place, probing.grain())?.ns() as f64);
    }
    let [first, again, two] = [median(&fresh), again, two].map(|nanos| nanos / 1e3);
    Ok(if again < 0.5 * first {
        format!(
            "a read takes {first:.1} µs, and again {again:.1} µs: a cache answers, so reads show no \
             planes"
        )
    } else if two < 1.15 * again {
        format!("two reads at once take {two:.1} µs, one {again:.1} µs: none waits for the other")
    } else {
        format!(
            "reads of any two places wait for each other: two take {two:.1} µs, one {again:.1} µs"
        )
    })
}

/// Why reads of one place show no plane.
fn why_none_wait(together: f64, apart: f64, noise: f64) -> String {
    let times = format!(
        "two reads of one place take {:.1} µs, of two places {:.1} µs ± {:.1} µs",
        together / 1e3,
        apart / 1e3,
        noise / 1e3
    );
    if together < 1.15 * apart {
        format!("{times}: no read waits for another of its place, so no plane shows")
    } else {
        format!("{times}: the noise is larger than a third of the difference")
    }
}

impl Meeting {
    /// Reads the same sector twice at once, and sectors at random; or says why that shows nothing.
    pub(super) fn learn(probing: &mut Probing<'_>) -> Result<Result<Meeting, String>, Error> {
        let (mut same, mut random, mut alone) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..96 {
            let (one, other) = (probing.anywhere(1 << 20), probing.anywhere(1 << 20));
            same.push(pair(probing, one, one)?);
            random.push(pair(probing, one, other)?);
            alone.push(probing.read(one, probing.grain())?.ns() as f64);
        }
        let together_ns = median(&same);
        // Some of the random ones meet, the more the fewer planes there are.
        let between = f64::midpoint(median(&alone), together_ns);
        let apart: Vec<f64> = random.iter().copied().filter(|&time| time < between).collect();
        if apart.len() < random.len() / 6 {
            return why_alike(probing, median(&alone), median(&random)).map(Err);
        }
        let apart_ns = median(&apart);
        let noise_ns = spread(&same).max(spread(&apart)).max(1e-4 * together_ns);
        let dip = (together_ns - apart_ns) / noise_ns;
        if dip < DIP_SIGMAS / 2.0 || together_ns < 1.15 * apart_ns {
            return Ok(Err(why_none_wait(together_ns, apart_ns, noise_ns)));
        }
        Ok(Ok(Meeting { together_ns, apart_ns, noise_ns }))
    }

    /// Whether two sectors lie on one plane: 1 if the pair takes as long as the same sector twice,
    /// 0 if it takes as long as two that do not meet; with its standard error.
    pub(super) fn share(
        &self,
        probing: &mut Probing<'_>,
        one: u64,
        other: u64,
        times: usize,
    ) -> Result<(f64, f64), Error> {
        let mut seen = Vec::with_capacity(times);
        for _ in 0..times {
            seen.push(pair(probing, one, other)?);
        }
        let scale = self.together_ns - self.apart_ns;
        let error = self.noise_ns / (times as f64).sqrt() / scale;
        Ok(((median(&seen) - self.apart_ns) / scale, error))
    }

    /// Whether two sectors meet. Asked again until the answer is clear.
    fn meets(&self, probing: &mut Probing<'_>, one: u64, other: u64) -> Result<bool, Error> {
        let mut times = 3;
        loop {
            let (share, error) = self.share(probing, one, other, times)?;
            if (share - 0.5).abs() > 4.0 * error || times > 100 {
                return Ok(share > 0.5);
            }
            times *= 3;
        }
    }
}

/// The chunk: sectors less than it apart from an aligned one meet it, the next ones do not.
pub(super) fn chunk(
    probing: &mut Probing<'_>,
    meeting: &Meeting,
    curves: &mut Vec<Curve>,
) -> Result<Finding<u64>, Error> {
    let grain = probing.grain();
    let limit = CHUNK_BYTES_MAX.min(probing.capacity() / 4);
    let mut points = Vec::new();
    let (mut meets, mut apart) = (0, 0);
    let mut distance = grain;
    // The last multiple of two that still meets the disk's first sector.
    while distance <= limit {
        let (share, _) = meeting.share(probing, 0, distance, 5)?;
        points.push((distance as f64, share));
        if meeting.meets(probing, 0, distance)? {
            meets = distance;
        } else {
            apart = distance;
            break;
        }
        distance *= 2;
    }
    curves.push(Curve {
        name: "chunk",
        title: "Whether a sector meets the first one".to_owned(),
        x: "bytes between them",
        y: "share of a read's time that it waits",
        points,
    });
    if apart == 0 {
        return Ok(Finding::unidentifiable(format!("all sectors up to {limit} bytes away meet")));
    }
    while apart - meets > grain {
        let middle = (meets + (apart - meets) / 2) / grain * grain;
        if meeting.meets(probing, 0, middle)? { meets = middle } else { apart = middle }
    }
    let chunk = apart;
    // Wherever a chunk begins, its last sector meets its first one and the next chunk's does not.
    let (mut right, trials) = (0, 40);
    let mut shares = Vec::new();
    for _ in 0..trials {
        let number = probing.dice.below((probing.capacity() / chunk).saturating_sub(2).max(1));
        let first = number * chunk;
        let (inside, _) = meeting.share(probing, first, first + chunk - grain, 3)?;
        let (outside, _) = meeting.share(probing, first, first + chunk, 3)?;
        right += u32::from(inside > 0.5 && outside < 0.5);
        shares.push(inside - outside);
    }
    let sigmas = mean(&shares) / standard_error(&shares).max(1e-3);
    let reason = format!("{right} of {trials} chunks begin and end there");
    if right * 10 < trials * 9 || chunk == grain && trials == 0 {
        return Ok(Finding::unidentifiable(reason));
    }
    Ok(Finding::of(chunk, sigmas, reason))
}

/// The page: within a chunk, a read across a page's border takes two reads of the cells.
pub(super) fn page(
    probing: &mut Probing<'_>,
    meeting: &Meeting,
    chunk: u64,
    curves: &mut Vec<Curve>,
) -> Result<Finding<u64>, Error> {
    let grain = probing.grain();
    let whole = meeting.together_ns - meeting.apart_ns;
    let mut points = Vec::new();
    let across = |probing: &mut Probing<'_>, border: u64, times: usize| -> Result<f64, Error> {
        let mut waits = Vec::with_capacity(times);
        for _ in 0..times {
            let chunks = (probing.capacity() / chunk).saturating_sub(2).max(1);
            let first = probing.dice.below(chunks) * chunk;
            let over = probing.read(first + border - grain, 2 * grain)?.ns() as f64;
            let within = probing.read(first, 2 * grain)?.ns() as f64;
            waits.push((over - within) / whole);
        }
        Ok(median(&waits))
    };
    if chunk <= 2 * grain {
        return Ok(Finding::unidentifiable("a chunk has too few sectors to look inside"));
    }
    let mut found = None;
    let mut border = 2 * grain;
    while border < chunk {
        let mut share = across(probing, border, 5)?;
        if share > 0.3 {
            share = across(probing, border, 25)?;
        }
        points.push((border as f64, share));
        if share > 0.5 && chunk.is_multiple_of(border) {
            found = Some(border);
            break;
        }
        border += grain;
    }
    curves.push(Curve {
        name: "page",
        title: "What a read across a border waits".to_owned(),
        x: "border's place in a chunk",
        y: "share of a read's time",
        points,
    });
    let page = found.unwrap_or(chunk);
    // Every border of pages waits, every other place does not.
    let (mut at, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..24 {
        let pages = chunk / page;
        if pages > 1 {
            let border = page * (1 + probing.dice.below(pages - 1));
            at.push(across(probing, border, 3)?);
        }
        let sectors = page / grain;
        if sectors > 3 {
            let inside =
                page * probing.dice.below(pages) + grain * (2 + probing.dice.below(sectors - 3));
            beside.push(across(probing, inside, 3)?);
        }
    }
    let quiet = beside.is_empty() || mean(&beside) < 0.3;
    let waits = at.is_empty() || mean(&at) > 0.7;
    let error = meeting.noise_ns / whole / 24f64.sqrt();
    let reason = match found {
        Some(_) => "reads across it take two reads of the cells",
        None => "no place inside a chunk takes two reads of the cells",
    };
    if !(quiet && waits) {
        return Ok(Finding::unidentifiable("borders inside a chunk do not repeat"));
    }
    Ok(Finding::of(page, 0.5 / error, reason))
}

/// How many chunks on a chunk meets again.
pub(super) fn degree(
    probing: &mut Probing<'_>,
    meeting: &Meeting,
    chunk: u64,
    curves: &mut Vec<Curve>,
) -> Result<Finding<u32>, Error> {
    let chunks = probing.capacity() / chunk;
    let limit = DEGREE_MAX.min(chunks / 4);
    let mut points = Vec::new();
    let mut period = None;
    for distance in 1..=limit {
        let (share, _) = meeting.share(probing, 0, distance * chunk, 3)?;
        points.push((distance as f64, share));
        if share > 0.3 && meeting.meets(probing, 0, distance * chunk)? {
            period = Some(distance);
            break;
        }
    }
    let Some(period) = period else {
        curves.push(interleave(points));
        return Ok(Finding::unidentifiable(format!("no chunk among {limit} meets the first")));
    };
    for distance in period + 1..=(2 * period + 1).min(limit) {
        let (share, _) = meeting.share(probing, 0, distance * chunk, 3)?;
        points.push((distance as f64, share));
    }
    curves.push(interleave(points));
    // From anywhere: chunks a period or two apart meet, others do not.
    let (mut right, mut shares) = (0, Vec::new());
    let trials = 60;
    for _ in 0..trials {
        let room = chunks.saturating_sub(4 * period + 1).max(1);
        let first = probing.dice.below(room) * chunk;
        let rounds = (1 + probing.dice.below(3)) * period;
        let (meets, _) = meeting.share(probing, first, first + rounds * chunk, 3)?;
        let away = 1 + probing.dice.below((3 * period).max(2) - 1);
        let away = if away.is_multiple_of(period) { away + 1 } else { away };
        let (apart, _) = meeting.share(probing, first, first + away * chunk, 3)?;
        let apart = if period == 1 { 0.0 } else { apart };
        right += u32::from(meets > 0.5 && apart < 0.5);
        shares.push(meets - apart);
    }
    let reason = format!("{right} of {trials} chunks meet at multiples of it alone");
    if right * 10 < trials * 9 {
        return Ok(Finding::unidentifiable(reason));
    }
    let sigmas = mean(&shares) / standard_error(&shares).max(1e-3);
    Ok(Finding::of(period as u32, sigmas, reason))
}

fn interleave(points: Vec<(f64, f64)>) -> Curve {
    Curve {
        name: "interleave",
        title: "Whether a chunk meets the first one".to_owned(),
        x: "chunks between them",
        y: "share of a read's time that it waits",
        points,
    }
}
