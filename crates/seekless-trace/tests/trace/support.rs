//! What the tests share: a folder to work in, and the ways to read a file.

use seekless_sys::output::Destination;
use seekless_trace::*;
use std::path::Path;

/// Memory that reading the loads of any file may take.
const LOADS_BYTES_MAX: u64 = 32 << 20;

/// A folder where syncing costs nothing: some tests write hundreds of small files.
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// The rows of a trace, each with its file's name and without its number.
pub(crate) fn rows(path: &Path) -> Vec<(Access, String)> {
    let trace = open_any(path).unwrap();
    let names = trace.file_names().unwrap();
    let named = |row: Access| (Access { file: 0, ..row }, names[row.file as usize].clone());
    trace.accesses().unwrap().map(|row| named(row.unwrap())).collect()
}

/// Opens and reads a file in every way there is; what comes out does not matter.
pub(crate) fn read_everything(path: &Path) {
    let files = [path.to_owned()];
    let out = Destination::new(path.with_extension("out")).replacing(true);
    let strict = import::Options::default();
    let lenient = import::Options { lenient: true, ..strict.clone() };
    let columns = Some("path=#1,offset:pages=#2,run=#3,time:s=#4,op=#5,error=#6".parse().unwrap());
    let _ = FileList::read(path);
    let _ = Loads::read_within(&files, Some(LOADS_BYTES_MAX));
    for options in
        [&strict, &lenient, &import::Options { header: false, columns, ..lenient.clone() }]
    {
        let _ = import::csv(&files, &out, options, &mut |_, _| {});
    }
    for options in [&strict, &lenient] {
        let _ = import::ids(&files, &out, options, &mut |_, _| {});
    }
    let _ = recover::recover(path, &out);
    let Ok(trace) = open_any(path) else { return };
    let _ = trace.file_names();
    let _ = trace.accesses().map(|rows| rows.take_while(Result::is_ok).count());
    let _ = summary::summarise(&trace, &mut |_, _| {});
    for format in [export::Format::Csv, export::Format::Ozen] {
        let _ = format.write(&trace, &mut std::io::sink(), &mut |_, _| {});
    }
    let _ = merge::merge(&files, &out, &mut |_, _| {});
}
