//! A small trace that asks for much: reading and simulating it stays within the memory that is
//! allowed and foretold.

#[path = "../../../../tests/allocations.rs"]
pub(crate) mod allocations;

use allocations::peak_of_thread;
use seekless_policy::eviction::{NAMES, needs_of};
use seekless_sim::{Case, Reading, Requests, Unit, memory_bytes_max, simulate};
use seekless_trace::{Access, Columns, FileId, Metadata, Op, Trace, Writer};
use std::path::{Path, PathBuf};

/// What is not in proportion to the requests: names of policies, blocks of small arrays.
const SLACK_BYTES: usize = 256 << 10;
const ROWS: u64 = 1 << 17;
const LIMITS: [u64; 3] = [1 << 20, 4 << 20, 16 << 20];

/// A trace of a million rows at most, each made from its number.
fn trace(folder: &Path, name: &str, rows: u64, row: impl Fn(u64, &[FileId]) -> Access) -> PathBuf {
    let path = folder.join(name);
    let mut writer = Writer::create(&path, Metadata::default()).unwrap();
    let files: Vec<FileId> = (0..4).map(|number| writer.file(&format!("file {number}"))).collect();
    (0..rows).for_each(|number| writer.push(row(number, &files)).unwrap());
    writer.finish().unwrap();
    path
}

/// Traces that ask for memory, each in its own way.
fn hostile(folder: &Path) -> Vec<PathBuf> {
    let read = |file| Access { bytes: 1, ..Access::new(Op::Read, file) };
    let mut traces = vec![
        trace(folder, "ever new pages", ROWS, |row, files| Access {
            offset: (row << 30) as i64,
            ..read(files[0])
        }),
        trace(folder, "ever new objects", ROWS, |row, files| Access {
            offset: row as i64,
            ..read(files[(row % 4) as usize])
        }),
        trace(folder, "one page again and again", ROWS, |_, files| read(files[0])),
        trace(folder, "writes", ROWS, |_, files| Access { op: Op::Write, ..read(files[0]) }),
        trace(folder, "flushes", ROWS, |_, files| Access::new(Op::Sync, files[0])),
        trace(folder, "loads", ROWS, |_, files| Access { op: Op::Load, ..read(files[0]) }),
        trace(folder, "files in many runs", ROWS, |row, files| Access {
            run: (row / 4) as u32,
            ..read(files[(row % 4) as usize])
        }),
    ];
    for size in [20, 26, 28, 30, 40, 60] {
        let name = format!("one row of 2^{size} bytes");
        traces.push(trace(folder, &name, 1, |_, files| Access {
            bytes: 1 << size,
            ..read(files[0])
        }));
    }
    traces
}

/// What it takes to decode the rows, whatever becomes of them.
fn decoding_bytes(trace: &Path) -> usize {
    let decode = || {
        Trace::open(trace)
            .unwrap()
            .scan(Columns::ALL)
            .unwrap()
            .for_each(|batch| drop(batch.unwrap()))
    };
    peak_of_thread(decode).1
}

#[test]
fn a_trace_takes_no_more_memory_than_it_may() {
    let folder = tempfile::tempdir().unwrap();
    for path in hostile(folder.path()) {
        let decoding = decoding_bytes(&path);
        for (limit, unit) in LIMITS
            .into_iter()
            .flat_map(|limit| [Unit::Page, Unit::Object, Unit::File].map(|unit| (limit, unit)))
        {
            let reading = Reading {
                unit: Some(unit),
                times: true,
                memory_bytes_max: Some(limit),
                ..Reading::default()
            };
            let (requests, taken) =
                peak_of_thread(|| reading.read(std::slice::from_ref(&path), &mut |_, _| {}));
            let allowed = limit as usize + decoding + SLACK_BYTES;
            println!("{} {unit:?} {limit}: {taken} allowed {allowed}", path.display());
            assert!(taken <= allowed, "{}, {unit:?}, limit {limit}: {taken} bytes", path.display());
            if let Ok(requests) = requests {
                assert_simulated_as_foretold(&requests, &path);
            }
        }
    }
}

/// As [`a_trace_takes_no_more_memory_than_it_may`], for records, which are read without a trace.
#[test]
fn records_take_no_more_memory_than_they_may() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ever new objects.oracleGeneral");
    let record = |object: u64| {
        let mut record = [0xff; 24];
        record[..4].fill(0);
        record[4..12].copy_from_slice(&object.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
        record
    };
    std::fs::write(&path, (0..ROWS).flat_map(record).collect::<Vec<u8>>()).unwrap();
    for limit in LIMITS {
        let reading = Reading { times: true, memory_bytes_max: Some(limit), ..Reading::default() };
        let (requests, taken) =
            peak_of_thread(|| reading.read(std::slice::from_ref(&path), &mut |_, _| {}));
        // A piece of records, and the buffers in front of it.
        let allowed = limit as usize + SLACK_BYTES + (512 << 10);
        assert!(taken <= allowed, "limit {limit}: {taken} bytes");
        if let Err(error) = requests {
            assert!(error.to_string().contains("is one request more"), "{error}");
        }
    }
}

fn assert_simulated_as_foretold(requests: &Requests, path: &Path) {
    let fits = |name: &&&str| requests.unit_weights() || !needs_of(name).unwrap().unit_weights;
    for policy in NAMES.iter().filter(fits) {
        let case = Case { policy: (*policy).to_owned(), capacity: 1 << 20 };
        let foretold = memory_bytes_max(requests, std::slice::from_ref(&case)).unwrap();
        let held = requests.memory_bytes();
        let (_, taken) = peak_of_thread(|| simulate(requests, &case).map(drop));
        let allowed = (foretold - held) as usize + SLACK_BYTES;
        assert!(
            taken <= allowed,
            "{}, {policy}: {taken} bytes, {allowed} foretold",
            path.display()
        );
    }
}
