//! A trace of few bytes cannot take much memory. Every allocation is counted while hostile files
//! are read.

#[path = "../../../../tests/allocations.rs"]
mod allocations;
mod bare_parquet;
mod hostile_files;

use crate::support::{read_everything, scratch};
use allocations::peak_of_thread;

/// The memory that reading may take: this many bytes for each byte of the file, plus a base.
const BYTES_PER_FILE_BYTE: usize = 16;
const BYTES_BASE: usize = 68 << 20;

#[test]
fn hostile_files_take_little_memory() {
    let folder = scratch();
    let mut wrong = Vec::new();
    for (name, bytes) in hostile_files::all() {
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let file_bytes = bytes.len();
        drop(bytes);
        let ((), taken) = peak_of_thread(|| read_everything(&path));
        println!("{name}: {file_bytes} bytes take {:.1} MB", taken as f64 / 1e6);
        if taken > BYTES_PER_FILE_BYTE * file_bytes + BYTES_BASE {
            wrong.push(format!("{name}: {file_bytes} bytes take {taken} bytes of memory"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
