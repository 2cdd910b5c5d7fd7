//! What a device costs: a few hundred reads past the page cache, and the line through them.
//!
//! Reads of 4 KiB to 4 MiB at random places take turns; the medians of each size lie on t = L + s /
//! B, which gives the latency L and the bandwidth B of one request at a time. Then sequential
//! reads, four in flight, say what bandwidth lasts, and at five places whether it is the same all
//! over the device. At most three seconds and 1 GiB of a device, and nothing is ever written.

mod fit;
mod look_ups;
mod places;
mod reading;
mod sustained;
mod zones;

pub use fit::{Line, SizeTimes, line};
pub use look_ups::look_ups;
pub use sustained::{Requests, requests};
pub use zones::BandwidthZone;

use crate::{Error, ErrorKind};
use places::{Place, Places, dice_from_the_clock};
use reading::Reading;
use seekless_engine::AlignedBuf;
use serde::Serialize;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The sizes that take turns.
const SIZES: [u64; 5] = [4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];
/// Turns of all sizes: more would not move the medians.
const ROUNDS_MAX: usize = 100;
/// Requests in flight in the second phase.
const DEPTH: u32 = 4;
/// A request of the second phase.
const STREAM_BYTES: u64 = 1 << 20;
/// The share of time and bytes that the first phase may use.
const FIRST_PHASE: f64 = 0.65;
/// The same, and the share of the rest that the second phase may use, where a third one looks for
/// zones.
const FIRST_OF_THREE: f64 = 0.5;
const SECOND_OF_THREE: f64 = 0.4;
/// Requests of a run of the third phase.
const RUN_READS: u64 = 4;

/// How much a calibration may take of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Time; the read that crosses it is waited for.
    pub time: Duration,
    /// Bytes.
    pub bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { time: Duration::from_secs(3), bytes: 1 << 30 }
    }
}

impl Budget {
    /// What is left of it.
    fn after(self, elapsed: Duration, bytes: u64) -> Self {
        Budget { time: self.time.saturating_sub(elapsed), bytes: self.bytes.saturating_sub(bytes) }
    }

    fn share(self, share: f64) -> Self {
        Budget { time: self.time.mul_f64(share), bytes: (self.bytes as f64 * share) as u64 }
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// Time to the first byte, the median.
    pub latency_ns: u64,
    /// The same, which nine of ten reads keep.
    pub latency_p90_ns: u64,
    /// Bytes per second that last: of sequential reads with several in flight, or if there was no
    /// time for these, of the line. (A throttle lets single reads pass for a while, so the line
    /// alone may say too much.)
    pub bytes_per_second: u64,
    /// The very first read, which also waits for sleeping hardware: a disk that has spun down, a
    /// link that is down.
    pub first_byte_ns: u64,
    /// The line's bandwidth: one request at a time.
    pub single_bytes_per_second: u64,
    /// Sequential reads with [`Calibration::depth`] in flight; `None` if the first phase used up
    /// the budget.
    pub parallel_bytes_per_second: Option<u64>,
    /// The zones of a device whose bandwidth is not the same all over it, such as a disk; empty for
    /// any other.
    pub zones: Vec<BandwidthZone>,
    /// Requests in flight then.
    pub depth: u32,
    /// What each size took.
    pub sizes: Vec<SizeTimes>,
    /// Past the page cache (O_DIRECT); else through it, where nothing was cached before.
    pub direct: bool,
    /// Files that were read.
    pub files: u64,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// How long it took.
    pub elapsed_ns: u64,
}

/// Measures the device under some files by reading them. They should lie on one device, be large (a
/// gibibyte in all is plenty) and not have been written a moment ago: reading past the cache would
/// wait for their pages to be written back.
///
/// # Errors
/// A file cannot be read, or all of them together have too little data for two sizes.
pub fn calibrate<P: AsRef<Path>>(
    files: &[P],
    budget: Budget,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Calibration, Error> {
    let clock = Instant::now();
    let places = Places::of(files)?;
    let mut seed = dice_from_the_clock();
    let mut reading = Reading::of(files, &places)?;
    let shares = match zones::may_differ(&places.span()) {
        true => (FIRST_OF_THREE, SECOND_OF_THREE),
        false => (FIRST_PHASE, 1.0),
    };
    let first_budget = budget.share(shares.0);
    let mut buffer = AlignedBuf::with_capacity(SIZES[SIZES.len() - 1] as usize);
    let mut bytes_read = 0;
    let mut read = |bytes: u64| {
        let place = places.pick(bytes, reading.alignment(), &mut seed)?;
        reading.timed(place, &mut buffer.whole_mut()[..bytes as usize]).transpose()
    };
    let total = u64::try_from(budget.time.as_millis()).unwrap_or(u64::MAX);
    let mut shown = |clock: &Instant| {
        progress(u64::try_from(clock.elapsed().as_millis()).unwrap_or(total).min(total), total)
    };
    let times = alternate_sizes(first_budget, &mut bytes_read, &mut read, &mut || shown(&clock))?;
    let line = fit::of_times(&times.sizes).ok_or_else(too_little)?;
    let left = budget.after(clock.elapsed(), bytes_read);
    let expected = Duration::from_nanos(line.latency_ns)
        + Duration::from_secs_f64(
            f64::from(DEPTH) * STREAM_BYTES as f64 / line.bytes_per_second as f64,
        );
    let chunks = places.sequence(STREAM_BYTES, reading.alignment(), &mut seed);
    let parallel = stream(&reading, &chunks, left.share(shares.1), expected)?;
    bytes_read += parallel.map_or(0, |(bytes, _)| bytes);
    shown(&clock);
    let left = budget.after(clock.elapsed(), bytes_read);
    let zones = zones_within(left, line.latency_ns, &reading, &places, &mut bytes_read)?;
    shown(&clock);
    let single = line.bytes_per_second;
    let several =
        parallel.map(|(bytes, elapsed)| (bytes as f64 / elapsed.as_secs_f64().max(1e-9)) as u64);
    Ok(Calibration {
        latency_ns: line.latency_ns,
        latency_p90_ns: line.latency_p90_ns,
        bytes_per_second: several.unwrap_or(single).max(1),
        first_byte_ns: times.first_ns,
        single_bytes_per_second: single,
        parallel_bytes_per_second: several,
        zones,
        depth: DEPTH,
        sizes: times.sizes,
        direct: reading.is_direct(),
        files: reading.files(),
        bytes_read,
        elapsed_ns: u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX),
    })
}

/// What reading cached data costs: the same line, through a file that only ever was in memory.
///
/// # Errors
/// There is no room for such a file of 64 MiB.
pub fn calibrate_memory(budget: Budget) -> Result<Calibration, Error> {
    const BYTES: u64 = 64 << 20;
    let clock = Instant::now();
    let file = reading::in_memory(BYTES)
        .map_err(|error| Error::io(Path::new("memory"), "cannot be measured", error))?;
    let mut dice = dice_from_the_clock();
    let mut buffer = AlignedBuf::with_capacity(SIZES[SIZES.len() - 1] as usize);
    let mut bytes_read = 0;
    let mut read = |bytes: u64| {
        let offset = dice.below((BYTES - bytes) / 4096 + 1) * 4096;
        let read = reading::timed_read(&file, offset, &mut buffer.whole_mut()[..bytes as usize]);
        Some(read.map_err(|error| Error::io(Path::new("memory"), "cannot be read", error)))
    };
    let times = alternate_sizes(budget, &mut bytes_read, &mut read, &mut || {})?;
    let line = fit::of_times(&times.sizes).ok_or_else(too_little)?;
    Ok(Calibration {
        latency_ns: line.latency_ns,
        latency_p90_ns: line.latency_p90_ns,
        bytes_per_second: line.bytes_per_second,
        first_byte_ns: times.first_ns,
        single_bytes_per_second: line.bytes_per_second,
        parallel_bytes_per_second: None,
        zones: Vec::new(),
        depth: 1,
        sizes: times.sizes,
        direct: false,
        files: 0,
        bytes_read,
        elapsed_ns: u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX),
    })
}

fn too_little() -> Error {
    let why = "too little data to measure: name a file of some MiB, or a folder with such files"
        .to_owned();
    Error::new(ErrorKind::Nothing, why)
}

struct Times {
    sizes: Vec<SizeTimes>,
    first_ns: u64,
}

/// Reads of all sizes in turn while the budget lasts. A size that would go beyond it is left out
/// from then on.
fn alternate_sizes(
    budget: Budget,
    bytes_read: &mut u64,
    read: &mut dyn FnMut(u64) -> Option<Result<u64, Error>>,
    after_each: &mut dyn FnMut(),
) -> Result<Times, Error> {
    let clock = Instant::now();
    let mut times: [Vec<u64>; SIZES.len()] = Default::default();
    let mut first_ns = None;
    for _ in 0..ROUNDS_MAX {
        let before = *bytes_read;
        for (size, times) in SIZES.iter().zip(&mut times) {
            let expected = Duration::from_nanos(times.iter().copied().max().unwrap_or(0));
            if clock.elapsed() + expected > budget.time || *bytes_read + size > budget.bytes {
                continue;
            }
            let Some(elapsed) = read(*size) else { continue };
            *bytes_read += size;
            after_each();
            match first_ns {
                // It may have woken the device, so it counts for itself only.
                None => first_ns = Some(elapsed?),
                Some(_) => times.push(elapsed?),
            }
        }
        if *bytes_read == before {
            break;
        }
    }
    let with_times = SIZES.iter().zip(times).filter(|(_, times)| !times.is_empty());
    let sizes = with_times.map(|(&bytes, times)| fit::of_reads(bytes, times)).collect();
    Ok(Times { sizes, first_ns: first_ns.unwrap_or(0) })
}

/// The zones of the device, as far as the budget shows them. Runs of reads at several places take
/// turns; their way there (the latency) does not count.
fn zones_within(
    budget: Budget,
    latency_ns: u64,
    reading: &Reading,
    places: &Places,
    bytes_read: &mut u64,
) -> Result<Vec<BandwidthZone>, Error> {
    let (clock, run_bytes) = (Instant::now(), RUN_READS * STREAM_BYTES);
    let (mut used, mut longest) = (0, Duration::ZERO);
    let mut run = |byte: u64| {
        let left = budget.after(clock.elapsed(), used);
        let near = places.run_near(byte, (STREAM_BYTES, RUN_READS), reading.alignment());
        let Some((byte, chunks)) = near.filter(|_| left.bytes >= run_bytes) else {
            return Ok(None);
        };
        if left.time <= longest {
            return Ok(None);
        }
        let read = stream(reading, &chunks, left, Duration::ZERO)?;
        let Some((bytes, elapsed)) = read.filter(|(bytes, _)| *bytes == run_bytes) else {
            return Ok(None);
        };
        used += bytes;
        longest = longest.max(elapsed);
        let transfer = elapsed.saturating_sub(Duration::from_nanos(latency_ns));
        Ok(Some((byte, bytes as f64 / transfer.as_secs_f64().max(1e-9))))
    };
    let zones = zones::measure(places.span(), run_bytes, &mut run);
    *bytes_read += used;
    zones
}

/// Sequential reads, several in flight; the bytes and the time.
fn stream(
    reading: &Reading,
    chunks: &[Place],
    budget: Budget,
    expected: Duration,
) -> Result<Option<(u64, Duration)>, Error> {
    let chunks_max = chunks.len().min((budget.bytes / STREAM_BYTES) as usize);
    if budget.time.is_zero() || chunks_max < DEPTH as usize {
        return Ok(None);
    }
    let clock = Instant::now();
    let (next, bytes, failed) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::new(None));
    std::thread::scope(|scope| {
        for _ in 0..DEPTH {
            scope.spawn(|| {
                let mut buffer = AlignedBuf::with_capacity(STREAM_BYTES as usize);
                let mut last = expected;
                while clock.elapsed() + last <= budget.time {
                    let started = clock.elapsed();
                    let number = next.fetch_add(1, Ordering::Relaxed) as usize;
                    let Some(&place) = chunks[..chunks_max].get(number) else { return };
                    match reading.read(place, buffer.whole_mut()) {
                        Ok(true) => {
                            bytes.fetch_add(STREAM_BYTES, Ordering::Relaxed);
                            last = clock.elapsed().saturating_sub(started);
                        }
                        Ok(false) => continue, // it was cached, and says nothing of the device
                        Err(error) => {
                            failed
                                .lock()
                                .unwrap_or_else(std::sync::PoisonError::into_inner)
                                .get_or_insert(error);
                            return;
                        }
                    }
                }
            });
        }
    });
    match failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(Some((bytes.into_inner(), clock.elapsed())).filter(|(bytes, _)| *bytes > 0)),
    }
}

#[cfg(test)]
mod tests;
