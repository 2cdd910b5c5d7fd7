//! What a wrapper of a program does with signals. It passes on those sent to the wrapper alone.
//! Those from the terminal reach the program by themselves. If the program dies by a signal, the
//! wrapper dies by the same one. Meanwhile it installs handlers, never SIG_IGN: exec resets a
//! handler to the default, but a program inherits SIG_IGN.

use crate::action;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

/// Signals with which people end or nudge a program. SIGALRM comes from an alarm that was set
/// before this process became the wrapper (`perl -e 'alarm 5; exec @ARGV'`), and then was meant for
/// the program.
const FORWARDED: [i32; 8] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGWINCH,
    libc::SIGALRM,
];

/// The signals that a thread of a wrapper leaves to the main thread, which waits for the program
/// and looks whether one came.
pub const FOR_THE_MAIN_THREAD: [i32; 10] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGWINCH,
    libc::SIGALRM,
    libc::SIGTSTP,
    libc::SIGCHLD,
];

/// The process that signals go to; 0 while nothing is wrapped.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// The last signal that came after the program had ended.
static UNDELIVERED: AtomicI32 = AtomicI32::new(0);
/// Who sent the signal that was last passed on.
static SENDER: AtomicI32 = AtomicI32::new(0);

const ENDED: i32 = -1;

/// While it lives, this process outlives the signals and passes them to the program. Dropped, the
/// old handlers stand again.
#[derive(Debug)]
pub struct Forwarding {
    _replaced: Vec<Replaced>,
}

/// A signal whose action is another while this lives.
pub struct Replaced {
    signal: i32,
    old: libc::sigaction,
}

impl std::fmt::Debug for Replaced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Replaced({})", self.signal)
    }
}

impl Drop for Replaced {
    fn drop(&mut self) {
        // SAFETY: puts back an action that the kernel itself handed out.
        unsafe { libc::sigaction(self.signal, &raw const self.old, ptr::null_mut()) };
    }
}

impl Forwarding {
    /// Handlers for SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH and SIGALRM,
    /// except those that this process ignores since its start. SIGTSTP does not stop this process:
    /// the program decides, and [`stop_with_program`] follows. An ignored SIGCHLD is set to its
    /// default meanwhile, since it would swallow exit codes. `None` if another program of this
    /// process already has them.
    #[must_use]
    pub fn to(program: i32) -> Option<Self> {
        PROGRAM.compare_exchange(0, program, Ordering::SeqCst, Ordering::SeqCst).ok()?;
        UNDELIVERED.store(0, Ordering::SeqCst);
        SENDER.store(0, Ordering::SeqCst);
        let handler = pass_on as extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);
        let mut replaced = Vec::new();
        for signal in FORWARDED {
            if !action::is_ignored(signal) {
                replaced.extend(replace(signal, handler as *const () as usize, libc::SA_SIGINFO));
            }
        }
        if !action::is_ignored(libc::SIGTSTP) {
            replaced.extend(replace(libc::SIGTSTP, nothing(), 0));
        }
        if action::is_ignored(libc::SIGCHLD) {
            replaced.extend(replace(libc::SIGCHLD, libc::SIG_DFL, 0));
        }
        Some(Self { _replaced: replaced })
    }

    /// The program has ended: its number may be another's now.
    pub fn program_ended(&self) {
        PROGRAM.store(ENDED, Ordering::SeqCst);
    }

    /// A signal that came after the program's end, once.
    #[must_use]
    pub fn undelivered(&self) -> Option<i32> {
        Some(UNDELIVERED.swap(0, Ordering::SeqCst)).filter(|signal| *signal != 0)
    }

    /// Who sent the last signal that was passed on; 0 if none was.
    #[must_use]
    pub fn sender(&self) -> i32 {
        SENDER.load(Ordering::SeqCst)
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        PROGRAM.store(0, Ordering::SeqCst);
    }
}

/// The handler. A signal that the terminal or the kernel sent has reached the program's group
/// already.
extern "C" fn pass_on(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo to an SA_SIGINFO handler; kill and errno are
    // async-signal-safe.
    unsafe {
        if (*info).si_code > 0 && signal != libc::SIGALRM {
            return;
        }
        let errno = *libc::__errno_location();
        let program = PROGRAM.load(Ordering::SeqCst);
        if program > 0 {
            SENDER.store((*info).si_pid(), Ordering::SeqCst);
            libc::kill(program, signal);
        } else if program == ENDED {
            UNDELIVERED.store(signal, Ordering::SeqCst);
        }
        *libc::__errno_location() = errno;
    }
}

extern "C" fn do_nothing(_: i32) {}

fn nothing() -> usize {
    do_nothing as extern "C" fn(i32) as *const () as usize
}

/// Whether a [`Forwarding`] passes this signal on.
#[must_use]
pub fn is_forwarded(signal: i32) -> bool {
    FORWARDED.contains(&signal)
}

/// While the guard is held, exceeding `ulimit -f` returns an error instead of SIGXFSZ, which would
/// kill the wrapped program too.
#[must_use]
pub fn survive_file_size_limit() -> Option<Replaced> {
    if action::is_ignored(libc::SIGXFSZ) { None } else { replace(libc::SIGXFSZ, nothing(), 0) }
}

/// While it lives, threads of this process can be called out of what they wait for.
#[derive(Debug)]
pub struct Nudge {
    _replaced: Option<Replaced>,
}

impl Nudge {
    /// Gives SIGURG a handler that does nothing.
    #[must_use]
    pub fn prepare() -> Self {
        Self { _replaced: replace(libc::SIGURG, nothing(), 0) }
    }

    /// Makes the call in which the thread of this number waits fail with EINTR. A thread that does
    /// not wait takes no notice, so this may have to be done again.
    pub fn thread(&self, tid: i32) {
        // SAFETY: no pointers.
        unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, libc::SIGURG) };
    }
}

/// Call it after job control stopped the program. It stops this process, too, if it is in the
/// terminal's foreground, so that the shell sees its job stopped, and returns when the shell
/// continues it. Elsewhere no process waits for that, and nothing happens.
pub fn stop_with_program() {
    let Ok(terminal) = std::fs::File::open("/dev/tty") else { return };
    if rustix::termios::tcgetpgrp(&terminal).is_ok_and(|group| group == rustix::process::getpgrp())
    {
        // SAFETY: no pointers.
        unsafe { libc::kill(libc::getpid(), libc::SIGSTOP) };
    }
}

/// Without SA_RESTART, so that a wait returns and the waiter can look.
fn replace(signal: i32, handler: usize, flags: i32) -> Option<Replaced> {
    let old = action::current(signal)?;
    // SAFETY: all zeroes is a valid sigaction: the default action, no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    // SAFETY: the handler is async-signal-safe and lives as long as the process.
    let result = unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
    (result == 0).then_some(Replaced { signal, old })
}

/// Makes this process end by SIGPIPE, like other tools in a pipe when its reader is gone. If it was
/// started with that signal ignored, a write fails instead. (Rust's start-up always ignores it.)
///
/// An ignored SIGCHLD, which hides the exit codes of children, is set to its default. Call this
/// once, before threads start.
pub fn end_by_broken_pipes() {
    if !crate::inherited::pipe_was_ignored() {
        set_default(libc::SIGPIPE);
    }
    if action::is_ignored(libc::SIGCHLD) {
        set_default(libc::SIGCHLD);
    }
}

fn set_default(signal: i32) {
    // SAFETY: the default action needs no handler.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Starts the command with SIGPIPE ignored if this process was so started; without this, every
/// child gets the default.
pub fn pass_on_ignored_pipe(command: &mut Command) {
    if crate::inherited::pipe_was_ignored() {
        let ignore = || {
            // SAFETY: no handler; signal is async-signal-safe.
            unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
            Ok(())
        };
        // SAFETY: between fork and exec the closure makes one async-signal-safe call.
        unsafe { command.pre_exec(ignore) };
    }
}

/// Ends this process by `signal`, without a core dump. Returns only for a signal that does not end
/// a process.
pub fn die_by(signal: i32) {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: plain calls on live local structures; the default action needs no handler.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        libc::signal(signal, libc::SIG_DFL);
        let mut set = MaybeUninit::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), ptr::null_mut());
        libc::raise(signal);
    }
}

/// Sends `signal` to a process; that it is gone is no error.
///
/// # Errors
/// When it may not be signalled.
pub fn send(pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: no pointers.
    if unsafe { libc::kill(pid, signal) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    if error.raw_os_error() == Some(libc::ESRCH) { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_called_out_of_what_it_waits_for() {
        let nudge = Nudge::prepare();
        let (numbers, number) = std::sync::mpsc::channel();
        let waits = std::thread::spawn(move || {
            numbers.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
            // SAFETY: no descriptors; it waits for ever.
            unsafe { libc::poll(ptr::null_mut(), 0, -1) }
        });
        let number = number.recv().unwrap();
        while !waits.is_finished() {
            nudge.thread(number);
            std::thread::yield_now();
        }
        assert_eq!(waits.join().unwrap(), -1);
    }

    #[test]
    fn a_signal_reaches_the_program_and_then_nobody() {
        let mut child = Command::new("sleep").arg("30").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let forwarding = Forwarding::to(pid).unwrap();
        assert!(Forwarding::to(pid).is_none(), "one at a time");
        let me = i32::try_from(std::process::id()).unwrap();
        send(me, libc::SIGTERM).unwrap();
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(libc::SIGTERM));
        assert_eq!(forwarding.sender(), me);
        forwarding.program_ended();
        send(me, libc::SIGTERM).unwrap();
        while forwarding.undelivered() != Some(libc::SIGTERM) {
            std::thread::yield_now();
        }
        drop(forwarding);
        assert!(!action::is_ignored(libc::SIGTERM));
    }
}
