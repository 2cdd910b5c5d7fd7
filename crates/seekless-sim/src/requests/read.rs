//! Reads traces into requests.

use super::reading::Reading;
use super::records::{Reader, Window};
use super::sequence::Requests;
use super::{objects, pages};
use crate::Result;
use crate::made::{self, Made};
use crate::unit::Unit;
use seekless_trace::{ErrorKind as TraceErrorKind, Kind, Loads, Trace, import};
use std::path::PathBuf;

impl Requests {
    /// Reads traces one after another; files are joined by name. A trace is anything that
    /// [`open_any`](seekless_trace::open_any) opens. Calls `progress` with the rows read and those
    /// of the trace. [`Reading::read`] has more options.
    ///
    /// - In file units a request is a load.
    /// - In page units each page of a read, write or fault is a request. A load counts only where
    ///   its run has no such calls for the file. In a block trace consecutive accesses to one page
    ///   are one request.
    /// - In object units each such row is a request.
    ///
    /// # Errors
    /// A trace cannot be read, or has more pages or requests than 2^32.
    pub fn read(
        traces: &[PathBuf],
        unit: Unit,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self> {
        Reading { unit: Some(unit), ..Reading::default() }.read(traces, progress)
    }
}

impl Reading {
    /// Reads traces one after another; files are joined by name. A trace is anything that
    /// [`open_any`](seekless_trace::open_any) opens. Calls `progress` with the rows read and those
    /// of the trace.
    ///
    /// # Errors
    /// A trace cannot be read, has more pages or requests than 2^32, or takes more memory than
    /// allowed. That error names the row.
    pub fn read(&self, traces: &[PathBuf], progress: &mut dyn FnMut(u64, u64)) -> Result<Requests> {
        if let Some(requests) = made::read(traces, self)? {
            return Ok(self.weighed(requests));
        }
        if let Some((unit, mut reader)) = self.reader(traces)? {
            let mut window = Window::default();
            reader.read(&mut window, usize::MAX, progress)?;
            return Ok(self.weighed(Requests::of_window(unit, window)));
        }
        let requests = match self.unit_of(traces)? {
            Unit::File => {
                let loads = Loads::read_with(traces, self.memory_bytes_max, &self.import)?;
                // Its loads contain only a small part of such a trace.
                if self.unit.is_none() && loads.reads_inside > loads.reads / 2 {
                    return Reading { unit: Some(Unit::Page), ..self.clone() }
                        .read(traces, progress);
                }
                Requests::from_loads(&loads)
            }
            Unit::Page => pages::read(traces, self, progress)?,
            Unit::Object => objects::read(traces, self, progress)?,
        };
        Ok(self.weighed(requests))
    }

    /// The unit of the requests, decided by the first trace unless the options give it.
    fn unit_of(&self, traces: &[PathBuf]) -> Result<Unit> {
        match self.unit {
            Some(unit) => Ok(unit),
            None => Ok(Unit::of(self.kind(traces)?)),
        }
    }

    /// The kind of the first trace, by its metadata or its format.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn kind(&self, traces: &[PathBuf]) -> Result<Kind> {
        let Some(first) = traces.first() else { return Ok(Kind::Files) };
        if Made::of(first)?.is_some() {
            return Ok(Kind::Ids);
        }
        let foreign = || Ok(import::kind_of(first, &self.import)?.unwrap_or(Kind::Files));
        if self.import.format.is_some() {
            return foreign();
        }
        match Trace::open(first) {
            Ok(trace) => Ok(trace.metadata().kind),
            Err(error) if error.kind() == TraceErrorKind::NotATrace => foreign(),
            Err(error) => Err(error.into()),
        }
    }

    /// A reader of files of records, and the unit of their requests; `None` if the traces are
    /// others, or are read as pages.
    pub(crate) fn reader(&self, traces: &[PathBuf]) -> Result<Option<(Unit, Reader)>> {
        if self.unit == Some(Unit::Page) || traces.is_empty() || self.lifetimes {
            return Ok(None);
        }
        let unit = self.unit.unwrap_or(Unit::of(Kind::Ids)); // records are requests for ids
        Ok(Reader::open(traces, self)?.map(|reader| (unit, reader)))
    }

    /// The requests, which all weigh 1 if the options say so.
    pub(crate) fn weighed(&self, requests: Requests) -> Requests {
        if self.unit_weights { requests.with_unit_weights() } else { requests }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_trace::{Access, Metadata, Op, Writer};

    /// A run that reads `parts` pieces of 100 bytes of a database of 20 MB, and loads `wholes`
    /// small files.
    fn trace(folder: &std::path::Path, parts: u64, wholes: u64) -> PathBuf {
        let path = folder.join("run.parquet");
        let mut writer = Writer::create(&path, Metadata::default()).unwrap();
        let database = writer.file("data.db");
        let open = Access { file_bytes: Some(20_000_000), ..Access::new(Op::Open, database) };
        writer.push(open).unwrap();
        for part in 0..parts {
            let offset = part as i64 * 1_000_000;
            writer
                .push(Access {
                    time_ns: part,
                    offset,
                    bytes: 100,
                    ..Access::new(Op::Read, database)
                })
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
        assert_eq!(
            (requests.len(), requests.distinct_weight(), requests.reads_inside()),
            (3, 20_000_020, 5)
        );
    }

    #[test]
    fn pages_are_taken_where_most_reads_are_inside_files() {
        assert_eq!(read(None, 5, 2).unit(), Unit::Page);
        assert_eq!(read(None, 5, 5).unit(), Unit::File, "half of them are not most");
        assert_eq!(read(None, 0, 5).reads_inside(), 0);
    }
}
