//! A helper process beside a program that takes the place of this process. So the program has the
//! process number, parent, group, terminal, descriptors and signals that this process had, and its
//! parent gets its exit status: nobody stands in between.
//!
//! The helper is a grandchild whose parent has ended, in a session of its own, without this
//! process's descriptors. So the program never waits for it, no pipe stays open for it, and no key
//! of the terminal reaches it.
//!
//! Where this process itself adopts orphans, as the first process of a container does, a grandchild
//! would become the program's child: a program that waits for its children would wait for the
//! helper, and one that never waits would keep a zombie. There the helper is a child of the kind
//! that wait(2) leaves out unless it is asked for with `__WCLONE` or `__WALL`, and it stays until
//! the program's end.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The descriptors below this are the standard streams.
const STREAMS_END: RawFd = 3;

/// What the helper writes to let the program start; no reason to refuse begins so.
const RELEASED: &str = "\0released";

/// How often to look, a millisecond apart, whether threads have left.
const LEAVING_LOOKS: usize = 20;

/// The helper's view of the program.
#[derive(Debug)]
pub struct Beside {
    program: OwnedFd,
    pid: i32,
    go: Option<io::PipeWriter>,
    has_told: Arc<AtomicBool>,
}

/// The program's view of the helper, before the program starts.
#[derive(Debug)]
pub struct Held {
    go: io::PipeReader,
}

/// What a helper has said of the program's start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Said {
    /// It may start.
    Released,
    /// It may start, and the user should read these words.
    ReleasedSaying(String),
    /// It should not, for this reason.
    Refused(String),
    /// The helper has ended, or the time was over, without a word.
    Nothing,
}

/// Starts a helper that does `job` and ends. All descriptors but the standard streams are closed in
/// it, and the streams are /dev/null.
///
/// # Errors
/// This process has several threads, or there can be no more processes.
pub fn start(job: impl FnOnce(&mut Beside)) -> io::Result<Held> {
    start_with(&[], job)
}

/// As [`start`], but the helper keeps the descriptors `kept`, which `job` owns there. None of them
/// may be a standard stream.
///
/// # Errors
/// As [`start`].
pub fn start_with(kept: &[RawFd], job: impl FnOnce(&mut Beside)) -> io::Result<Held> {
    if !is_alone()? {
        return Err(io::Error::other("this process has several threads"));
    }
    let (reader, writer) = io::pipe()?;
    match adopts_orphans() {
        true => start_unwaited(writer, kept, job)?,
        false => start_orphan(writer, kept, job)?,
    }
    Ok(Held { go: reader })
}

/// Whether orphans become children of this process, and of the program in its place: it is the
/// first of its process namespace, or has asked for them.
fn adopts_orphans() -> bool {
    let mut asked: libc::c_int = 0;
    // SAFETY: the kernel writes one int to a live one.
    unsafe { libc::prctl(libc::PR_GET_CHILD_SUBREAPER, &raw mut asked) };
    std::process::id() == 1 || asked != 0
}

/// Starts the helper as a grandchild whose parent ends at once.
fn start_orphan(
    writer: io::PipeWriter,
    kept: &[RawFd],
    job: impl FnOnce(&mut Beside),
) -> io::Result<()> {
    let pid = std::process::id() as i32;
    // SAFETY: this process has one thread, so that the child has all that it needs.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: as above; `_exit` runs no destructor of the parent's.
            if unsafe { libc::fork() } == 0 {
                let _ = catch_unwind(AssertUnwindSafe(|| help(pid, writer, kept, job)));
            }
            // SAFETY: ends this process without what the parent has left to do.
            unsafe { libc::_exit(0) }
        }
        child => {
            drop(writer);
            let mut status = 0;
            // SAFETY: the kernel writes one int to a live one. Where SIGCHLD is ignored, the child
            // is gone already, which is all that is to be known.
            while unsafe { libc::waitpid(child, &raw mut status, 0) } == -1
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
            Ok(())
        }
    }
}

/// Starts the helper as a child whose end sends no signal, which wait(2) leaves out.
fn start_unwaited(
    writer: io::PipeWriter,
    kept: &[RawFd],
    job: impl FnOnce(&mut Beside),
) -> io::Result<()> {
    let pid = std::process::id() as i32;
    const NOTHING: libc::c_long = 0; // no flag, no signal, no other stack
    // SAFETY: a fork by its older call. This process has one thread, so that no lock of the C
    // library is held by another, and the child has all that it needs.
    match unsafe { libc::syscall(libc::SYS_clone, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING) } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let _ = catch_unwind(AssertUnwindSafe(|| help_to_the_end(pid, writer, kept, job)));
            // SAFETY: `_exit` runs no destructor of the parent's.
            unsafe { libc::_exit(0) }
        }
        _ => Ok(()),
    }
}

/// Helps, and then stays until the program has ended: nobody would wait for this process's end.
fn help_to_the_end(
    pid: i32,
    writer: io::PipeWriter,
    kept: &[RawFd],
    job: impl FnOnce(&mut Beside),
) {
    help(pid, writer, kept, |beside| {
        let _ = catch_unwind(AssertUnwindSafe(|| job(beside)));
        beside.release();
        while !beside.has_ended(Duration::from_secs(1 << 30)) {}
    });
}

/// Whether this process has one thread. One that was joined may take a moment to leave.
fn is_alone() -> io::Result<bool> {
    for _ in 0..LEAVING_LOOKS {
        if std::fs::read_dir("/proc/self/task")?.count() == 1 {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(false)
}

fn help(pid: i32, writer: io::PipeWriter, kept: &[RawFd], job: impl FnOnce(&mut Beside)) {
    let from = writer.into_raw_fd();
    // SAFETY: calls on descriptors of this process. Those that are closed have owners that are
    // never dropped: the process ends by `_exit`.
    let go = unsafe {
        libc::setsid();
        let go = libc::fcntl(from, libc::F_DUPFD_CLOEXEC, STREAMS_END);
        if go == -1 {
            return;
        }
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        (0..STREAMS_END).for_each(|stream| _ = libc::dup2(null, stream));
        close_all_but(kept, go);
        OwnedFd::from_raw_fd(go)
    };
    let _ = std::env::set_current_dir("/"); // else the program's folder could not be unmounted
    let Some(Ok(program)) = Pid::from_raw(pid).map(|pid| pidfd_open(pid, PidfdFlags::empty()))
    else {
        return;
    };
    job(&mut Beside { program, pid, go: Some(go.into()), has_told: Arc::default() });
}

/// Closes all descriptors but the standard streams, `kept` and `go`.
fn close_all_but(kept: &[RawFd], go: RawFd) {
    let mut stay = [kept, &[go]].concat();
    stay.sort_unstable();
    let mut first = STREAMS_END;
    for fd in stay.into_iter().filter(|&fd| fd >= STREAMS_END) {
        close_range(first, fd - 1);
        first = fd + 1;
    }
    close_range(first, RawFd::MAX);
}

/// Closes the descriptors from `first` to `last`, if there are any.
fn close_range(first: RawFd, last: RawFd) {
    if first > last {
        return;
    }
    // SAFETY: three numbers; see `help` for what is closed.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    if closed == -1 {
        let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        let numbers: Vec<RawFd> =
            open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        for fd in numbers.into_iter().filter(|fd| (first..=last).contains(fd)) {
            // SAFETY: as above.
            unsafe { libc::close(fd) };
        }
    }
}

impl Beside {
    /// The program's process number.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Lets the program start, once. The end of the helper does so, too.
    pub fn release(&mut self) {
        self.tell(RELEASED);
    }

    /// As [`Beside::release`], with words for the user, which are none if they are empty.
    pub fn release_saying(&mut self, words: &str) {
        self.tell(&format!("{RELEASED}{words}"));
    }

    /// Tells why the program should not start.
    pub fn refuse(&mut self, why: &str) {
        self.tell(why);
    }

    /// Has a thread end this process if the program ends before the helper has let it start:
    /// whatever the helper waits for, nobody needs it.
    ///
    /// # Errors
    /// There can be no more threads or descriptors.
    pub fn end_with_program(&self) -> io::Result<()> {
        let (program, has_told) = (self.program.try_clone()?, self.has_told.clone());
        let watch = move || {
            let mut program = [PollFd::new(&program, PollFlags::IN)];
            while matches!(poll(&mut program, None), Err(Errno::INTR)) {}
            if !has_told.load(Ordering::SeqCst) {
                // SAFETY: ends this process, which has nothing to put in order.
                unsafe { libc::_exit(1) }
            }
        };
        std::thread::Builder::new().name("seekless-watch".to_owned()).spawn(watch)?;
        Ok(())
    }

    fn tell(&mut self, words: &str) {
        self.has_told.store(true, Ordering::SeqCst);
        if let Some(mut go) = self.go.take() {
            let _ = go.write_all(words.as_bytes());
        }
    }

    /// Waits for the program's end. Whether it has ended within the time.
    #[must_use]
    pub fn has_ended(&self, within: Duration) -> bool {
        has_come(&self.program, within)
    }

    /// The processor time that the program and the children that it has waited for have taken so
    /// far, in nanoseconds. `None` once its end has been waited for.
    #[must_use]
    pub fn cpu_ns(&self) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).ok()?;
        let fields = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(11).take(4);
        let ticks = fields.map(|ticks| ticks.parse::<u64>().ok()).sum::<Option<u64>>()?;
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        Some(ticks.saturating_mul(1_000_000_000 / per_second))
    }
}

impl Held {
    /// Waits until the helper has said something, or has ended, or the time is over.
    pub fn wait_within(self, within: Duration) -> Said {
        if has_come(&self.go, within) { self.wait() } else { Said::Nothing }
    }

    /// Waits until the helper has said something, or has ended.
    pub fn wait(mut self) -> Said {
        let mut words = Vec::new();
        let _ = self.go.read_to_end(&mut words);
        let words = String::from_utf8_lossy(&words);
        match words.strip_prefix(RELEASED) {
            _ if words.is_empty() => Said::Nothing,
            Some("") => Said::Released,
            Some(words) => Said::ReleasedSaying(words.to_owned()),
            None => Said::Refused(words.into_owned()),
        }
    }
}

/// Whether there is something to read, or the other end has been closed, within the time.
fn has_come(from: &impl AsFd, within: Duration) -> bool {
    let within =
        Timespec { tv_sec: within.as_secs() as i64, tv_nsec: within.subsec_nanos().into() };
    let mut from = [PollFd::new(from, PollFlags::IN)];
    matches!(poll(&mut from, Some(&within)), Ok(ready) if ready > 0)
}

/// Puts this process's reads behind those of others, where the disk's scheduler has an order.
pub fn yield_to_other_reads() {
    const WHO_PROCESS: i32 = 1;
    const BEST_EFFORT_LAST: i32 = 2 << 13 | 7;
    // SAFETY: three numbers; 0 is this process.
    unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, BEST_EFFORT_LAST) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_several_threads_is_refused() {
        // The test's thread is not the process's first.
        assert!(start(|_| ()).is_err());
    }
}
