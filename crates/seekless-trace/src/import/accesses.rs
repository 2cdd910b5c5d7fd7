//! What formats with an access a line share: the loop over lines, the clock of a run, and the
//! fields of a line.

use super::{Import, number};
use crate::error::{Error, ErrorKind, Result};
use crate::lines::Lines;
use crate::{Access, Op, RunInfo};
use std::borrow::Cow;

/// An access as a line describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    /// Nanoseconds, from a start that the format knows.
    pub(super) time_ns: u64,
    pub(super) op: Op,
    /// The file or device, escaped.
    pub(super) name: Cow<'a, str>,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) pid: u32,
    pub(super) latency_ns: Option<u64>,
    pub(super) file_bytes: Option<u64>,
}

impl<'a> Row<'a> {
    /// An access with nothing else known.
    pub(super) fn new(op: Op, name: impl Into<Cow<'a, str>>) -> Self {
        Row {
            time_ns: 0,
            op,
            name: name.into(),
            offset: 0,
            bytes: 0,
            pid: 0,
            latency_ns: None,
            file_bytes: None,
        }
    }
}

/// Reads a line: an access, nothing that a trace keeps, or what is wrong with it.
pub(super) type Parse = fn(&[u8]) -> Result<Option<Row<'_>>, String>;

/// A format with an access a line.
pub(super) struct Form {
    /// What a file of this format holds, for messages.
    pub(super) holds: &'static str,
    /// Whether its times count from 1970: then the trace says when the run started.
    pub(super) from_1970: bool,
    pub(super) parse: Parse,
}

/// Imports a text with an access a line, as one run. Times count from the first access.
pub(super) fn import_lines(import: &mut Import<'_>, mut lines: Lines, form: &Form) -> Result<()> {
    let mut clock = Clock::default();
    while !import.at_limit() && lines.advance()? {
        let read = lines
            .check_length()
            .and_then(|()| (form.parse)(lines.text()).map_err(|wrong| lines.malformed(wrong)));
        let pushed = match read {
            Ok(Some(row)) => push(import, &lines, &mut clock, row),
            Ok(None) => {
                // A heading is no line that could be a row.
                if lines.number() > 1 {
                    import.leave_out("other line");
                }
                Ok(())
            }
            Err(error) => Err(error),
        };
        import.forgive(pushed)?;
        import.tick(&lines);
    }
    clock.end(import, &lines, form.holds, form.from_1970)
}

/// Adds a row of the current line of `lines`.
pub(super) fn push(
    import: &mut Import<'_>,
    lines: &Lines,
    clock: &mut Clock,
    row: Row<'_>,
) -> Result<()> {
    let Ok(offset) = i64::try_from(row.offset) else {
        return Err(lines.malformed(format!("has offset {}, which is too large", row.offset)));
    };
    if import.take(&row.name, 1) == 0 {
        return Ok(());
    }
    let file = import.file(&row.name, lines)?;
    import.writer.push(Access {
        run: import.report.runs,
        time_ns: clock.since_start(row.time_ns),
        pid: row.pid,
        offset,
        bytes: row.bytes,
        latency_ns: row.latency_ns,
        file_bytes: row.file_bytes,
        ..Access::new(row.op, file)
    })
}

/// The time of the first access, from which a run's times count.
#[derive(Default)]
pub(super) struct Clock {
    start_ns: Option<u64>,
}

impl Clock {
    /// A time from the run's start. What is older than the first access gets its time.
    pub(super) fn since_start(&mut self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(*self.start_ns.get_or_insert(time_ns))
    }

    /// Ends the run. It must have had an access.
    pub(super) fn end(
        &self,
        import: &mut Import<'_>,
        lines: &Lines,
        holds: &str,
        from_1970: bool,
    ) -> Result<()> {
        let Some(start_ns) = self.start_ns else {
            let message = format!("holds no {holds}");
            return Err(Error::new(ErrorKind::NotATrace, lines.path(), message));
        };
        import.add_runs(lines.path(), 1);
        if let (Some(info), true) = (import.writer.metadata_mut().runs.last_mut(), from_1970) {
            *info = RunInfo { started_unix_ns: Some(start_ns), ..std::mem::take(info) };
        }
        Ok(())
    }
}

/// The fields of a line.
pub(super) struct Fields<'a>(Vec<&'a [u8]>);

impl<'a> Fields<'a> {
    /// Between commas.
    pub(super) fn of_commas(line: &'a [u8]) -> Self {
        Fields(line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect())
    }

    /// Between blanks.
    pub(super) fn of_blanks(line: &'a [u8]) -> Self {
        let words = line.split(u8::is_ascii_whitespace);
        Fields(words.filter(|word| !word.is_empty()).collect())
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Field `at`, from 0; nothing if there are fewer.
    pub(super) fn get(&self, at: usize) -> &'a [u8] {
        self.0.get(at).copied().unwrap_or_default()
    }

    /// Field `at` as text, to name a device.
    pub(super) fn text(&self, at: usize) -> Cow<'a, str> {
        match std::str::from_utf8(self.get(at)) {
            Ok(text) if !text.contains('\\') => text.into(),
            _ => crate::escape_path(self.get(at)).into(),
        }
    }

    /// Field `at`, a whole number.
    pub(super) fn whole(&self, at: usize, what: &str) -> Result<u64, String> {
        number::whole(self.get(at))
            .ok_or_else(|| self.wrong(at, &format!("{what}, a whole number from 0")))
    }

    /// Field `at`, a number with a fraction, times `scale`.
    pub(super) fn scaled(&self, at: usize, scale: u64, what: &str) -> Result<u64, String> {
        number::scaled(self.get(at), scale)
            .ok_or_else(|| self.wrong(at, &format!("{what}, a number from 0")))
    }

    /// Field `at`, a whole number of units.
    pub(super) fn times(&self, at: usize, unit: u64, what: &str) -> Result<u64, String> {
        let number = self.whole(at, what)?;
        number.checked_mul(unit).ok_or_else(|| self.wrong(at, &format!("{what} that is smaller")))
    }

    /// Field `at`, a word that begins with r or w.
    pub(super) fn read_or_write(&self, at: usize) -> Result<Op, String> {
        match self.get(at).first() {
            Some(b'r' | b'R') => Ok(Op::Read),
            Some(b'w' | b'W') => Ok(Op::Write),
            _ => Err(self.wrong(at, "a read or a write")),
        }
    }

    /// What is wrong with field `at`.
    pub(super) fn wrong(&self, at: usize, expected: &str) -> String {
        if at >= self.len() {
            return format!("has {} fields, expected {expected} as field {}", self.len(), at + 1);
        }
        let text = self.get(at);
        let shown = text[..text.len().min(40)].escape_ascii();
        format!("has `{shown}` as field {}, expected {expected}", at + 1)
    }
}

/// Whether all whole lines of `head` that are not blank are rows of a format, and there is one.
pub(super) fn all_rows<'a>(mut lines: impl Iterator<Item = &'a [u8]>, parse: Parse) -> bool {
    let is_row = |line: &[u8]| matches!(parse(line), Ok(Some(_)));
    lines.next().is_some_and(is_row) && lines.all(|line| parse(line).is_ok())
}
