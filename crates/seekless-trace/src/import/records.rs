//! Imports libCacheSim's binary formats, oracleGeneral and lcs. Each record is a request for an
//! object.

use super::{Format, Import, Options, Progress, Report, any};
use crate::compressed::Input;
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::SECOND_NS;
use crate::objects::News;
use crate::records::Records;
use crate::{Access, Op, RunInfo};
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

pub(super) fn import_file(
    import: &mut Import<'_>,
    path: &Path,
    input: Input,
    format: Format,
) -> Result<()> {
    let mut records = Records::of(input, path, format)?;
    let run = import.report.runs;
    let (mut started, mut now) = (None, 0);
    let mut rows = Vec::new();
    while let Some(piece) = records.next_piece()? {
        if import.objects.len() as usize + piece.len() > OBJECTS_MAX {
            let message = "has more objects than a trace holds; cut it";
            return Err(Error::new(ErrorKind::Limit, path, message));
        }
        let (writer, files) = (&mut import.writer, &mut import.files);
        import.objects.number(piece.records(), |record, object, news| {
            if news == News::New {
                files.push(writer.file(&record.object.to_string()));
            }
            let start = *started.get_or_insert(record.seconds);
            // Times never go back, so that requests stay in the order of the file.
            now = (u64::from(record.seconds.saturating_sub(start)) * SECOND_NS).max(now);
            rows.push(Access {
                run,
                time_ns: now,
                bytes: record.bytes,
                file_bytes: Some(record.bytes),
                ..Access::new(Op::Load, files[object as usize])
            });
        });
        rows.drain(..).try_for_each(|row| import.writer.push(row))?;
        let consumed = records.consumed();
        import.tell(consumed);
    }
    import.add_runs(path, 1);
    let started = u64::from(started.unwrap_or(0)) * SECOND_NS;
    if let Some(info) = import.writer.metadata_mut().runs.last_mut() {
        *info = RunInfo { started_unix_ns: Some(started), ..std::mem::take(info) };
    }
    Ok(())
}

/// Files have numbers below this.
const OBJECTS_MAX: usize = u32::MAX as usize - 1;
