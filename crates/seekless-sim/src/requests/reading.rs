//! How traces become requests: the unit, what becomes of sector lines, and what else is kept of the rows.

use super::{Requests, objects, pages};
use crate::unit::Unit;
use crate::{Error, ErrorKind, Result};
use seekless_trace::{ErrorKind as TraceErrorKind, Kind, Loads, Trace};
use std::path::PathBuf;
use std::str::FromStr;

/// What becomes of accesses that ask for the same page one after another, as the sectors of a block trace do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lines {
    /// Merged in block traces, raw in others: eight sector lines are one access of the program, eight calls are eight.
    #[default]
    ByKind,
    /// Back-to-back accesses to one page, all reads or all writes, are one request.
    Merged,
    /// Each is a request. A sector that lay nowhere (offset −1) is page 0, as in Ozen's program.
    Raw,
}

impl Lines {
    pub(super) fn merges(self, kind: Kind) -> bool {
        self == Lines::Merged || (self == Lines::ByKind && kind == Kind::Blocks)
    }
}

impl FromStr for Lines {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word {
            "merged" => Ok(Lines::Merged),
            "raw" => Ok(Lines::Raw),
            _ => Err(Error::new(ErrorKind::Usage, format!("`{word}`: expected merged or raw"))),
        }
    }
}

/// What is read of traces.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// What a request asks for; by default what suits the kind of the first trace ([`Unit::of`]), and pages for traces of files
    /// most of whose reads are inside files.
    pub unit: Option<Unit>,
    /// Of page units: what becomes of sector lines.
    pub lines: Lines,
    /// Whether each file or object weighs 1, whatever its size.
    pub unit_weights: bool,
    /// Whether to keep the time of each request: 8 bytes.
    pub times: bool,
    /// Of page units: whether to keep the names of files, which a post-cache trace needs.
    pub names: bool,
    /// How much memory the requests may take while they are read, in bytes; by default as much as they need.
    pub memory_bytes_max: Option<u64>,
}

impl Reading {
    /// Reads traces (anything that [`open_any`](seekless_trace::open_any) opens) one after another; files are joined by
    /// name. `progress` hears of rows.
    ///
    /// # Errors
    /// A trace cannot be read, has more pages or requests than 2^32, or takes more memory than it may; that error names the row.
    pub fn read(&self, traces: &[PathBuf], progress: &mut dyn FnMut(u64, u64)) -> Result<Requests> {
        let unit = match self.unit {
            Some(unit) => unit,
            None => Unit::of(first_kind(traces)?),
        };
        let requests = match unit {
            Unit::File => {
                let loads = Loads::read_within(traces, self.memory_bytes_max)?;
                // Most of such a trace is not in its loads.
                if self.unit.is_none() && loads.reads_inside > loads.reads / 2 {
                    return Reading { unit: Some(Unit::Page), ..self.clone() }.read(traces, progress);
                }
                Requests::from_loads(&loads)
            }
            Unit::Page => pages::read(traces, self, progress)?,
            Unit::Object => objects::read(traces, self, progress)?,
        };
        Ok(if self.unit_weights { requests.with_unit_weights() } else { requests })
    }
}

fn first_kind(traces: &[PathBuf]) -> Result<Kind> {
    let Some(first) = traces.first() else { return Ok(Kind::Files) };
    match Trace::open(first) {
        Ok(trace) => Ok(trace.metadata().kind),
        Err(error) if error.kind() == TraceErrorKind::NotATrace => Ok(Kind::Files), // text is imported as files
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_trace::{Access, Metadata, Op, Writer};

    /// A run that reads `parts` pieces of 100 bytes of a database of 20 MB, and loads `wholes` small files.
    fn trace(folder: &std::path::Path, parts: u64, wholes: u64) -> PathBuf {
        let path = folder.join("run.parquet");
        let mut writer = Writer::create(&path, Metadata::default()).unwrap();
        let database = writer.file("data.db");
        let open = Access { file_bytes: Some(20_000_000), ..Access::new(Op::Open, database) };
        writer.push(open).unwrap();
        for part in 0..parts {
            let offset = part as i64 * 1_000_000;
            writer
                .push(Access { time_ns: part, offset, bytes: 100, ..Access::new(Op::Read, database) })
                .unwrap();
        }
        for whole in 0..wholes {
            let file = writer.file(&format!("{whole}"));
            let row = Access {
                time_ns: parts + whole,
                bytes: 10,
                file_bytes: Some(10),
                ..Access::new(Op::Read, file)
            };
            writer.push(row).unwrap();
            writer.push(Access { op: Op::Load, ..row }).unwrap();
        }
        writer.finish().unwrap();
        path
    }

    fn read(unit: Option<Unit>, parts: u64, wholes: u64) -> Requests {
        let folder = tempfile::tempdir().unwrap();
        let traces = [trace(folder.path(), parts, wholes)];
        Reading { unit, ..Reading::default() }.read(&traces, &mut |_, _| {}).unwrap()
    }

    #[test]
    fn a_file_read_in_part_weighs_its_size_and_its_reads_are_told() {
        let requests = read(Some(Unit::File), 5, 2);
        assert_eq!((requests.len(), requests.distinct_weight(), requests.reads_inside()), (3, 20_000_020, 5));
    }

    #[test]
    fn pages_are_taken_where_most_reads_are_inside_files() {
        assert_eq!(read(None, 5, 2).unit(), Unit::Page);
        assert_eq!(read(None, 5, 5).unit(), Unit::File, "half of them are not most");
        assert_eq!(read(None, 0, 5).reads_inside(), 0);
    }
}
