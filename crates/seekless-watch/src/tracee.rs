//! A child started under a seccomp filter and ptrace. `nix` cannot make some of the requests
//! needed: its signals are an enumeration without the real-time ones, so a program that uses them
//! would be lost at `waitpid`.

mod attach;
mod call;
mod child;
#[cfg(target_arch = "aarch64")]
mod registers;
mod stop;

pub use attach::{detach, interrupt, seize_process};
pub use call::{Entered, entered, entered_unfiltered, result};
pub use child::{Failure, Released, Waiting, spawn};
#[cfg(target_arch = "aarch64")]
pub use registers::{Registers, set_call};
pub use stop::{Stop, is_followed, wait, wait_now};

use std::io;
use std::ptr;

/// How far a tracee runs when it is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// To the filter, a signal, or an event.
    Event,
    /// Also to the exit of the system call that it stands in.
    SyscallExit,
}

/// Lets a stopped tracee run, and delivers `signal` unless it is 0. A tracee that is gone meanwhile
/// is not an error: its end will be waited for.
///
/// # Errors
/// Whatever else ptrace says.
pub fn resume(pid: i32, until: Until, signal: i32) -> io::Result<()> {
    let request = match until {
        Until::Event => libc::PTRACE_CONT,
        Until::SyscallExit => libc::PTRACE_SYSCALL,
    };
    request_of(request, pid, signal)
}

/// Who sent the signal that a tracee is about to get; 0 for the kernel and the terminal.
///
/// # Errors
/// When the tracee does not stand before a signal.
pub fn signal_sender(pid: i32) -> io::Result<i32> {
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    // SAFETY: the kernel writes one siginfo to a live one, which all zeroes already makes valid.
    unsafe {
        if libc::ptrace(
            libc::PTRACE_GETSIGINFO,
            pid,
            ptr::null_mut::<libc::c_void>(),
            info.as_mut_ptr(),
        ) != 0
        {
            return Err(io::Error::last_os_error());
        }
        let info = info.assume_init();
        Ok(if info.si_code > 0 { 0 } else { info.si_pid() })
    }
}

/// Leaves a tracee in its group stop, until SIGCONT.
///
/// # Errors
/// As [`resume`].
pub fn listen(pid: i32) -> io::Result<()> {
    request_of(libc::PTRACE_LISTEN, pid, 0)
}

fn request_of(request: libc::c_uint, pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: these requests take no pointer; the signal number is passed by value.
    let result =
        unsafe { libc::ptrace(request, pid, ptr::null_mut::<libc::c_void>(), signal as usize) };
    if result == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    if error.raw_os_error() == Some(libc::ESRCH) { Ok(()) } else { Err(error) }
}
