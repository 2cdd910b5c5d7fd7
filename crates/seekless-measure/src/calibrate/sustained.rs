//! How many small requests a device serves when the asking goes on for a while: one after another,
//! and many at once. A device that allows this many requests a second lets some pass at once and
//! then holds all up; so not the median of single reads counts, but the time of all.

use super::places::{Places, dice_from_the_clock};
use super::reading::Reading;
use crate::Error;
use seekless_device::SplitMix64;
use seekless_engine::AlignedBuf;
use serde::Serialize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Requests under way at once.
const THREADS: u32 = 32;
/// A device that serves fewer at once is taken to serve one.
const WORTH: f64 = 1.5;
/// With fewer reads nothing is known.
const READS_MIN: u64 = 4;

/// What small requests cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Requests {
    /// Time of one if they are made one after another, in nanoseconds: the mean.
    pub alone_ns: u64,
    /// Time that passes for each if 32 are under way, in nanoseconds.
    pub together_ns: u64,
    /// How many the device serves at once, as far as was tried.
    pub at_once: u32,
}

/// Reads blocks of 4 KiB at random places of some files past the page cache, for `time` in all.
/// `None` if they have too little data for that.
///
/// # Errors
/// A file cannot be opened or read.
pub fn requests<P: AsRef<Path>>(files: &[P], time: Duration) -> Result<Option<Requests>, Error> {
    let places = Places::of(files)?;
    let reading = Reading::of(files, &places)?;
    let half = time / 2;
    let (alone, took) = together(&reading, &places, 1, half)?;
    let (several, took_together) = together(&reading, &places, THREADS, half)?;
    if alone < READS_MIN || several < READS_MIN {
        return Ok(None);
    }
    let each = |took: Duration, reads: u64| (took.as_nanos() as u64 / reads).max(1);
    let (alone_ns, together_ns) = (each(took, alone), each(took_together, several));
    let times = alone_ns as f64 / together_ns as f64;
    let at_once = if times < WORTH { 1 } else { (times.round() as u32).min(THREADS) };
    Ok(Some(Requests { alone_ns, together_ns, at_once }))
}

/// Reads on some threads for a while: how many reads the device served, in what time.
fn together(
    reading: &Reading,
    places: &Places,
    threads: u32,
    time: Duration,
) -> Result<(u64, Duration), Error> {
    let clock = Instant::now();
    let (reads, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let seed = dice_from_the_clock().below(u64::MAX);
    let ended = std::thread::scope(|scope| {
        let work = |number: u32| {
            let mut dice = SplitMix64::new(seed.wrapping_add(u64::from(number)));
            let served = one_after_another(reading, places, &mut dice, (&clock, time, &failed));
            served.inspect(|count| _ = reads.fetch_add(*count, Ordering::Relaxed))
        };
        let threads: Vec<_> =
            (0..threads).map(|number| scope.spawn(move || work(number))).collect();
        threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    for outcome in ended {
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    }
    Ok((reads.into_inner(), clock.elapsed()))
}

fn one_after_another(
    reading: &Reading,
    places: &Places,
    dice: &mut SplitMix64,
    (clock, time, failed): (&Instant, Duration, &AtomicBool),
) -> Result<u64, Error> {
    let alignment = reading.alignment();
    let mut buffer = AlignedBuf::with_capacity(alignment as usize);
    let mut reads = 0;
    // A place that is cached says nothing; where all are, there is nothing to find.
    let mut tries = 0_u32;
    while clock.elapsed() < time && tries < 10_000 && !failed.load(Ordering::Relaxed) {
        tries += 1;
        let Some(place) = places.pick(alignment, alignment, dice) else { break };
        match reading.read(place, &mut buffer.whole_mut()[..alignment as usize]) {
            Ok(served) => reads += u64::from(served),
            Err(error) => {
                failed.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
    }
    Ok(reads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_files_show_what_a_request_costs_and_a_small_one_nothing() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let (large, small) = (folder.path().join("large"), folder.path().join("small"));
        std::fs::write(&large, vec![7; 1 << 20]).unwrap();
        std::fs::File::open(&large).unwrap().sync_all().unwrap();
        std::fs::write(&small, "x").unwrap();
        let time = Duration::from_millis(100);
        let found = requests(&[&large], time).unwrap().unwrap();
        assert!(found.alone_ns > 0 && found.together_ns > 0, "{found:?}");
        assert!((1..=THREADS).contains(&found.at_once), "{found:?}");
        assert_eq!(requests(&[&small], time).unwrap(), None);
    }
}
