//! A child started under a seccomp filter and ptrace. `nix` cannot make some of the requests
//! needed: its signals are an enumeration without the real-time ones, so a program that uses them
//! would be lost at `waitpid`.

#[cfg(target_arch = "aarch64")]
mod registers;

#[cfg(target_arch = "aarch64")]
pub use registers::{Registers, set_call};

use crate::inherited;
use crate::notify::{self, Listener};
use crate::seccomp::Filter;
use std::ffi::CString;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::ptr;

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
    Group(i32),
    /// The first stop of a new tracee, or the end of a group stop: just resume.
    Trap,
    /// fork, vfork, clone, exec and so on: a PTRACE_EVENT number.
    Event(i32),
}

/// How far a tracee runs when it is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// To the filter, a signal, or an event.
    Event,
    /// Also to the exit of the system call that it stands in.
    SyscallExit,
}

/// Why a child did not become the program.
#[derive(Debug)]
pub enum Failure {
    /// No process, no pipe, or the tracer could not attach.
    Start(io::Error),
    /// The kernel refused the filter.
    Filter(io::Error),
    /// The program could not be executed.
    Execute(io::Error),
}

/// A child that waits, attached, until [`Waiting::release`].
#[derive(Debug)]
pub struct Waiting {
    /// The child's process id.
    pub pid: i32,
    go: io::PipeWriter,
    failure: io::PipeReader,
    listener: Option<UnixStream>,
}

/// A child on its way to exec.
#[derive(Debug)]
pub struct Released {
    failure: io::PipeReader,
    listener: Option<UnixStream>,
}

/// Forks a child that will load `filter`, if there is one, and execute `arguments[0]`, found along
/// PATH. It keeps the caller's process group, terminal, descriptors, directory and environment.
/// SIGPIPE and the standard streams, which Rust's start-up changes, are as this process got them.
///
/// `attach` is called with the child's id before the child goes on; if it fails, the child ends.
///
/// # Errors
/// [`Failure::Start`].
pub fn spawn(
    arguments: &[CString],
    filter: Option<&Filter>,
    attach: impl FnOnce(i32) -> io::Result<()>,
) -> Result<Waiting, Failure> {
    let mut pointers: Vec<*const libc::c_char> =
        arguments.iter().map(|argument| argument.as_ptr()).collect();
    pointers.push(ptr::null());
    let (go_reader, go) = io::pipe().map_err(Failure::Start)?;
    let (failure, failure_writer) = io::pipe().map_err(Failure::Start)?;
    let notifies = filter.is_some_and(Filter::notifies);
    let (listener, listener_sender) =
        notifies.then(UnixStream::pair).transpose().map_err(Failure::Start)?.unzip();
    let closed = inherited::closed_streams();
    // SAFETY: the child only makes calls that are safe after a fork of a threaded process: no
    // allocation, no lock.
    let pid = unsafe { libc::fork() };
    match pid {
        -1 => Err(Failure::Start(io::Error::last_os_error())),
        0 => become_program(
            &pointers,
            filter,
            [go.as_raw_fd(), go_reader.as_raw_fd()],
            failure_writer.as_raw_fd(),
            listener_sender.as_ref().map(AsRawFd::as_raw_fd),
            &closed,
        ),
        _ => {
            drop((go_reader, failure_writer, listener_sender));
            let waiting = Waiting { pid, go, failure, listener };
            match attach(pid) {
                Ok(()) => Ok(waiting),
                Err(error) => {
                    drop(waiting); // its pipe closes, and the child ends
                    let _ = wait(pid);
                    Err(Failure::Start(error))
                }
            }
        }
    }
}

impl Waiting {
    /// Lets the child load the filter and execute the program.
    ///
    /// # Errors
    /// When the child is gone.
    pub fn release(mut self) -> io::Result<Released> {
        self.go.write_all(&[1])?;
        Ok(Released { failure: self.failure, listener: self.listener })
    }
}

impl Released {
    /// Where the notifications of the child's filter are read, if it has any; `None` also if the
    /// child could not load it. From then on the child waits for the answers.
    pub fn listener(&mut self) -> Option<Listener> {
        notify::receive_listener(&self.listener.take()?).ok()
    }

    /// Once the child has executed the program or ended: why it could not, if so.
    ///
    /// # Errors
    /// [`Failure::Filter`] or [`Failure::Execute`].
    pub fn outcome(mut self) -> Result<(), Failure> {
        let mut message = [0_u8; 5];
        match self.failure.read_exact(&mut message) {
            Err(_) => Ok(()),
            Ok(()) => {
                let [stage, number @ ..] = message;
                let error = io::Error::from_raw_os_error(i32::from_le_bytes(number));
                Err(if stage == 1 { Failure::Filter(error) } else { Failure::Execute(error) })
            }
        }
    }
}

/// The child's side of [`spawn`]; never returns.
fn become_program(
    arguments: &[*const libc::c_char],
    filter: Option<&Filter>,
    go: [RawFd; 2],
    failure: RawFd,
    listener: Option<RawFd>,
    closed: &[RawFd],
) -> ! {
    let [go_writer, go_reader] = go;
    let mut byte = 0_u8;
    // SAFETY: plain calls on descriptors and memory of our own; the argument vector ends in a null
    // pointer, and `_exit` runs no destructor of the parent's.
    unsafe {
        libc::close(go_writer); // else the parent's death would not end the read
        if libc::read(go_reader, (&raw mut byte).cast(), 1) != 1 {
            libc::_exit(125);
        }
        if !inherited::pipe_was_ignored() {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        }
        for fd in closed {
            libc::close(*fd);
        }
        // From here on there may be nobody yet who answers notifications: the calls below make none
        // before the listener is sent.
        if let Err(error) = filter.map_or(Ok(None), Filter::install).and_then(|notifications| {
            let ends = notifications.zip(listener);
            ends.map_or(Ok(()), |(notifications, to)| notify::send_listener(to, notifications))
        }) {
            report(failure, 1, &error);
        } else {
            libc::execvp(arguments[0], arguments.as_ptr());
            report(failure, 2, &io::Error::last_os_error());
        }
        libc::_exit(127)
    }
}

fn report(failure: RawFd, stage: u8, error: &io::Error) {
    let mut message = [stage, 0, 0, 0, 0];
    message[1..].copy_from_slice(&error.raw_os_error().unwrap_or(0).to_le_bytes());
    // SAFETY: five bytes of our own to a descriptor of our own.
    unsafe { libc::write(failure, message.as_ptr().cast(), message.len()) };
}

/// Attaches to all threads of a running process; what they start is attached as `options` of ptrace
/// say. Each stops as soon as it can, with [`Stop::Trap`]. If this thread ends, they run on.
///
/// # Errors
/// ESRCH if there is no such process, EPERM if it may not be traced. No thread is attached then.
pub fn seize_process(pid: i32, options: i32) -> io::Result<Vec<i32>> {
    let mut seized: Vec<i32> = Vec::new();
    loop {
        let before = seized.len();
        for tid in threads_of(pid)? {
            if seized.contains(&tid) {
                continue;
            }
            match seize(tid, options) {
                Ok(()) => seized.push(tid),
                // It ended meanwhile, or was attached as the child of one that was.
                Err(_) if !seized.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        // Threads that one started before it was attached are seen in the next pass.
        if seized.len() == before {
            return Ok(seized);
        }
    }
}

fn threads_of(pid: i32) -> io::Result<Vec<i32>> {
    let folder = format!("/proc/{pid}/task");
    let gone = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::from_raw_os_error(libc::ESRCH),
        _ => error,
    };
    let entries = std::fs::read_dir(folder).map_err(gone)?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

fn seize(tid: i32, options: i32) -> io::Result<()> {
    // SAFETY: the request takes its options by value.
    let result = unsafe {
        libc::ptrace(libc::PTRACE_SEIZE, tid, ptr::null_mut::<libc::c_void>(), options as usize)
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    interrupt(tid)
}

/// Makes a tracee stop as soon as it can, with [`Stop::Trap`]. A tracee that has ended is not an
/// error.
///
/// # Errors
/// Whatever else ptrace says.
pub fn interrupt(tid: i32) -> io::Result<()> {
    request_of(libc::PTRACE_INTERRUPT, tid, 0)
}

/// Lets a stopped tracee go for good, and delivers `signal` unless it is 0.
///
/// # Errors
/// As [`interrupt`].
pub fn detach(tid: i32, signal: i32) -> io::Result<()> {
    request_of(libc::PTRACE_DETACH, tid, signal)
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

/// A system call that a tracee stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// Whose calling convention it is: an AUDIT_ARCH number.
    pub architecture: u32,
    /// Its number there.
    pub number: u64,
    /// Its arguments.
    pub arguments: [u64; 6],
    /// What the filter that stopped it says of itself: [`MARK`](crate::seccomp::MARK) is ours.
    pub mark: u32,
}

/// The system call that a tracee stands before, at a [`Stop::Seccomp`].
///
/// # Errors
/// ESRCH when it was killed meanwhile; EIO before Linux 5.3.
pub fn entered(pid: i32) -> io::Result<Entered> {
    let info = call_info(pid)?;
    if info.op != libc::PTRACE_SYSCALL_INFO_SECCOMP {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: `op` says that the kernel has filled this part of the union.
    let call = unsafe { info.u.seccomp };
    Ok(Entered {
        architecture: info.arch,
        number: call.nr,
        arguments: call.args,
        mark: call.ret_data,
    })
}

/// The system call that a tracee stands before, at a [`Stop::Syscall`]; `None` at a call's exit.
///
/// # Errors
/// As [`entered`].
pub fn entered_unfiltered(pid: i32) -> io::Result<Option<Entered>> {
    let info = call_info(pid)?;
    if info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
        return Ok(None);
    }
    // SAFETY: `op` says that the kernel has filled this part of the union.
    let call = unsafe { info.u.entry };
    let mark = crate::seccomp::MARK;
    Ok(Some(Entered { architecture: info.arch, number: call.nr, arguments: call.args, mark }))
}

/// What the system call returned at whose exit a tracee stands ([`Stop::Syscall`]), or minus the
/// error number.
///
/// # Errors
/// As [`entered`].
pub fn result(pid: i32) -> io::Result<i64> {
    let info = call_info(pid)?;
    if info.op != libc::PTRACE_SYSCALL_INFO_EXIT {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: as above.
    Ok(unsafe { info.u.exit.sval })
}

fn call_info(pid: i32) -> io::Result<libc::ptrace_syscall_info> {
    let mut info = std::mem::MaybeUninit::<libc::ptrace_syscall_info>::zeroed();
    // SAFETY: the kernel writes at most the structure's size to a live one, which all zeroes
    // already makes valid.
    unsafe {
        let size = size_of::<libc::ptrace_syscall_info>();
        if libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, pid, size, info.as_mut_ptr()) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(info.assume_init())
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &[&str]) -> Vec<CString> {
        words.iter().map(|word| CString::new(*word).unwrap()).collect()
    }

    fn never() -> Filter {
        Filter::tracing(&[])
    }

    fn end_of(words: &[&str]) -> (Stop, Result<(), Failure>) {
        let no_call = never();
        let waiting = spawn(&arguments(words), Some(&no_call), |_| Ok(())).unwrap();
        let pid = waiting.pid;
        let released = waiting.release().unwrap();
        (wait(pid).unwrap().1, released.outcome())
    }

    #[test]
    fn a_child_runs_and_its_end_is_told() {
        assert!(matches!(end_of(&["sh", "-c", "exit 7"]), (Stop::Exited(7), Ok(()))));
        assert!(matches!(
            end_of(&["sh", "-c", "kill -9 $$"]),
            (Stop::Killed { signal: 9, .. }, Ok(()))
        ));
    }

    #[test]
    fn a_program_that_is_not_there_is_told() {
        let (_, outcome) = end_of(&["/nonexistent/program"]);
        let Err(Failure::Execute(error)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_child_is_followed_until_its_end_is_waited_for() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id() as i32;
        assert!(is_followed(pid));
        child.wait().unwrap();
        assert!(!is_followed(pid));
    }

    #[test]
    fn a_tracer_that_cannot_attach_leaves_no_child() {
        let no_call = never();
        let mut child = 0;
        let refused = spawn(&arguments(&["true"]), Some(&no_call), |pid| {
            child = pid;
            Err(io::Error::from_raw_os_error(libc::EPERM))
        });
        assert!(matches!(refused, Err(Failure::Start(_))));
        assert_eq!(wait(child).unwrap_err().raw_os_error(), Some(libc::ECHILD));
    }

    #[test]
    fn a_running_process_is_attached_and_let_go() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as i32;
        let seized = match seize_process(pid, libc::PTRACE_O_TRACESYSGOOD) {
            Ok(seized) => seized,
            Err(error) => {
                child.kill().unwrap();
                child.wait().unwrap();
                return println!("skipped: a process cannot be attached: {error}");
            }
        };
        assert_eq!(seized, [pid]);
        assert_eq!(wait(pid).unwrap(), (pid, Stop::Trap));
        detach(pid, 0).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let gone = seize_process(pid, 0).unwrap_err();
        assert_eq!(gone.raw_os_error(), Some(libc::ESRCH));
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
