//! A cache behind the device: whether it answers the second read of a place, and how much the first
//! one brings into it.

use super::{Times, place, repeat};
use crate::Error;
use crate::inside::finding::Finding;
use crate::inside::probing::Probing;
use crate::inside::statistics::{mean, standard_error};
use seekless_device::Nanos;

const TRIALS: [usize; 2] = [12, 32];
const LIMIT_NS: Nanos = 1_000_000_000;
/// What else a read sets in motion has ended after this many times its time.
const PAUSES: f64 = 4.0;
/// The largest block that is looked for.
const BLOCK_BYTES_MAX: u64 = 4 << 20;
/// Reads that find whether a distance lies within a block, and blocks that confirm it.
const ASKED: usize = 5;
const CONFIRMED: usize = 16;

/// Reads places twice. Returns the times of the first and of the second reads.
pub(super) fn pairs(probing: &mut Probing<'_>) -> Result<(Times, Times), Error> {
    let (mut first, mut again) = (Times::default(), Times::default());
    let grain = probing.grain();
    repeat(probing, TRIALS, LIMIT_NS, |probing| {
        let place = place(probing, grain, grain);
        let time = probing.read(place, grain)?.ns() as f64;
        probing.pause(PAUSES * time);
        first.0.push(time);
        again.0.push(probing.read(place, grain)?.ns() as f64);
        probing.pause(PAUSES * time);
        Ok(())
    })?;
    Ok((first, again))
}

/// The block that a read brings into the cache. The sector at its end is read, then that at its
/// beginning: readahead never goes backwards.
pub(super) fn block(
    probing: &mut Probing<'_>,
    first: &Times,
    again: &Times,
) -> Result<Finding<u64>, Error> {
    let grain = probing.grain();
    let largest = BLOCK_BYTES_MAX.min(probing.capacity() / 8);
    let judge = Judge { pause_ns: PAUSES * first.middle(), hit_ns: between(first, again) };
    let steps = (largest / grain).checked_ilog2().unwrap_or(0);
    // The least power of two that is missed.
    let (mut hit, mut missed) = (0, steps + 1);
    while missed - hit > 1 {
        let middle = u32::midpoint(hit, missed);
        let mut hits = 0;
        for _ in 0..ASKED {
            hits += usize::from(judge.is_hit(probing, grain << (middle - 1))?);
        }
        if 2 * hits > ASKED { hit = middle } else { missed = middle }
    }
    if missed > steps {
        let why = format!("a read brings more than {} KiB into the cache", largest >> 10);
        return Ok(Finding::unidentifiable(why));
    }
    let block = grain << (missed - 1);
    let (mut right, mut shares) = (0, Vec::new());
    for _ in 0..CONFIRMED {
        let inside = block == grain || judge.is_hit(probing, block - grain)?;
        let outside = judge.is_hit(probing, block)?;
        right += usize::from(inside && !outside);
        shares.push(f64::from(u8::from(inside)) - f64::from(u8::from(outside)));
    }
    let reason = format!("{right} of {CONFIRMED} blocks of the cache begin and end there");
    if right * 4 < CONFIRMED * 3 {
        return Ok(Finding::unidentifiable(reason));
    }
    // As if one more had been wrong: a few that are right are not certainty.
    let error = standard_error(&shares).max(1.0 / (CONFIRMED as f64 + 1.0));
    Ok(Finding::of(block, mean(&shares) / error, reason))
}

/// The time between those of both kinds of reads.
fn between(first: &Times, again: &Times) -> f64 {
    (first.middle() * again.middle()).sqrt()
}

struct Judge {
    pause_ns: f64,
    hit_ns: f64,
}

impl Judge {
    /// Whether a read this far behind an aligned place brings that place into the cache.
    fn is_hit(&self, probing: &mut Probing<'_>, distance: u64) -> Result<bool, Error> {
        let grain = probing.grain();
        // Near together, so that there are many: one that was read before would look like a hit.
        let align = 2 * distance.next_power_of_two();
        let base = place(probing, align, align);
        probing.read(base + distance, grain)?;
        probing.pause(self.pause_ns);
        let time = probing.read(base, grain)?.ns() as f64;
        probing.pause(self.pause_ns);
        Ok(time < self.hit_ns)
    }
}
