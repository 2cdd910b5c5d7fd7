//! Readahead behind the device: reads in sequence, with time between them to read ahead, are
//! answered sooner than reads elsewhere. Each read is a whole block of the cache, since the block's
//! rest would be answered from the cache without readahead too.

use super::{Times, place, repeat};
use crate::Error;
use crate::inside::finding::Finding;
use crate::inside::probing::Probing;
use seekless_device::Nanos;

/// Readahead begins with reads that are not tiny.
const BYTES_MIN: u64 = 64 << 10;
const BYTES_MAX: u64 = 1 << 20;
/// Reads of a sequence. The last ones count: by then readahead has begun, and has caught up.
const READS: usize = 16;
const COUNTED: usize = 6;
const SEQUENCES: [usize; 2] = [3, 8];
const LIMIT_NS: Nanos = 1_000_000_000;
/// Time between reads, in times of a read.
const PAUSES: f64 = 10.0;
const PAUSE_NS_MAX: f64 = 100e6;

/// Finds whether reads in sequence are answered ahead.
pub(super) fn find(
    probing: &mut Probing<'_>,
    first: &Times,
    block: u64,
) -> Result<Finding<bool>, Error> {
    let bytes = block.max(BYTES_MIN).next_multiple_of(probing.grain());
    if bytes > BYTES_MAX {
        let why = format!(
            "a read brings {} KiB into the cache: too many for reads of whole blocks",
            block >> 10
        );
        return Ok(Finding::unidentifiable(why));
    }
    let pause = (PAUSES * first.middle()).min(PAUSE_NS_MAX);
    let (mut elsewhere, mut sequence) = (Times::default(), Times::default());
    repeat(probing, SEQUENCES, LIMIT_NS, |probing| {
        for _ in 0..COUNTED {
            let place = place(probing, bytes, bytes);
            elsewhere.0.push(probing.read(place, bytes)?.ns() as f64);
            probing.pause(pause);
        }
        let begin = place(probing, bytes, READS as u64 * bytes);
        for number in 0..READS {
            let time = probing.read(begin + number as u64 * bytes, bytes)?.ns() as f64;
            if number >= READS - COUNTED {
                sequence.0.push(time);
            }
            probing.pause(pause);
        }
        Ok(())
    })?;
    Ok(sequence.is_faster_than(&elsewhere, "a read in sequence"))
}
