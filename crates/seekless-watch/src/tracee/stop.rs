//! What a tracee has done: waited for, and read from the status that the kernel gives.

use std::io;

/// What a tracee did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It ended with this code.
    Exited(i32),
    /// A signal ended it.
    Killed {
        /// The signal.
        signal: i32,
        /// Whether a core was dumped.
        core: bool,
    },
    /// The filter stopped it before a system call.
    Seccomp,
    /// It stands at the exit from a system call.
    Syscall,
    /// A signal is about to be delivered: resume with it, or with another.
    Signal(i32),
    /// Job control stopped the whole process with this signal: [`listen`] keeps it so.
    ///
    /// [`listen`]: super::listen
    Group(i32),
    /// The first stop of a new tracee, or the end of a group stop: just resume.
    Trap,
    /// fork, vfork, clone, exec and so on: a PTRACE_EVENT number.
    Event(i32),
}

/// Waits for the next stop of one tracee, or with −1 of any tracee or child of the calling thread.
///
/// # Errors
/// EINTR when a signal came to the caller, ECHILD when nothing is left to wait for.
pub fn wait(pid: i32) -> io::Result<(i32, Stop)> {
    wait_with(pid, 0).map(|(pid, status)| (pid, decode(status)))
}

/// As [`wait`], but `None` at once when nothing has happened.
///
/// # Errors
/// As [`wait`].
pub fn wait_now(pid: i32) -> io::Result<Option<(i32, Stop)>> {
    wait_with(pid, libc::WNOHANG).map(|(pid, status)| (pid != 0).then(|| (pid, decode(status))))
}

fn wait_with(pid: i32, flags: i32) -> io::Result<(i32, i32)> {
    let mut status = 0;
    // Other threads of this process may have children of their own, so: only this thread's.
    // SAFETY: the kernel writes one int to a live one.
    let pid =
        unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL | libc::__WNOTHREAD | flags) };
    if pid < 0 { Err(io::Error::last_os_error()) } else { Ok((pid, status)) }
}

/// Whether `pid` is a tracee or child of the calling thread whose end has not been waited for.
#[must_use]
pub fn is_followed(pid: i32) -> bool {
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED
        | libc::WSTOPPED
        | libc::WNOHANG
        | libc::WNOWAIT
        | libc::__WALL
        | libc::__WNOTHREAD;
    // SAFETY: the kernel writes one siginfo to a live one.
    unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, info.as_mut_ptr(), flags) == 0 }
}

fn decode(status: i32) -> Stop {
    if libc::WIFEXITED(status) {
        return Stop::Exited(libc::WEXITSTATUS(status));
    }
    if libc::WIFSIGNALED(status) {
        return Stop::Killed { signal: libc::WTERMSIG(status), core: libc::WCOREDUMP(status) };
    }
    let signal = libc::WSTOPSIG(status);
    let group = matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU);
    match status >> 16 {
        0 if signal == libc::SIGTRAP | 0x80 => Stop::Syscall,
        0 => Stop::Signal(signal),
        libc::PTRACE_EVENT_SECCOMP => Stop::Seccomp,
        libc::PTRACE_EVENT_STOP if group => Stop::Group(signal),
        libc::PTRACE_EVENT_STOP => Stop::Trap,
        event => Stop::Event(event),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_followed_until_its_end_is_waited_for() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id() as i32;
        assert!(is_followed(pid));
        child.wait().unwrap();
        assert!(!is_followed(pid));
    }

    #[test]
    fn statuses_are_told_apart() {
        let stopped = |signal: i32, event: i32| decode(0x7f | signal << 8 | event << 16);
        assert_eq!(stopped(libc::SIGTRAP | 0x80, 0), Stop::Syscall);
        assert_eq!(stopped(libc::SIGTRAP, libc::PTRACE_EVENT_SECCOMP), Stop::Seccomp);
        assert_eq!(stopped(libc::SIGSTOP, libc::PTRACE_EVENT_STOP), Stop::Group(libc::SIGSTOP));
        assert_eq!(stopped(libc::SIGTRAP, libc::PTRACE_EVENT_STOP), Stop::Trap);
        assert_eq!(stopped(40, 0), Stop::Signal(40));
        assert_eq!(
            stopped(libc::SIGTRAP, libc::PTRACE_EVENT_EXEC),
            Stop::Event(libc::PTRACE_EVENT_EXEC)
        );
    }
}
