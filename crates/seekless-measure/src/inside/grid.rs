//! The latency of requests by their size and by how many run at once: all that can always be
//! measured of a device, and a time model of one whose inside does not show.

use super::answers::{self, Answers};
use super::probing::Probing;
use super::statistics::median;
use super::{Curve, Request, Taken, Timed};
use crate::Error;
use seekless_device::{LatencyRow, LatencyTableParameters, Nanos};
use serde::Serialize;

const SIZES: [u64; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
const DEPTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Batches of a size and depth: enough for a median.
const BATCHES: usize = 25;
const BATCHES_MIN: usize = 5;
/// Bytes of the sequential reads or writes.
const SEQUENCE_BYTES: u64 = 64 << 20;
const SEQUENCE_DEPTH: u64 = 8;

/// How much of a device a grid may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridOptions {
    /// Time for all sizes and depths; each has at least five batches.
    pub time_ns: Nanos,
    /// Measure writes too, which destroy what the device holds.
    pub destroy: bool,
    /// For the places.
    pub seed: u64,
}

/// Latencies by size and depth, and the rates of sequences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grid {
    /// Requests at once.
    pub depths: Vec<u32>,
    /// Of reads at random places.
    pub reads: Vec<GridRow>,
    /// Of writes; empty if none were made.
    pub writes: Vec<GridRow>,
    /// Bytes a second of sequential reads of 1 MiB, eight at once.
    pub sequential_read: u64,
    /// The same of writes.
    pub sequential_write: Option<u64>,
    /// How reads are answered: a delay, a limit, a cache, readahead.
    pub answers: Answers,
    /// What was taken of the device.
    pub taken: Taken,
}

/// Latencies of one size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GridRow {
    /// The size.
    pub bytes: u64,
    /// One for each depth.
    pub latency_ns: Vec<Nanos>,
}

impl Grid {
    /// The same as a device model.
    #[must_use]
    pub fn parameters(&self) -> LatencyTableParameters {
        let rows = |rows: &[GridRow]| {
            let row =
                |row: &GridRow| LatencyRow { bytes: row.bytes, latency_ns: row.latency_ns.clone() };
            rows.iter().map(row).collect()
        };
        LatencyTableParameters {
            depths: self.depths.clone(),
            reads: rows(&self.reads),
            writes: rows(&self.writes),
        }
    }

    /// Latency over size for each depth.
    #[must_use]
    pub fn curves(&self) -> Vec<Curve> {
        let curve = |rows: &[GridRow], title: &str, column: usize| Curve {
            name: "latency",
            title: format!("Latency of {title}, {} at once", self.depths[column]),
            x: "bytes",
            y: "latency",
            points: rows
                .iter()
                .map(|row| (row.bytes as f64, row.latency_ns[column] as f64))
                .collect(),
        };
        let columns = [0, self.depths.len() - 1];
        let kinds = [(&self.reads, "reads"), (&self.writes, "writes")];
        kinds
            .iter()
            .filter(|(rows, _)| !rows.is_empty())
            .flat_map(|(rows, title)| columns.map(|column| curve(rows, title, column)))
            .collect()
    }
}

/// Measures a device's latencies.
///
/// # Errors
/// An I/O fails.
pub fn latency_grid(
    device: &mut dyn Timed,
    options: GridOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Grid, Error> {
    let mut silent = |_, _| {};
    let mut probing = Probing::new(device, Nanos::MAX, options.seed, &mut silent);
    // First, while a cache behind the device has not seen most places.
    let answers = answers::find(&mut probing)?;
    let kinds: &[bool] = if options.destroy { &[false, true] } else { &[false] };
    let cells = (SIZES.len() * DEPTHS.len() * kinds.len()) as u64;
    let mut done = 0;
    let mut tables = Vec::new();
    for &write in kinds {
        let mut rows = Vec::new();
        let grain = probing.grain();
        for bytes in SIZES.into_iter().filter(|&bytes| bytes >= grain) {
            let mut latency_ns = Vec::new();
            for depth in DEPTHS {
                let limit = options.time_ns / cells;
                latency_ns.push(cell(&mut probing, write, bytes, depth, limit)?);
                done += 1;
                progress(done.min(cells), cells);
            }
            rows.push(GridRow { bytes, latency_ns });
        }
        tables.push(rows);
    }
    let sequential_read = sequence(&mut probing, false)?;
    let sequential_write = if options.destroy { Some(sequence(&mut probing, true)?) } else { None };
    let mut tables = tables.into_iter();
    Ok(Grid {
        depths: DEPTHS.into(),
        reads: tables.next().unwrap_or_default(),
        writes: tables.next().unwrap_or_default(),
        sequential_read,
        sequential_write,
        answers,
        taken: probing.taken(),
    })
}

/// The latency of the last of `depth` requests at random places: it sees all others in flight.
fn cell(
    probing: &mut Probing<'_>,
    write: bool,
    bytes: u64,
    depth: u32,
    limit_ns: Nanos,
) -> Result<Nanos, Error> {
    let started = probing.now();
    let mut times = Vec::new();
    while times.len() < BATCHES {
        if times.len() >= BATCHES_MIN && probing.now() - started > limit_ns {
            break;
        }
        let places = (probing.capacity() / bytes).max(1);
        let requests: Vec<Request> = (0..depth)
            .map(|_| Request { write, offset: probing.dice.below(places) * bytes, bytes })
            .collect();
        let spans = probing.run(&requests)?;
        times.extend(spans.last().map(|span| span.ns() as f64));
    }
    Ok(median(&times).round().max(1.0) as Nanos)
}

/// Bytes a second of a sequence from a random place on.
fn sequence(probing: &mut Probing<'_>, write: bool) -> Result<u64, Error> {
    const BYTES: u64 = 1 << 20;
    let total = SEQUENCE_BYTES.min(probing.capacity() / 2 / BYTES * BYTES).max(BYTES);
    let room = probing.capacity().saturating_sub(total) / BYTES + 1;
    let first = probing.dice.below(room) * BYTES;
    let started = probing.now();
    let places: Vec<u64> = (0..total / BYTES).map(|number| first + number * BYTES).collect();
    for places in places.chunks(SEQUENCE_DEPTH as usize) {
        let requests: Vec<Request> =
            places.iter().map(|&offset| Request { write, offset, bytes: BYTES }).collect();
        probing.run(&requests)?;
    }
    let elapsed = (probing.now() - started).max(1);
    Ok((u128::from(total) * 1_000_000_000 / u128::from(elapsed)) as u64)
}
