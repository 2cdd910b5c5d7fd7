//! How far a read or a write has got over several calls, and what a call's result means for it.

use crate::ALIGNMENT;
use crate::tally::Tally;
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::Errno;
use seekless_device::parts;
use std::fs::File;
use std::io;

/// Calls that may fail to make progress before a transfer is given up.
const FRUITLESS_CALLS_MAX: u32 = 1_000;

/// What to do after a call.
#[derive(Debug)]
pub(crate) enum Next {
    /// Call again, for what is left.
    More,
    /// The transfer has ended.
    Done(io::Result<usize>),
}

/// One transfer between calls.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Bytes that are read or written.
    pub(crate) bytes: usize,
    /// Whether the file is read and written past the page cache.
    pub(crate) direct: bool,
    fruitless: u32,
}

impl Progress {
    pub(crate) fn new(direct: bool) -> Self {
        Self { bytes: 0, direct, fruitless: 0 }
    }

    /// Takes the result of a call: the bytes that it moved, or what to do at once.
    pub(crate) fn called(
        &mut self,
        result: Result<usize, Errno>,
        tally: &Tally,
    ) -> Result<usize, Next> {
        match result {
            Ok(bytes) => {
                if bytes > 0 {
                    tally.add(parts(bytes as u64), bytes as u64, self.direct);
                }
                self.bytes += bytes;
                Ok(bytes)
            }
            Err(Errno::INTR | Errno::AGAIN) => Err(self.again()),
            Err(errno) => Err(Next::Done(Err(errno.into()))),
        }
    }

    /// Goes back to where a direct call may go on: only an aligned offset may be next.
    pub(crate) fn align(&mut self) {
        self.bytes -= self.bytes % ALIGNMENT;
    }

    /// Another call, after one that made no progress.
    pub(crate) fn again(&mut self) -> Next {
        self.fruitless += 1;
        if self.fruitless > FRUITLESS_CALLS_MAX {
            let why = format!("{FRUITLESS_CALLS_MAX} calls made no progress");
            return Next::Done(Err(io::Error::new(io::ErrorKind::WouldBlock, why)));
        }
        std::thread::yield_now();
        Next::More
    }
}

/// Whether reads and writes of the file go past the page cache.
pub(crate) fn is_direct(file: &File) -> bool {
    fcntl_getfl(file).is_ok_and(|flags| flags.contains(OFlags::DIRECT))
}
