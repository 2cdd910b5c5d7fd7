//! Imports other formats: CSV with named columns, lists of ids, Ozen's sector text and
//! libCacheSim's oracleGeneral. Each imported file is one run.

mod csv;
pub(crate) mod fields;
mod ids;
pub(crate) mod number;
pub(crate) mod oracle;
mod ozen;
pub(crate) mod record;

use crate::error::{Error, ErrorKind, Place, Result};
use crate::lines::Lines;
use crate::{FileId, Kind, Metadata, RunInfo, Writer};
use seekless_sys::output::Destination;
use std::path::{Path, PathBuf};

pub use csv::csv;
pub(crate) use csv::open;
pub use fields::{Columns, KNOWN_NAMES};
pub use ids::ids;
pub use oracle::oracle_general;
pub use ozen::ozen;

/// The error for a text that names more files than one of its size can.
pub(crate) fn too_many_names(lines: &Lines) -> Error {
    let message = "the names up to this line take far more memory than the file has bytes; \
                   decompress it and check that it lists files";
    Error::new(ErrorKind::Limit, lines.path(), message).at(Place::Line(lines.number()))
}

/// Imports `files` as the trace `out`; `read` imports one of them.
fn import_each(
    files: &[PathBuf],
    out: Destination,
    kind: Kind,
    options: &Options,
    progress: Progress<'_>,
    read: impl Fn(&mut Import<'_>, &Path) -> Result<()>,
) -> Result<Report> {
    if files.is_empty() {
        return Err(Error::new(
            ErrorKind::Usage,
            out.path(),
            "nothing to import: name at least one file",
        ));
    }
    let writer = Writer::create(out, Metadata::default())?;
    let mut import = Import::new(files, writer, kind, options, progress);
    files.iter().try_for_each(|file| read(&mut import, file))?;
    import.finish()
}

/// How to read text.
#[derive(Clone, Debug)]
pub struct Options {
    /// Skip and count malformed lines instead of ending at the first.
    pub lenient: bool,
    /// Which column holds which field. If it is `None`, the names in the header tell.
    pub columns: Option<Columns>,
    /// The byte between columns.
    pub delimiter: u8,
    /// Whether the first line names the columns.
    pub header: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { lenient: false, columns: None, delimiter: b',', header: true }
    }
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
    /// Columns that the header names and a trace has no place for.
    pub ignored_columns: Vec<String>,
}

/// Is called with the bytes of the files read so far, and their sum.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// What the importers share: the trace being written, the report, and the progress.
struct Import<'a> {
    writer: Writer,
    options: &'a Options,
    report: Report,
    progress: Progress<'a>,
    done: u64,
    total: u64,
    ticks: u32,
    /// The names take more memory than the text justifies: no line can be imported any more.
    full: bool,
}

impl<'a> Import<'a> {
    /// `writer` writes the trace.
    fn new(
        files: &[PathBuf],
        mut writer: Writer,
        kind: Kind,
        options: &'a Options,
        progress: Progress<'a>,
    ) -> Self {
        let total = files
            .iter()
            .filter_map(|file| std::fs::metadata(file).ok())
            .map(|file| file.len())
            .sum();
        writer.metadata_mut().kind = kind;
        Import {
            writer,
            options,
            report: Report::default(),
            progress,
            done: 0,
            total,
            ticks: 0,
            full: false,
        }
    }

    /// Adds `runs` runs, which came from `path`.
    fn add_runs(&mut self, path: &Path, runs: u32) {
        let run = RunInfo { source: path.display().to_string(), ..RunInfo::default() };
        self.writer.metadata_mut().runs.extend(std::iter::repeat_n(run, runs as usize));
        self.report.runs += runs;
        self.done += std::fs::metadata(path).map_or(0, |file| file.len());
    }

    /// The number of a file that the current line of `lines` names.
    fn file(&mut self, name: &str, lines: &Lines) -> Result<FileId> {
        if self.writer.names_are_too_many(self.done + lines.consumed()) {
            self.full = true;
            return Err(too_many_names(lines));
        }
        Ok(self.writer.file(name))
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
                self.report.first_skipped.get_or_insert_with(|| error.to_string());
                Ok(())
            }
            other => other,
        }
    }

    /// Reports progress now and then; `lines` is the current file.
    fn tick(&mut self, lines: &Lines) {
        self.tick_at(|| lines.consumed());
    }

    /// Reports progress now and then; `consumed` returns how many bytes of the current file have
    /// been read.
    fn tick_at(&mut self, consumed: impl FnOnce() -> u64) {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(1 << 13) {
            (self.progress)(self.done + consumed(), self.total);
        }
    }

    /// Puts the trace in its place.
    fn finish(mut self) -> Result<Report> {
        let summary = self.writer.finish()?;
        (self.progress)(self.total, self.total);
        (self.report.rows, self.report.files) = (summary.rows, summary.files);
        Ok(self.report)
    }
}
