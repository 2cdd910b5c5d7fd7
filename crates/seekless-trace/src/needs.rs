//! What a run needs of its files: each range once, in the order of first need. What brings a
//! program's files into the page cache before it starts works on this.

use crate::error::{Error, ErrorKind, Result, interrupted};
use crate::names::Names;
use crate::writer::RUNS_MAX;
use crate::{Batch, Columns, FileId, Op, PageSet, Trace, import, open_with};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

const PAGE_BYTES: u64 = 4096;

/// A range of a file that a run read or touched for the first time, except perhaps some pages in
/// its middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Need {
    /// Which file; an index into [`Needs::names`].
    pub file: FileId,
    /// The first byte, a multiple of 4096.
    pub offset: u64,
    /// Up to the end of the last page, or of the file where the trace knows it.
    pub bytes: u64,
    /// When it was first needed, in nanoseconds from the run's start.
    pub time_ns: u64,
    /// Whether it was touched through a mapping, rather than read by a call.
    pub mapped: bool,
}

/// The needs of one or more traces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The path of each file, escaped as a trace's are.
    pub names: Vec<String>,
    /// The size of each file as the newest run saw it, where one did.
    pub file_bytes: Vec<Option<u64>>,
    /// The needs of each run, by time; the last run is the newest.
    pub runs: Vec<Vec<Need>>,
}

impl Needs {
    /// Reads the needs of several traces (anything that [`open_any`](crate::open_any) opens): files
    /// are joined by name, runs appended in the order given. Successful `read` and `fault` rows
    /// count, and `load` rows of files for which the run has no such rows.
    ///
    /// # Errors
    /// A trace cannot be opened or read.
    pub fn read(paths: &[PathBuf]) -> Result<Self> {
        Self::read_with(paths, &import::Options::default())
    }

    /// As [`Needs::read`]; `options` say how files of other formats are read, and when to stop.
    ///
    /// # Errors
    /// As [`Needs::read`], or the caller asked to stop.
    pub fn read_with(paths: &[PathBuf], options: &import::Options) -> Result<Self> {
        Self::of_all(paths.iter().map(|path| open_with(path, options)), &options.cancel)
    }

    /// The needs of one trace.
    ///
    /// # Errors
    /// As [`Needs::read`].
    pub fn of(trace: &Trace) -> Result<Self> {
        let mut joined = Joined::default();
        joined.append(trace, &AtomicBool::new(false))?;
        Ok(joined.finish())
    }

    /// As [`Needs::read`], of traces that are opened one after another. It stops when `cancel` is
    /// set.
    ///
    /// # Errors
    /// As [`Needs::read_with`], or the first error among the traces.
    pub fn of_all(
        traces: impl IntoIterator<Item = Result<Trace>>,
        cancel: &AtomicBool,
    ) -> Result<Self> {
        let mut joined = Joined::default();
        for trace in traces {
            joined.append(&trace?, cancel)?;
        }
        Ok(joined.finish())
    }
}

/// The needs of the traces that have been read, and the names of their files.
#[derive(Default)]
struct Joined {
    needs: Needs,
    names: Names,
}

impl Joined {
    fn finish(self) -> Needs {
        Needs { names: self.names.into_vec(), ..self.needs }
    }

    fn append(&mut self, trace: &Trace, cancel: &AtomicBool) -> Result<()> {
        let Self { needs, names } = self;
        let joined: Vec<FileId> =
            trace.file_names()?.iter().map(|name| names.intern(name).0).collect();
        needs.file_bytes.resize(names.len(), None);
        let mut run = Run::default();
        let columns = Columns::RUN
            | Columns::TIME_NS
            | Columns::OP
            | Columns::FILE
            | Columns::OFFSET
            | Columns::BYTES
            | Columns::ERROR
            | Columns::FILE_BYTES;
        let first = needs.runs.len();
        for batch in trace.scan(columns)? {
            let batch = batch?;
            if cancel.load(Ordering::Relaxed) {
                return Err(interrupted(trace.path()));
            }
            for row in 0..batch.rows() {
                let (file, number) = (joined[batch.file()[row] as usize], batch.run()[row]);
                let behind = first + number as usize;
                if behind < needs.runs.len() || number >= RUNS_MAX {
                    let message =
                        "is not sorted by run, or has too many; `seekless trace merge` sorts it";
                    return Err(Error::new(ErrorKind::Schema, trace.path(), message));
                }
                while needs.runs.len() < behind {
                    needs.runs.push(std::mem::take(&mut run).finish());
                }
                if let Some(bytes) = batch.file_bytes().get(row) {
                    needs.file_bytes[file as usize] = Some(bytes);
                }
                run.add(file, needs.file_bytes[file as usize], &batch, row);
            }
        }
        let runs = first + trace.metadata().runs.len().max(1);
        needs.runs.push(run.finish());
        needs.runs.resize_with(runs.max(needs.runs.len()), Vec::new);
        Ok(())
    }
}

/// The needs of the run that is being read.
#[derive(Default)]
struct Run {
    needs: Vec<Need>,
    /// Files loaded whole, in case there are no other rows for them.
    loads: Vec<Need>,
    pages: PageSet,
}

impl Run {
    fn add(&mut self, file: FileId, size: Option<u64>, batch: &Batch, row: usize) {
        let (op, bytes) = (batch.op()[row], batch.bytes()[row]);
        let offset = u64::try_from(batch.offset()[row]).unwrap_or(0);
        if batch.error().get(row).is_some() || bytes == 0 {
            return;
        }
        let mapped = op == Op::Fault;
        let need = Need { file, offset, bytes, time_ns: batch.time_ns()[row], mapped };
        match op {
            Op::Read | Op::Fault => self.needs.extend(self.pages.first_need(need, size)),
            Op::Load => self.loads.push(need),
            _ => {}
        }
    }

    fn finish(mut self) -> Vec<Need> {
        for load in std::mem::take(&mut self.loads) {
            if !self.pages.has_file(load.file) {
                self.needs.extend(self.pages.first_need(load, Some(load.bytes)));
            }
        }
        self.needs.sort_by_key(|need| need.time_ns);
        self.needs
    }
}

impl PageSet {
    /// The part of a need from its first to its last page that are new, and adds them.
    fn first_need(&mut self, need: Need, size: Option<u64>) -> Option<Need> {
        let end = need.offset.saturating_add(need.bytes);
        let (first, last) =
            self.add(need.file, need.offset / PAGE_BYTES..end.div_ceil(PAGE_BYTES))?;
        // A row may claim to reach the last byte that there can be.
        let (offset, end) = (first * PAGE_BYTES, (last + 1).saturating_mul(PAGE_BYTES));
        let end = size.filter(|&size| size > offset).map_or(end, |size| size.min(end));
        Some(Need { offset, bytes: end - offset, ..need })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Metadata, Writer};

    fn needs(rows: &[(u32, Op, FileId, i64, u64)]) -> Needs {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.parquet");
        let mut writer = Writer::create(&path, Metadata::default()).unwrap();
        for name in ["/a", "/b", "/c"] {
            writer.file(name);
        }
        for (time_ns, &(run, op, file, offset, bytes)) in (0..).zip(rows) {
            let file_bytes = (file == 1).then_some(10_000);
            let access =
                Access { run, time_ns, offset, bytes, file_bytes, ..Access::new(op, file) };
            writer.push(access).unwrap();
        }
        writer.finish().unwrap();
        Needs::read(&[path.clone(), path]).unwrap()
    }

    #[test]
    fn each_page_is_needed_once_a_run_in_the_order_of_first_need() {
        let found = needs(&[
            (0, Op::Fault, 1, 4096, 65_536), // to the file's end
            (0, Op::Read, 0, 5_000, 10),
            (0, Op::Read, 0, 5_100, 10),
            (0, Op::Read, 0, 0, 20_000),
            (0, Op::Map, 2, 0, 100_000), // not touched
            (1, Op::Read, 0, 5_000, 10),
        ]);
        let need =
            |file, offset, bytes, time_ns| Need { file, offset, bytes, time_ns, mapped: file == 0 };
        let runs = [
            vec![need(0, 4096, 5_904, 0), need(1, 4096, 4096, 1), need(1, 0, 20_480, 3)],
            vec![need(1, 4096, 4096, 5)],
        ];
        assert_eq!(found.runs, [runs.clone(), runs].concat());
        assert_eq!(found.file_bytes, [Some(10_000), None, None]);
        assert_eq!(found.names, ["/b", "/a", "/c"], "by first appearance");
    }

    /// Such a row once took all memory, and the sums of two ran over.
    #[test]
    fn a_row_may_claim_more_than_any_file_has() {
        let found = needs(&[
            (0, Op::Read, 0, i64::MAX, u64::MAX),
            (0, Op::Read, 0, 0, i64::MAX as u64),
            (0, Op::Read, 1, 0, u64::MAX),
        ]);
        let ranges: Vec<_> =
            found.runs[0].iter().map(|it| (it.file, it.offset, it.bytes)).collect();
        let half = 1 << 63;
        let first = (0, half - 4096, u64::MAX - half + 4096);
        assert_eq!(ranges, [first, (0, 0, half - 4096), (1, 0, 10_000)]);
    }

    #[test]
    fn it_stops_when_the_caller_asks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.csv");
        std::fs::write(&path, "path,op,offset,bytes\n/a,read,0,10\n").unwrap();
        let options = import::Options::default();
        assert_eq!(Needs::read_with(std::slice::from_ref(&path), &options).unwrap().runs.len(), 1);
        options.cancel.store(true, Ordering::Relaxed);
        let error = Needs::read_with(std::slice::from_ref(&path), &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}");
        let trace = crate::open_any(&path).unwrap();
        let error = Needs::of_all([Ok(trace)], &options.cancel).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted, "{error}");
    }

    #[test]
    fn a_load_counts_where_the_trace_has_no_calls_for_it() {
        let found = needs(&[
            (0, Op::Load, 0, 0, 9_000),
            (0, Op::Load, 1, 0, 10_000),
            (0, Op::Read, 1, 0, 10),
        ]);
        let ranges: Vec<_> =
            found.runs[0].iter().map(|it| (it.file, it.offset, it.bytes)).collect();
        assert_eq!(ranges, [(0, 0, 9_000), (1, 0, 4096)]);
    }
}
