//! Trace to text: CSV with the names that the importer knows, so that a trace survives the way there and back.

use crate::atomic::OutputFile;
use crate::error::{Error, Result};
use crate::import::record::write_field;
use crate::{Access, Columns, Trace, unescape_path};
use std::io::Write;
use std::path::Path;

const HEADER: &str = "run,time_ns,pid,tid,op,path,offset,bytes,latency_ns,error,file_bytes,device,inode\n";

/// Writes all rows of `trace` to the file `out`, which appears whole or not at all. Otherwise as [`csv`].
///
/// # Errors
/// As [`csv`]; or the file cannot be created, synced or put in its place.
pub fn csv_file(trace: &Trace, out: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    let mut file = OutputFile::create(out)?;
    csv(trace, &mut file, progress)?;
    file.finish()
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
