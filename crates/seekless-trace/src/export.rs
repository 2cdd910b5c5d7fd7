//! Trace to other formats: CSV with the names that the importer knows, so that a trace survives the way there and back;
//! Ozen's sector text; and libCacheSim's oracleGeneral.

mod oracle;
mod ozen;

use crate::error::{Error, Result};
use crate::import::record::write_field;
use crate::{Access, Columns, Trace, unescape_path};
use seekless_sys::output::{Content, Destination};
use std::io::Write;

pub use oracle::oracle_general;
pub use ozen::{OzenPages, ozen};

/// What a trace can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As [`csv`] writes it.
    Csv,
    /// As [`ozen`] writes it.
    Ozen,
    /// As [`oracle_general`] writes it.
    OracleGeneral,
}

impl Format {
    /// What `out` will hold: text unless the format is binary or the name asks for compression.
    #[must_use]
    pub fn content(self, out: &Destination) -> Content {
        let text = self != Format::OracleGeneral && !is_compressed(out);
        if text { Content::Text } else { Content::Binary }
    }

    /// Writes the rows of `trace`, telling how many of how many are done.
    ///
    /// # Errors
    /// As the function of the same name.
    pub fn write(self, trace: &Trace, out: &mut dyn Write, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        match self {
            Format::Csv => csv(trace, out, progress),
            Format::Ozen => ozen(trace, out, progress),
            Format::OracleGeneral => oracle_general(trace, out, progress),
        }
    }
}

fn is_compressed(out: &Destination) -> bool {
    out.path().extension().is_some_and(|ending| ending == "zst")
}

/// Exports `trace` to `out`, compressed with zstd if its name ends in `.zst`.
///
/// # Errors
/// As [`Format::write`]; or `out` is there and may not be replaced, or cannot be created, synced or put in its place.
pub fn to_file(
    trace: &Trace,
    out: impl Into<Destination>,
    format: Format,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let out = out.into();
    let mut file = out.create(format.content(&out))?;
    if !is_compressed(&out) {
        format.write(trace, &mut file, progress)?;
        return Ok(file.publish()?);
    }
    let failed = |error| Error::io(out.path(), "could not be compressed", error);
    let mut encoder = zstd::Encoder::new(file, 0).map_err(failed)?;
    format.write(trace, &mut encoder, progress)?;
    Ok(encoder.finish().map_err(failed)?.publish()?)
}

/// Text is handed on in pieces of about this size.
const BUFFER_BYTES: usize = 1 << 18;

const HEADER: &str = "run,time_ns,pid,tid,op,path,offset,bytes,latency_ns,error,file_bytes,device,inode\n";

/// Writes all rows of `trace` as CSV: times in nanoseconds, what is unknown empty, paths as the bytes they are.
/// Calls `progress` with rows done and their sum. `out` is given some hundred kilobytes at a time.
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
            if text.len() > BUFFER_BYTES {
                out.write_all(&text).map_err(failed)?;
                text.clear();
            }
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
