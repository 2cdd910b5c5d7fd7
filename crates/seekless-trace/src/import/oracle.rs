//! Imports libCacheSim's oracleGeneral: records of 24 bytes, each a request for an object.

use super::{Import, Options, Progress, Report, import_each};
use crate::compressed;
use crate::error::{Error, Place, Result};
use crate::foreign::{ORACLE_RECORD_BYTES, SECOND_NS};
use crate::{Access, Kind, Op, RunInfo};
use seekless_sys::output::Destination;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// One record. Its next access is not kept, since a simulator computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) seconds: u32,
    pub(crate) object: u64,
    pub(crate) bytes: u32,
}

impl Record {
    fn parse(record: &[u8; ORACLE_RECORD_BYTES]) -> Self {
        let [t0, t1, t2, t3, o0, o1, o2, o3, o4, o5, o6, o7, s0, s1, s2, s3, ..] = *record;
        Record {
            seconds: u32::from_le_bytes([t0, t1, t2, t3]),
            object: u64::from_le_bytes([o0, o1, o2, o3, o4, o5, o6, o7]),
            bytes: u32::from_le_bytes([s0, s1, s2, s3]),
        }
    }
}

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
    import_each(files, out.into(), Kind::Ids, options, progress, import_file)
}

fn import_file(import: &mut Import<'_>, path: &Path) -> Result<()> {
    let mut input = compressed::open(path)?;
    let run = import.report.runs;
    let (mut started, mut now, mut number) = (None, 0, 0_u64);
    let mut name = String::new();
    while let Some(record) = next(&mut *input.reader, path, number)? {
        let start = *started.get_or_insert(record.seconds);
        // Times never go back, so that requests stay in the order of the file.
        now = (u64::from(record.seconds.saturating_sub(start)) * SECOND_NS).max(now);
        name.clear();
        name.push_str(&record.object.to_string());
        let file = import.writer.file(&name);
        let bytes = record.bytes.into();
        let load = Access {
            run,
            time_ns: now,
            bytes,
            file_bytes: Some(bytes),
            ..Access::new(Op::Load, file)
        };
        import.writer.push(load)?;
        number += 1;
        import.tick_at(|| input.consumed.load(Ordering::Relaxed));
    }
    import.add_runs(path, 1);
    let started = u64::from(started.unwrap_or(0)) * SECOND_NS;
    if let Some(info) = import.writer.metadata_mut().runs.last_mut() {
        *info = RunInfo { started_unix_ns: Some(started), ..std::mem::take(info) };
    }
    Ok(())
}

/// Reads the next record, after `number` others.
fn next(reader: &mut dyn Read, path: &Path, number: u64) -> Result<Option<Record>> {
    let mut record = [0; ORACLE_RECORD_BYTES];
    let mut filled = 0;
    let place = Place::Byte(number * ORACLE_RECORD_BYTES as u64);
    while filled < ORACLE_RECORD_BYTES {
        match reader.read(&mut record[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => {
                let message = format!(
                    "ends within a record of {ORACLE_RECORD_BYTES} bytes; is it oracleGeneral?"
                );
                return Err(Error::corrupt(path, message).at(place));
            }
            Ok(more) => filled += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(Error::corrupt(path, "could not be read further")
                    .at(place)
                    .because(error));
            }
        }
    }
    Ok(Some(Record::parse(&record)))
}
