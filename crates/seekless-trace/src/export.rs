//! Exports a trace as CSV, as Ozen's sector text, as libCacheSim's oracleGeneral or lcs, as a log
//! of fio, or as events for Perfetto. The CSV has the names that the importer knows, so that it can
//! be imported again without loss.

mod fio;
mod oracle;
mod ozen;
mod perfetto;

use crate::error::{Error, Result};
use crate::{Access, Columns, Trace, unescape_path};
use seekless_sys::output::{Content, Destination};
use std::fmt;
use std::io::{self, BufWriter, Write};

pub use fio::{FioVersion, fio};
pub use oracle::{LcsVersion, lcs, oracle_general};
pub use ozen::{OzenPages, ozen};
pub use perfetto::perfetto;

/// What a trace can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As [`csv`] writes it.
    Csv,
    /// As [`ozen`] writes it.
    Ozen,
    /// As [`oracle_general`] writes it.
    OracleGeneral,
    /// As [`lcs`] writes it.
    Lcs(LcsVersion),
    /// As [`fio`] writes it.
    Fio(FioVersion),
    /// As [`perfetto`] writes it.
    Perfetto,
}

impl Format {
    /// What `out` will hold: text, unless the format is binary or the name ends in `.zst`.
    #[must_use]
    pub fn content(self, out: &Destination) -> Content {
        let binary = matches!(self, Format::OracleGeneral | Format::Lcs(_));
        let text = !binary && !is_compressed(out);
        if text { Content::Text } else { Content::Binary }
    }

    /// Writes the rows of `trace`, reporting how many of how many are done.
    ///
    /// # Errors
    /// As the function of the same name.
    pub fn write(
        self,
        trace: &Trace,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<()> {
        match self {
            Format::Csv => csv(trace, out, progress),
            Format::Ozen => ozen(trace, out, progress),
            Format::OracleGeneral => oracle_general(trace, out, progress),
            Format::Lcs(version) => lcs(trace, version, out, progress),
            Format::Fio(version) => fio(trace, version, out, progress),
            Format::Perfetto => perfetto(trace, out, progress),
        }
    }
}

fn is_compressed(out: &Destination) -> bool {
    out.path().extension().is_some_and(|ending| ending == "zst")
}

/// Exports `trace` to `out`, compressed with zstd if its name ends in `.zst`.
///
/// # Errors
/// As [`Format::write`]; or `out` is there and may not be replaced, or cannot be created, synced or
/// put in its place.
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

/// Output is written in pieces of this size.
const BUFFER_BYTES: usize = 1 << 18;

const HEADER: &str =
    "run,time_ns,pid,tid,op,path,offset,bytes,latency_ns,error,file_bytes,device,inode\n";

/// Writes all rows of `trace` as CSV. Times are in nanoseconds, unknown fields are empty, and paths
/// are the original bytes. Calls `progress` with rows done and their sum. Each write to `out` has
/// some hundred kilobytes.
///
/// # Errors
/// The trace cannot be read, or `out` not written.
pub fn csv(trace: &Trace, out: &mut dyn Write, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    let failed = |error| Error::io(trace.path(), "its rows could not be written as CSV", error);
    let names: Vec<Vec<u8>> = trace.file_names()?.iter().map(|name| unescape_path(name)).collect();
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, out);
    out.write_all(HEADER.as_bytes()).map_err(failed)?;
    let mut done = 0;
    for batch in trace.scan(Columns::ALL)? {
        let batch = batch?;
        for access in (0..batch.rows()).filter_map(|row| batch.access(row)) {
            let name = names.get(access.file as usize).map_or(&[][..], Vec::as_slice);
            row(&mut out, &access, name).map_err(failed)?;
        }
        done += batch.rows() as u64;
        progress(done, trace.rows());
    }
    out.flush().map_err(failed)
}

fn row(out: &mut impl Write, access: &Access, name: &[u8]) -> io::Result<()> {
    let Access { run, time_ns, pid, tid, op, offset, bytes, .. } = access;
    write!(out, "{run},{time_ns},{pid},{tid},{op},")?;
    write_text(out, name)?;
    write!(out, ",{offset},{bytes}")?;
    write_optional(out, access.latency_ns)?;
    write_optional(out, access.error)?;
    for value in [access.file_bytes, access.device, access.inode] {
        write_optional(out, value)?;
    }
    out.write_all(b"\n")
}

/// Writes a field of text, quoted where it must be.
fn write_text(out: &mut impl Write, field: &[u8]) -> io::Result<()> {
    let plain = |byte: &u8| !matches!(byte, b',' | b'"' | b'\n' | b'\r');
    // Spaces at the ends are part of a name; a reader that trims must see that.
    if field.iter().all(plain) && field.trim_ascii().len() == field.len() {
        return out.write_all(field);
    }
    out.write_all(b"\"")?;
    for piece in field.split_inclusive(|byte| *byte == b'"') {
        out.write_all(piece)?;
        if piece.ends_with(b"\"") {
            out.write_all(b"\"")?; // a quote is written twice
        }
    }
    out.write_all(b"\"")
}

/// Writes the comma before a field, and its value if it is known.
fn write_optional(out: &mut impl Write, value: Option<impl fmt::Display>) -> io::Result<()> {
    match value {
        Some(value) => write!(out, ",{value}"),
        None => out.write_all(b","),
    }
}
