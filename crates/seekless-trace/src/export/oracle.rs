//! Exports libCacheSim's oracleGeneral and lcs: each request with its object, its bytes, and the
//! number of the next request for the object. See `foreign.rs` for the layout of a record.

use super::BUFFER_BYTES;
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::{LCS_HEADER_BYTES, LCS_MAGIC, SECOND_NS, SECTOR_BYTES};
use crate::{Batch, Columns, FileId, Kind, Op, Trace};
use std::collections::HashMap;
use std::io::{BufWriter, Write};

/// The next access of an object that has no later request.
const NEVER: i64 = -1;
/// Progress is reported each time that this many are written.
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
    write(trace, Layout::OracleGeneral, out, progress)
}

/// Which version of lcs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LcsVersion {
    /// Time, object, size and next access.
    One,
    /// Also the operation.
    Two,
    /// Also sizes of 64 bits, and a lifetime, which is 0.
    Three,
}

/// Writes a trace as lcs: a header with sums, then records of the requests that
/// [`oracle_general`] has.
///
/// # Errors
/// As [`oracle_general`]; sizes fit version 3.
pub fn lcs(
    trace: &Trace,
    version: LcsVersion,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    write(trace, Layout::Lcs(version), out, progress)
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    OracleGeneral,
    Lcs(LcsVersion),
}

/// libCacheSim's numbers of operations (`req_op_e` in include/libCacheSim/enum.h).
const OP_READ: u32 = 12;
const OP_WRITE: u32 = 13;
/// Of the sums in a header of lcs.
const SUMS_VERSION: u64 = 1;

struct Record {
    seconds: u32,
    object: u64,
    bytes: u64,
    writes: bool,
    next: i64,
}

impl Layout {
    fn name(self) -> &'static str {
        if self == Layout::OracleGeneral { "oracleGeneral" } else { "lcs" }
    }

    /// Writes a record; false if its size does not fit.
    fn put(self, record: &Record, out: &mut Vec<u8>) -> bool {
        out.clear();
        out.extend(record.seconds.to_le_bytes());
        out.extend(record.object.to_le_bytes());
        let small = u32::try_from(record.bytes);
        match (self, small) {
            (Layout::Lcs(LcsVersion::Three), _) => out.extend(record.bytes.to_le_bytes()),
            (_, Ok(small)) => out.extend(small.to_le_bytes()),
            (_, Err(_)) => return false,
        }
        if let Layout::Lcs(LcsVersion::Two | LcsVersion::Three) = self {
            let op = if record.writes { OP_WRITE } else { OP_READ };
            out.extend(op.to_le_bytes()); // the tenant, in the upper bits, is 0
        }
        if self == Layout::Lcs(LcsVersion::Three) {
            out.extend(0_u32.to_le_bytes()); // no lifetime
        }
        out.extend(record.next.to_le_bytes());
        true
    }
}

fn write(
    trace: &Trace,
    layout: Layout,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let names = Names::of(trace)?;
    let mut objects = Objects { names, ..Objects::default() };
    let rule = Rule::of(trace)?;
    let starts: Vec<u64> =
        trace.metadata().runs.iter().map(|run| run.started_unix_ns.unwrap_or(0)).collect();
    let seconds = |batch: &Batch, row: usize| {
        let start = starts.get(batch.run()[row] as usize).copied().unwrap_or(0);
        start.saturating_add(batch.time_ns()[row]) / SECOND_NS
    };
    let mut sums = Sums::default();
    each(trace, rule, &mut |batch, row| {
        let object = objects.number(batch.file()[row], batch.offset()[row]);
        objects.requests.push(object);
        sums.add(object, seconds(batch, row), batch.bytes()[row], batch.op()[row]);
        Ok(())
    })?;
    let next = next_accesses(&objects.requests);
    let doing = format!("could not be written as {}", layout.name());
    let failed = |error| Error::io(trace.path(), &doing, error);
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, out);
    if let Layout::Lcs(version) = layout {
        out.write_all(&sums.header(version)).map_err(failed)?;
    }
    let (mut position, mut written) = (0, Vec::new());
    each(trace, rule, &mut |batch, row| {
        let time = u32::try_from(seconds(batch, row));
        let record = Record {
            seconds: time.map_err(|_| too_large(trace, position, "time"))?,
            object: objects.names_out[objects.requests[position] as usize],
            bytes: batch.bytes()[row],
            writes: batch.op()[row] == Op::Write,
            next: next[position],
        };
        if !layout.put(&record, &mut written) {
            return Err(too_large(trace, position, "size"));
        }
        position += 1;
        if position.is_multiple_of(PROGRESS_RECORDS) {
            progress(position as u64, trace.rows());
        }
        out.write_all(&written).map_err(failed)
    })?;
    out.flush().map_err(failed)
}

/// What a header of lcs says of its records.
#[derive(Default)]
struct Sums {
    requests: u64,
    bytes: u64,
    start_seconds: u64,
    end_seconds: u64,
    writes: u64,
    /// The largest size of each object.
    objects: Vec<u64>,
}

impl Sums {
    fn add(&mut self, object: u32, seconds: u64, bytes: u64, op: Op) {
        if self.requests == 0 {
            self.start_seconds = seconds;
        }
        self.end_seconds = seconds;
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.writes += u64::from(op == Op::Write);
        let object = object as usize;
        if object == self.objects.len() {
            self.objects.push(0);
        }
        self.objects[object] = self.objects[object].max(bytes);
    }

    fn header(&self, version: LcsVersion) -> Vec<u8> {
        let mut header = LCS_MAGIC.to_vec();
        let object_bytes = self.objects.iter().fold(0_u64, |sum, size| sum.saturating_add(*size));
        let sums = [
            version as u64 + 1,
            SUMS_VERSION,
            self.requests,
            self.objects.len() as u64,
            self.bytes,
            object_bytes,
            self.start_seconds,
            self.end_seconds,
            self.requests - self.writes,
            self.writes,
        ];
        sums.iter().for_each(|sum| header.extend(sum.to_le_bytes()));
        header.resize(LCS_HEADER_BYTES - LCS_MAGIC.len(), 0);
        header.extend(LCS_MAGIC);
        header
    }
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
