//! fio's logs of I/O, versions 2 and 3: a heading, then `FILE add|open|close` or `FILE ACTION
//! OFFSET LENGTH` a line, in bytes. In version 3 a time in microseconds stands before each. Version
//! 2 has no times but `FILE wait MICROSECONDS 0`, which counts from the wait before it. Described
//! by "Trace file format" in fio's HOWTO; defined by iolog.c of axboe/fio.

use super::Import;
use super::accesses::{Clock, Fields, Row, push};
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::FIO_HEADINGS;
use crate::lines::Lines;
use crate::{Op, escape_path};

const MICROSECOND_NS: u64 = 1_000;

pub(super) fn import_file(import: &mut Import<'_>, mut lines: Lines) -> Result<()> {
    let has_heading = lines.advance()?;
    let version = FIO_HEADINGS.iter().position(|heading| heading.as_bytes() == lines.text());
    let Some(version) = version.filter(|_| has_heading) else {
        let message = "does not begin with `fio version 2 iolog` or `fio version 3 iolog`";
        return Err(Error::new(ErrorKind::NotATrace, lines.path(), message));
    };
    let mut log = Log { has_times: version == 1, now_ns: 0, clock: Clock::default() };
    while !import.at_limit() && lines.advance()? {
        let pushed = lines.check_length().and_then(|()| log.take(import, &lines));
        import.forgive(pushed)?;
        import.tick(&lines);
    }
    log.clock.end(import, &lines, "access of fio", false)
}

/// What a line says.
enum Line {
    Access(Row<'static>),
    /// A part of a device that is not needed any more.
    Trim,
    /// A file that will be used, or a time.
    Other,
}

struct Log {
    has_times: bool,
    now_ns: u64,
    clock: Clock,
}

impl Log {
    fn take(&mut self, import: &mut Import<'_>, lines: &Lines) -> Result<()> {
        match self.row(lines.text()).map_err(|wrong| lines.malformed(wrong))? {
            Line::Access(row) => push(import, lines, &mut self.clock, row),
            Line::Trim => {
                import.leave_out("trim");
                Ok(())
            }
            Line::Other => Ok(()),
        }
    }

    fn row(&mut self, line: &[u8]) -> Result<Line, String> {
        let fields = Fields::of_blanks(line);
        let first = usize::from(self.has_times);
        if self.has_times {
            self.now_ns = fields.times(0, MICROSECOND_NS, "a time in microseconds")?;
        }
        let op = match fields.get(first + 1) {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"open" => Op::Open,
            b"close" => Op::Close,
            b"sync" | b"datasync" => Op::Sync,
            b"trim" => return Ok(Line::Trim),
            b"add" => return Ok(Line::Other),
            b"wait" => {
                let wait = fields.times(first + 2, MICROSECOND_NS, "a wait in microseconds")?;
                self.now_ns = self.now_ns.saturating_add(wait);
                return Ok(Line::Other);
            }
            _ => return Err(fields.wrong(first + 1, "an action of fio, such as read")),
        };
        let mut row = Row::new(op, escape_path(fields.get(first)));
        row.time_ns = self.now_ns;
        if matches!(op, Op::Read | Op::Write) {
            row.offset = fields.whole(first + 2, "an offset in bytes")?;
            row.bytes = fields.whole(first + 3, "a length in bytes")?;
        }
        if !self.has_times {
            // Accesses without a wait between them keep their order by a nanosecond each.
            self.now_ns = self.now_ns.saturating_add(1);
        }
        Ok(Line::Access(row))
    }
}
