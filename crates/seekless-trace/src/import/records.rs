//! Imports libCacheSim's binary formats, oracleGeneral and lcs. Each record is a request for an
//! object.

use super::{Format, Import, NOT_SAMPLED, Options, Progress, Report, any};
use crate::compressed::Input;
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::SECOND_NS;
use crate::objects::{News, Objects};
use crate::records::{Record, Records};
use crate::writer::Loads;
use crate::{Access, Op, RunInfo, Writer};
use seekless_sys::output::Destination;
use std::path::{Path, PathBuf};

/// Imports oracleGeneral traces (plain, gzip, xz, lzma or zstd) as the trace of ids `out`. Each
/// record is a load of its object, which is named by its number and has the size of the record.
/// Each file is one run; its time counts from its first record.
///
/// # Errors
/// A file cannot be read, is damaged, or ends within a record.
pub fn oracle_general(
    files: &[PathBuf],
    out: impl Into<Destination>,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Report> {
    any(files, out, &options.of(Format::OracleGeneral), progress)
}

/// Imports lcs traces of versions 1 to 8, as [`oracle_general`] imports its records. Operations,
/// tenants, lifetimes and features are not kept.
///
/// # Errors
/// As [`oracle_general`]; or a header is damaged, or of another version.
pub fn lcs(
    files: &[PathBuf],
    out: impl Into<Destination>,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Report> {
    any(files, out, &options.of(Format::Lcs), progress)
}

/// How many loads are encoded at a time, while the next are read: batches of the encoder.
const LOADS: usize = 1 << 17;
/// Files have numbers below this.
const OBJECTS_MAX: usize = u32::MAX as usize - 1;

/// The records that were read so far, as long as a trace has nothing else.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    objects: Objects,
    /// The object of each number.
    names: Vec<u64>,
    /// What has not been encoded yet.
    rest: Loads,
}

impl Numbered {
    /// Reads records behind those in `loads` until there are [`LOADS`], or the file ends.
    fn fill(&mut self, loads: &mut Loads, records: &mut Records, times: &mut Times) -> Result<()> {
        while loads.len() < LOADS {
            let path = records.path().to_owned();
            let Some(piece) = records.next_piece()? else { return Ok(()) };
            if self.objects.len() as usize + piece.len() > OBJECTS_MAX {
                let message = "has more objects than a trace holds; cut it";
                return Err(Error::new(ErrorKind::Limit, &path, message));
            }
            self.objects.number(piece.records(), |record, object, news| {
                if news == News::New {
                    self.names.push(record.object);
                }
                loads.runs.push(times.run);
                loads.times.push(times.of(record));
                loads.files.push(object);
                loads.ids.push(record.object);
                loads.bytes.push(record.bytes);
            });
        }
        Ok(())
    }

    /// Encodes what is left.
    pub(super) fn finish(&mut self, writer: &mut Writer) -> Result<()> {
        writer.push_loads(&std::mem::take(&mut self.rest), || ())
    }

    /// Gives the writer all names, so that rows of other formats may follow.
    pub(super) fn name_all(self, writer: &mut Writer) {
        for object in self.names {
            writer.file(itoa::Buffer::new().format(object));
        }
    }
}

/// The time of each record of a file, which counts from its first record.
struct Times {
    run: u32,
    started: Option<u32>,
    now_ns: u64,
}

impl Times {
    /// Times never go back, so that requests stay in the order of the file.
    fn of(&mut self, record: &Record) -> u64 {
        let start = *self.started.get_or_insert(record.seconds);
        let now_ns = u64::from(record.seconds.saturating_sub(start)) * SECOND_NS;
        self.now_ns = now_ns.max(self.now_ns);
        self.now_ns
    }
}

pub(super) fn import_file(
    import: &mut Import<'_>,
    path: &Path,
    input: Input,
    format: Format,
) -> Result<()> {
    let mut records = Records::of(input, path, format, &import.options.select)?;
    let mut times = Times { run: import.report.runs, started: None, now_ns: 0 };
    match &mut import.numbered {
        Some(numbered) => {
            let (mut loads, mut next) = (std::mem::take(&mut numbered.rest), Loads::default());
            numbered.fill(&mut loads, &mut records, &mut times)?;
            while loads.len() >= LOADS {
                import.progress.rows += loads.len() as u64;
                import.progress.tell(records.consumed());
                let read = || numbered.fill(&mut next, &mut records, &mut times);
                import.writer.push_loads(&loads, read)??;
                std::mem::swap(&mut loads, &mut next);
                next.clear();
            }
            numbered.rest = loads;
        }
        None => push_each(import, &mut records, &mut times)?,
    }
    if records.not_sampled() > 0 {
        *import.left_out.entry(NOT_SAMPLED.to_owned()).or_default() += records.not_sampled();
    }
    import.add_runs(path, 1);
    let started = u64::from(times.started.unwrap_or(0)) * SECOND_NS;
    if let Some(info) = import.writer.metadata_mut().runs.last_mut() {
        *info = RunInfo { started_unix_ns: Some(started), ..std::mem::take(info) };
    }
    Ok(())
}

/// Adds the records row by row, behind the rows of another format.
fn push_each(import: &mut Import<'_>, records: &mut Records, times: &mut Times) -> Result<()> {
    while let Some(piece) = records.next_piece()? {
        import.progress.rows += piece.len() as u64;
        for record in piece.records() {
            let file = import.writer.file(itoa::Buffer::new().format(record.object));
            import.writer.push(Access {
                run: times.run,
                time_ns: times.of(&record),
                bytes: record.bytes,
                file_bytes: Some(record.bytes),
                ..Access::new(Op::Load, file)
            })?;
        }
        import.progress.tell(records.consumed());
    }
    Ok(())
}
