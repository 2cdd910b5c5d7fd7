//! Imports CSV, one access a row. Without an `op` column each row is the load of a whole file, as
//! in the 0 A.D. runs. A `lost` column makes the file the log of a recording, such as a store's: it
//! counts the events that are missing before each row. Such a log may end inside of a row, since
//! its program may have been killed while it wrote; then that row is lost too.

use super::fields::{Binding, Field, bind_header};
use super::record::Record;
use super::{Format, Import, KNOWN_NAMES, Options, Progress, Report, any, number};
use crate::error::{Error, ErrorKind, Result};
use crate::lines::Lines;
use crate::writer::RUNS_MAX;
use crate::{Access, Op, escape_path};
use seekless_sys::output::Destination;
use std::path::{Path, PathBuf};

/// Imports CSV files (plain, gzip, xz, lzma or zstd) as the trace `out`. Each file is one run, in
/// the order given; a file with a `run` column holds as many runs as it numbers. If there is no
/// time column, a row's time is its number, in nanoseconds.
///
/// # Errors
/// A file cannot be read, is damaged, has no path column, or has a malformed line. The error names
/// the line and what was expected.
pub fn csv(
    files: &[PathBuf],
    out: impl Into<Destination>,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Report> {
    any(files, out, &options.of(Format::Csv), progress)
}

pub(super) fn import_file(import: &mut Import<'_>, mut lines: Lines) -> Result<()> {
    let mut record = Record::default();
    let (bindings, mut more) = bindings(import, &mut lines, &mut record)?;
    let rows = Rows { first_run: import.report.runs, ..Rows::new(bindings) };
    let mut runs = 1;
    let mut number = 0;
    while more || lines.advance()? {
        more = false;
        let row = record
            .read(&mut lines, import.options.delimiter)
            .and_then(|()| rows.parse(&record, number).map_err(|wrong| lines.malformed(wrong)));
        if rows.is_log && row.is_err() && !lines.has_end() {
            import.lose(1);
            break;
        }
        let pushed = row.and_then(|(access, name, lost)| {
            import.lose(lost);
            runs = runs.max(access.run - rows.first_run + 1);
            let file = import.file(&name, &lines)?;
            import.writer.push(Access { file, ..access })
        });
        import.forgive(pushed)?;
        number += 1;
        import.tick(&lines);
    }
    import.add_runs(lines.path(), runs);
    Ok(())
}

/// What the columns mean, and whether the current line is a row that is not read yet.
fn bindings(
    import: &mut Import<'_>,
    lines: &mut Lines,
    record: &mut Record,
) -> Result<(Vec<Binding>, bool)> {
    let any = lines.advance()?;
    if !import.options.header {
        let columns = import.options.columns.as_ref().ok_or_else(|| {
            let message =
                "without a header, --columns must say which column holds what, such as path=#1,size=#2";
            Error::new(ErrorKind::Usage, lines.path(), message)
        })?;
        return Ok((columns.bind(None, lines.path())?, any));
    }
    if !any {
        return Err(Error::new(
            ErrorKind::NotATrace,
            lines.path(),
            "is empty: a trace has at least a header line",
        ));
    }
    record.read(lines, import.options.delimiter)?;
    let header: Vec<String> =
        record.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
    if let Some(columns) = &import.options.columns {
        return Ok((columns.bind(Some(&header), lines.path())?, false));
    }
    let (bindings, ignored) =
        bind_header(&header).map_err(|wrong| no_header(lines.path(), &wrong))?;
    for name in ignored {
        if !import.report.ignored_columns.contains(&name) {
            import.report.ignored_columns.push(name);
        }
    }
    Ok((bindings, false))
}

fn no_header(path: &Path, wrong: &str) -> Error {
    let message = format!(
        "is not a trace, nor text that can be imported as it is: {wrong}. Known names are {KNOWN_NAMES}; for others \
         use `seekless trace import --columns`"
    );
    Error::new(ErrorKind::NotATrace, path, message)
}

/// How records become accesses.
pub(super) struct Rows {
    bindings: Vec<Binding>,
    loads: bool,
    /// Whether a read or write says how many bytes it moves.
    has_bytes: bool,
    is_log: bool,
    first_run: u32,
}

impl Rows {
    /// Rows of a file or table whose runs are the first of the trace.
    pub(super) fn new(bindings: Vec<Binding>) -> Self {
        let has = |field| bindings.iter().any(|binding| binding.field == field);
        let (has_bytes, is_log) = (has(Field::Bytes), has(Field::Lost));
        Self { loads: !has(Field::Op), has_bytes, is_log, bindings, first_run: 0 }
    }

    /// The access of a record, its path, and how many events were lost before it. The error says
    /// what was expected.
    pub(super) fn parse(
        &self,
        record: &Record,
        number: u64,
    ) -> Result<(Access, String, u64), String> {
        let mut access = Access::new(if self.loads { Op::Load } else { Op::Read }, 0);
        (access.run, access.time_ns) = (self.first_run, number);
        let mut name = String::new();
        let (mut bytes, mut lost) = (None, 0);
        for binding in &self.bindings {
            let text = record.get(binding.column).ok_or_else(|| {
                format!("has {} of at least {} columns", record.len(), binding.column + 1)
            })?;
            match binding.field {
                Field::Path => name = path(text)?,
                Field::Bytes => bytes = optional(binding, text)?,
                Field::Lost => lost = optional(binding, text)?.unwrap_or(0),
                field => set(&mut access, field, binding, text, self.first_run)?,
            }
        }
        // A load covers the whole file, so its size may be in either column. So does a read with
        // only the file's size known, from its offset on.
        let size = match access.op {
            Op::Load => access.file_bytes,
            Op::Read | Op::Write if !self.has_bytes => access
                .file_bytes
                .map(|size| size.saturating_sub(access.offset.max(0).unsigned_abs())),
            _ => None,
        };
        access.bytes = bytes.or(size).unwrap_or(0);
        if self.loads {
            access.file_bytes = access.file_bytes.or(bytes);
        }
        Ok((access, name, lost))
    }
}

fn path(text: &[u8]) -> Result<String, String> {
    if text.is_empty() {
        Err("has an empty path, expected a name".into())
    } else {
        Ok(escape_path(text))
    }
}

fn set(
    access: &mut Access,
    field: Field,
    binding: &Binding,
    text: &[u8],
    first_run: u32,
) -> Result<(), String> {
    match field {
        Field::Run => {
            let run = first_run.checked_add(small(binding, text)?).filter(|&run| run < RUNS_MAX);
            access.run = run.ok_or_else(|| expected(binding, text))?;
        }
        Field::Time => {
            access.time_ns =
                number::scaled(text, binding.scale).ok_or_else(|| expected(binding, text))?;
        }
        Field::Pid => access.pid = small(binding, text)?,
        Field::Tid => access.tid = small(binding, text)?,
        Field::Op => access.op = op(text)?,
        Field::Offset => access.offset = offset(binding, text)?,
        Field::Latency => access.latency_ns = optional(binding, text)?,
        Field::FileBytes => access.file_bytes = optional(binding, text)?,
        Field::Device => access.device = optional(binding, text)?,
        Field::Inode => access.inode = optional(binding, text)?,
        Field::Error => {
            let parse = || number::signed(text)?.try_into().ok();
            access.error = if is_empty(text) {
                None
            } else {
                Some(parse().ok_or_else(|| expected(binding, text))?)
            };
        }
        Field::Path | Field::Bytes | Field::Lost => {}
    }
    Ok(())
}

fn is_empty(text: &[u8]) -> bool {
    text.trim_ascii().is_empty()
}

fn optional(binding: &Binding, text: &[u8]) -> Result<Option<u64>, String> {
    if is_empty(text) {
        return Ok(None);
    }
    let value = match binding.scale {
        1 => number::whole(text),
        scale => number::scaled(text, scale),
    };
    value.map(Some).ok_or_else(|| expected(binding, text))
}

fn small(binding: &Binding, text: &[u8]) -> Result<u32, String> {
    let value = if is_empty(text) {
        Some(0)
    } else {
        number::whole(text).and_then(|value| value.try_into().ok())
    };
    value.ok_or_else(|| expected(binding, text))
}

fn offset(binding: &Binding, text: &[u8]) -> Result<i64, String> {
    let value = match binding.scale {
        _ if is_empty(text) => Some(0),
        1 => number::signed(text),
        scale => number::scaled(text, scale).and_then(|value| value.try_into().ok()),
    };
    value.ok_or_else(|| expected(binding, text))
}

fn op(text: &[u8]) -> Result<Op, String> {
    let word = String::from_utf8_lossy(text).trim().to_ascii_lowercase();
    match word.as_str() {
        "r" => Ok(Op::Read),
        "w" => Ok(Op::Write),
        word => word.parse().map_err(|error| format!("has op `{}`, {error}", shown(text))),
    }
}

fn expected(binding: &Binding, text: &[u8]) -> String {
    let what = match binding.field {
        Field::Run => "a run's number from 0 to 65535",
        Field::Time => "a time from the run's start",
        Field::Offset => "an offset",
        Field::Latency => "a duration",
        Field::Error => "an error number",
        _ => "a whole number from 0",
    };
    format!("has `{}` in column {}, expected {what}", shown(text), binding.column + 1)
}

/// At most 40 bytes of `text`, escaped for a message.
fn shown(text: &[u8]) -> String {
    text[..text.len().min(40)].escape_ascii().to_string()
}
