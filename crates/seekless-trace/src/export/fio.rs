//! Exports fio's logs of I/O, which `fio --read_iolog` replays. See `import/fio.rs` for the format.

use super::BUFFER_BYTES;
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::FIO_HEADINGS;
use crate::{Columns, FileId, Op, Trace, unescape_path};
use std::io::{self, BufWriter, Write};

const MICROSECOND_NS: u64 = 1_000;

/// Which version of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioVersion {
    /// Waits between accesses.
    Two,
    /// A time before each line.
    Three,
}

/// Writes the reads, writes and syncs of one run as a log of fio. Faults and loads count as reads
/// where their trace has no reads. Files are added and opened first and closed at the end, since
/// fio opens a file once. Times are in microseconds. Calls `progress` with rows done and their sum.
///
/// # Errors
/// The trace cannot be read, has several runs, names a file with a blank or line break, which the
/// format cannot carry, or has no access; or `out` cannot be written.
pub fn fio(
    trace: &Trace,
    version: FioVersion,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    if trace.metadata().runs.len() > 1 {
        let message =
            "has several runs, and a log of fio is one; `seekless trace cut --run N` makes it one";
        return Err(Error::new(ErrorKind::Usage, trace.path(), message));
    }
    let names: Vec<Vec<u8>> = trace.file_names()?.iter().map(|name| unescape_path(name)).collect();
    let used = used(trace, names.len())?;
    let has_reads = used.has_reads;
    let failed = |error| Error::io(trace.path(), "could not be written as a log of fio", error);
    let mut log = Log { out: BufWriter::with_capacity(BUFFER_BYTES, out), version, now_us: 0 };
    log.heading().map_err(failed)?;
    let files: Vec<&[u8]> =
        used.files.iter().map(|&file| names[file as usize].as_slice()).collect();
    if files.is_empty() {
        let message = "has no reads or writes, from which a log of fio is made";
        return Err(Error::new(ErrorKind::Usage, trace.path(), message));
    }
    if let Some(name) = files.iter().find(|name| name.iter().any(u8::is_ascii_whitespace)) {
        let message = format!(
            "names `{}`, and a log of fio cannot hold a blank in a name; `trace cut --exclude` leaves it out",
            name.escape_ascii()
        );
        return Err(Error::new(ErrorKind::Usage, trace.path(), message));
    }
    for action in ["add", "open"] {
        files.iter().try_for_each(|name| log.line(name, action, None)).map_err(failed)?;
    }
    let mut done = 0;
    for batch in trace.scan(columns())? {
        let batch = batch?;
        for row in 0..batch.rows() {
            let action = action(batch.op()[row], has_reads);
            let Some(action) = action.filter(|_| batch.error().get(row).is_none()) else {
                continue;
            };
            let range = (batch.offset()[row], batch.bytes()[row]);
            if action != "sync" && (range.1 == 0 || range.0 < 0) {
                continue;
            }
            let name = &names[batch.file()[row] as usize];
            let range = if action == "sync" { (0, 0) } else { range };
            log.access(name, action, batch.time_ns()[row] / MICROSECOND_NS, range)
                .map_err(failed)?;
        }
        done += batch.rows() as u64;
        progress(done, trace.rows());
    }
    files.iter().try_for_each(|name| log.line(name, "close", None)).map_err(failed)?;
    log.out.flush().map_err(failed)
}

fn columns() -> Columns {
    let range = Columns::FILE | Columns::OFFSET | Columns::BYTES;
    Columns::OP | Columns::TIME_NS | Columns::ERROR | range
}

/// What fio does for a row.
fn action(op: Op, has_reads: bool) -> Option<&'static str> {
    match op {
        Op::Read => Some("read"),
        Op::Write => Some("write"),
        Op::Sync => Some("sync"),
        Op::Fault | Op::Load if !has_reads => Some("read"),
        _ => None,
    }
}

/// The files that are read or written, by first use.
struct Used {
    files: Vec<FileId>,
    has_reads: bool,
}

fn used(trace: &Trace, files: usize) -> Result<Used> {
    let mut has_reads = false;
    for batch in trace.scan(Columns::OP)? {
        has_reads |= batch?.op().contains(&Op::Read);
    }
    let mut seen = vec![false; files];
    let mut used = Used { files: Vec::new(), has_reads };
    for batch in trace.scan(columns())? {
        let batch = batch?;
        for row in 0..batch.rows() {
            let file = batch.file()[row];
            let counts = action(batch.op()[row], has_reads).is_some();
            if counts && batch.error().get(row).is_none() && !seen[file as usize] {
                seen[file as usize] = true;
                used.files.push(file);
            }
        }
    }
    Ok(used)
}

struct Log<W: Write> {
    out: W,
    version: FioVersion,
    now_us: u64,
}

impl<W: Write> Log<W> {
    fn heading(&mut self) -> io::Result<()> {
        writeln!(self.out, "{}", FIO_HEADINGS[usize::from(self.version == FioVersion::Three)])
    }

    fn access(
        &mut self,
        name: &[u8],
        action: &str,
        time_us: u64,
        range: (i64, u64),
    ) -> io::Result<()> {
        if self.version == FioVersion::Two && time_us > self.now_us {
            let wait_us = time_us - self.now_us;
            self.out.write_all(name)?;
            writeln!(self.out, " wait {wait_us} 0")?;
        }
        self.now_us = time_us.max(self.now_us);
        self.line(name, action, Some(range))
    }

    fn line(&mut self, name: &[u8], action: &str, range: Option<(i64, u64)>) -> io::Result<()> {
        if self.version == FioVersion::Three {
            write!(self.out, "{} ", self.now_us)?;
        }
        self.out.write_all(name)?;
        match range {
            Some((offset, bytes)) => writeln!(self.out, " {action} {offset} {bytes}"),
            None => writeln!(self.out, " {action}"),
        }
    }
}
