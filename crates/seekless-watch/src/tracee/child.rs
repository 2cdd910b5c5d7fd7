//! A child that loads a filter and becomes a program, once the tracer has attached to it.

use super::{Stop, Until, resume, wait};
use crate::notify::{self, Listener};
use crate::seccomp::Filter;
use seekless_sys::inherited;
use seekless_sys::signals;
use std::ffi::CString;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::ptr;

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

/// A child that waits, attached, until [`Waiting::release`]. Dropped before that, it has ended and
/// its end has been waited for: the caller may become the program itself, whose child it would be.
#[derive(Debug)]
pub struct Waiting {
    /// The child's process id.
    pub pid: i32,
    go: io::PipeWriter,
    failure: io::PipeReader,
    listener: Option<UnixStream>,
    /// Behind the pipes: they close first.
    unreleased: Unreleased,
}

/// The process number of a child that has not been released.
#[derive(Debug)]
struct Unreleased(Option<i32>);

impl Drop for Unreleased {
    fn drop(&mut self) {
        let Some(pid) = self.0.take() else { return };
        let _ = signals::send(pid, libc::SIGKILL);
        loop {
            match wait(pid) {
                Ok((_, Stop::Exited(_) | Stop::Killed { .. })) => return,
                // An attached child stops once more before its end.
                Ok(_) => _ = resume(pid, Until::Event, 0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
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
            let unreleased = Unreleased(Some(pid));
            let waiting = Waiting { pid, go, failure, listener, unreleased };
            attach(pid).map_err(Failure::Start)?;
            Ok(waiting)
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
        self.unreleased.0 = None;
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
    fn a_child_runs_and_its_end_is_reported() {
        assert!(matches!(end_of(&["sh", "-c", "exit 7"]), (Stop::Exited(7), Ok(()))));
        assert!(matches!(
            end_of(&["sh", "-c", "kill -9 $$"]),
            (Stop::Killed { signal: 9, .. }, Ok(()))
        ));
    }

    #[test]
    fn a_program_that_is_not_there_is_reported() {
        let (_, outcome) = end_of(&["/nonexistent/program"]);
        let Err(Failure::Execute(error)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_child_that_is_not_released_is_gone() {
        let no_call = never();
        let waiting = spawn(&arguments(&["true"]), Some(&no_call), |_| Ok(())).unwrap();
        let pid = waiting.pid;
        drop(waiting);
        assert_eq!(wait(pid).unwrap_err().raw_os_error(), Some(libc::ECHILD));
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
}
