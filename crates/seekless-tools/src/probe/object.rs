//! What an object in object storage costs to read: the time to the first byte with its spread, the
//! bandwidth of one stream, and how many requests run at once.

use crate::remote::named;
use crate::{Error, ErrorKind, Result};
use seekless_device::{
    Nanos, ObjectStoreParameters, Origin, Parameters, Quantile, Row, SplitMix64, Zone,
};
use seekless_engine::{AlignedBuf, Engine, Opened, Read};
use seekless_sled::{Devices, Entry};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Small reads, one at a time, which show the time to the first byte.
const SMALL_READS: u32 = 100;
const SMALL_READS_MIN: u32 = 16;
const SMALL_BYTES: usize = 4096;
const SMALL_TIME: Duration = Duration::from_secs(4);

/// Large reads, one at a time, which show the bandwidth of a stream.
const LARGE_READS: u32 = 4;
const LARGE_BYTES: u64 = 8 << 20;
const LARGE_BYTES_MIN: u64 = 1 << 20;

/// Most requests at once that are tried.
const AT_ONCE_MAX: u32 = 128;
/// Twice the requests at once count if they bring this many times the requests a second.
const AT_ONCE_GAIN: f64 = 1.3;
/// Times that each number of requests is tried; the best one counts.
const AT_ONCE_TIMES: u32 = 3;

/// The shares of requests for which the time to the first byte is given.
const PERMILLES: [u32; 5] = [0, 500, 900, 990, 1000];

/// What was measured of an object, and as a device model.
#[derive(Clone, Debug, Serialize)]
pub struct ObjectProbe {
    /// Its name.
    pub object: String,
    /// Its size.
    pub bytes: u64,
    /// Small requests that were made one at a time.
    pub requests: u32,
    /// Time to the first byte in seconds: the median.
    pub first_byte_s: f64,
    /// The same, which nine of ten requests keep.
    pub first_byte_p90_s: f64,
    /// The longest.
    pub first_byte_max_s: f64,
    /// Bytes a second of one stream.
    pub bandwidth: u64,
    /// Requests at once up to which more of them bring more.
    pub streams: u32,
    /// Small requests a second, with this many at once.
    pub requests_per_second: f64,
    /// The same as a device model.
    #[serde(skip)]
    pub parameters: Parameters,
}

/// Measures the object that `path` names: some 300 requests and 40 MB. `seed` chooses the places.
///
/// # Errors
/// It cannot be read, or is smaller than 1 MiB.
pub fn measure(
    path: &Path,
    engine: &dyn Engine,
    seed: u64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ObjectProbe> {
    let unreadable = |error| Error::unreadable(path, error);
    let opened = match engine.open(path, 1) {
        Some(opened) => opened.map_err(unreadable)?,
        None => return Err(Error::new(ErrorKind::Invalid, "this is no name of an object")),
    };
    if opened.bytes < LARGE_BYTES_MIN {
        let message = format!("{}: name an object of at least 1 MiB", path.display());
        return Err(Error::new(ErrorKind::Measure, message));
    }
    let mut probing = Probing { engine, opened: &opened, draws: SplitMix64::new(seed) };
    let first_byte = probing.first_bytes(progress).map_err(unreadable)?;
    let bytes_per_second =
        probing.bandwidth(first_byte[first_byte.len() / 2]).map_err(unreadable)?;
    let (streams, requests_per_second) = probing.streams().map_err(unreadable)?;
    progress(1, 1);
    let seconds = |permille| at(&first_byte, permille) as f64 / 1e9;
    let quantile = |permille| Quantile { permille, latency_ns: at(&first_byte, permille) };
    let parameters = Parameters::ObjectStore(ObjectStoreParameters {
        bytes_per_second,
        streams,
        seed: 0,
        first_byte: PERMILLES.map(quantile).to_vec(),
    });
    Ok(ObjectProbe {
        object: path.display().to_string(),
        bytes: opened.bytes,
        requests: first_byte.len() as u32,
        first_byte_s: seconds(500),
        first_byte_p90_s: seconds(900),
        first_byte_max_s: seconds(1000),
        bandwidth: bytes_per_second,
        streams,
        requests_per_second,
        parameters,
    })
}

/// Keeps what was measured of an object as the costs of its storage, in the device table at `table`
/// or the user's. Returns the table and the name there.
///
/// # Errors
/// The device table cannot be kept.
pub fn keep(found: &ObjectProbe, table: Option<&Path>) -> Result<(PathBuf, String)> {
    let storage = named(Path::new(&found.object))?.storage();
    let zone = Zone {
        from_byte: 0,
        latency_ns: nanos_of(found.first_byte_s),
        latency_p90_ns: Some(nanos_of(found.first_byte_p90_s)),
        bytes_per_second: found.bandwidth,
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let entry = Entry {
        measured_unix_s: now.as_secs(),
        conditions: format!("{} small requests, one at a time", found.requests),
        row: Row { origin: Origin::Calibrated, zones: vec![zone] },
    };
    let (table, _) = super::known(table)?;
    Devices::update(&table, |devices| devices.insert(&storage, entry)).map_err(super::sled)?;
    Ok((table, storage))
}

fn nanos_of(seconds: f64) -> Nanos {
    (seconds * 1e9).round() as Nanos
}

/// The time that this share of requests keep; they are sorted.
fn at(sorted: &[Nanos], permille: u32) -> Nanos {
    sorted[(sorted.len() - 1) * permille as usize / 1000]
}

struct Probing<'a> {
    engine: &'a dyn Engine,
    opened: &'a Opened,
    draws: SplitMix64,
}

impl Probing<'_> {
    /// Times to the first byte, sorted.
    fn first_bytes(&mut self, progress: &mut dyn FnMut(u64, u64)) -> std::io::Result<Vec<Nanos>> {
        let (began, mut times) = (Instant::now(), Vec::new());
        // The first request also makes the connection.
        self.read(SMALL_BYTES)?;
        for turn in 0..SMALL_READS {
            if turn >= SMALL_READS_MIN && began.elapsed() > SMALL_TIME {
                break;
            }
            times.push(nanos(self.read(SMALL_BYTES)?));
            progress(u64::from(turn), u64::from(SMALL_READS + SMALL_READS / 4));
        }
        times.sort_unstable();
        Ok(times)
    }

    /// The median rate of large reads behind their first bytes.
    fn bandwidth(&mut self, first_byte_ns: Nanos) -> std::io::Result<u64> {
        let bytes = LARGE_BYTES.min(self.opened.bytes) as usize;
        let mut rates = Vec::new();
        for _ in 0..LARGE_READS {
            let took = nanos(self.read(bytes)?).saturating_sub(first_byte_ns).max(1);
            rates.push((bytes as u128 * 1_000_000_000 / u128::from(took)) as u64);
        }
        rates.sort_unstable();
        Ok(rates[rates.len() / 2].max(1))
    }

    /// How many requests at once still bring more, and how many a second they are.
    fn streams(&mut self) -> std::io::Result<(u32, f64)> {
        let (mut streams, mut best) = (1, self.rate(1)?);
        while streams < AT_ONCE_MAX {
            let rate = self.rate(streams * 2)?;
            if rate < best * AT_ONCE_GAIN {
                break;
            }
            (streams, best) = (streams * 2, rate);
        }
        Ok((streams, best))
    }

    /// Small requests a second, `count` at once.
    fn rate(&mut self, count: u32) -> std::io::Result<f64> {
        let mut best: f64 = 0.0;
        for _ in 0..AT_ONCE_TIMES {
            let (done, ended) = mpsc::channel();
            let reads: Vec<Read> = (0..count)
                .map(|tag| Read {
                    file: self.opened.file.clone(),
                    offset: self.place(SMALL_BYTES),
                    buffer: AlignedBuf::with_capacity(SMALL_BYTES),
                    tag: tag.into(),
                    done: done.clone().into(),
                })
                .collect();
            let began = Instant::now();
            self.engine.submit(reads);
            for completion in ended.iter().take(count as usize) {
                completion.result?;
            }
            best = best.max(f64::from(count) / began.elapsed().as_secs_f64());
        }
        Ok(best)
    }

    /// A place from which this many bytes can be read.
    fn place(&mut self, bytes: usize) -> u64 {
        self.draws.below(self.opened.bytes - bytes as u64 + 1)
    }

    fn read(&mut self, bytes: usize) -> std::io::Result<Duration> {
        let (offset, buffer) = (self.place(bytes), AlignedBuf::with_capacity(bytes));
        let began = Instant::now();
        let (_, result) = self.engine.read_now(self.opened.file.clone(), offset, buffer);
        result.map(|_| began.elapsed())
    }
}

fn nanos(duration: Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_engine::{Counters, Noop};
    use std::fs::File;
    use std::sync::Arc;

    /// An object of this size whose requests are made up.
    struct Made(Noop, u64);

    impl Engine for Made {
        fn submit(&self, reads: Vec<Read>) {
            self.0.submit(reads);
        }

        fn counters(&self) -> Counters {
            self.0.counters()
        }

        fn name(&self) -> &'static str {
            "made up"
        }

        fn costs(&self) -> seekless_device::Costs {
            self.0.costs()
        }

        fn open(&self, _: &Path, _: u64) -> Option<std::io::Result<Opened>> {
            let file = File::open("/dev/null").map(Arc::new);
            let tail = AlignedBuf::default();
            Some(file.map(|file| Opened { file, bytes: self.1, tail }))
        }
    }

    #[test]
    fn what_is_measured_is_a_device_model() {
        let engine = Made(Noop::zeroed(), 20 << 20);
        let found = measure("s3://bucket/key".as_ref(), &engine, 1, &mut |_, _| ()).unwrap();
        assert_eq!((found.requests, found.bytes), (SMALL_READS, 20 << 20));
        assert!(found.first_byte_s <= found.first_byte_p90_s);
        assert!(found.first_byte_p90_s <= found.first_byte_max_s);
        assert_eq!(found.parameters.check(), Ok(()));
        let read = engine.counters().bytes;
        assert!((32 << 20..64 << 20).contains(&read), "{read} bytes read");
    }

    #[test]
    fn an_object_that_is_too_small_says_so() {
        let engine = Made(Noop::zeroed(), 1000);
        let error = measure("s3://bucket/key".as_ref(), &engine, 1, &mut |_, _| ()).unwrap_err();
        assert!(error.to_string().contains("at least 1 MiB"), "{error}");
    }
}
