//! Checksums of whole files, as the device has them.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

const BUFFER_BYTES: usize = 1 << 20;

/// The CRC-32 of a file, and how many bytes it has.
pub(super) fn sum(file: &File) -> io::Result<(u32, u64)> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let (mut sum, mut offset) = (crc32fast::Hasher::new(), 0);
    loop {
        match file.read_at(&mut buffer, offset) {
            Ok(0) => return Ok((sum.finalize(), offset)),
            Ok(bytes) => {
                sum.update(&buffer[..bytes]);
                offset += bytes as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The same, read from the device. What was written to the file must be there already: the kernel
/// forgets only what is.
pub(super) fn sum_on_device(file: &File) -> io::Result<(u32, u64)> {
    seekless_sys::residency::drop_cached(file.as_fd())?;
    sum(file)
}
