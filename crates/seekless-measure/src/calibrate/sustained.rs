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
/// A larger request, which shows whether its bytes are charged beside it.
const LARGER_BYTES: u64 = 256 << 10;

/// If the sum of the two times is hardly above the longer, nothing tells them apart.
const SUM_MIN: f64 = 1.3;

/// What small requests cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Requests {
    /// Time of one if they are made one after another, in nanoseconds: the mean.
    pub alone_ns: u64,
    /// Time that passes for each if 32 are under way, in nanoseconds.
    pub together_ns: u64,
    /// How many the device serves at once, as far as was tried.
    pub at_once: u32,
    /// Time of one of 256 KiB if they are made one after another, in nanoseconds; `None`
    /// if no file has room for enough of them.
    pub larger_ns: Option<u64>,
}

impl Requests {
    /// Whether requests and bytes count against limits of their own, as at a cloud volume or behind
    /// a control group's limits: then a large request takes the longer of the two times. Elsewhere
    /// it takes their sum.
    #[must_use]
    pub fn limits_apart(&self, bytes_per_second: u64) -> bool {
        let Some(larger_ns) = self.larger_ns else { return false };
        let transfer_ns = LARGER_BYTES as f64 * 1e9 / bytes_per_second.max(1) as f64;
        let (longer, sum) =
            ((self.alone_ns as f64).max(transfer_ns), self.alone_ns as f64 + transfer_ns);
        sum >= SUM_MIN * longer && (larger_ns as f64) < f64::midpoint(longer, sum)
    }
}

/// Reads blocks of 4 KiB at random places of some files past the page cache, for `time` in all.
/// `None` if they have too little data for that.
///
/// # Errors
/// A file cannot be opened or read.
pub fn requests<P: AsRef<Path>>(files: &[P], time: Duration) -> Result<Option<Requests>, Error> {
    let places = Places::of(files)?;
    let reading = Reading::of(files, &places)?;
    let small = reading.alignment();
    let third = time / 3;
    let (alone, took) = together(&reading, &places, (1, small), third)?;
    let (several, took_together) = together(&reading, &places, (THREADS, small), third)?;
    let (large, took_large) = together(&reading, &places, (1, LARGER_BYTES), third)?;
    if alone < READS_MIN || several < READS_MIN {
        return Ok(None);
    }
    let each = |took: Duration, reads: u64| (took.as_nanos() as u64 / reads).max(1);
    let (alone_ns, together_ns) = (each(took, alone), each(took_together, several));
    let times = alone_ns as f64 / together_ns as f64;
    let at_once = if times < WORTH { 1 } else { (times.round() as u32).min(THREADS) };
    let larger_ns = (large >= READS_MIN).then(|| each(took_large, large));
    Ok(Some(Requests { alone_ns, together_ns, at_once, larger_ns }))
}

/// Reads of so many bytes, on some threads, for a while: how many the device served, in what time.
fn together(
    reading: &Reading,
    places: &Places,
    (threads, bytes): (u32, u64),
    time: Duration,
) -> Result<(u64, Duration), Error> {
    let clock = Instant::now();
    let (reads, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let seed = dice_from_the_clock().below(u64::MAX);
    let ended = std::thread::scope(|scope| {
        let work = |number: u32| {
            let mut dice = SplitMix64::new(seed.wrapping_add(u64::from(number)));
            let served =
                one_after_another(reading, places, (&mut dice, bytes), (&clock, time, &failed));
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
    (dice, bytes): (&mut SplitMix64, u64),
    (clock, time, failed): (&Instant, Duration, &AtomicBool),
) -> Result<u64, Error> {
    let alignment = reading.alignment();
    let mut buffer = AlignedBuf::with_capacity(bytes as usize);
    let mut reads = 0;
    // A place that is cached says nothing; where all are, there is nothing to find.
    let mut tries = 0_u32;
    while clock.elapsed() < time && tries < 10_000 && !failed.load(Ordering::Relaxed) {
        tries += 1;
        let Some(place) = places.pick(bytes, alignment, dice) else { break };
        match reading.read(place, &mut buffer.whole_mut()[..bytes as usize]) {
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
        assert!(found.larger_ns.is_some(), "{found:?}");
        assert_eq!(requests(&[&small], time).unwrap(), None);
    }

    #[test]
    fn limits_are_apart_where_a_larger_request_takes_no_longer() {
        let found = |alone_ns, larger_ns| Requests {
            alone_ns,
            together_ns: alone_ns,
            at_once: 1,
            larger_ns,
        };
        // The bytes of the larger one take 1.75 ms.
        let bytes_per_second = 150_000_000;
        assert!(found(2_000_000, Some(2_000_000)).limits_apart(bytes_per_second));
        assert!(!found(2_000_000, Some(3_700_000)).limits_apart(bytes_per_second));
        assert!(!found(2_000_000, None).limits_apart(bytes_per_second));
        // Here either time explains it.
        assert!(!found(20_000_000, Some(20_000_000)).limits_apart(bytes_per_second));
    }
}
