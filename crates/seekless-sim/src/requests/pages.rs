//! Byte ranges to 4 KiB pages: each page of a read, write or fault is a request; a load stands for its pages only where
//! its run has no such calls for the file (DESIGN, Rules, Rows).

use super::{PAGE_BYTES, Requests};
use crate::{Error, ErrorKind, Result};
use seekless_policy::eviction::Id;
use seekless_trace::{Batch, Columns, FileId, Op, PageNumbers, Trace, open_any};
use std::collections::HashMap;
use std::path::PathBuf;

/// Page numbers and counts of requests stay below this.
const PAGES_MAX: u64 = u32::MAX as u64 - 1;

pub(super) fn read(traces: &[PathBuf], progress: &mut dyn FnMut(u64, u64)) -> Result<Requests> {
    let mut pager = Pager::default();
    for path in traces {
        let trace = open_any(path)?;
        let joined = if traces.len() > 1 { Some(pager.join(trace.file_names()?)?) } else { None };
        pager.append(&trace, joined.as_deref(), progress)?;
    }
    Ok(Requests::from_pages(pager.requests))
}

#[derive(Default)]
struct Pager {
    /// Files of several traces, joined by name.
    names: HashMap<String, FileId>,
    numbers: PageNumbers,
    requests: Vec<Id>,
}

impl Pager {
    fn join(&mut self, names: Vec<String>) -> Result<Vec<FileId>> {
        let mut joined = Vec::with_capacity(names.len());
        for name in names {
            let next = FileId::try_from(self.names.len())
                .map_err(|_| Error::new(ErrorKind::Limit, "the traces name more than 2^32 files"))?;
            joined.push(*self.names.entry(name).or_insert(next));
        }
        Ok(joined)
    }

    fn append(
        &mut self,
        trace: &Trace,
        joined: Option<&[FileId]>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<()> {
        let called = Called::scan(trace)?;
        let columns = Columns::RUN | Columns::OP | Columns::FILE | Columns::OFFSET | Columns::BYTES;
        let mut rows = 0;
        for batch in trace.scan(columns | Columns::ERROR)? {
            let batch = batch?;
            for row in (0..batch.rows()).filter(|&row| batch.error().get(row).is_none()) {
                let (op, file) = (batch.op()[row], batch.file()[row]);
                if touches_pages(op) || (op == Op::Load && !called.contains(batch.run()[row], file)) {
                    let file = joined.map_or(file, |joined| joined[file as usize]);
                    self.push(file, batch.offset()[row], batch.bytes()[row])?;
                }
            }
            rows += batch.rows() as u64;
            progress(rows, trace.rows());
        }
        Ok(())
    }

    /// One request for each page that the range touches. Offset -1 (Ozen's traces) counts as 0.
    fn push(&mut self, file: FileId, offset: i64, bytes: u64) -> Result<()> {
        let Some(length_less_1) = bytes.checked_sub(1) else { return Ok(()) };
        let offset = u64::try_from(offset).unwrap_or(0);
        let (first, last) = (offset / PAGE_BYTES, offset.saturating_add(length_less_1) / PAGE_BYTES);
        let pages = last - first + 1;
        if self.numbers.len() as u64 + pages > PAGES_MAX || self.requests.len() as u64 + pages > PAGES_MAX {
            let message = "the trace touches more than 2^32 pages; cut it, or use --unit file";
            return Err(Error::new(ErrorKind::Limit, message));
        }
        self.requests.extend((first..=last).map(|page| self.numbers.id(file, page)));
        Ok(())
    }
}

fn touches_pages(op: Op) -> bool {
    matches!(op, Op::Read | Op::Write | Op::Fault)
}

/// The (run, file) pairs that have calls which touch pages, sorted.
struct Called(Vec<(u32, FileId)>);

impl Called {
    fn scan(trace: &Trace) -> Result<Self> {
        let mut pairs = Vec::new();
        // The run in which each file was last pushed, plus 1: rows are sorted by run, so this drops nearly all repeats.
        let mut pushed: Vec<u32> = Vec::new();
        let columns = Columns::RUN | Columns::OP | Columns::FILE | Columns::BYTES | Columns::ERROR;
        for batch in trace.scan(columns)? {
            let batch = batch?;
            for row in (0..batch.rows()).filter(|&row| is_call(&batch, row)) {
                let (run, file) = (batch.run()[row], batch.file()[row]);
                if file as usize >= pushed.len() {
                    pushed.resize(file as usize + 1, 0);
                }
                if pushed[file as usize] != run.wrapping_add(1) {
                    pushed[file as usize] = run.wrapping_add(1);
                    pairs.push((run, file));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        Ok(Self(pairs))
    }

    fn contains(&self, run: u32, file: FileId) -> bool {
        self.0.binary_search(&(run, file)).is_ok()
    }
}

fn is_call(batch: &Batch, row: usize) -> bool {
    touches_pages(batch.op()[row]) && batch.bytes()[row] > 0 && batch.error().get(row).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_trace::{Access, Metadata, Writer};
    use std::path::Path;

    fn write(folder: &Path, name: &str, accesses: &[(Op, &str, i64, u64)]) -> PathBuf {
        let path = folder.join(name);
        let mut writer = Writer::create(&path, Metadata::default()).unwrap();
        for (time_ns, &(op, file, offset, bytes)) in accesses.iter().enumerate() {
            let file = writer.file(file);
            let error = (bytes == 7).then_some(5);
            writer
                .push(Access { time_ns: time_ns as u64, offset, bytes, error, ..Access::new(op, file) })
                .unwrap();
        }
        writer.finish().unwrap();
        path
    }

    fn pages(traces: &[PathBuf]) -> Vec<Id> {
        read(traces, &mut |_, _| {}).unwrap().ids().to_vec()
    }

    #[test]
    fn a_range_touches_each_page_it_overlaps() {
        let folder = tempfile::tempdir().unwrap();
        let accesses = [
            (Op::Read, "a", 4095, 2),
            (Op::Write, "a", 0, 4096),
            (Op::Read, "b", 8192, 1),
            (Op::Read, "b", 0, 0),
        ];
        assert_eq!(pages(&[write(folder.path(), "t", &accesses)]), [0, 1, 0, 2]);
    }

    #[test]
    fn a_load_counts_only_without_calls_and_failures_never() {
        let folder = tempfile::tempdir().unwrap();
        let accesses = [
            (Op::Load, "called", 0, 9000),
            (Op::Load, "mapped", 0, 5000),
            (Op::Map, "mapped", 0, 5000),
            (Op::Read, "called", 0, 100),
            (Op::Read, "mapped", 0, 7),
        ];
        assert_eq!(pages(&[write(folder.path(), "t", &accesses)]), [0, 1, 2]);
    }

    #[test]
    fn files_of_several_traces_are_joined_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let one = write(folder.path(), "one", &[(Op::Read, "a", 0, 1), (Op::Read, "b", 0, 1)]);
        let two = write(folder.path(), "two", &[(Op::Read, "b", 0, 1), (Op::Read, "a", 0, 1)]);
        assert_eq!(pages(&[one, two]), [0, 1, 1, 0]);
    }

    #[test]
    fn an_absurd_range_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), "t", &[(Op::Load, "a", 0, u64::MAX)]);
        assert_eq!(read(&[path], &mut |_, _| {}).unwrap_err().kind(), ErrorKind::Limit);
    }
}
