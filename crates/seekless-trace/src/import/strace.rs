//! The text of strace, best recorded with `strace -f -ttt -T -y -o FILE`. Calls that wait while
//! another process runs are printed in two parts, which are joined. Described by the manual of
//! strace.
//!
//! Reads and writes without an offset go on where the descriptor stands, so descriptors are
//! followed through open, dup, lseek, fork and exec (`descriptors`). With `-y` a descriptor's file
//! is printed beside it, and pipes and sockets are distinguished from files. Touches of mapped
//! files are not in the text.

mod call;
mod descriptors;

use super::Import;
use super::accesses::Row;
use crate::error::{Error, ErrorKind, Result};
use crate::lines::Lines;
use crate::{Access, Op, RunInfo, escape_path};
use call::{Call, Line, Stamp};
use descriptors::{Descriptors, Position};
use std::collections::HashMap;

/// Calls that a trace has rows for, if they are on files.
const IN_TRACES: [&[u8]; 38] = [
    b"open",
    b"creat",
    b"openat",
    b"openat2",
    b"read",
    b"readv",
    b"write",
    b"writev",
    b"pread64",
    b"pread",
    b"preadv",
    b"preadv2",
    b"pwrite64",
    b"pwrite",
    b"pwritev",
    b"pwritev2",
    b"fsync",
    b"fdatasync",
    b"sync_file_range",
    b"getdents64",
    b"getdents",
    b"mmap",
    b"mmap2",
    b"stat",
    b"lstat",
    b"stat64",
    b"lstat64",
    b"access",
    b"readlink",
    b"newfstatat",
    b"fstatat64",
    b"statx",
    b"faccessat",
    b"faccessat2",
    b"readlinkat",
    b"fstat",
    b"fstat64",
    b"close",
];

/// Bytes of calls that were begun and not ended, of all processes.
const UNFINISHED_BYTES_MAX: usize = 16 << 20;

/// Whether a text begins like strace's.
pub(super) fn is_text<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    lines.take(8).any(|line| match Line::parse(line) {
        Some(Line { what, .. }) => Call::parse(what).is_some(),
        None => false,
    })
}

pub(super) fn import_file(import: &mut Import<'_>, mut lines: Lines) -> Result<()> {
    let mut state = State::default();
    while !import.at_limit() && lines.advance()? {
        let pushed = lines.check_length().and_then(|()| state.take(import, &lines));
        import.forgive(pushed)?;
        import.tick(&lines);
    }
    let Some(start_ns) = state.start_ns else {
        let message = "holds no call, expected the text of `strace -f -ttt -T -y -o FILE`";
        return Err(Error::new(ErrorKind::NotATrace, lines.path(), message));
    };
    for _ in state.unfinished {
        import.leave_out("unfinished or unknown call");
    }
    import.add_runs(lines.path(), 1);
    if let Some(info) = import.writer.metadata_mut().runs.last_mut() {
        let started_unix_ns = state.since_1970.then_some(start_ns);
        *info = RunInfo { started_unix_ns, clock: "realtime".into(), ..std::mem::take(info) };
    }
    Ok(())
}

/// A call whose end has not been printed yet.
struct Unfinished {
    time_ns: u64,
    text: Vec<u8>,
}

#[derive(Default)]
struct State {
    start_ns: Option<u64>,
    since_1970: bool,
    /// The time of the latest line, for lines without one.
    now_ns: u64,
    unfinished: HashMap<u32, Unfinished>,
    unfinished_bytes: usize,
    descriptors: Descriptors,
}

impl State {
    fn take(&mut self, import: &mut Import<'_>, lines: &Lines) -> Result<()> {
        let Some(line) = Line::parse(lines.text()) else {
            match call::ended(lines.text()) {
                Some(pid) => self.descriptors.end(pid),
                None if lines.text().trim_ascii().is_empty() => {}
                None => import.leave_out("signal or message"),
            }
            return Ok(());
        };
        self.now_ns = match line.stamp {
            Stamp::Epoch(time_ns) => {
                self.since_1970 = true;
                time_ns
            }
            Stamp::Day(time_ns) => time_ns,
            Stamp::Step(step_ns) => self.now_ns.saturating_add(step_ns),
            Stamp::None => self.now_ns.saturating_add(1),
        };
        let (time_ns, text) = match line.join() {
            call::Part::Whole(text) => (self.now_ns, text.to_vec()),
            call::Part::Begin(text) => {
                self.begin(line.pid, text);
                return Ok(());
            }
            call::Part::End(rest) => match self.unfinished.remove(&line.pid) {
                Some(mut begun) => {
                    self.unfinished_bytes -= begun.text.len();
                    begun.text.extend_from_slice(rest);
                    (begun.time_ns, begun.text)
                }
                None => {
                    import.leave_out("unbegun call");
                    return Ok(());
                }
            },
        };
        let Some(call) = Call::parse(&text) else {
            import.leave_out("unfinished or unknown call");
            return Ok(());
        };
        self.start_ns.get_or_insert(time_ns);
        self.call(import, lines, line.pid, time_ns, &call)
    }

    fn begin(&mut self, pid: u32, text: &[u8]) {
        if call::makes_process(text) {
            self.descriptors.begin_fork(pid, call::shares_files(text));
        }
        if self.unfinished_bytes + text.len() > UNFINISHED_BYTES_MAX {
            return; // its end will have no begin
        }
        let begun = Unfinished { time_ns: self.now_ns, text: text.to_vec() };
        self.unfinished_bytes += text.len();
        if let Some(lost) = self.unfinished.insert(pid, begun) {
            self.unfinished_bytes -= lost.text.len();
        }
    }

    fn call(
        &mut self,
        import: &mut Import<'_>,
        lines: &Lines,
        pid: u32,
        time_ns: u64,
        call: &Call<'_>,
    ) -> Result<()> {
        let Some(row) = self.descriptors.row(pid, call) else {
            let is_of_file = IN_TRACES.contains(&call.name);
            import.leave_out(if is_of_file { "pipe or device call" } else { "other call" });
            return Ok(());
        };
        let Ok(offset) = i64::try_from(row.offset) else {
            return Err(lines.malformed(format!("has offset {}, which is too large", row.offset)));
        };
        if import.take(&row.name, 1) == 0 {
            return Ok(());
        }
        let file = import.file(&row.name, lines)?;
        let start_ns = self.start_ns.unwrap_or(time_ns);
        import.writer.push(Access {
            run: import.report.runs,
            time_ns: time_ns.saturating_sub(start_ns),
            pid,
            tid: pid,
            offset,
            bytes: row.bytes,
            latency_ns: call.took_ns,
            error: call.error,
            file_bytes: row.file_bytes,
            ..Access::new(row.op, file)
        })
    }
}

/// What a call does to a descriptor or a name.
impl Descriptors {
    /// The row of a call, if a trace has one for it.
    fn row(&mut self, pid: u32, call: &Call<'_>) -> Option<Row<'static>> {
        let failed = call.error.is_some();
        let bytes = if failed { 0 } else { call.result.unsigned_abs() };
        match call.name {
            b"open" | b"creat" => self.open(pid, call, None, 0),
            b"openat" | b"openat2" => self.open(pid, call, Some(0), 1),
            b"read" | b"readv" => self.transfer(pid, call, Op::Read, Position::Current, bytes),
            b"write" | b"writev" => self.transfer(pid, call, Op::Write, Position::Current, bytes),
            b"pread64" | b"pread" | b"preadv" | b"preadv2" => {
                self.transfer(pid, call, Op::Read, Position::Argument(3), bytes)
            }
            b"pwrite64" | b"pwrite" | b"pwritev" | b"pwritev2" => {
                self.transfer(pid, call, Op::Write, Position::Argument(3), bytes)
            }
            b"fsync" | b"fdatasync" | b"sync_file_range" => {
                self.transfer(pid, call, Op::Sync, Position::Zero, 0)
            }
            b"getdents64" | b"getdents" => self.transfer(pid, call, Op::List, Position::Zero, 0),
            b"mmap" | b"mmap2" => self.map(pid, call),
            b"stat" | b"lstat" | b"stat64" | b"lstat64" | b"access" | b"readlink" => {
                self.look(pid, call, None, 0)
            }
            b"newfstatat" | b"fstatat64" | b"statx" | b"faccessat" | b"faccessat2"
            | b"readlinkat" => self.look(pid, call, Some(0), 1),
            b"fstat" | b"fstat64" => self.transfer(pid, call, Op::Stat, Position::Zero, 0),
            b"close" => self.close(pid, call),
            _ => {
                if !failed {
                    self.change(pid, call);
                }
                None
            }
        }
    }

    /// Calls that move descriptors and make processes.
    fn change(&mut self, pid: u32, call: &Call<'_>) {
        match call.name {
            b"lseek" | b"_llseek" => self.seek(pid, call),
            b"dup" => self.duplicate(pid, call, false),
            b"dup2" | b"dup3" => self.duplicate(pid, call, call.has(2, b"O_CLOEXEC")),
            b"fcntl" | b"fcntl64" if call.has(1, b"F_DUPFD") => {
                self.duplicate(pid, call, call.has(1, b"F_DUPFD_CLOEXEC"));
            }
            b"clone" | b"clone3" | b"fork" | b"vfork" => {
                let shared = call.arguments.iter().any(|text| call::shares_files(text));
                self.fork(pid, call.result.try_into().unwrap_or(0), shared);
            }
            b"execve" | b"execveat" => self.exec(pid),
            b"chdir" => self.change_folder(pid, call),
            _ => {}
        }
    }
}

/// A name as a trace has it.
fn name_of(path: &[u8]) -> String {
    escape_path(path)
}

#[cfg(test)]
mod tests;
