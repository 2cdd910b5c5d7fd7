//! A child process that outlives us by a moment: it waits for our death and takes the steps.
//!
//! It is forked, not started: the program need not be found again, and no shell is needed. A fork
//! of a process with threads may do only what a signal handler may, so that everything it needs is
//! made before.

use super::journal::Journal;
use super::step::Step;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr;

/// The child. It waits as long as this is kept, and must be dismissed.
#[derive(Debug)]
pub(super) struct Guardian {
    child: Pid,
    /// Nothing is written here; it closes with us.
    _alive: OwnedFd,
}

impl Guardian {
    /// Starts it; `None` if the system has no process or descriptor left.
    pub(super) fn start(
        steps: &[Step],
        journal: &Journal,
        locks: &[BorrowedFd<'_>],
    ) -> Option<Self> {
        let flags = rustix::pipe::PipeFlags::CLOEXEC;
        let (death, alive) = rustix::pipe::pipe_with(flags).ok()?;
        let mut kept: Vec<RawFd> = locks.iter().map(AsRawFd::as_raw_fd).collect();
        kept.extend([death.as_raw_fd(), journal.as_raw_fd()]);
        kept.sort_unstable();
        // SAFETY: the child calls only `watch`, which allocates nothing, takes no lock and does not
        // return.
        match unsafe { libc::fork() } {
            0 => watch(&death, &kept, steps, journal),
            child => {
                Some(Guardian { child: Pid::from_raw(child).filter(|_| child > 0)?, _alive: alive })
            }
        }
    }

    /// Ends it: there is nothing left to put back.
    pub(super) fn dismiss(self) {
        let _ = kill_process(self.child, Signal::KILL);
        let _ = waitpid(Some(self.child), WaitOptions::empty());
    }
}

/// The child's whole life.
fn watch(death: &OwnedFd, kept: &[RawFd], steps: &[Step], journal: &Journal) -> ! {
    // SAFETY: plain system calls on values that live; each is async-signal-safe.
    unsafe {
        let mut all = MaybeUninit::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::sigprocmask(libc::SIG_BLOCK, all.as_ptr(), ptr::null_mut());
        // What ends our group or our terminal's session shall not end it.
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"seekless-undo".as_ptr());
        libc::chdir(c"/".as_ptr());
    }
    close_others(kept);
    let mut byte = [0];
    while rustix::io::read(death, &mut byte) == Err(rustix::io::Errno::INTR) {}
    let failed = journal.followed(steps).is_err();
    // SAFETY: ends this process without running what was registered to run at our exit.
    unsafe { libc::_exit(i32::from(failed)) }
}

/// Closes every descriptor but `kept`, in ascending order: a pipe that we hold open would keep its
/// reader waiting.
fn close_others(kept: &[RawFd]) {
    let mut from = 0;
    for &kept in kept {
        if kept > from {
            close_range(from, kept - 1);
        }
        from = kept + 1;
    }
    close_range(from, RawFd::MAX);
}

fn close_range(first: RawFd, last: RawFd) {
    // SAFETY: the only descriptors that this process goes on using are not in the range. An old
    // kernel refuses, and then they stay open until this process ends.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
}
