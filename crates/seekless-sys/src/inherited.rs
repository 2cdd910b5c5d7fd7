//! What this process was started with and must pass to a program that it starts. Before `main`,
//! Rust's start-up ignores SIGPIPE and opens /dev/null in the place of closed standard streams. So
//! this is noted earlier, while the loader runs.

use crate::action;
use rustix::fs::FileType;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bits 0 to 2: the standard stream of that number was closed. Bit 3: SIGPIPE was ignored.
static AT_START: AtomicU8 = AtomicU8::new(0);
const PIPE_IGNORED: u8 = 1 << 3;

// SAFETY: functions in this section are called once, before `main`, in the only thread; `note`
// makes two kinds of system call and needs nothing that Rust or the C library set up later.
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE: extern "C" fn() = note;

extern "C" fn note() {
    let mut noted = 0;
    for fd in 0..3 {
        // SAFETY: asks for a descriptor's flags; no pointers.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } == -1 {
            noted |= 1 << fd;
        }
    }
    if action::is_ignored(libc::SIGPIPE) {
        noted |= PIPE_IGNORED;
    }
    AT_START.store(noted, Ordering::Relaxed);
}

/// Whether SIGPIPE was ignored when this process started.
pub(crate) fn pipe_was_ignored() -> bool {
    AT_START.load(Ordering::Relaxed) & PIPE_IGNORED != 0
}

/// The standard streams that were closed when this process started, and are still /dev/null.
pub(crate) fn closed_streams() -> Vec<RawFd> {
    let noted = AT_START.load(Ordering::Relaxed);
    (0..3).filter(|fd| noted & 1 << fd != 0 && is_null(*fd)).collect()
}

fn is_null(fd: RawFd) -> bool {
    let null = rustix::fs::makedev(1, 3);
    rustix::fs::stat(format!("/proc/self/fd/{fd}")).is_ok_and(|found| {
        FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice && found.st_rdev == null
    })
}
