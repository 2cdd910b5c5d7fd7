//! Loads that we encode ourselves give the rows, and the statistics of columns, of Parquet's
//! writer.

use super::super::row_group::ROW_GROUP_ROWS;
use crate::scratch::scratch;
use crate::writer::Loads;
use crate::{Access, Metadata, Op, Trace, Writer};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use proptest::prelude::*;
use std::fs::File;
use std::path::Path;

/// Requests as (run, time, id, bytes), in order.
type Request = (u32, u64, u64, u64);

fn writer(path: &Path) -> Writer {
    Writer::create(path, Metadata::default()).unwrap()
}

/// Writes them as loads, in as many parts as `cuts` say. Returns all ids.
fn write_loads(writer: &mut Writer, requests: &[Request], part: usize) -> Vec<u64> {
    let (mut ids, mut numbers) = (Vec::new(), std::collections::HashMap::new());
    for part in requests.chunks(part) {
        let mut loads = Loads::default();
        for &(run, time, id, bytes) in part {
            let file = *numbers.entry(id).or_insert_with(|| {
                ids.push(id);
                ids.len() as u32 - 1
            });
            loads.runs.push(run);
            loads.times.push(time);
            loads.files.push(file);
            loads.ids.push(id);
            loads.bytes.push(bytes);
        }
        assert_eq!(writer.push_loads(&loads, || 7).unwrap(), 7);
    }
    ids
}

fn write_rows(writer: &mut Writer, requests: &[Request]) {
    for &(run, time_ns, id, bytes) in requests {
        let file = writer.file(&id.to_string());
        let row =
            Access { run, time_ns, bytes, file_bytes: Some(bytes), ..Access::new(Op::Load, file) };
        writer.push(row).unwrap();
    }
}

fn parquet(path: &Path) -> ParquetMetaData {
    SerializedFileReader::new(File::open(path).unwrap()).unwrap().metadata().clone()
}

/// Both ways give the same rows, and the same statistics.
fn assert_same(requests: &[Request], part: usize) {
    let folder = scratch();
    let [loads, rows] = ["loads", "rows"].map(|name| folder.path().join(name));
    let mut writing = writer(&loads);
    write_loads(&mut writing, requests, part);
    let summary = writing.finish().unwrap();
    let mut writing = writer(&rows);
    write_rows(&mut writing, requests);
    assert_eq!(writing.finish().unwrap(), summary);
    let read = |path: &Path| {
        let trace = Trace::open(path).unwrap();
        let rows: Vec<Access> = trace.accesses().unwrap().map(Result::unwrap).collect();
        (rows, trace.file_names().unwrap())
    };
    assert!(read(&loads) == read(&rows), "the rows are alike");
    let [loads, rows] = [loads, rows].map(|path| parquet(&path));
    assert_eq!(loads.num_row_groups(), rows.num_row_groups());
    for (loads, rows) in loads.row_groups().iter().zip(rows.row_groups()) {
        assert_eq!(loads.num_rows(), rows.num_rows());
        assert_eq!(loads.sorting_columns(), rows.sorting_columns());
        for (ours, theirs) in loads.columns().iter().zip(rows.columns()) {
            let name = ours.column_descr().name();
            assert_eq!(ours.statistics(), theirs.statistics(), "{name}");
            assert_eq!(ours.num_values(), theirs.num_values(), "{name}");
            assert_eq!(ours.compression(), theirs.compression(), "{name}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn loads_are_what_rows_would_be(
        steps in prop::collection::vec((0..2_u32, 0..3_u64, 0..40_u64, any::<u64>()), 1..600),
        huge: bool,
        part in 1..700_usize,
    ) {
        let (mut run, mut time) = (0, 0);
        let requests: Vec<Request> = steps
            .into_iter()
            .map(|(more, later, id, bytes)| {
                (run, time) = match more == 1 && id == 0 {
                    true => (run + 1, 0),
                    false => (run, time + (later << (20 * later))),
                };
                let id = id.wrapping_mul(0x0123_4567_89AB_CDEF);
                (run, time, id, if huge { bytes } else { bytes % 9 })
            })
            .collect();
        assert_same(&requests, part);
    }
}

#[test]
fn row_groups_are_cut_and_too_many_sizes_have_no_dictionary() {
    let size = |at: u64| if at > 900_000 { 4096 } else { at * at % 200_003 };
    let requests: Vec<Request> = (0..ROW_GROUP_ROWS as u64 + 5000)
        .map(|at| (0, at / 1000, at * 7919 % 65_537 + (at >> 19), size(at)))
        .collect();
    assert_same(&requests, 131_072);
}

#[test]
fn rows_of_other_formats_may_follow() {
    let folder = scratch();
    let path = folder.path().join("mixed");
    let mut writing = writer(&path);
    let requests: Vec<Request> = (0..100).map(|at| (0, at, at % 10, 5)).collect();
    for id in write_loads(&mut writing, &requests, 30) {
        writing.file(&id.to_string());
    }
    write_rows(&mut writing, &[(1, 0, 3, 5), (1, 1, 77, 5), (0, 50, 88, 5)]);
    let summary = writing.finish().unwrap();
    assert_eq!((summary.rows, summary.files, summary.late), (103, 12, 1));
    let trace = Trace::open(&path).unwrap();
    let names = trace.file_names().unwrap();
    let rows: Vec<Access> = trace.accesses().unwrap().map(Result::unwrap).collect();
    let name = |at: usize| names[rows[at].file as usize].as_str();
    assert_eq!((name(50), rows[51].time_ns, name(51)), ("0", 50, "88"));
    assert_eq!((rows[101].run, name(101), name(102)), (1, "3", "77"));
}
