//! Exports libCacheSim's oracleGeneral: each request with its object, its bytes, and the number of
//! the next request for the object. See `foreign.rs` for the layout of a record.

use super::BUFFER_BYTES;
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::{ORACLE_RECORD_BYTES, SECOND_NS, SECTOR_BYTES};
use crate::{Batch, Columns, FileId, Kind, Op, Trace};
use std::collections::HashMap;
use std::io::{BufWriter, Write};

/// The next access of an object that has no later request.
const NEVER: i64 = -1;
/// Progress is told each time that so many are written.
const PROGRESS_RECORDS: usize = 1 << 11;

/// Writes a trace as oracleGeneral. The requests are the loads of a trace of ids or of files;
/// without loads, and in a block trace, they are the reads, writes and faults. An object is a file
/// and an offset in it. Its number is the file's name if all names are numbers, and the sector in a
/// trace of one device. Otherwise objects are numbered by first appearance. Time is in seconds,
/// since 1970 if the start of the run is known. It takes 12 bytes of memory a request, and reads
/// the rows twice. Calls `progress` with rows done and their sum.
///
/// # Errors
/// The trace cannot be read; a size or time does not fit 32 bits; or `out` cannot be written.
pub fn oracle_general(
    trace: &Trace,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let names = Names::of(trace)?;
    let mut objects = Objects { names, ..Objects::default() };
    let rule = Rule::of(trace)?;
    each(trace, rule, &mut |batch, row| {
        let object = objects.number(batch.file()[row], batch.offset()[row]);
        objects.requests.push(object);
        Ok(())
    })?;
    let next = next_accesses(&objects.requests);
    let failed = |error| Error::io(trace.path(), "could not be written as oracleGeneral", error);
    let starts: Vec<u64> =
        trace.metadata().runs.iter().map(|run| run.started_unix_ns.unwrap_or(0)).collect();
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, out);
    let mut position = 0;
    each(trace, rule, &mut |batch, row| {
        let start = starts.get(batch.run()[row] as usize).copied().unwrap_or(0);
        let seconds = start.saturating_add(batch.time_ns()[row]) / SECOND_NS;
        let bytes = batch.bytes()[row];
        let object = objects.names_out[objects.requests[position] as usize];
        let small = |value: u64, what: &str| {
            u32::try_from(value).map_err(|_| too_large(trace, position, what))
        };
        let mut record = [0; ORACLE_RECORD_BYTES];
        record[..4].copy_from_slice(&small(seconds, "time")?.to_le_bytes());
        record[4..12].copy_from_slice(&object.to_le_bytes());
        record[12..16].copy_from_slice(&small(bytes, "size")?.to_le_bytes());
        record[16..].copy_from_slice(&next[position].to_le_bytes());
        position += 1;
        if position.is_multiple_of(PROGRESS_RECORDS) {
            progress(position as u64, trace.rows());
        }
        out.write_all(&record).map_err(failed)
    })?;
    out.flush().map_err(failed)
}

fn too_large(trace: &Trace, position: usize, what: &str) -> Error {
    let message = format!("request {} has a {what} that does not fit 32 bits", position + 1);
    Error::new(ErrorKind::Limit, trace.path(), message)
}

/// For each request the 1-based number of the next one for the same object.
fn next_accesses(requests: &[u32]) -> Vec<i64> {
    let mut later = vec![NEVER; requests.iter().max().map_or(0, |&object| object as usize + 1)];
    let mut next = vec![NEVER; requests.len()];
    for (position, &object) in requests.iter().enumerate().rev() {
        next[position] = std::mem::replace(&mut later[object as usize], position as i64 + 1);
    }
    next
}

/// Which rows count as requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Loads,
    Calls,
}

impl Rule {
    fn of(trace: &Trace) -> Result<Self> {
        if trace.metadata().kind == Kind::Blocks {
            return Ok(Rule::Calls);
        }
        for batch in trace.scan(Columns::OP)? {
            if batch?.op().contains(&Op::Load) {
                return Ok(Rule::Loads);
            }
        }
        Ok(Rule::Calls)
    }

    fn admits(self, batch: &Batch, row: usize) -> bool {
        let op = batch.op()[row];
        let right = match self {
            Rule::Loads => op == Op::Load,
            Rule::Calls => matches!(op, Op::Read | Op::Write | Op::Fault) && batch.bytes()[row] > 0,
        };
        right && batch.error().get(row).is_none()
    }
}

fn each(
    trace: &Trace,
    rule: Rule,
    visit: &mut dyn FnMut(&Batch, usize) -> Result<()>,
) -> Result<()> {
    let columns = Columns::RUN | Columns::TIME_NS | Columns::OP | Columns::FILE | Columns::OFFSET;
    for batch in trace.scan(columns | Columns::BYTES | Columns::ERROR)? {
        let batch = batch?;
        (0..batch.rows())
            .filter(|&row| rule.admits(&batch, row))
            .try_for_each(|row| visit(&batch, row))?;
    }
    Ok(())
}

/// How objects are numbered.
#[derive(Default)]
enum Names {
    /// By the names of files, which are numbers.
    Numbers(Vec<u64>),
    /// By the sector of the only device.
    Sectors,
    /// By first appearance.
    #[default]
    Appearance,
}

impl Names {
    fn of(trace: &Trace) -> Result<Self> {
        let names = trace.file_names()?;
        if trace.metadata().kind == Kind::Blocks && names.len() <= 1 {
            return Ok(Names::Sectors);
        }
        let numbers: Option<Vec<u64>> = names.iter().map(|name| number(name)).collect();
        Ok(match numbers {
            Some(numbers) if trace.metadata().kind == Kind::Ids => Names::Numbers(numbers),
            _ => Names::Appearance,
        })
    }
}

/// The number that a name spells: `7`, but not `07`, which would be the same object.
fn number(name: &str) -> Option<u64> {
    name.parse().ok().filter(|number: &u64| number.to_string() == name)
}

#[derive(Default)]
struct Objects {
    names: Names,
    dense: HashMap<(FileId, i64), u32>,
    names_out: Vec<u64>,
    requests: Vec<u32>,
}

impl Objects {
    fn number(&mut self, file: FileId, offset: i64) -> u32 {
        let next = self.names_out.len() as u32;
        let object = *self.dense.entry((file, offset)).or_insert(next);
        if object == next {
            self.names_out.push(match &self.names {
                Names::Numbers(numbers) => numbers[file as usize],
                Names::Sectors => (offset / SECTOR_BYTES).cast_unsigned(),
                Names::Appearance => next.into(),
            });
        }
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_accesses_count_from_1() {
        assert_eq!(next_accesses(&[0, 1, 0, 0]), [3, NEVER, 4, NEVER]);
    }

    #[test]
    fn only_plain_numbers_are_numbers() {
        assert_eq!(
            (number("70"), number("07"), number("+7"), number("x")),
            (Some(70), None, None, None)
        );
    }
}
