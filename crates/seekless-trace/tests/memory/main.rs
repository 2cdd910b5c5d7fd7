//! A trace of few bytes cannot ask for much memory: every byte that is allocated is counted while hostile files are read.

#[path = "../../../../tests/allocations.rs"]
mod allocations;
mod bare_parquet;
mod hostile_files;

use allocations::{peak_of_process, turn};
use seekless_sys::output::Destination;
use seekless_trace::*;
use std::path::Path;

/// Memory for each byte of the file, and besides.
const BYTES_PER_FILE_BYTE: usize = 16;
const BYTES_BASE: usize = 64 << 20;

/// Opens and reads a file in every way there is; what comes out does not matter.
fn read_everything(path: &Path) {
    let files = [path.to_owned()];
    let out = Destination::new(path.with_extension("out")).replacing(true);
    let quiet: import::Progress<'_> = &mut |_, _| {};
    let within = Some((BYTES_BASE / 2) as u64);
    let _ = FileList::read(path);
    let _ = Loads::read_within(&files, within);
    let _ = import::csv(&files, &out, &import::Options::default(), quiet);
    let _ = import::ids(&files, &out, &import::Options::default(), &mut |_, _| {});
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

#[test]
fn hostile_files_take_little_memory() {
    let _turn = turn();
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let mut wrong = Vec::new();
    for (name, bytes) in hostile_files::all() {
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let file_bytes = bytes.len();
        drop(bytes);
        let ((), taken) = peak_of_process(|| read_everything(&path));
        println!("{name}: {file_bytes} bytes take {:.1} MB", taken as f64 / 1e6);
        if taken > BYTES_PER_FILE_BYTE * file_bytes + BYTES_BASE {
            wrong.push(format!("{name}: {file_bytes} bytes take {taken} bytes of memory"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
