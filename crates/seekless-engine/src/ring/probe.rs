//! Whether this kernel, container and user may use io_uring, and in a few words why not.

use io_uring::{IoUring, Probe, opcode};
use rustix::io::Errno;
use std::io;

/// How a ring is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setup {
    /// Any thread submits and waits.
    Plain,
    /// One thread does both, and completes I/Os only when it waits (Linux 6.1).
    OneThread,
}

/// A ring for `depth` reads and the wake-up, if it supports both.
pub(super) fn open(depth: u32) -> io::Result<IoUring> {
    open_with(depth, Setup::Plain)
}

/// As [`open`], for a certain use.
pub(crate) fn open_with(depth: u32, setup: Setup) -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    if setup == Setup::OneThread {
        builder.setup_single_issuer().setup_defer_taskrun();
    }
    let ring = builder.build((depth + 1).next_power_of_two())?;
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe)?;
    let needed = [opcode::Read::CODE, opcode::Writev::CODE, opcode::PollAdd::CODE];
    if needed.iter().all(|&code| probe.is_supported(code)) {
        return Ok(ring);
    }
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this kernel's io_uring cannot read (Linux 5.6 can)",
    ))
}

/// The fallback's name for an error of [`open`].
pub(crate) fn why_refused(error: &io::Error) -> &'static str {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOSYS) => "threads (this kernel has no io_uring)",
        Some(Errno::PERM | Errno::ACCESS) => "threads (io_uring is not permitted here)",
        Some(Errno::NOMEM) => "threads (io_uring: too little memory may be locked)",
        None if error.kind() == io::ErrorKind::Unsupported => {
            "threads (this kernel's io_uring is too old)"
        }
        _ => "threads (io_uring is refused here)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_why() {
        let why = |errno: Errno| why_refused(&errno.into());
        assert_eq!(why(Errno::PERM), "threads (io_uring is not permitted here)");
        assert_eq!(why(Errno::NOSYS), "threads (this kernel has no io_uring)");
        assert_eq!(why(Errno::INVAL), "threads (io_uring is refused here)");
    }
}
