//! Imports CSV, one access a row. Without an `op` column each row is the load of a whole file, as
//! in the 0 A.D. runs. A `lost` column makes the file the log of a recording, such as a store's: it
//! counts the events that are missing before each row. Such a log may end inside of a row, since
//! its program may have been killed while it wrote; then that row is lost too.

use super::fields::{Binding, Columns, Field, bind_header};
use super::ops::{Meaning, Ops};
use super::record::Record;
use super::select::Test;
use super::{Format, Import, KNOWN_NAMES, Options, Progress, Report, any, number};
use crate::error::{Error, ErrorKind, Result};
use crate::lines::Lines;
use crate::writer::RUNS_MAX;
use crate::{Access, Op, escape_path};
use seekless_sys::output::Destination;
use std::num::NonZeroU64;
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

/// The most rows that a row with a count stands for.
const COUNT_MAX: u64 = 1 << 24;

/// How the columns of a published CSV are found.
pub(super) struct Preset {
    delimiter: u8,
    header: bool,
    columns: &'static str,
    /// Columns that only some of the files have.
    optional: &'static [(&'static str, &'static str)],
}

/// Twitter's traces of its caches (Yang, Yue and Rashmi 2020): time, key, its size, that of its
/// value, client, operation, lifetime.
const TWITTER: Preset = Preset {
    delimiter: b',',
    header: false,
    columns: "time:s=#1,key=#2,op=#6,bytes=#3+#4,tenant=#5,ttl:s=#7",
    optional: &[],
};
/// The traces of CacheLib's benchmark, of keys and values. The order of their columns varies; those
/// of 2024 have times and tenants.
const CACHELIB: Preset = Preset {
    delimiter: b',',
    header: true,
    columns: "key=key,op=op,bytes=key_size+size,count=op_count",
    optional: &[("op_time", "time:s=op_time"), ("usecase", "tenant=usecase"), ("ttl", "ttl:s=ttl")],
};
/// Meta's traces of its network of caches, of 2023 and 2025: time, key, operation (always 1), size
/// of the object, and more.
const META_CDN: Preset = Preset {
    delimiter: b',',
    header: true,
    columns: "time:s=timestamp,key=cacheKey,bytes=objectSize",
    optional: &[("cdn_content_type_id", "tenant=cdn_content_type_id")],
};
/// Meta's traces of Tectonic: requests for a part of a block.
const META_STORAGE: Preset = Preset {
    delimiter: b',',
    header: true,
    columns: "time:s=op_time,path=block_id,op=op_name,offset=io_offset,bytes=io_size,count=op_count",
    optional: &[("user_name", "tenant=user_name")],
};
/// IBM's traces of object stores (SNIA's trace 36305): time in milliseconds, operation, object, and
/// perhaps its size and a range. An object is requested whole.
const IBM_OBJECT_STORE: Preset = Preset {
    delimiter: b' ',
    header: false,
    columns: "time:ms=#1,op=#2,key=#3,bytes=#4",
    optional: &[],
};

/// How the columns of this format are found; `None` if it is not made of columns.
pub(super) fn preset(format: Format) -> Option<&'static Preset> {
    Some(match format {
        Format::Twitter => &TWITTER,
        Format::CacheLib => &CACHELIB,
        Format::MetaCdn => &META_CDN,
        Format::MetaStorage => &META_STORAGE,
        Format::IbmObjectStore => &IBM_OBJECT_STORE,
        _ => return None,
    })
}

/// Whether files of this format say how long their objects may be kept.
pub(super) fn has_lifetimes(format: Format) -> bool {
    matches!(format, Format::Twitter | Format::CacheLib)
}

/// How the fields of a text are separated, and what they mean.
struct Reading<'a> {
    delimiter: u8,
    header: bool,
    columns: Option<&'a Columns>,
    /// Columns that only some of the files have.
    optional: &'static [(&'static str, &'static str)],
}

pub(super) fn import_file(import: &mut Import<'_>, lines: Lines) -> Result<()> {
    let options = import.options;
    let (delimiter, header, columns) =
        (options.delimiter, options.header, options.columns.as_ref());
    import_as(import, lines, &Reading { delimiter, header, columns, optional: &[] })
}

pub(super) fn import_preset(import: &mut Import<'_>, lines: Lines, format: Format) -> Result<()> {
    let preset = preset(format).unwrap_or(&TWITTER); // the caller asks for those alone
    let columns = preset.columns.parse::<Columns>();
    let columns = columns.map_err(|wrong| Error::new(ErrorKind::Usage, lines.path(), wrong))?;
    let &Preset { delimiter, header, optional, .. } = preset;
    let reading = Reading { delimiter, header, columns: Some(&columns), optional };
    import_as(import, lines, &reading)
}

fn import_as(import: &mut Import<'_>, mut lines: Lines, reading: &Reading<'_>) -> Result<()> {
    let mut record = Record::default();
    let Found { bindings, tests, is_row: mut more } =
        find(import, &mut lines, &mut record, reading)?;
    let (ops, first_run) = (import.options.ops.clone(), import.report.runs);
    let rows = Rows { first_run, ops, tests, ..Rows::new(bindings) };
    let mut runs = 1;
    let mut number = 0;
    while !import.at_limit() && (more || lines.advance()?) {
        more = false;
        let row = record
            .read(&mut lines, reading.delimiter)
            .and_then(|()| rows.parse(&record, number).map_err(|wrong| lines.malformed(wrong)));
        if rows.is_log && row.is_err() && !lines.has_end() {
            import.lose(1);
            break;
        }
        let pushed = row.and_then(|row| {
            runs = runs.max(row.access.run - rows.first_run + 1);
            import.push_row(&row, |import| import.file(&row.name, &lines))
        });
        import.forgive(pushed)?;
        number += 1;
        import.tick(&lines);
    }
    import.add_runs(lines.path(), runs);
    Ok(())
}

/// What the columns mean.
struct Found {
    bindings: Vec<Binding>,
    tests: Vec<Test>,
    /// Whether the current line is a row that is not read yet.
    is_row: bool,
}

fn find(
    import: &mut Import<'_>,
    lines: &mut Lines,
    record: &mut Record,
    reading: &Reading<'_>,
) -> Result<Found> {
    let any = lines.advance()?;
    if !reading.header {
        let columns = reading.columns.ok_or_else(|| {
            let message =
                "without a header, --columns must say which column holds what, such as path=#1,size=#2";
            Error::new(ErrorKind::Usage, lines.path(), message)
        })?;
        return found(import, columns.bind(None, lines.path())?, None, (lines.path(), any));
    }
    if !any {
        return Err(Error::new(
            ErrorKind::NotATrace,
            lines.path(),
            "is empty: a trace has at least a header line",
        ));
    }
    record.read(lines, reading.delimiter)?;
    let header: Vec<String> =
        record.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
    if let Some(columns) = reading.columns {
        let mut bindings = columns.bind(Some(&header), lines.path())?;
        let is_here = |name: &str| header.iter().any(|found| found == name);
        for (_, part) in reading.optional.iter().filter(|(name, _)| is_here(name)) {
            bindings.extend(Columns::bind_part(part, &header, lines.path())?);
        }
        return found(import, bindings, Some(&header), (lines.path(), false));
    }
    let (bindings, ignored) =
        bind_header(&header).map_err(|wrong| no_header(lines.path(), &wrong))?;
    for name in ignored {
        if !import.report.ignored_columns.contains(&name) {
            import.report.ignored_columns.push(name);
        }
    }
    found(import, bindings, Some(&header), (lines.path(), false))
}

/// Finds the columns of a table with these names, and how its rows become accesses. Also returns
/// the names of those that a trace has no place for.
pub(super) fn bind_table(
    import: &Import<'_>,
    header: &[String],
    path: &Path,
) -> Result<(Rows, Vec<String>)> {
    let (bindings, ignored) = match &import.options.columns {
        Some(columns) => (columns.bind(Some(header), path)?, Vec::new()),
        None => bind_header(header).map_err(|wrong| no_header(path, &wrong))?,
    };
    let tests = Test::all(&import.options.select.wheres, &bindings, Some(header), path)?;
    let (ops, first_run) = (import.options.ops.clone(), import.report.runs);
    Ok((Rows { first_run, ops, tests, ..Rows::new(bindings) }, ignored))
}

fn found(
    import: &Import<'_>,
    bindings: Vec<Binding>,
    header: Option<&[String]>,
    (path, is_row): (&Path, bool),
) -> Result<Found> {
    let tests = Test::all(&import.options.select.wheres, &bindings, header, path)?;
    Ok(Found { bindings, tests, is_row })
}

fn no_header(path: &Path, wrong: &str) -> Error {
    let message = format!(
        "is not a trace, nor text that can be imported as it is: {wrong}. Known names are {KNOWN_NAMES}; for others \
         use `seekless trace import --columns`"
    );
    Error::new(ErrorKind::NotATrace, path, message)
}

/// What a record says.
pub(super) struct Parsed {
    pub(super) access: Access,
    pub(super) name: String,
    /// How many events were lost before it.
    pub(super) lost: u64,
    /// How often it comes.
    pub(super) count: u64,
    /// What it is, in the singular, if it becomes no row.
    pub(super) left_out: Option<String>,
}

/// How records become accesses.
pub(super) struct Rows {
    bindings: Vec<Binding>,
    /// Rules that each row must pass.
    tests: Vec<Test>,
    ops: Ops,
    /// The name of all rows, where no column has one.
    name: &'static str,
    loads: bool,
    /// Whether each row is an object of which only the name is known.
    units: bool,
    /// Whether a read or write says how many bytes it moves.
    has_bytes: bool,
    is_log: bool,
    first_run: u32,
}

impl Rows {
    /// Rows of a file or table whose runs are the first of the trace.
    pub(super) fn new(mut bindings: Vec<Binding>) -> Self {
        bindings.retain(|binding| !matches!(binding.field, Field::Tenant | Field::Next));
        let has = |field| bindings.iter().any(|binding| binding.field == field);
        let (has_bytes, is_log) = (has(Field::Bytes), has(Field::Lost));
        let is_device = !has(Field::Path);
        let (loads, name) = (!has(Field::Op) && !is_device, if is_device { "disk" } else { "" });
        let (ops, units, first_run) = (Ops::default(), false, 0);
        Self { ops, name, loads, units, has_bytes, is_log, bindings, tests: Vec::new(), first_run }
    }

    /// Rows of records with these fields.
    pub(super) fn of_layout(
        bindings: &[Binding],
        tests: Vec<Test>,
        ops: Ops,
        first_run: u32,
    ) -> Self {
        let sized = |one: &Binding| matches!(one.field, Field::Bytes | Field::FileBytes);
        let rows = Self::new(bindings.to_vec());
        Self { units: rows.loads && !bindings.iter().any(sized), tests, ops, first_run, ..rows }
    }

    /// The columns that are looked at.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> {
        let bound = self.bindings.iter().map(|binding| binding.column);
        bound.chain(self.tests.iter().map(|test| test.column))
    }

    /// The run of the trace that is run 0 of the file.
    pub(super) fn first_run(&self) -> u32 {
        self.first_run
    }

    /// What a record says. The error says what was expected.
    pub(super) fn parse(&self, record: &Record, number: u64) -> Result<Parsed, String> {
        let mut access = Access::new(if self.loads { Op::Load } else { Op::Read }, 0);
        (access.run, access.time_ns) = (self.first_run, number);
        let mut name = self.name.to_owned();
        let (mut bytes, mut lost, mut count) = (None, 0, 1);
        let column = |column: usize| {
            let short = || format!("has {} of at least {} columns", record.len(), column + 1);
            record.get(column).ok_or_else(short)
        };
        for test in &self.tests {
            if !test.accepts(column(test.column)?) {
                return Ok(Parsed { access, name, lost, count, left_out: Some(test.kind()) });
            }
        }
        for binding in &self.bindings {
            let text = match column(binding.column) {
                // Sizes may be missing at the end of a row: a removal has none.
                Err(_) if access.op == Op::Remove && is_of_what_is_kept(binding.field) => continue,
                text => text?,
            };
            match binding.field {
                Field::Path => name = path(text)?,
                Field::Bytes => bytes = sum(bytes, optional(binding, text)?),
                Field::FileBytes => {
                    access.file_bytes = sum(access.file_bytes, optional(binding, text)?);
                }
                Field::Op => match self.ops.meaning(text)? {
                    Meaning::Row(op) => access.op = op,
                    Meaning::LeftOut => {
                        let word = String::from_utf8_lossy(text.trim_ascii()).to_ascii_lowercase();
                        let left_out = Some(format!("row by its operation {word}"));
                        return Ok(Parsed { access, name, lost, count, left_out });
                    }
                },
                Field::Count => {
                    let found = optional(binding, text)?.unwrap_or(1);
                    let few = (found <= COUNT_MAX).then_some(found);
                    count = few.ok_or_else(|| expected(binding, text))?;
                }
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
        if self.units {
            (access.bytes, access.file_bytes) = (1, Some(1));
        }
        Ok(Parsed { access, name, lost, count, left_out: None })
    }
}

/// Whether a field says something of an object that a removal does not keep.
fn is_of_what_is_kept(field: Field) -> bool {
    matches!(field, Field::Bytes | Field::Ttl)
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
        Field::Offset => access.offset = offset(binding, text)?,
        Field::Latency => access.latency_ns = optional(binding, text)?,
        Field::Ttl => access.ttl_ns = optional(binding, text)?.and_then(NonZeroU64::new),
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
        Field::Path | Field::Op | Field::Bytes | Field::FileBytes | Field::Count | Field::Lost => {}
        Field::Tenant | Field::Next => {} // no column of a trace
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

/// The sum of what is known.
fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}

fn expected(binding: &Binding, text: &[u8]) -> String {
    let what = match binding.field {
        Field::Run => "a run's number from 0 to 65535",
        Field::Time => "a time from the run's start",
        Field::Offset => "an offset",
        Field::Latency | Field::Ttl => "a duration",
        Field::Error => "an error number",
        Field::Count => "a number of times, at most 16777216",
        _ => "a whole number from 0",
    };
    format!("has `{}` in column {}, expected {what}", shown(text), binding.column + 1)
}

/// At most 40 bytes of `text`, escaped for a message.
fn shown(text: &[u8]) -> String {
    text[..text.len().min(40)].escape_ascii().to_string()
}
