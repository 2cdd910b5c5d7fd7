//! A program that ran before the recorder came. It is not our child and has no filter: its
//! threads stop at each call, and it is let go when the recording ends.

use super::{Traced, Tracer};
use crate::inspect;
use crate::recorded::Status;
use crate::sink::Sink;
use crate::thread::Thread;
use crate::tracer::Settings;
use seekless_sys::awaited::Awaited;
use seekless_watch::tracee::{self, Stop, Until};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// A signal reports each stop. It may reach another thread of this process, so we look ourselves
/// too: at first often, then less and less.
const FIRST_PATIENCE: Duration = Duration::from_micros(50);
const PATIENCE_MAX: Duration = Duration::from_millis(50);

/// What ends the recording and lets the program run on.
pub(crate) const ENDINGS: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

impl Tracer {
    /// A tracer of the process `main`, whose `threads` are attached.
    pub(crate) fn of_running(
        main: i32,
        threads: &[i32],
        sink: Sink,
        settings: Arc<Settings>,
    ) -> Self {
        let mut tracer = Self::unforwarded(main, sink, settings);
        (tracer.attached, tracer.live) = (true, true);
        let whole = Thread::new(main);
        for &tid in threads {
            tracer.threads.insert(tid, whole.sibling());
        }
        tracer
    }

    /// Follows the program until it and its descendants have ended, a signal of [`ENDINGS`] comes,
    /// or the limits are reached. Then it is let go. `awaited` holds these signals and SIGCHLD.
    ///
    /// # Errors
    /// Waiting for the program's threads fails.
    pub(crate) fn run_attached(mut self, awaited: &Awaited) -> io::Result<Traced> {
        for fd in inspect::descriptors(self.main).unwrap_or_default() {
            self.follow(self.main, fd);
        }
        let (mut is_ending, mut patience) = (false, FIRST_PATIENCE);
        while !self.threads.is_empty() && !is_ending && !self.sink.is_over(self.elapsed_ns()) {
            match tracee::wait_now(-1) {
                Ok(Some((tid, stop))) => {
                    self.now_ns = self.elapsed_ns();
                    self.stopped(tid, stop);
                    self.adopt_orphans();
                    patience = FIRST_PATIENCE;
                }
                Ok(None) => {
                    let came = awaited.wait(patience);
                    patience = (2 * patience).min(PATIENCE_MAX);
                    is_ending = came.is_some_and(|signal| ENDINGS.contains(&signal));
                }
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => break,
                Err(error) => return Err(error),
            }
        }
        let ended = self.status;
        self.let_go()?;
        self.status = ended.or(Some(Status::Exited(0)));
        Ok(self.traced())
    }

    /// Before a call or at its exit; no filter has said which.
    pub(super) fn entered_or_left(&mut self, tid: i32) -> io::Result<()> {
        match self.answer(tracee::entered_unfiltered(tid)) {
            Some(Some(_)) => return self.entered(tid),
            Some(None) => self.left(tid),
            None => {}
        }
        tracee::resume(tid, Until::SyscallExit, 0)
    }

    /// Detaches all threads, with the signals that they were about to get.
    fn let_go(&mut self) -> io::Result<()> {
        self.early.keys().for_each(|&tid| drop(tracee::detach(tid, 0)));
        self.threads.keys().for_each(|&tid| drop(tracee::interrupt(tid)));
        loop {
            match tracee::wait(-1) {
                Ok((_, Stop::Exited(_) | Stop::Killed { .. })) => {}
                Ok((tid, Stop::Signal(signal))) => tracee::detach(tid, signal)?,
                Ok((tid, _)) => tracee::detach(tid, 0)?,
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}
