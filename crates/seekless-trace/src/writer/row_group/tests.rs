//! Rows that we encode ourselves come back, with the statistics of their columns.

use crate::scratch::scratch;
use crate::{Access, Metadata, Op, Trace, Writer};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use std::fs::File;
use std::path::Path;

fn write(path: &Path, rows: &[Access]) {
    let mut writer = Writer::create(path, Metadata::default()).unwrap();
    for name in ["b", "a", "c"] {
        writer.file(name);
    }
    rows.iter().for_each(|row| writer.push(*row).unwrap());
    writer.finish().unwrap();
    let read: Vec<Access> =
        Trace::open(path).unwrap().accesses().unwrap().map(Result::unwrap).collect();
    assert!(read == rows, "the rows come back");
}

fn statistics(path: &Path, column: &str) -> Statistics {
    let parquet = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let [group] = parquet.metadata().row_groups() else { panic!("one row group") };
    let found = group.columns().iter().find(|it| it.column_descr().name() == column).unwrap();
    found.statistics().unwrap().clone()
}

#[test]
fn statistics_are_of_the_values_in_the_order_of_their_types() {
    let folder = scratch();
    let path = folder.path().join("run.parquet");
    let row = |op, file, offset, error| Access { offset, error, ..Access::new(op, file) };
    let mut rows = [
        row(Op::Stat, 0, -5, Some(-2)),
        row(Op::Open, 1, i64::MAX, None),
        row(Op::Read, 2, 7, Some(9)),
    ];
    rows[0].pid = u32::MAX;
    rows[1].bytes = u64::MAX;
    rows[2].inode = Some(1 << 63);
    write(&path, &rows);
    let of = |column| statistics(&path, column);
    let wide = |least, most, nulls| Statistics::int64(least, most, None, Some(nulls), false);
    let narrow = |least, most, nulls| Statistics::int32(least, most, None, Some(nulls), false);
    let latency = of("latency_ns");
    assert_eq!((latency.null_count_opt(), latency.min_bytes_opt()), (Some(3), None));
    let text = |least, most| Statistics::byte_array(Some(least), Some(most), None, Some(0), false);
    assert_eq!(of("pid"), narrow(Some(0), Some(-1), 0), "unsigned");
    assert_eq!(of("offset"), wide(Some(-5), Some(i64::MAX), 0));
    assert_eq!(of("error"), narrow(Some(-2), Some(9), 1));
    assert_eq!(of("bytes"), wide(Some(0), Some(-1), 0), "unsigned");
    assert_eq!(of("inode"), wide(Some(i64::MIN), Some(i64::MIN), 2));
    assert_eq!(of("op"), text("open".into(), "stat".into()));
    assert_eq!(of("path"), text("a".into(), "c".into()));
    assert_eq!(of("file"), narrow(Some(0), Some(2), 0));
}

/// More values than a dictionary takes, of both widths; and each column empty here and there.
#[test]
fn columns_with_too_many_values_and_with_gaps_come_back() {
    let folder = scratch();
    let path = folder.path().join("run.parquet");
    let mixed = |row: u64| row.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let rows: Vec<Access> = (0..150_000_u64)
        .map(|row| Access {
            time_ns: row / 3,
            tid: mixed(row) as u32,
            offset: mixed(row) as i64,
            bytes: mixed(row) >> (row % 64),
            latency_ns: (row % 7 > 0).then_some(mixed(row)),
            error: (row % 1000 == 1).then_some(-(row as i32)),
            file_bytes: (row > 8192).then_some(row),
            inode: (row < 8192).then_some(mixed(row)),
            ..Access::new(Op::ALL[row as usize / 5 % Op::ALL.len()], 0)
        })
        .collect();
    write(&path, &rows);
}

/// A reader holds the names of a row group at once.
#[test]
fn a_row_group_ends_before_its_names_take_too_much() {
    let folder = scratch();
    let path = folder.path().join("run.parquet");
    let mut writer = Writer::create(&path, Metadata::default()).unwrap();
    let mixed = |number: u32, part: u32| number.wrapping_mul(0x9E37_79B9) ^ part << 8;
    let name = |number: u32| {
        let parts = (0..80).map(|part| format!("/{:08x}", mixed(number, part)));
        parts.collect::<String>() + &format!("/{number}")
    };
    for number in 0..60_000 {
        let file = writer.file(&name(number));
        writer.push(Access::new(Op::Open, file)).unwrap();
    }
    writer.finish().unwrap();
    let parquet = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    assert_eq!(parquet.metadata().num_row_groups(), 2);
    let names = Trace::open(&path).unwrap().file_names().unwrap();
    assert!(names.len() == 60_000 && (0..60_000).all(|at| names[at as usize] == name(at)));
}
