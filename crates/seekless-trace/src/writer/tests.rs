//! Rows come back in the order of run and time, through every path of the writer.

use super::*;
use crate::scratch::scratch;
use crate::{Columns, Op, Trace};
use proptest::prelude::*;
use std::num::NonZeroU64;

fn any_access() -> impl Strategy<Value = (Access, u8)> {
    let numbers = (0..3_u32, 0..40_u64, any::<u32>(), any::<u32>(), 0..Op::ALL.len());
    let sizes = (any::<i64>(), any::<u64>(), any::<Option<u64>>(), any::<Option<i32>>());
    let identity = (any::<Option<u64>>(), any::<Option<u64>>(), any::<Option<u64>>(), 0..6_u8);
    (numbers, sizes, identity).prop_map(|(numbers, sizes, identity)| {
        let (run, time_ns, pid, tid, op) = numbers;
        let (offset, bytes, latency_ns, error) = sizes;
        let (file_bytes, device, inode, name) = identity;
        let op = Op::ALL[op];
        let access = Access {
            run,
            time_ns,
            pid,
            tid,
            op,
            file: 0,
            offset,
            bytes,
            latency_ns,
            error,
            file_bytes,
            device,
            inode,
            ttl_ns: device.and_then(NonZeroU64::new),
        };
        (access, name)
    })
}

fn writer(path: &Path, window_rows: usize) -> Writer {
    Writer::with_window(path.into(), Metadata::default(), window_rows, true).unwrap()
}

fn name(number: u8) -> String {
    format!("dir {number}/\u{e9}\"{number},\n")
}

/// Rows with the names of their files.
fn read(path: &Path) -> Vec<(Access, String)> {
    let trace = Trace::open(path).unwrap();
    let names = trace.file_names().unwrap();
    let rows: Vec<Access> = trace.accesses().unwrap().map(Result::unwrap).collect();
    assert_eq!(trace.rows(), rows.len() as u64);
    let mut seen = 0;
    for row in &rows {
        assert!(row.file <= seen, "files are numbered by first appearance");
        seen += u32::from(row.file == seen);
    }
    assert_eq!(seen as usize, names.len());
    rows.into_iter()
        .map(|row| (Access { file: 0, ..row }, names[row.file as usize].clone()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_rows_come_back_sorted(rows in proptest::collection::vec(any_access(), 0..300), window in 8..64_usize) {
        let folder = scratch();
        let path = folder.path().join("run.parquet");
        let mut writer = writer(&path, window);
        writer.file("mentioned by no row");
        for (access, number) in &rows {
            let file = writer.file(&name(*number));
            writer.push(Access { file, ..*access }).unwrap();
        }
        let summary = writer.finish().unwrap();
        let mut expected: Vec<_> = rows.into_iter().map(|(access, number)| (access, name(number))).collect();
        expected.sort_by_key(|(access, _)| access.key());
        prop_assert_eq!(summary.rows, expected.len() as u64);
        prop_assert_eq!(read(&path), expected);
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn many_spills_are_merged_in_two_steps() {
    let folder = scratch();
    let path = folder.path().join("run.parquet");
    let mut writer = writer(&path, 4);
    let file = writer.file("a");
    let times = (0..1000_u64).map(|row| 1000 - row);
    for time_ns in times {
        writer.push(Access { time_ns, ..Access::new(Op::Read, file) }).unwrap();
    }
    assert!(writer.finish().unwrap().late > 64 * 4);
    let times: Vec<u64> = read(&path).iter().map(|(row, _)| row.time_ns).collect();
    assert_eq!(times, (1..=1000).collect::<Vec<u64>>());
}

#[test]
fn dropping_leaves_nothing() {
    let folder = scratch();
    let mut writer = writer(&folder.path().join("run.parquet"), 2);
    let file = writer.file("a");
    for time_ns in [5, 4, 3, 2, 1, 0] {
        writer.push(Access { time_ns, ..Access::new(Op::Read, file) }).unwrap();
    }
    drop(writer);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn strange_rows_are_refused() {
    let folder = scratch();
    let mut writer =
        Writer::create(folder.path().join("run.parquet"), Metadata::default()).unwrap();
    assert_eq!(writer.push(Access::new(Op::Read, 0)).unwrap_err().kind(), ErrorKind::Usage);
    let file = writer.file("a");
    let late_run = Access { run: RUNS_MAX, ..Access::new(Op::Read, file) };
    assert!(writer.push(late_run).unwrap_err().to_string().contains("65536"));
}

#[test]
fn only_the_columns_asked_for_are_there() {
    let folder = scratch();
    let path = folder.path().join("run.parquet");
    let mut writer = Writer::create(&path, Metadata { lost: 7, ..Metadata::default() }).unwrap();
    let file = writer.file("a");
    writer.push(Access { bytes: 9, device: Some(1), ..Access::new(Op::Read, file) }).unwrap();
    writer.metadata_mut().page_bytes = 512;
    writer.finish().unwrap();
    let trace = Trace::open(&path).unwrap();
    assert_eq!((trace.metadata().lost, trace.metadata().page_bytes), (7, 512));
    let batch = trace.scan(Columns::BYTES | Columns::DEVICE).unwrap().next().unwrap().unwrap();
    assert_eq!((batch.bytes(), batch.device().get(0), batch.rows()), (&[9][..], Some(1), 1));
    assert!(batch.file().is_empty() && batch.op().is_empty() && batch.access(0).is_none());
}

#[test]
fn a_folder_that_is_not_there() {
    let error =
        Writer::create(Path::new("/no/such/folder/run.parquet"), Metadata::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("/no/such/folder/run.parquet"));
}

#[test]
fn a_trace_with_arguments_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = scratch();
    let mode_of = |name: &str, command: &[&str]| {
        let path = folder.path().join(name);
        let run = crate::RunInfo {
            command: command.iter().map(ToString::to_string).collect(),
            ..crate::RunInfo::default()
        };
        let metadata = Metadata { runs: vec![run], ..Metadata::default() };
        Writer::create(&path, metadata).unwrap().finish().unwrap();
        path.metadata().unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode_of("with.parquet", &["curl", "--token=secret"]), 0o600);
    assert_ne!(mode_of("without.parquet", &["curl"]) & 0o044, 0, "as the umask says");
}
