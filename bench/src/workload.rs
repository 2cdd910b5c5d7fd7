//! The requests: the CloudPhysics sample, and Zipf(1.0) over one million objects.

use anyhow::Context;
use seekless::policy::eviction::Id;
use seekless::sim::Requests;
use seekless::trace::PageNumbers;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The number of objects in the Zipf requests.
pub(crate) const OBJECTS: u64 = 1_000_000;
/// Coprime to [`OBJECTS`]: scatters the popular objects.
const SCATTER: u64 = 736_357;
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
/// `u32` seconds, `u64` object, `u32` bytes, `i64` number of the next request for it.
const RECORD_BYTES: usize = 24;

/// Options of the trace of Zipf requests.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The trace to write, 24 bytes a request.
    #[arg(value_name = "FILE")]
    out: PathBuf,
    /// How many requests.
    #[arg(long, default_value_t = 20_000_000)]
    requests: usize,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    write_zipf(args.requests, &args.out)
}

/// Writes this many Zipf requests as an oracleGeneral trace.
pub(crate) fn write_zipf(requests: usize, out: &Path) -> anyhow::Result<()> {
    write(&zipf(requests), out).with_context(|| format!("cannot write {}", out.display()))
}

/// The trace that was given, or one of this many Zipf requests, written to `folder`.
pub(crate) fn given_or_zipf(
    given: Option<&Path>,
    requests: usize,
    folder: &Path,
) -> anyhow::Result<PathBuf> {
    if let Some(trace) = given {
        return Ok(trace.to_owned());
    }
    let path = folder.join("zipf.oracleGeneral.bin");
    write_zipf(requests, &path)?;
    Ok(path)
}

/// Objects by the names in their trace, as a reader finds them.
pub(crate) struct Workload {
    pub(crate) name: String,
    pub(crate) objects: Vec<u64>,
    /// Whether they are files of different sizes instead of objects that weigh 1.
    pub(crate) files: bool,
    /// How often a round repeats it, so that a short one is timed well.
    pub(crate) repeats: u32,
}

impl Workload {
    /// libCacheSim's sample, if it is in the folder.
    pub(crate) fn cloud_physics(data: &Path) -> anyhow::Result<Option<Self>> {
        let path = data.join("cloudphysics/cloudPhysicsIO.oracleGeneral.bin");
        if !path.exists() {
            return Ok(None);
        }
        let bytes =
            std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let object = |record: &[u8]| {
            record[4..12].iter().rev().fold(0, |object, &byte| object << 8 | u64::from(byte))
        };
        let objects = bytes.chunks_exact(RECORD_BYTES).map(object).collect();
        let name = "CloudPhysics sample".to_owned();
        Ok(Some(Self { name, objects, files: false, repeats: 10 }))
    }

    pub(crate) fn zipf(requests: usize) -> Self {
        Self { name: "Zipf(1.0)".to_owned(), objects: zipf(requests), files: false, repeats: 1 }
    }

    /// The same requests, for files of different sizes.
    pub(crate) fn with_sizes(&self) -> Self {
        let (name, objects) = (format!("{}, files", self.name), self.objects.clone());
        Self { name, objects, files: true, repeats: self.repeats }
    }

    /// Numbers the objects by first appearance, as the simulator does.
    pub(crate) fn number(&self) -> Requests {
        if self.files { weighed(&self.objects) } else { numbered(&self.objects) }
    }
}

fn weighed(objects: &[u64]) -> Requests {
    let (mut numbers, mut bytes) = (PageNumbers::default(), Vec::new());
    let number = |&object: &u64| {
        let id = numbers.id(0, object);
        if id as usize == bytes.len() {
            bytes.push(size(object));
        }
        id
    };
    let ids: Vec<Id> = objects.iter().map(number).collect();
    Requests::from_numbered_files(ids, bytes)
}

/// Bytes of a file: 512 to 66,047.
fn size(object: u64) -> u64 {
    512 + object.wrapping_mul(2_654_435_761) % 65_536
}

fn numbered(objects: &[u64]) -> Requests {
    let mut numbers = PageNumbers::default();
    let ids: Vec<Id> = objects.iter().map(|&object| numbers.id(0, object)).collect();
    Requests::from_pages(ids)
}

/// Draws by inversion of the cumulative weights.
fn zipf(requests: usize) -> Vec<u64> {
    let mut cumulative = Vec::with_capacity(OBJECTS as usize);
    let mut sum = 0.0;
    for rank in 1..=OBJECTS {
        sum += 1.0 / rank as f64;
        cumulative.push(sum);
    }
    let mut state = SEED;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let point = (state >> 11) as f64 / (1_u64 << 53) as f64 * sum;
        let rank = cumulative.partition_point(|&below| below < point) as u64;
        rank.min(OBJECTS - 1) * SCATTER % OBJECTS
    };
    (0..requests).map(|_| draw()).collect()
}

fn write(objects: &[u64], out: &Path) -> std::io::Result<()> {
    let requests = numbered(objects);
    let mut file = BufWriter::with_capacity(1 << 20, File::create(out)?);
    for (position, (object, &next)) in objects.iter().zip(requests.next_uses()).enumerate() {
        let seconds = (position / 1000) as u32;
        let next = if next == u32::MAX { -1 } else { i64::from(next) + 1 };
        file.write_all(&seconds.to_le_bytes())?;
        file.write_all(&object.to_le_bytes())?;
        file.write_all(&1_u32.to_le_bytes())?;
        file.write_all(&next.to_le_bytes())?;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zipf_is_the_same_each_time_and_favours_few() {
        let objects = zipf(20_000);
        assert_eq!(objects, zipf(20_000));
        let first = objects.iter().filter(|&&object| object == 0).count();
        // 1 / H(1,000,000) = 6.95 %.
        assert!((1_200..1_600).contains(&first), "{first}");
        assert!(objects.iter().all(|&object| object < OBJECTS));
    }

    #[test]
    fn objects_are_numbered_by_first_appearance() {
        assert_eq!(numbered(&[7_000_000, 3, 7_000_000, u64::from(u32::MAX)]).ids(), [0, 1, 0, 2]);
    }

    #[test]
    fn files_keep_their_sizes_when_they_are_numbered() {
        let files = weighed(&[7_000, 3, 7_000]);
        assert_eq!((files.ids(), files.distinct()), (&[0, 1, 0][..], 2));
        assert_eq!([files.weight(0), files.weight(1)], [size(7_000), size(3)]);
    }

    #[test]
    fn the_trace_knows_what_comes_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.bin");
        write(&[5, 6, 5], &path).unwrap();
        let bytes = std::fs::read(path).unwrap();
        let next = |record: &[u8]| i64::from_le_bytes(record[16..24].try_into().unwrap());
        assert_eq!(bytes.chunks_exact(RECORD_BYTES).map(next).collect::<Vec<_>>(), [3, -1, -1]);
        assert_eq!(bytes[28..36], 6_u64.to_le_bytes());
    }
}
