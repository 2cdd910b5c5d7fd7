//! A file that takes no room where zeros are written, so that a test can write 4 GiB of them.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

/// Leaves a hole where a block of zeros is written.
pub(crate) struct Holes(pub(crate) File);

impl Write for Holes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() < 4096 || bytes.iter().any(|&byte| byte != 0) {
            return self.0.write(bytes);
        }
        self.0.seek(SeekFrom::Current(bytes.len() as i64))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Seek for Holes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}
