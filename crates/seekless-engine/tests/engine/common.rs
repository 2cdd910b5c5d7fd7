//! A file with known bytes, the engines to try, and a helper that reads and waits.

use seekless_device::Volume;
use seekless_engine::{
    AlignedBuf, Clock, Completion, Engine, EngineKind, Read, Threads, Throttled, build,
    build_driven,
};
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, mpsc};
use tempfile::NamedTempFile;

/// A length that is a multiple of no block size.
pub(crate) const FILE_BYTES: usize = 3_000_001;

/// A file on a real disk where there is one (tests may need O_DIRECT), and its bytes.
pub(crate) fn sample() -> (NamedTempFile, Vec<u8>) {
    let mut state = 1u64;
    let bytes: Vec<u8> =
        std::iter::repeat_with(|| next_random(&mut state) as u8).take(FILE_BYTES).collect();
    let mut file = NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    file.write_all(&bytes).unwrap();
    file.as_file().sync_all().unwrap();
    (file, bytes)
}

/// xorshift64*: the tests need variety, not quality.
pub(crate) fn next_random(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32
}

/// Every engine that reads files here; says when the ring is not among them.
pub(crate) fn engines() -> Vec<Arc<dyn Engine>> {
    let mut engines: Vec<Arc<dyn Engine>> = vec![Arc::new(Threads::new())];
    match build(EngineKind::Ring) {
        Ok(ring) => {
            engines.push(ring);
            engines.push(build_driven(EngineKind::Ring).unwrap());
        }
        Err(error) => eprintln!("skipped: the ring: {error}"),
    }
    let fast = Volume::new(1_000_000, 100_000_000_000);
    engines.push(Arc::new(
        Throttled::new(build(EngineKind::Auto).unwrap(), Box::new(fast), Clock::wall()).unwrap(),
    ));
    engines
}

/// Reads these ranges (offset, bytes) in one batch; the completions come back in the order asked.
pub(crate) fn read_all(
    engine: &dyn Engine,
    file: &Arc<File>,
    ranges: &[(u64, usize)],
) -> Vec<Completion> {
    let (done, completions) = mpsc::channel();
    engine.submit(reads(file, ranges, &done));
    drop(done);
    let mut all = ended(engine, &completions, ranges.len());
    all.sort_by_key(|completion| completion.tag);
    assert!(
        all.iter().map(|completion| completion.tag).eq(0..ranges.len() as u64),
        "each read completes once"
    );
    all
}

/// So many completions, and those after them until nothing is left to send one.
pub(crate) fn ended(
    engine: &dyn Engine,
    completions: &mpsc::Receiver<Completion>,
    count: usize,
) -> Vec<Completion> {
    let mut all: Vec<Completion> = completions.try_iter().collect();
    while all.len() < count && engine.drive(true) {
        all.extend(completions.try_iter());
    }
    all.extend(completions.iter());
    all
}

pub(crate) fn reads(
    file: &Arc<File>,
    ranges: &[(u64, usize)],
    done: &mpsc::Sender<Completion>,
) -> Vec<Read> {
    let read = |(tag, &(offset, bytes)): (u64, &(u64, usize))| Read {
        file: Arc::clone(file),
        offset,
        buffer: AlignedBuf::with_capacity(bytes),
        tag,
        done: done.clone().into(),
    };
    (0..).zip(ranges).map(read).collect()
}

/// What the file has in this range.
pub(crate) fn expected(bytes: &[u8], offset: u64, length: usize) -> &[u8] {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    &bytes[start..start.saturating_add(length).min(bytes.len())]
}
