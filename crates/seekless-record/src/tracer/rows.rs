//! Makes the rows of the trace, and keeps the summary's counts.

use super::Tracer;
use crate::descriptions::{Description, DescriptionId, Moment};
use crate::inspect;
use seekless_trace::{Access, FileId, Op};

/// The outcome of a call: its result, or its error number.
pub(super) type Outcome = Result<u64, i32>;

impl Tracer {
    /// A row about `file` for a call that was entered at `at` and ends now. Its latency is an upper
    /// bound, which includes two switches between the program and the recorder. If the call has yet
    /// to happen, it is not known.
    pub(super) fn call_row(&self, op: Op, file: FileId, at: Moment, outcome: Outcome) -> Access {
        let latency_ns = self.now_ns.saturating_sub(self.resumed_ns);
        Access {
            latency_ns: (!self.foresees && !self.untimed).then_some(latency_ns),
            error: outcome.err(),
            ..row(op, file, at)
        }
    }

    pub(super) fn emit(&mut self, access: Access) {
        let (op, file, bytes) = (access.op, access.file, access.bytes);
        let (failed, seen) = (access.error.is_some(), access.latency_ns.is_some());
        // What is reported comes many at a time.
        let is_taken =
            if self.reported.is_some() { self.sink.hold(access) } else { self.sink.push(access) };
        if !is_taken {
            return;
        }
        self.summary.accesses += 1;
        match op {
            Op::Open if failed => self.summary.failed_opens += 1,
            Op::Open => {
                self.summary.opens += u64::from(seen);
                self.summary.files += u64::from(self.is_first_open(file));
            }
            Op::Read => self.summary.bytes_read += bytes,
            Op::Write => self.summary.bytes_written += bytes,
            Op::Load => self.summary.loads += 1,
            Op::Fetch => self.summary.fetches.count(bytes),
            _ => {}
        }
    }

    /// Whether this is the file's first open. Notes it.
    fn is_first_open(&mut self, file: FileId) -> bool {
        let at = file as usize;
        if self.opened.len() <= at {
            self.opened.resize(at + 1, false);
        }
        !std::mem::replace(&mut self.opened[at], true)
    }

    /// Emits the `load` row: every byte of an open file has been read.
    pub(super) fn emit_load(&mut self, id: DescriptionId) {
        let description = self.descriptions.get(id);
        let access = identified(row(Op::Load, description.file, description.opened), description);
        self.emit(Access { bytes: access.file_bytes.unwrap_or(0), ..access });
    }

    /// Removes a holder. If it is the last one of a loaded file, emits the `release` row. Where
    /// closes are not seen, no one knows when a file is released; then it is decided that a file
    /// was loaded.
    pub(super) fn release(&mut self, id: DescriptionId, at: Moment) {
        let Some(description) = self.descriptions.release(id) else { return };
        self.forget_key(id, &description);
        if description.used {
            self.left_unseen(&description);
        }
        if self.sees_files_only() && description.may_be_loaded() {
            let load =
                identified(row(Op::Load, description.file, description.opened), &description);
            self.emit(Access { bytes: load.file_bytes.unwrap_or(0), ..load });
        } else if description.loaded && !self.sees_files_only() {
            self.emit(row(Op::Release, description.file, at));
        }
    }

    /// Counts a call as lost if this user may not inspect the program.
    pub(super) fn lose_if_closed(&mut self, tid: i32) {
        if let Some(reported) = &self.reported {
            self.summary.lost += u64::from(reported.has_been_kept_back());
        } else if inspect::is_closed(tid) {
            self.lose(tid);
        }
    }

    /// Counts a call as lost, and notes why if we know.
    pub(super) fn lose(&mut self, tid: i32) {
        self.summary.lost += 1;
        if self.reported.is_none() && inspect::is_closed(tid) {
            self.blind("unreadable or undumpable program (record it as root)");
        }
    }

    /// Counts a call as lost whose path is longer than a name of a file may be.
    pub(super) fn lose_long_path(&mut self) {
        self.summary.lost += 1;
        self.blind("path over 4,096 bytes");
    }

    /// Counts a use of something that the recorder cannot see.
    pub(super) fn blind(&mut self, what: &str) {
        *self.summary.blind_spots.entry(what.to_owned()).or_default() += 1;
    }
}

/// Adds size, device and inode of an open file to a row.
pub(super) fn identified(access: Access, description: &Description) -> Access {
    Access {
        file_bytes: description.file_bytes,
        device: Some(description.device),
        inode: Some(description.inode),
        ..access
    }
}

/// An offset for a row. The kernel refuses a negative offset; it becomes 0, since −1 has a meaning
/// of its own in a trace.
pub(super) fn signed(offset: u64) -> i64 {
    i64::try_from(offset).unwrap_or(0)
}

pub(super) fn row(op: Op, file: FileId, at: Moment) -> Access {
    Access { time_ns: at.time_ns, pid: at.pid as u32, tid: at.tid as u32, ..Access::new(op, file) }
}

/// Whether the kernel could not give a name since it is longer than a path may be.
pub(super) fn is_too_long(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENAMETOOLONG)
}
