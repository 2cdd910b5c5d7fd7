//! Standard output without the standard library, which takes a closed one for a device that takes
//! everything: output would be lost without an error.

use std::io::{self, Write};

/// Standard output, without a buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct StandardOutput;

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(rustix::stdio::stdout(), bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
