//! The count of bytes alone. It is the size in the file's metadata, where that can be trusted; then
//! nothing is read.

use seekless_sys::memory::page_bytes;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;

/// The bytes of `file` from `start` on, or from its current position if `start` is `None`.
pub(crate) fn bytes_of(file: &mut File, start: Option<u64>) -> io::Result<u64> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return read_from(file, 0);
    }
    let size = metadata.len();
    let start = match start {
        Some(start) => start,
        None => file.stream_position()?,
    };
    // Files of `/proc` and `/sys` claim a size of 0 or one page, whatever they hold.
    if size % page_bytes() != 0 {
        return Ok(size.saturating_sub(start));
    }
    // Read the last block, in case the size is only a guess.
    let last = size - size % (metadata.blksize() + 1);
    if start < last && file.seek(SeekFrom::Start(last)).is_ok() {
        return read_from(file, last - start);
    }
    read_from(file, 0)
}

fn read_from(file: &mut File, before: u64) -> io::Result<u64> {
    let mut buffer = vec![0; 64 << 10];
    let mut bytes = before;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(read) => bytes += read as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
