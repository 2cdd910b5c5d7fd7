//! Whom the tracer asks about a thread: /proc and the thread's memory while it is stopped, or else
//! what the kernel's programs have reported of the current call.

use super::Tracer;
use crate::inspect::{self, Found};
use crate::thread::Pending;
use std::io;

impl Tracer {
    /// The file behind a descriptor.
    pub(super) fn ask_descriptor(&self, tid: i32, fd: i32) -> io::Result<Found> {
        match &self.reported {
            Some(reported) if reported.has_call() => {
                reported.descriptor(fd).ok_or_else(|| io::ErrorKind::NotFound.into())
            }
            _ => inspect::descriptor(tid, fd),
        }
    }

    /// The word at the address in argument `at` of the call.
    pub(super) fn ask_word(&self, tid: i32, pending: &Pending, at: usize) -> Option<u64> {
        match &self.reported {
            Some(reported) => reported.word(pending.call, at),
            None => inspect::word(tid, pending.arguments[at]),
        }
    }

    /// The path at `address`.
    pub(super) fn ask_path(&mut self, tid: i32, address: u64) -> Option<Vec<u8>> {
        match &mut self.reported {
            Some(reported) => reported.take_text(tid),
            None => inspect::path(tid, address),
        }
    }

    /// The directory that the current call has changed to, if that is known without a look.
    pub(super) fn ask_directory(&mut self, tid: i32) -> Option<Vec<u8>> {
        self.reported.as_mut()?.take_directory(tid)
    }

    /// Where a write has ended: at the position, or at the file's end if it was `positioned`.
    pub(super) fn ask_end(&self, tid: i32, fd: i32, positioned: bool) -> Option<u64> {
        match (&self.reported, positioned) {
            (Some(reported), _) => reported.end(positioned),
            (None, true) => inspect::descriptor_bytes(tid, fd),
            (None, false) => inspect::position(tid, fd).map(|found| found.0),
        }
    }

    /// Whether a thread's absolute paths begin elsewhere than ours.
    pub(super) fn is_elsewhere(&mut self, tid: i32) -> bool {
        let roots = self.roots;
        let Some(thread) = self.threads.get_mut(&tid) else { return false };
        match thread.is_elsewhere {
            Some((at, is)) if at == roots => is,
            _ => thread.is_elsewhere.insert((roots, inspect::is_elsewhere(tid))).1,
        }
    }
}
