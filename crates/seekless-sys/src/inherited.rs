//! What this process was started with and must pass to a program that it starts. Before `main`,
//! Rust's start-up ignores SIGPIPE and opens /dev/null in the place of closed standard streams. So
//! this is noted earlier, while the loader runs.

use crate::action;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stderr, stdin, stdout};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
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
#[must_use]
pub fn pipe_was_ignored() -> bool {
    AT_START.load(Ordering::Relaxed) & PIPE_IGNORED != 0
}

/// The standard streams that were closed when this process started, and are still /dev/null.
#[must_use]
pub fn closed_streams() -> Vec<RawFd> {
    (0..3).filter(|fd| is_closed(*fd)).collect()
}

/// Lets this process and all that it starts find their standard input empty.
///
/// # Errors
/// /dev/null cannot be opened.
pub fn empty_standard_input() -> std::io::Result<()> {
    let null = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(dup2_stdin(&null)?)
}

/// Whether the standard stream of this number was closed when this process started, and is still
/// /dev/null. The standard library takes such a stream for an empty input, or for an output that
/// takes everything.
#[must_use]
pub fn is_closed(fd: RawFd) -> bool {
    let noted = AT_START.load(Ordering::Relaxed);
    standard(fd).is_some_and(|stream| noted & 1 << fd != 0 && is_null(stream))
}

/// Makes standard streams that were closed fail as closed ones do, where Rust's start-up has opened
/// /dev/null for reading and writing: a read or write is the error `EBADF`. Programs that this
/// process starts get them closed. Their numbers stay taken, so that no file gets one of them and
/// is written to by mistake. Call this at the start of a program, before threads start.
pub fn keep_closed() {
    for stream in closed_streams().into_iter().filter_map(standard) {
        let unfit = match stream.as_raw_fd() {
            0 => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        // If that fails, the stream stays what Rust's start-up made of it.
        let Ok(null) = open("/dev/null", unfit | OFlags::CLOEXEC, Mode::empty()) else { return };
        let placed = match stream.as_raw_fd() {
            0 => dup2_stdin(null),
            1 => dup2_stdout(null),
            _ => dup2_stderr(null),
        };
        let _ = placed.and_then(|()| fcntl_setfd(stream, FdFlags::CLOEXEC));
    }
}

fn standard(fd: RawFd) -> Option<BorrowedFd<'static>> {
    match fd {
        0 => Some(stdin()),
        1 => Some(stdout()),
        2 => Some(stderr()),
        _ => None,
    }
}

fn is_null(stream: BorrowedFd<'_>) -> bool {
    let null = rustix::fs::makedev(1, 3);
    fstat(stream).is_ok_and(|found| {
        FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice && found.st_rdev == null
    })
}
