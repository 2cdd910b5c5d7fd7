//! The text of `darshan-dxt-parser`: for each file and rank some lines of comments that name them,
//! then `MODULE RANK write|read SEGMENT OFFSET LENGTH START END` a line, in bytes and seconds from
//! the job's start. Described by doc/darshan-util of darshan-hpc/darshan.
//!
//! What MPI-IO does reaches POSIX, so that it would count twice: its lines are taken only if there
//! are none of POSIX, which come first. A row's process is the rank.

use super::Import;
use super::accesses::{Clock, Fields, Row, push};
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::SECOND_NS;
use crate::lines::Lines;
use crate::{Op, RunInfo, escape_path};

const FILE: &[u8] = b"# DXT, file_id: ";
const FILE_NAME: &str = ", file_name: ";
const POSIX: &[u8] = b"X_POSIX";
const MPI_IO: &[u8] = b"X_MPIIO";

/// Whether a text begins like one of darshan's parser.
pub(super) fn is_text(mut lines: impl Iterator<Item = impl AsRef<[u8]>>) -> bool {
    lines.any(|line| {
        let line = line.as_ref();
        line.starts_with(b"# darshan log version:") || line.starts_with(FILE)
    })
}

#[derive(Default)]
struct State {
    file: Option<String>,
    has_posix: bool,
    clock: Clock,
    info: RunInfo,
    accesses: u64,
}

pub(super) fn import_file(import: &mut Import<'_>, mut lines: Lines) -> Result<()> {
    let mut state = State::default();
    state.clock.since_start(0); // the job's start
    while !import.at_limit() && lines.advance()? {
        let pushed = lines.check_length().and_then(|()| state.take(import, &lines));
        import.forgive(pushed)?;
        import.tick(&lines);
    }
    if state.accesses == 0 {
        let message = "holds no line of DXT; `darshan-dxt-parser` writes them";
        return Err(Error::new(ErrorKind::NotATrace, lines.path(), message));
    }
    import.add_runs(lines.path(), 1);
    if let Some(info) = import.writer.metadata_mut().runs.last_mut() {
        let source = std::mem::take(&mut info.source);
        *info = RunInfo { source, ..state.info };
    }
    Ok(())
}

impl State {
    fn take(&mut self, import: &mut Import<'_>, lines: &Lines) -> Result<()> {
        let line = lines.text().trim_ascii();
        if line.starts_with(b"#") {
            self.comment(line);
            return Ok(());
        }
        let Some(row) = self.row(line).map_err(|wrong| lines.malformed(wrong))? else {
            if !line.is_empty() {
                import.leave_out("other line");
            }
            return Ok(());
        };
        self.accesses += 1;
        push(import, lines, &mut self.clock, row)
    }

    fn comment(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        if line.starts_with(FILE) {
            let at = text.find(FILE_NAME).map(|at| at + FILE_NAME.len());
            // Names have the bytes of the line, not those of its text.
            self.file = at.and_then(|at| line.get(at..)).map(escape_path);
        } else if let Some(exe) = text.strip_prefix("# exe: ") {
            self.info.command = exe.split_whitespace().map(str::to_owned).collect();
        } else if let Some(seconds) = text.strip_prefix("# start_time: ") {
            let seconds = seconds.trim().parse::<u64>().ok();
            self.info.started_unix_ns = seconds.and_then(|seconds| seconds.checked_mul(SECOND_NS));
        }
    }

    fn row(&mut self, line: &[u8]) -> Result<Option<Row<'static>>, String> {
        let fields = Fields::of_blanks(line);
        match fields.get(0) {
            POSIX => self.has_posix = true,
            MPI_IO if !self.has_posix => {}
            _ => return Ok(None),
        }
        let name = self.file.clone().ok_or("stands before any line that names a file")?;
        let op = match fields.get(2) {
            b"read" => Op::Read,
            b"write" => Op::Write,
            _ => return Err(fields.wrong(2, "read or write")),
        };
        let start = fields.scaled(6, SECOND_NS, "a start in seconds")?;
        let end = fields.scaled(7, SECOND_NS, "an end in seconds")?;
        Ok(Some(Row {
            time_ns: start,
            pid: fields.whole(1, "a rank")?.try_into().unwrap_or(0),
            offset: fields.whole(4, "an offset in bytes")?,
            bytes: fields.whole(5, "a length in bytes")?,
            latency_ns: Some(end.saturating_sub(start)),
            ..Row::new(op, name)
        }))
    }
}
