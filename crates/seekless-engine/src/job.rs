//! A read or a write on its way, for the engines that treat both alike.

use crate::fill::Fill;
use crate::progress::Next;
use crate::tally::Tally;
use crate::write::Drain;
use rustix::io::Errno;
use std::io;

#[derive(Debug)]
pub(crate) enum Job {
    Read(Fill),
    Write(Drain),
}

impl Job {
    /// Takes the result of a call for what the job's target says.
    ///
    /// # Safety
    /// On `Ok(n)` of a read the first `n` bytes of the target have been written.
    pub(crate) unsafe fn called(&mut self, result: Result<usize, Errno>, tally: &Tally) -> Next {
        match self {
            // SAFETY: the caller's promise.
            Job::Read(fill) => unsafe { fill.called(result, tally) },
            Job::Write(drain) => drain.called(result, tally),
        }
    }

    /// Makes it on the calling thread, and sends the completion.
    pub(crate) fn run(self, tally: &Tally) {
        match self {
            Job::Read(fill) => fill.run(tally),
            Job::Write(drain) => drain.run(tally),
        }
    }

    /// Sends the completion.
    pub(crate) fn complete(self, result: io::Result<usize>) {
        match self {
            Job::Read(fill) => fill.complete(result),
            Job::Write(drain) => drain.complete(result),
        }
    }

    /// Sends the completion of a job that was never started because its engine is going away.
    pub(crate) fn cancel(self) {
        self.complete(Err(Errno::CANCELED.into()));
    }

    /// Completes a job whose memory the kernel may still use: the memory is leaked.
    pub(crate) fn abandon(self, error: io::Error) {
        match self {
            Job::Read(fill) => fill.abandon(error),
            Job::Write(drain) => drain.abandon(error),
        }
    }
}
