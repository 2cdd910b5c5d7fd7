//! Counts the lines of a file, pass after pass, and says what each pass read: the smallest program
//! that shows what reading in the order of cost is worth. `passes FILE [PASSES] [best | linear]`

use seekless_read::{Event, Options, Plan, Reader, Records};
use seekless_sys::residency::{self, GRAIN_BYTES};
use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which file?")?;
    let passes = arguments.next().map_or(Ok(1), |number| number.parse::<u32>())?;
    let plan = if arguments.next().is_some_and(|word| word == "linear") {
        Plan::Linear
    } else {
        Plan::Best
    };
    for _ in 0..passes {
        pass(Path::new(&path), plan)?;
    }
    Ok(())
}

fn pass(path: &Path, plan: Plan) -> Result<(), Box<dyn std::error::Error>> {
    let started = Instant::now();
    let mut reader = Reader::new(Options { records: Records::None, plan, ..Options::default() });
    reader.add_path(path);
    let mut lines = 0;
    while let Some(event) = reader.next() {
        match event {
            Event::Chunk(chunk) => lines += memchr::memchr_iter(b'\n', chunk.bytes).count(),
            Event::Restart { .. } => lines = 0,
            Event::Hole { .. } | Event::End { .. } => {}
            Event::Failed { error, .. } => return Err(error.into()),
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    let did = reader.statistics();
    drop(reader);
    let file = File::open(path)?;
    let runs =
        residency::runs(file.as_fd(), 0..file.metadata()?.len(), GRAIN_BYTES)?.unwrap_or_default();
    let kept: Vec<_> = runs.into_iter().filter(|run| run.resident).map(|run| run.range).collect();
    println!(
        "{lines} lines, {seconds:.3} s; cached before {:.1} MiB in {} runs; read {:.1} MiB, {:.1} past the cache; \
         cached after {:.1} MiB in {} runs; {} looks, {} restarts",
        mib(did.resident_bytes),
        did.resident_runs,
        mib(did.device_bytes),
        mib(did.bypassed_bytes),
        mib(kept.iter().map(|range| range.end - range.start).sum()),
        kept.len(),
        did.looks,
        did.restarts,
    );
    Ok(())
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
