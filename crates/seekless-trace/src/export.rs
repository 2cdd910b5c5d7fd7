//! Trace to other formats: CSV with the names that the importer knows, so that a trace survives the way there and back;
//! Ozen's sector text; and libCacheSim's oracleGeneral.

mod oracle;
mod ozen;

use crate::atomic::OutputFile;
use crate::error::{Error, Result};
use crate::import::record::write_field;
use crate::{Access, Columns, Trace, unescape_path};
use std::io::Write;
use std::path::Path;

pub use oracle::oracle_general;
pub(crate) use ozen::POST_CACHE_HEADING;
pub use ozen::{OzenPages, ozen};

/// An exporter: writes rows of a trace, telling how many of how many are done.
pub type Exporter = fn(&Trace, &mut dyn Write, &mut dyn FnMut(u64, u64)) -> Result<()>;

/// Exports `trace` to the file `out`, which appears whole or not at all, compressed with zstd if its name ends in `.zst`.
///
/// # Errors
/// As the exporter; or the file cannot be created, synced or put in its place.
pub fn to_file(
    trace: &Trace,
    out: &Path,
    export: Exporter,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let mut file = OutputFile::create(out)?;
    if out.extension().is_none_or(|ending| ending != "zst") {
        export(trace, &mut file, progress)?;
        return file.finish();
    }
    let failed = |error| Error::io(out, "could not be compressed", error);
    let mut encoder = zstd::Encoder::new(file, 0).map_err(failed)?;
    export(trace, &mut encoder, progress)?;
    encoder.finish().map_err(failed)?.finish()
}

const HEADER: &str = "run,time_ns,pid,tid,op,path,offset,bytes,latency_ns,error,file_bytes,device,inode\n";

/// [`csv`] to a file, as [`to_file`].
///
/// # Errors
/// As [`to_file`].
pub fn csv_file(trace: &Trace, out: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    to_file(trace, out, csv, progress)
}

/// Writes all rows of `trace` as CSV: times in nanoseconds, what is unknown empty, paths as the bytes they are.
/// Calls `progress` with rows done and their sum. `out` is given some thousand rows at a time.
///
/// # Errors
/// The trace cannot be read, or `out` not written.
pub fn csv(trace: &Trace, out: &mut dyn Write, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    let failed = |error| Error::io(trace.path(), "its rows could not be written as CSV", error);
    let names: Vec<Vec<u8>> = trace.file_names()?.iter().map(|name| unescape_path(name)).collect();
    out.write_all(HEADER.as_bytes()).map_err(failed)?;
    let mut text = Vec::new();
    let mut done = 0;
    for batch in trace.scan(Columns::ALL)? {
        let batch = batch?;
        text.clear();
        for access in (0..batch.rows()).filter_map(|row| batch.access(row)) {
            let name = names.get(access.file as usize).map_or(&[][..], Vec::as_slice);
            row(&mut text, &access, name).map_err(failed)?;
        }
        out.write_all(&text).map_err(failed)?;
        done += batch.rows() as u64;
        progress(done, trace.rows());
    }
    Ok(())
}

fn row(text: &mut Vec<u8>, access: &Access, name: &[u8]) -> std::io::Result<()> {
    let Access { run, time_ns, pid, tid, op, offset, bytes, .. } = access;
    write!(text, "{run},{time_ns},{pid},{tid},{op},")?;
    write_field(text, name);
    write!(text, ",{offset},{bytes}")?;
    let unknown = |text: &mut Vec<u8>| text.push(b',');
    match access.latency_ns {
        Some(value) => write!(text, ",{value}")?,
        None => unknown(text),
    }
    match access.error {
        Some(value) => write!(text, ",{value}")?,
        None => unknown(text),
    }
    for value in [access.file_bytes, access.device, access.inode] {
        match value {
            Some(value) => write!(text, ",{value}")?,
            None => unknown(text),
        }
    }
    text.push(b'\n');
    Ok(())
}
