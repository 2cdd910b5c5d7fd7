//! Ozen's sector text and libCacheSim's oracleGeneral: import, refusal of malformed input, and
//! export.

use seekless_trace::export;
use seekless_trace::import::{self, Options};
use seekless_trace::*;
use std::path::{Path, PathBuf};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn file(folder: &tempfile::TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn ozen(files: &[PathBuf], out: &Path) -> Result<import::Report> {
    import::ozen(files, out, &Options::default(), &mut |_, _| {})
}

fn oracle(files: &[PathBuf], out: &Path) -> Result<import::Report> {
    import::oracle_general(files, out, &Options::default(), &mut |_, _| {})
}

/// Records of (time, object, bytes, next access).
fn records(records: &[(u32, u64, u32, i64)]) -> Vec<u8> {
    let bytes = |&(time, object, bytes, next): &(u32, u64, u32, i64)| {
        let mut record = time.to_le_bytes().to_vec();
        record.extend(object.to_le_bytes());
        record.extend(bytes.to_le_bytes());
        record.extend(next.to_le_bytes());
        record
    };
    records.iter().flat_map(bytes).collect()
}

fn exported(trace: &Path, format: export::Format) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    format.write(&Trace::open(trace).unwrap(), &mut out, &mut |_, _| {})?;
    Ok(out)
}

#[test]
fn sectors_become_a_block_trace_of_one_device() {
    let folder = folder();
    let first = file(&folder, "a.txt", "r 16\n\n# nrFileReads = 3\nw -1\r\n");
    let second = file(&folder, "b.txt", "w 3\nread 5\nr 4x\n");
    let out = folder.path().join("out");
    let report = ozen(&[first, second], &out).unwrap();
    assert_eq!((report.rows, report.runs, report.files), (3, 2, 1));
    let trace = Trace::open(&out).unwrap();
    assert_eq!(
        (trace.metadata().kind, trace.file_names().unwrap()),
        (Kind::Blocks, vec!["disk".to_owned()])
    );
    let rows: Vec<_> = trace.accesses().unwrap().map(|row| row.unwrap()).collect();
    let found: Vec<_> = rows.iter().map(|row| (row.run, row.op, row.offset, row.bytes)).collect();
    let expected = [(0, Op::Read, 8192, 512), (0, Op::Write, -1, 512), (1, Op::Write, 1536, 512)];
    assert_eq!(found, expected);
    assert_eq!(exported(&out, export::Format::Ozen).unwrap(), b"r 16\nw -1\nw 3\n");
}

#[test]
fn post_cache_text_counts_in_pages_and_comes_back_as_sectors() {
    let folder = folder();
    let text = folder.path().join("pages.txt");
    let mut pages = export::OzenPages::create(&text).unwrap();
    pages.push(true, 7).unwrap();
    pages.push(false, 0).unwrap();
    assert!(!text.exists(), "nothing shows before the end");
    pages.finish().unwrap();
    assert_eq!(std::fs::read_to_string(&text).unwrap(), "# Post-cache traces\nw 7\nr 0\n");
    let out = folder.path().join("out");
    ozen(&[text], &out).unwrap();
    let rows: Vec<_> =
        Trace::open(&out).unwrap().accesses().unwrap().map(|row| row.unwrap()).collect();
    assert_eq!((rows[0].offset, rows[0].bytes, rows[0].op), (7 * 4096, 4096, Op::Write));
    let sectors = String::from_utf8(exported(&out, export::Format::Ozen).unwrap()).unwrap();
    assert_eq!((sectors.lines().count(), sectors.lines().next()), (16, Some("w 56")));
}

#[test]
fn text_without_sectors_and_numbers_too_large_are_refused() {
    let folder = folder();
    let out = folder.path().join("out");
    let error = ozen(&[file(&folder, "a", "path,size\na,1\n")], &out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotATrace);
    let error = ozen(&[file(&folder, "b", "r 1\nr 9223372036854775807\n")], &out).unwrap_err();
    assert_eq!((error.kind(), error.line()), (ErrorKind::Malformed, Some(2)));
    assert!(!out.exists());
}

#[test]
fn a_trace_of_several_files_is_no_device() {
    let folder = folder();
    let out = folder.path().join("out");
    let mut writer = Writer::create(&out, Metadata::default()).unwrap();
    for name in ["a", "b"] {
        let file = writer.file(name);
        writer.push(Access { bytes: 1, ..Access::new(Op::Read, file) }).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(exported(&out, export::Format::Ozen).unwrap_err().kind(), ErrorKind::Usage);
    // As objects they are numbered by appearance.
    let found = exported(&out, export::Format::OracleGeneral).unwrap();
    assert_eq!(found, records(&[(0, 0, 1, -1), (0, 1, 1, -1)]));
}

#[test]
fn objects_come_back_to_the_byte() {
    let folder = folder();
    let bytes =
        records(&[(50, 7, 4096, 3), (50, u64::MAX, 0, -1), (52, 7, 4096, -1), (53, 1, 512, -1)]);
    let out = folder.path().join("out");
    let report = oracle(&[file(&folder, "a", &bytes)], &out).unwrap();
    assert_eq!((report.rows, report.files), (4, 3));
    let trace = Trace::open(&out).unwrap();
    assert_eq!(trace.metadata().kind, Kind::Ids);
    let rows: Vec<_> = trace.accesses().unwrap().map(|row| row.unwrap()).collect();
    assert_eq!((rows[2].op, rows[2].time_ns, rows[2].bytes), (Op::Load, 2_000_000_000, 4096));
    assert_eq!(exported(&out, export::Format::OracleGeneral).unwrap(), bytes);

    let packed = folder.path().join("a.zst");
    export::to_file(&trace, &packed, export::Format::OracleGeneral, &mut |_, _| {}).unwrap();
    assert_eq!(std::fs::read(&packed).unwrap()[..4], [0x28, 0xb5, 0x2f, 0xfd]);
    let again = folder.path().join("again");
    oracle(&[packed], &again).unwrap();
    assert_eq!(exported(&again, export::Format::OracleGeneral).unwrap(), bytes);
}

#[test]
fn next_accesses_of_a_trace_are_computed_not_believed() {
    let folder = folder();
    let out = folder.path().join("out");
    oracle(&[file(&folder, "a", records(&[(0, 5, 1, 99), (0, 5, 1, 99)]))], &out).unwrap();
    let expected = records(&[(0, 5, 1, 2), (0, 5, 1, -1)]);
    assert_eq!(exported(&out, export::Format::OracleGeneral).unwrap(), expected);
}

#[test]
fn a_block_traces_objects_are_named_by_sector() {
    let folder = folder();
    let out = folder.path().join("out");
    ozen(&[file(&folder, "a", "r 40\nw 41\nr 40\n")], &out).unwrap();
    let expected = records(&[(0, 40, 512, 3), (0, 41, 512, -1), (0, 40, 512, -1)]);
    assert_eq!(exported(&out, export::Format::OracleGeneral).unwrap(), expected);
}

#[test]
fn half_a_record_is_refused_with_its_place() {
    let folder = folder();
    let out = folder.path().join("out");
    let mut bytes = records(&[(0, 5, 1, -1), (0, 6, 1, -1)]);
    bytes.truncate(40);
    let error = oracle(&[file(&folder, "a", bytes)], &out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("byte 24: ends within a record"), "{error}");
    assert!(!out.exists());
}

#[test]
fn a_row_that_would_be_endless_lines_is_named() {
    let folder = folder();
    let path = folder.path().join("run.parquet");
    let mut writer = Writer::create(&path, Metadata::default()).unwrap();
    let file = writer.file("disk");
    for bytes in [512, 1 << 60] {
        writer.push(Access { bytes, ..Access::new(Op::Read, file) }).unwrap();
    }
    writer.finish().unwrap();
    let error = exported(&path, export::Format::Ozen).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(
        error.to_string().contains("run.parquet, row 1: covers 1152921504606846976 bytes"),
        "{error}"
    );
    assert!(exported(&path, export::Format::Csv).is_ok());
}

/// An lcs file of a version, with these requests.
fn lcs(version: u64, requests: &[(u32, u64, u32, i64)]) -> Vec<u8> {
    let magic = 0x1234_5678_9abc_def0_u64.to_le_bytes();
    let mut file = magic.to_vec();
    file.extend(version.to_le_bytes());
    file.resize(8184, 7);
    file.extend(magic);
    for &(time, object, bytes, next) in requests {
        file.extend(time.to_le_bytes());
        file.extend(object.to_le_bytes());
        if version < 3 {
            file.extend(bytes.to_le_bytes());
        } else {
            file.extend(u64::from(bytes).to_le_bytes());
        }
        if version > 1 {
            file.extend([13, 1, 0, 0]);
        }
        if version > 2 {
            file.extend([0; 4]);
        }
        file.extend(next.to_le_bytes());
        let features = [0, 0, 0, 0, 1, 2, 4, 8, 16][version as usize];
        file.extend(vec![9; 4 * features]);
    }
    file
}

#[test]
fn every_version_of_lcs_holds_the_same_requests_as_oracle_general() {
    let folder = folder();
    let requests =
        [(50, 7, 4096, 3), (50, u64::MAX, 0, -1), (52, 7, 4096, -1), (53, 1, 512, i64::MAX)];
    let rows = |path: &Path| -> Vec<Access> {
        open_any(path).unwrap().accesses().unwrap().map(|row| row.unwrap()).collect()
    };
    let expected = rows(&file(&folder, "a.oracleGeneral", records(&requests)));
    assert_eq!(expected.len(), 4);
    for version in 1..=8 {
        let path = file(&folder, "version", lcs(version, &requests));
        assert_eq!(rows(&path), expected, "version {version}");
        let names = open_any(&path).unwrap().file_names().unwrap();
        assert_eq!(names, ["7", "18446744073709551615", "1"]);
    }
}

#[test]
fn what_is_wrong_with_lcs_is_told_with_its_place() {
    let folder = folder();
    let told = |bytes: Vec<u8>| {
        let out = folder.path().join("out");
        let path = file(&folder, "a.lcs", bytes);
        let error = import::any(&[path], &out, &Options::default(), &mut |_, _| {}).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(!out.exists());
        error.to_string()
    };
    let request = (0, 5, 1, -1);
    assert!(told(lcs(9, &[])).contains("byte 8: is version 9 of lcs, expected 1 to 8"));
    assert!(told(lcs(1, &[])[..8191].to_vec()).contains("does not begin with the 8192 bytes"));
    let mut cut = lcs(2, &[request, request]);
    cut.pop();
    assert!(told(cut).contains("byte 8220: ends within a record of 28 bytes"));
    let mut negative = lcs(3, &[request, request]);
    negative[8192 + 36 + 19] = 0x80;
    assert!(told(negative).contains("byte 8228: has a negative size"));
}

#[test]
fn files_tell_their_format() {
    let folder = folder();
    let text = "path,size\na,1\n";
    for (name, content, kind, rows) in [
        ("plain", records(&[(3, 9, 1, 2), (3, 9, 1, -1)]), Kind::Ids, 2),
        ("lcs", lcs(1, &[(3, 9, 1, 2)]), Kind::Ids, 1),
        ("sectors", b"# a comment\nr 5\nw 6\n".to_vec(), Kind::Blocks, 2),
        ("numbers", b"5\n6\n5\n".to_vec(), Kind::Ids, 3),
        ("table", text.as_bytes().to_vec(), Kind::Files, 1),
    ] {
        let plain = file(&folder, name, &content);
        let packed = file(&folder, "packed", zstd::encode_all(&content[..], 1).unwrap());
        for path in [plain, packed] {
            assert_eq!(import::kind_of(&path, &Options::default()).unwrap(), Some(kind), "{name}");
            let trace = open_any(&path).unwrap();
            assert_eq!((trace.metadata().kind, trace.rows()), (kind, rows), "{name}");
            assert_eq!(trace.origin(), &Origin::Imported);
        }
    }
    let error = open_any(&file(&folder, "words", "hello\nworld\n")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotATrace);
    let ids = Options { format: Some(import::Format::Ids), ..Options::default() };
    assert_eq!(open_with(&folder.path().join("words"), &ids).unwrap().rows(), 2);
}

#[test]
fn files_of_several_kinds_are_not_imported_together() {
    let folder = folder();
    let out = folder.path().join("out");
    let files = [file(&folder, "a", "r 1\n"), file(&folder, "b", "1\n")];
    let error = import::any(&files, &out, &Options::default(), &mut |_, _| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("b: holds another kind of trace"), "{error}");
}

#[test]
fn records_and_lists_of_ids_join_in_one_trace() {
    let folder = folder();
    let out = folder.path().join("out");
    let files = [
        file(&folder, "a", records(&[(7, 30, 5, -1), (8, 40, 6, -1)])),
        file(&folder, "b", "40\n50\n30\n"),
        file(&folder, "c", records(&[(1, 50, 9, -1)])),
    ];
    let report = import::any(&files, &out, &Options::default(), &mut |_, _| {}).unwrap();
    assert_eq!((report.rows, report.runs, report.files), (6, 3, 3));
    let trace = Trace::open(&out).unwrap();
    assert_eq!(trace.file_names().unwrap(), ["30", "40", "50"]);
    let rows = trace.accesses().unwrap().map(|row| row.unwrap());
    let found: Vec<_> = rows.map(|row| (row.run, row.time_ns, row.file, row.bytes)).collect();
    let second = 1_000_000_000;
    let expected =
        [(0, 0, 0, 5), (0, second, 1, 6), (1, 0, 1, 1), (1, 1, 2, 1), (1, 2, 0, 1), (2, 0, 2, 9)];
    assert_eq!(found, expected);
}

/// Requests for many objects of many sizes, over several row groups and pieces.
fn many(requests: u32) -> Vec<u8> {
    let mut state = 1_u64;
    let request = |at: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let object = (state >> 33) % (u64::from(at) + 1000);
        (at / 700, object * 512, (object % 9000) as u32, -1)
    };
    records(&(0..requests).map(request).collect::<Vec<_>>())
}

/// The rows with the names of their files, by run. The first `runs` runs are left out.
fn rows_behind(trace: &Path, runs: u32) -> Vec<(Access, String)> {
    let trace = Trace::open(trace).unwrap();
    let names = trace.file_names().unwrap();
    let rows = trace.accesses().unwrap().map(|row| row.unwrap()).filter(|row| row.run >= runs);
    rows.map(|row| {
        let name = names[row.file as usize].clone();
        (Access { run: row.run - runs, file: 0, ..row }, name)
    })
    .collect()
}

/// Records alone are encoded as columns. Behind a file of another format they are rows.
#[test]
fn an_import_of_columns_holds_the_rows_of_one_by_rows() {
    let folder = folder();
    let [columns, rows] = ["columns", "rows"].map(|name| folder.path().join(name));
    let two = [file(&folder, "a", many(1_100_000)), file(&folder, "b", many(50_000))];
    oracle(&two, &columns).unwrap();
    let mut three = vec![file(&folder, "ids", "7\n")];
    three.extend(two);
    import::any(&three, &rows, &Options::default(), &mut |_, _| {}).unwrap();
    assert!(rows_behind(&columns, 0) == rows_behind(&rows, 1));
    let bytes = |path: &Path| std::fs::metadata(path).unwrap().len();
    let (columns, rows) = (bytes(&columns), bytes(&rows));
    assert!(columns < rows / 10 * 11, "{columns} bytes as columns, {rows} as rows");
}
