//! Imports other formats: CSV with named columns, lists of ids, Ozen's sector text, libCacheSim's
//! oracleGeneral and lcs, the text of strace, darshan and blkparse, fio's logs, blktrace's files,
//! and block traces that were published. Each imported file is one run, but for blktrace's.

mod accesses;
mod alibaba;
mod arc;
mod binary;
mod blkparse;
mod blktrace;
mod csv;
mod dxt;
pub(crate) mod fields;
mod fio;
mod fiu;
mod format;
mod ids;
mod layout;
mod lrb;
mod msr;
pub(crate) mod number;
mod ops;
mod options;
mod ozen;
mod parquet;
pub(crate) mod record;
mod records;
mod select;
mod spc;
mod strace;
mod systor;
mod table;
mod tencent;
mod tencent_photo;
mod vscsi;
mod wiki;

use crate::compressed::{Input, estimated_rows};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::lines::Lines;
use crate::{Access, FileId, Kind, Metadata, RunInfo, Trace, Writer, compressed};
use accesses::import_lines;
use records::Numbered;
use seekless_sys::objects;
use seekless_sys::output::Destination;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

pub use csv::csv;
pub use fields::{Columns, KNOWN_NAMES};
pub use format::Format;
pub(crate) use format::HEAD_BYTES;
pub use ids::ids;
pub use layout::Layout;
pub use ops::Ops;
pub use options::{LeftOut, MALFORMED, Options, REMOVAL};
pub use ozen::ozen;
pub use records::{lcs, oracle_general};
pub use select::{Chosen, NOT_SAMPLED, Sample, Select, Where};
pub use table::{Table, table};

/// The error for a text that names more files than one of its size can.
pub(crate) fn too_many_names(lines: &Lines) -> Error {
    let message = "the names up to this line take far more memory than the file has bytes; \
                   decompress it and check that it lists files";
    Error::new(ErrorKind::Limit, lines.path(), message).at(Place::Line(lines.number()))
}

/// Imports files (plain, gzip, xz, lzma or zstd) as the trace `out`. If `options` name no format,
/// each file's content and name decide. All must be of one [`Kind`]. Each file is one run, in the
/// order given.
///
/// # Errors
/// As the function that is named as the format.
pub fn any(
    files: &[PathBuf],
    out: impl Into<Destination>,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Report> {
    let out = out.into();
    if files.is_empty() {
        return Err(Error::new(
            ErrorKind::Usage,
            out.path(),
            "nothing to import: name at least one file",
        ));
    }
    let writer = Writer::create_with(out, Metadata::default(), options.more_columns())?;
    let mut import = Import::new(files, writer, options, progress);
    for (at, file) in files.iter().enumerate() {
        import.next = files.get(at + 1).cloned();
        import.read(file)?;
    }
    import.finish()
}

/// Opens a file of another format as a trace in a temporary file.
pub(crate) fn open(path: &Path, options: &Options) -> Result<Trace> {
    let read = |import: &mut Import<'_>| import.read(path);
    imported(path, options, read)
}

/// As [`open`], of a file that has been opened and not read.
pub(crate) fn open_input(path: &Path, input: Input, options: &Options) -> Result<Trace> {
    imported(path, options, |import| import.read_input(path, input))
}

fn imported(
    path: &Path,
    options: &Options,
    read: impl FnOnce(&mut Import<'_>) -> Result<()>,
) -> Result<Trace> {
    let (files, mut silent) = ([path.to_owned()], |_, _| {});
    let mut import =
        Import::new(&files, Writer::unplaced(path, options.more_columns())?, options, &mut silent);
    read(&mut import)?;
    import.end_numbered()?;
    import.writer.into_trace()
}

/// The kind of trace that a file of another format holds. Of a pipe only the format that `options`
/// name is known, since what is read of it cannot be read again.
///
/// # Errors
/// The file cannot be read.
pub fn kind_of(path: &Path, options: &Options) -> Result<Option<Kind>> {
    match options.format {
        Some(format) => Ok(Some(options.kind(format))),
        None if is_parquet(path) => Ok(Some(Format::Csv.kind())),
        None if !is_file(path) => Ok(None),
        None => Ok(Some(Format::detect(path, &mut compressed::open(path)?)?.kind())),
    }
}

/// Whether the file begins as Parquet files do.
fn is_parquet(path: &Path) -> bool {
    let mut start = [0; 4];
    is_file(path)
        && objects::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == *b"PAR1"
}

/// Whether it can be read again. An object can.
pub(crate) fn is_file(path: &Path) -> bool {
    objects::metadata(path).is_ok_and(|found| found.is_file())
}

/// What was imported.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    /// Rows of the trace.
    pub rows: u64,
    /// Runs of the trace.
    pub runs: u32,
    /// Distinct files of the trace.
    pub files: u64,
    /// Malformed lines that were skipped.
    pub skipped: u64,
    /// The message of the first of them.
    pub first_skipped: Option<String>,
    /// Lines and records that became no rows, by kind, malformed lines among them.
    pub left_out: BTreeMap<String, u64>,
    /// Columns that the header names and a trace has no place for.
    pub ignored_columns: Vec<String>,
}

/// Is called with the rows read so far, and those of all files, estimated from their bytes.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// What the importers share: the trace being written, the report, and the progress.
struct Import<'a> {
    /// All files; some may be parts of one run.
    files: &'a [PathBuf],
    /// The file that follows the current one.
    next: Option<PathBuf>,
    /// Files of blktrace that are one run; more of them follow.
    group: Option<blktrace::Group>,
    writer: Writer,
    options: &'a Options,
    report: Report,
    /// What was left out of the runs that are not added yet, by kind.
    left_out: BTreeMap<String, u64>,
    progress: Advance<'a>,
    /// How many rows of the current file may still be read, if there is a limit.
    rows_left: Option<u64>,
    /// The names take more memory than the text justifies: no line can be imported any more.
    full: bool,
    /// The records of all files; `None` once there are rows of other formats.
    numbered: Option<Numbered>,
}

/// Reports how far the import has come.
struct Advance<'a> {
    progress: Progress<'a>,
    /// Bytes of the files before the current one, and of all.
    done: u64,
    total: u64,
    /// Rows of all files so far, or lines of text.
    rows: u64,
}

impl Advance<'_> {
    /// `consumed` bytes of the current file have been read.
    fn tell(&mut self, consumed: u64) {
        (self.progress)(self.rows, estimated_rows(self.rows, self.done + consumed, self.total));
    }
}

impl<'a> Import<'a> {
    /// `writer` writes the trace.
    fn new(
        files: &'a [PathBuf],
        writer: Writer,
        options: &'a Options,
        progress: Progress<'a>,
    ) -> Self {
        let total = files
            .iter()
            .filter_map(|file| objects::metadata(file).ok())
            .map(|file| file.len())
            .sum();
        Import {
            files,
            next: None,
            group: None,
            writer,
            options,
            report: Report::default(),
            left_out: BTreeMap::new(),
            progress: Advance { progress, done: 0, total, rows: 0 },
            rows_left: None,
            full: false,
            numbered: Some(Numbered::default()),
        }
    }

    /// Imports one file.
    fn read(&mut self, path: &Path) -> Result<()> {
        if let Some(table) = self.table(path)? {
            return self.read_table(&table);
        }
        self.read_input(path, compressed::open_until(path, &self.options.cancel)?)
    }

    fn read_input(&mut self, path: &Path, mut input: Input) -> Result<()> {
        let format = match self.options.format {
            Some(format) => format,
            None => Format::detect(path, &mut input)?,
        };
        self.set_kind(self.options.kind(format), path)?;
        self.rows_left = self.options.select.limit;
        self.options.select.check(format, self.options.kind(format), path)?;
        if !format.is_records() {
            self.end_numbered()?;
            self.name_numbered();
        }
        let lines = |input| Lines::of(input, path);
        match format {
            Format::Csv => csv::import_file(self, lines(input)),
            Format::Ids => ids::import_file(self, lines(input)),
            Format::Ozen => ozen::import_file(self, lines(input)),
            Format::OracleGeneral | Format::Lcs => records::import_file(self, path, input, format),
            Format::Strace => strace::import_file(self, lines(input)),
            Format::Fio => fio::import_file(self, lines(input)),
            Format::Blkparse => blkparse::import_file(self, lines(input)),
            Format::Blktrace => blktrace::import_file(self, input, path),
            Format::Vscsi => vscsi::import_file(self, input, path),
            Format::Dxt => dxt::import_file(self, lines(input)),
            Format::Msr => import_lines(self, lines(input), &msr::FORM),
            Format::Alibaba => import_lines(self, lines(input), &alibaba::FORM),
            Format::Tencent => import_lines(self, lines(input), &tencent::FORM),
            Format::Spc => import_lines(self, lines(input), &spc::FORM),
            Format::Systor => import_lines(self, lines(input), &systor::FORM),
            Format::FiuBlocks => import_lines(self, lines(input), &fiu::BLOCKS),
            Format::FiuFiles => import_lines(self, lines(input), &fiu::FILES),
            Format::Arc => import_lines(self, lines(input), &arc::FORM),
            Format::Lrb => import_lines(self, lines(input), &lrb::FORM),
            Format::Binary => layout::import_file(self, input, path),
            Format::Wiki => import_lines(self, lines(input), &wiki::FORM),
            Format::TencentPhoto => import_lines(self, lines(input), &tencent_photo::FORM),
            Format::Twitter
            | Format::CacheLib
            | Format::MetaCdn
            | Format::MetaStorage
            | Format::IbmObjectStore => csv::import_preset(self, lines(input), format),
        }
    }

    /// A Parquet file, which is a table if columns are looked for in it.
    fn table(&self, path: &Path) -> Result<Option<Trace>> {
        match self.options.format {
            None | Some(Format::Csv) if is_parquet(path) => Trace::open_table(path).map(Some),
            _ => Ok(None),
        }
    }

    fn read_table(&mut self, table: &Trace) -> Result<()> {
        let path = table.path();
        self.set_kind(self.options.kind(Format::Csv), path)?;
        self.rows_left = self.options.select.limit;
        self.options.select.check(Format::Csv, self.options.kind(Format::Csv), path)?;
        self.end_numbered()?;
        self.name_numbered();
        parquet::import_file(self, table)
    }

    /// Writes the records that were read and not yet written.
    fn end_numbered(&mut self) -> Result<()> {
        match &mut self.numbered {
            Some(numbered) => numbered.finish(&mut self.writer),
            None => Ok(()),
        }
    }

    /// Rows of another format follow; from now on records are rows like others.
    fn name_numbered(&mut self) {
        if let Some(numbered) = self.numbered.take() {
            numbered.name_all(&mut self.writer);
        }
    }

    /// The first file decides the kind of the trace.
    fn set_kind(&mut self, kind: Kind, path: &Path) -> Result<()> {
        let known = &mut self.writer.metadata_mut().kind;
        if self.report.runs > 0 && *known != kind {
            let message = "holds another kind of trace than the files before it: import it apart";
            return Err(Error::new(ErrorKind::Usage, path, message));
        }
        *known = kind;
        Ok(())
    }

    /// Adds `runs` runs, which came from `path`.
    fn add_runs(&mut self, path: &Path, runs: u32) {
        let run = RunInfo { source: path.display().to_string(), ..RunInfo::default() };
        self.writer.metadata_mut().runs.extend(std::iter::repeat_n(run, runs as usize));
        self.report.runs += runs;
        self.options.left_out.add(&self.left_out);
        for (kind, count) in &self.left_out {
            *self.report.left_out.entry(kind.clone()).or_default() += count;
        }
        if let Some(last) = self.writer.metadata_mut().runs.last_mut() {
            last.not_imported = std::mem::take(&mut self.left_out);
        }
        self.progress.done += objects::metadata(path).map_or(0, |file| file.len());
    }

    /// The number of a file that the current line of `lines` names.
    fn file(&mut self, name: &str, lines: &Lines) -> Result<FileId> {
        if self.writer.names_are_too_many(self.progress.done + lines.consumed()) {
            self.full = true;
            return Err(too_many_names(lines));
        }
        Ok(self.writer.file(name))
    }

    /// A line or record becomes no row. `kind` says what it is, in the singular.
    fn leave_out(&mut self, kind: &str) {
        match self.left_out.get_mut(kind) {
            Some(count) => *count += 1,
            None => _ = self.left_out.insert(kind.to_owned(), 1),
        }
    }

    /// Events that the recording did not keep.
    fn lose(&mut self, events: u64) {
        let lost = &mut self.writer.metadata_mut().lost;
        *lost = lost.saturating_add(events);
    }

    /// Returns the error of a malformed line, or counts the line if the import is lenient.
    fn forgive(&mut self, result: Result<()>) -> Result<()> {
        match result {
            Err(error)
                if self.options.lenient
                    && !self.full
                    && matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Limit) =>
            {
                self.report.skipped += 1;
                self.leave_out(MALFORMED);
                self.report.first_skipped.get_or_insert_with(|| error.to_string());
                Ok(())
            }
            other => other,
        }
    }

    /// Reports progress now and then; `lines` is the current file.
    fn tick(&mut self, lines: &Lines) {
        self.tick_at(lines.consumed());
    }

    /// The same, with the bytes of the current file that have been read.
    fn tick_at(&mut self, consumed: u64) {
        self.progress.rows += 1;
        if self.progress.rows.is_multiple_of(1 << 13) {
            self.progress.tell(consumed);
        }
    }

    /// Whether as many rows of the current file have been read as there may be.
    fn at_limit(&self) -> bool {
        self.rows_left == Some(0)
    }

    /// Takes `count` equal rows of the object `name`, or fewer at the limit. Returns how many are
    /// used.
    fn take(&mut self, name: &str, count: u64) -> u64 {
        let mut count = count;
        if let Some(left) = &mut self.rows_left {
            count = count.min(*left);
            *left -= count;
        }
        if self.options.select.sample.is_none_or(|sample| sample.keeps(name)) {
            return count;
        }
        for _ in 0..count {
            self.leave_out(NOT_SAMPLED);
        }
        0
    }

    /// Adds what a record says; `file` numbers the file that it names.
    fn push_row(
        &mut self,
        row: &csv::Parsed,
        file: impl FnOnce(&mut Self) -> Result<FileId>,
    ) -> Result<()> {
        self.lose(row.lost);
        if let Some(kind) = &row.left_out {
            self.leave_out(kind);
            return Ok(());
        }
        let count = self.take(&row.name, row.count);
        if count == 0 {
            return Ok(());
        }
        let file = file(self)?;
        (0..count).try_for_each(|_| self.writer.push(Access { file, ..row.access }))
    }

    /// Puts the trace in its place.
    fn finish(mut self) -> Result<Report> {
        self.end_numbered()?;
        let summary = self.writer.finish()?;
        (self.progress.progress)(summary.rows, summary.rows);
        (self.report.rows, self.report.files) = (summary.rows, summary.files);
        Ok(self.report)
    }
}
