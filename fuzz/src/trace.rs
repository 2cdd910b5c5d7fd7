//! The bodies of the targets that read traces. Any bytes give an error or rows, never a panic. Rows
//! read from text stay the same after they are written and read again.

use seekless_sys::output::Destination;
use seekless_trace::export::{FioVersion, LcsVersion};
use seekless_trace::summary::{files::FileCount, summarise};
use seekless_trace::{FileList, Loads, Trace, export, import, merge, open_any, recover};
use std::path::{Path, PathBuf};

/// A limit on memory for rows, above what any input here needs.
const MEMORY_BYTES_MAX: u64 = 64 << 20;

/// Reads bytes as a Parquet trace.
pub fn parquet(bytes: &[u8]) {
    with_file(bytes, read_everything);
}

/// Reads bytes as a spool.
pub fn spool(bytes: &[u8]) {
    with_file(bytes, |path| {
        read_everything(path);
        let out = path.with_extension("out");
        if recover::recover(path, &out).is_ok() {
            read_everything(&out);
        }
    });
}

/// Reads bytes as text of every format that can be imported, and as a list of files.
pub fn text(bytes: &[u8]) {
    with_file(bytes, |path| {
        let _ = FileList::read(path);
        let columns =
            "path=#1,offset:pages=#2,run=#3,time:s=#4,op=#5,error=#6".parse().expect("columns");
        let bare = import::Options {
            header: false,
            columns: Some(columns),
            lenient: true,
            ..Default::default()
        };
        let lenient = import::Options { lenient: true, ..Default::default() };
        let (files, out) = ([path.to_owned()], path.with_extension("parquet"));
        let out = Destination::new(out).replacing(true);
        let quiet: import::Progress<'_> = &mut |_, _| {};
        let _ = import::ids(&files, &out, &lenient, quiet);
        let _ = import::ozen(&files, &out, &lenient, &mut |_, _| {});
        let _ = import::oracle_general(&files, &out, &lenient, &mut |_, _| {});
        let _ = import::lcs(&files, &out, &lenient, &mut |_, _| {});
        let _ = import::any(&files, &out, &lenient, &mut |_, _| {});
        for options in [lenient, bare] {
            if import::csv(&files, &out, &options, &mut |_, _| {}).is_ok() {
                comes_back(out.path());
            }
        }
    });
}

/// Exports a trace as text, imports that, and checks that exporting again gives the same text.
fn comes_back(trace: &Path) {
    let (first, copy) = (csv(trace), trace.with_extension("csv"));
    std::fs::write(&copy, &first).expect("room");
    let again = Destination::new(trace.with_extension("again")).replacing(true);
    import::csv(&[copy], &again, &import::Options::default(), &mut |_, _| {})
        .expect("it was written here");
    assert!(csv(again.path()) == first, "a trace comes back from text with other rows");
}

fn csv(trace: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    let trace = Trace::open(trace).expect("it was written here");
    export::csv(&trace, &mut text, &mut |_, _| {}).expect("it can be read");
    text
}

/// Opens a trace and reads it in every way.
fn read_everything(path: &Path) {
    let files = [path.to_owned()];
    let _ = Loads::read_within(&files, Some(MEMORY_BYTES_MAX));
    let Ok(trace) = open_any(path) else { return };
    let names = trace.file_names();
    let rows = trace.accesses().map(|rows| rows.take_while(Result::is_ok).count());
    let _ = summarise(&trace, &mut |_, _| {});
    let _ = FileCount::default().add(&trace, &mut |_, _| {});
    for format in [
        export::Format::Csv,
        export::Format::OracleGeneral,
        export::Format::Lcs(LcsVersion::Three),
        export::Format::Fio(FioVersion::Two),
        export::Format::Fio(FioVersion::Three),
    ] {
        let _ = format.write(&trace, &mut std::io::sink(), &mut |_, _| {});
    }
    let out = Destination::new(path.with_extension("merged")).replacing(true);
    if let (Ok(merged), Ok(_), Ok(rows)) = (merge::merge(&files, &out, &mut |_, _| {}), names, rows)
    {
        assert_eq!(merged.rows, rows as u64, "a merge keeps all rows");
    }
}

/// Writes the bytes to a file in a temporary folder in memory.
fn with_file(bytes: &[u8], body: impl Fn(&Path)) {
    let folder =
        tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    let path: PathBuf = folder.path().join("input");
    std::fs::write(&path, bytes).expect("room");
    body(&path);
}
