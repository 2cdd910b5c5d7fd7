//! Rows of the trace, and the counts beside them.

use super::Tracer;
use crate::descriptions::{Description, DescriptionId, Moment};
use crate::inspect;
use seekless_trace::{Access, FileId, Op};

/// What a call came to: what it returned, or its error number.
pub(super) type Outcome = Result<u64, i32>;

impl Tracer {
    /// A row about `file` of a call entered at `at` that ends now. Its latency is an upper bound:
    /// two switches between the program and the recorder are in it.
    pub(super) fn call_row(&self, op: Op, file: FileId, at: Moment, outcome: Outcome) -> Access {
        Access {
            latency_ns: Some(self.now_ns.saturating_sub(self.resumed_ns)),
            error: outcome.err(),
            ..row(op, file, at)
        }
    }

    pub(super) fn emit(&mut self, access: Access) {
        self.summary.accesses += 1;
        let failed = access.error.is_some();
        match access.op {
            Op::Open if failed => self.summary.failed_opens += 1,
            Op::Open => {
                self.summary.opens += u64::from(access.latency_ns.is_some());
                self.summary.files += u64::from(self.opened.insert(access.file));
            }
            Op::Read => self.summary.bytes_read += access.bytes,
            Op::Write => self.summary.bytes_written += access.bytes,
            Op::Load => self.summary.loads += 1,
            _ => {}
        }
        self.sink.push(access);
    }

    /// The row that says that every byte of an open file has been read.
    pub(super) fn emit_load(&mut self, id: DescriptionId) {
        let description = self.descriptions.get(id);
        let access = identified(row(Op::Load, description.file, description.opened), description);
        self.emit(Access { bytes: access.file_bytes.unwrap_or(0), ..access });
    }

    /// A holder lets go; the last one of a loaded file gives it back.
    pub(super) fn release(&mut self, id: DescriptionId, at: Moment) {
        if let Some(description) = self.descriptions.release(id)
            && description.loaded
        {
            self.emit(row(Op::Release, description.file, at));
        }
    }

    /// Counts a call as lost if the program is closed to this user.
    pub(super) fn lose_if_closed(&mut self, tid: i32) {
        if inspect::is_closed(tid) {
            self.lose(tid);
        }
    }

    /// Counts a call as lost, and says why if that is known.
    pub(super) fn lose(&mut self, tid: i32) {
        self.summary.lost += 1;
        if inspect::is_closed(tid) {
            self.blind("unreadable or undumpable program (record it as root)");
        }
    }

    /// Counts a use of what the recorder cannot see.
    pub(super) fn blind(&mut self, what: &str) {
        *self.summary.blind_spots.entry(what.to_owned()).or_default() += 1;
    }
}

/// A row with what an open file is known by.
pub(super) fn identified(access: Access, description: &Description) -> Access {
    Access {
        file_bytes: description.file_bytes,
        device: Some(description.device),
        inode: Some(description.inode),
        ..access
    }
}

/// An offset as a row holds it. What the kernel refuses as negative is 0: −1 means something else in a trace.
pub(super) fn signed(offset: u64) -> i64 {
    i64::try_from(offset).unwrap_or(0)
}

pub(super) fn row(op: Op, file: FileId, at: Moment) -> Access {
    Access { time_ns: at.time_ns, pid: at.pid as u32, tid: at.tid as u32, ..Access::new(op, file) }
}
