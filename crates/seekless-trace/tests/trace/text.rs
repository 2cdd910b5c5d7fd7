//! Importing and exporting text: columns, units, compression, and every kind of malformed line.

use crate::support::rows;
use seekless_sys::output::Destination;
use seekless_trace::import::{self, Options, Report};
use seekless_trace::*;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder with an input file of these bytes.
struct Case {
    folder: tempfile::TempDir,
    input: PathBuf,
    out: PathBuf,
}

impl Case {
    fn new(bytes: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (input, out) = (folder.path().join("input.csv"), folder.path().join("run.parquet"));
        std::fs::write(&input, bytes).unwrap();
        Case { folder, input, out }
    }

    fn import(&self, options: &Options) -> Result<Report> {
        import::csv(std::slice::from_ref(&self.input), again(&self.out), options, &mut |_, _| {})
    }

    /// The rows of what was imported, with their names.
    fn rows(&self) -> Vec<(Access, String)> {
        rows(&self.out)
    }
}

fn again(out: &Path) -> Destination {
    Destination::new(out).replacing(true)
}

fn columns(text: &str) -> Options {
    Options { columns: Some(text.parse().unwrap()), ..Options::default() }
}

#[test]
fn loads_without_an_op() {
    let case = Case::new("time_ms,path,size\n1.5,\"a,\"\"b\"\"\",10\r\n2,c,\n");
    case.import(&Options::default()).unwrap();
    let load =
        Access { time_ns: 1_500_000, bytes: 10, file_bytes: Some(10), ..Access::new(Op::Load, 0) };
    let unknown = Access { time_ns: 2_000_000, ..Access::new(Op::Load, 0) };
    assert_eq!(case.rows(), [(load, "a,\"b\"".into()), (unknown, "c".into())]);
}

#[test]
fn accesses_with_units_and_named_columns() {
    let case = Case::new("\u{feff}when;what;how;where;much\n0.25;/x;R;3;2\n0.5;/x;write;-0;1\n");
    let options = Options {
        delimiter: b';',
        ..columns("time:s=when,path=what,op=how,offset:pages=where,bytes:KiB=#5")
    };
    assert!(case.import(&options).is_err(), "an offset in pages has no sign");
    let options = Options {
        delimiter: b';',
        ..columns("time:s=when,path=what,op=how,offset=where,bytes:KiB=#5")
    };
    case.import(&options).unwrap();
    let read = Access { time_ns: 250_000_000, offset: 3, bytes: 2048, ..Access::new(Op::Read, 0) };
    let write = Access { time_ns: 500_000_000, bytes: 1024, ..Access::new(Op::Write, 0) };
    assert_eq!(case.rows(), [(read, "/x".into()), (write, "/x".into())]);
}

#[test]
fn no_header() {
    let case = Case::new("a 5\nb 6\n");
    case.import(&Options { header: false, delimiter: b' ', ..columns("path=#1,size=#2") }).unwrap();
    let sizes: Vec<u64> = case.rows().iter().map(|(row, _)| row.bytes).collect();
    assert_eq!(sizes, [5, 6]);
    let error = case.import(&Options { header: false, ..Options::default() }).unwrap_err();
    assert!(error.to_string().contains("path=#1"), "{error}");
}

#[test]
fn without_a_path_rows_are_accesses_to_a_device_and_bytes_may_be_a_sum() {
    let case = Case::new("10 4 1\n100 1 0\n");
    let text = "offset:sectors=#1,bytes:sectors=#2+#3";
    let options = Options { header: false, delimiter: b' ', ..columns(text) };
    case.import(&options).unwrap();
    let rows = case.rows();
    let brief: Vec<_> =
        rows.iter().map(|(row, name)| (row.op, name.as_str(), row.offset, row.bytes)).collect();
    assert_eq!(brief, [(Op::Read, "disk", 5120, 2560), (Op::Read, "disk", 51_200, 512)]);
    assert_eq!(Trace::open(&case.out).unwrap().metadata().kind, Kind::Blocks);
}

#[test]
fn every_file_is_a_run_and_unknown_columns_are_told() {
    let case = Case::new("path,size,colour\na,1,red\n");
    let second = case.folder.path().join("second.csv");
    std::fs::write(&second, "path,run\nb,1\nc,0\n").unwrap();
    let files = [case.input.clone(), second];
    let report = import::csv(&files, &case.out, &Options::default(), &mut |_, _| {}).unwrap();
    assert_eq!((report.rows, report.runs, report.files), (3, 3, 3));
    assert_eq!(report.ignored_columns, ["colour"]);
    let runs: Vec<(u32, String)> =
        case.rows().into_iter().map(|(row, name)| (row.run, name)).collect();
    assert_eq!(runs, [(0, "a".into()), (1, "c".into()), (2, "b".into())]);
}

#[test]
fn a_log_counts_what_it_lost_and_may_end_inside_of_a_row() {
    let head = "time_ns,path,file_bytes,lost,op\n5,a,10,0,load\n";
    for (rest, rows, lost) in [
        ("7,a,10,3,release\n", 2, 3),
        ("7,a,10,3,release", 2, 3),
        ("7,a,10,3,rel", 1, 1),
        ("7,a,1", 1, 1),
        ("7,\"a", 1, 1),
    ] {
        let case = Case::new(format!("{head}{rest}"));
        case.import(&Options::default()).unwrap();
        let found = (case.rows().len(), Trace::open(&case.out).unwrap().metadata().lost);
        assert_eq!(found, (rows, lost), "{rest}");
    }
    let case = Case::new(format!("{head}7,a,1\n"));
    assert!(case.import(&Options::default()).is_err(), "that row has its end");
    let case = Case::new("time_ns,path,file_bytes,op\n5,a,10,load\n7,a,1");
    assert!(case.import(&Options::default()).is_err(), "that is no log");
}

#[test]
fn a_release_ends_the_oldest_load_of_its_file() {
    let text = "time_ns,path,op\n1,a,load\n2,b,load\n3,a,load\n4,a,release\n5,b,release\n\
                6,b,release\n7,c,release\n8,a,load\n9,a,release\n";
    let case = Case::new(text);
    let loads = Loads::read(std::slice::from_ref(&case.input)).unwrap();
    let times: Vec<_> =
        loads.runs[0].iter().map(|load| (load.time_ns, load.released_ns.map(u64::from))).collect();
    assert_eq!(times, [(1, Some(4)), (2, Some(5)), (3, Some(9)), (8, None)]);
}

#[test]
fn malformed_lines() {
    let header = "time_s,path,size,op,error,offset,pid\n";
    let table = [
        ("x,a,1,read,,0,0", "line 3: has `x` in column 1, expected a time"),
        ("-1,a,1,read,,0,0", "line 3: has `-1` in column 1, expected a time"),
        (",a,1,read,,0,0", "line 3: has `` in column 1, expected a time"),
        ("1,,1,read,,0,0", "line 3: has an empty path"),
        ("1,a,-1,read,,0,0", "line 3: has `-1` in column 3, expected a whole number"),
        ("1,a,1.5,read,,0,0", "line 3: has `1.5` in column 3"),
        ("1,a,99999999999999999999,read,,0,0", "column 3, expected a whole number"),
        ("1,a,1,jump,,0,0", "line 3: has op `jump`, expected one of open read write"),
        ("1,a,1,read,two,0,0", "line 3: has `two` in column 5, expected an error number"),
        ("1,a,1,read,,0x10,0", "line 3: has `0x10` in column 6, expected an offset"),
        (
            "1,a,1,read,,0,4294967296",
            "line 3: has `4294967296` in column 7, expected a whole number",
        ),
        ("1,a,1,read", "line 3: has 4 of at least 5 columns"),
        ("1,\"a,1,read,,0,0", "a quote that opens on line 3 never closes"),
        ("1,a,\u{fe}\u{ff},read,,0,0", "in column 3"),
    ];
    for (line, expected) in table {
        let case = Case::new(format!("{header}1,good,1,read,,0,0\n{line}\n2,good,1,read,,0,0\n"));
        let error = case.import(&Options::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "{line}");
        assert!(error.to_string().contains(expected), "{line}: {error}");
        assert!(error.to_string().contains("input.csv"), "{error}");
        assert!(!case.out.exists(), "{line}");

        let report = case.import(&Options { lenient: true, ..Options::default() }).unwrap();
        let kept = if line.contains('"') { 1 } else { 2 }; // an open quote swallows what follows
        assert_eq!((report.skipped, report.rows), (1, kept), "{line}");
        assert_eq!(report.first_skipped, Some(error.to_string()));
    }
}

#[test]
fn a_line_without_end_is_refused_by_its_offset() {
    let long = "x".repeat(1 << 20);
    let case = Case::new(format!("path\na\n{long}\nb\n"));
    let error = case.import(&Options::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains("byte 7: line 3 has over 65536 bytes"), "{error}");
    let report = case.import(&Options { lenient: true, ..Options::default() }).unwrap();
    assert_eq!((report.skipped, report.rows), (1, 2));
}

/// A look at a disk image read all of it.
#[test]
fn a_file_that_is_no_text_is_refused_after_a_bounded_look() {
    for content in [&b"\0"[..], b"x"] {
        let case = Case::new("path\n");
        std::fs::write(&case.input, content.repeat(64)).unwrap();
        // Sparse: to read it all would take hours.
        std::fs::File::options().write(true).open(&case.input).unwrap().set_len(1 << 40).unwrap();
        for lenient in [false, true] {
            let error = case.import(&Options { lenient, ..Options::default() }).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit);
            assert!(error.to_string().contains("line 1 has over 1048576 bytes"), "{error}");
        }
        let error = Listing::open(&case.input, &Options::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        let error = FileList::read(&case.input).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert!(FileList::read_first(&case.input).is_err());
    }
    let zeros = Path::new("/dev/zero");
    assert_eq!(open_any(zeros).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn headers_that_do_not_do() {
    for (header, expected) in [
        ("", "is empty"),
        ("colour,size\n", "names no `path`"),
        ("time,path\n", "`time` has no unit; name it time_s"),
    ] {
        let error = Case::new(header).import(&Options::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotATrace);
        assert!(error.to_string().contains(expected), "{error}");
    }
    let error = Case::new("a,b\n").import(&columns("path=c")).unwrap_err();
    assert!(error.to_string().contains("no column `c`; its columns are a,b"), "{error}");
}

#[test]
fn columns_that_make_no_sense() {
    for (text, expected) in [
        ("size=a", "names no path"),
        ("path", "expected FIELD[:UNIT]=COLUMN"),
        ("path=a,path=b", "two columns for one field"),
        ("path=a,time=b", "needs a unit"),
        ("path=a,bytes:s=b", "not a unit of `bytes`"),
        ("path=a,colour=b", "`colour` is not a field"),
    ] {
        let error = text.parse::<import::Columns>().unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

/// The same text in each format that is recognised by content.
fn compressed(text: &[u8]) -> [(&'static str, Vec<u8>); 5] {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text).unwrap();
    let lzma = liblzma::stream::LzmaOptions::new_preset(6).unwrap();
    let lzma = liblzma::stream::Stream::new_lzma_encoder(&lzma).unwrap();
    let mut lzma = liblzma::write::XzEncoder::new_stream(Vec::new(), lzma);
    lzma.write_all(text).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
    xz.write_all(text).unwrap();
    [
        ("plain", text.to_vec()),
        ("gzip", gzip.finish().unwrap()),
        ("xz", xz.finish().unwrap()),
        ("lzma", lzma.finish().unwrap()),
        ("zstd", zstd::encode_all(text, 1).unwrap()),
    ]
}

fn long_text() -> String {
    let mut text = "path,size\n".to_owned();
    for row in 0..5000_u64 {
        text += &format!("dir/{},{row}\n", row.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    text
}

#[test]
fn compressed_text_is_told_by_its_content() {
    for (format, bytes) in compressed(long_text().as_bytes()) {
        let case = Case::new(&bytes);
        assert_eq!(case.import(&Options::default()).unwrap().rows, 5000, "{format}");
        assert_eq!(rows(&case.input).len(), 5000, "{format}: opened as it is");
        assert_eq!(FileList::read(&case.input).unwrap().paths.len(), 5000, "{format}");
    }
}

#[test]
fn compressed_text_that_is_cut_short() {
    for (format, bytes) in compressed(long_text().as_bytes()).into_iter().skip(1) {
        let case = Case::new(&bytes[..bytes.len() * 2 / 3]);
        let error = case.import(&Options { lenient: true, ..Options::default() }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{format}: {error}");
        assert!(
            error.to_string().contains(&format!("its {format} data is damaged or cut short after")),
            "{error}"
        );
        assert!(!case.out.exists());
    }
}

#[test]
fn several_streams_in_one_file() {
    for (format, bytes) in compressed(b"a\nb\n").into_iter().filter(|(format, _)| *format != "lzma")
    {
        let case = Case::new([bytes.clone(), bytes].concat());
        let report = import::ids(
            std::slice::from_ref(&case.input),
            &case.out,
            &Options::default(),
            &mut |_, _| {},
        )
        .unwrap();
        assert_eq!((report.rows, report.files), (4, 2), "{format}");
    }
}

#[test]
fn ids_are_words() {
    let case = Case::new("7\n\n 8 \nnine nine\n7\n");
    let files = std::slice::from_ref(&case.input);
    let error = import::ids(files, &case.out, &Options::default(), &mut |_, _| {}).unwrap_err();
    assert!(error.to_string().ends_with("line 4: has `nine nine`, expected one id"), "{error}");
    let lenient = Options { lenient: true, ..Options::default() };
    let report = import::ids(files, &case.out, &lenient, &mut |_, _| {}).unwrap();
    assert_eq!((report.rows, report.files, report.skipped), (3, 2, 1));
    let load =
        |time_ns| Access { time_ns, bytes: 1, file_bytes: Some(1), ..Access::new(Op::Load, 0) };
    assert_eq!(case.rows(), [(load(0), "7".into()), (load(1), "8".into()), (load(2), "7".into())]);
}

#[test]
fn export_and_import_are_inverse() {
    let folder = tempfile::tempdir().unwrap();
    let (first, csv) = (folder.path().join("first.parquet"), folder.path().join("first.csv"));
    let mut writer = Writer::create(&first, Metadata::default()).unwrap();
    let names =
        [&b"plain"[..], b"with, comma", b"with \"quotes\"\nand a line", b"\xff\\x00", b" spaces "];
    for (row, op) in Op::ALL.into_iter().chain(Op::ALL).enumerate() {
        let file = writer.file(&escape_path(names[row % names.len()]));
        let row = row as u64;
        let some = |value: u64| (row.is_multiple_of(3)).then_some(value);
        let access = Access {
            run: row as u32 / 10,
            time_ns: row,
            pid: 4,
            tid: u32::MAX,
            op,
            file,
            offset: row as i64 * 1000 - 5000,
            bytes: u64::MAX - row,
            latency_ns: some(row),
            error: some(2).map(|error| error as i32),
            file_bytes: some(u64::MAX),
            device: some(row),
            inode: some(1),
            ttl_ns: None,
        };
        writer.push(access).unwrap();
    }
    writer.finish().unwrap();
    let mut text = Vec::new();
    export::csv(&Trace::open(&first).unwrap(), &mut text, &mut |_, _| {}).unwrap();
    std::fs::write(&csv, text).unwrap();
    assert_eq!(rows(&csv), rows(&first));
}

#[test]
fn lists_of_files() {
    let lists = [
        ("path,size\nb,2\na,\n", vec![("b", Some(2)), ("a", None)]),
        ("b\na,1\n\n", vec![("b", None), ("a,1", None)]),
        ("size,path\n7,b\n", vec![("b", Some(7))]),
        ("path\nb\n", vec![("b", None)]),
    ];
    for (text, expected) in lists {
        let list = FileList::read(&Case::new(text).input).unwrap();
        let got: Vec<_> = list.paths.iter().map(String::as_str).zip(list.bytes).collect();
        assert_eq!(got, expected, "{text}");
    }
    for (text, expected) in [
        ("path,size\na,1\na,2\n", "line 3: has `a` a second time"),
        ("path,size\na,x\n", "line 2: has the size `x`"),
        ("path,size\n,1\n", "line 2: has no path"),
    ] {
        let error = FileList::read(&Case::new(text).input).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
