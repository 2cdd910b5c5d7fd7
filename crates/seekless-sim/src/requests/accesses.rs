//! Turns traces into accesses of readers, for the simulation in time: each thread in its order, one
//! run after another.

use super::budget::Budget;
use super::joined::{REQUESTS_MAX, Row, Rows, read_rows};
use crate::timed::{Ask, FilePlace, Phase, Reader, TimedAccess, Workload};
use crate::unit::PAGE_BYTES;
use crate::{Error, ErrorKind, Result};
use seekless_device::units::counted;
use seekless_trace::{Columns, FileId, Op, Trace, import};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

impl Workload {
    /// Reads traces one after another; files are joined by name. `options` say how traces of other
    /// formats are read. Each run is a [`Phase`], each of its threads a [`Reader`]. The threads of
    /// a process share one open file for each file, as a trace does not have descriptors. Files lie
    /// on the device one after another, so that a trace of one device keeps its offsets.
    ///
    /// Calls `progress` with the rows read and those of the trace.
    ///
    /// # Errors
    /// A trace cannot be read, or takes more memory than `memory_bytes_max`.
    pub fn read(
        traces: &[PathBuf],
        options: &import::Options,
        memory_bytes_max: Option<u64>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self> {
        let mut accesses =
            Accesses { budget: Budget::new(memory_bytes_max), ..Accesses::default() };
        let more = Columns::TIME_NS | Columns::PID | Columns::TID | Columns::FILE_BYTES;
        read_rows(traces, options, more, false, &mut accesses, progress)?;
        accesses.finish()
    }
}

#[derive(Default)]
struct Accesses {
    phases: Vec<Phase>,
    /// The run of the last phase; `None` before the first row of a trace.
    run: Option<u32>,
    /// By process and thread.
    readers: HashMap<(u32, u32), usize>,
    /// By process and file.
    handles: HashMap<(u32, FileId), u32>,
    /// Bytes of each file: the most that the trace knows or touches.
    sizes: Vec<u64>,
    /// Accesses so far.
    count: u64,
    budget: Budget,
}

impl Rows for Accesses {
    fn next_trace(&mut self, _trace: &Trace, path: &Path) {
        self.run = None;
        self.budget.next_trace(path);
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        let Row { batch, at, .. } = *row;
        let ask = match batch.op()[at] {
            Op::Sync => Ask::Sync,
            Op::Write => Ask::Write,
            _ => Ask::Read,
        };
        let (offset, bytes) = match ask {
            Ask::Sync => (0, 0), // of the whole file
            Ask::Read | Ask::Write => (batch.offset()[at], batch.bytes()[at]),
        };
        self.know_size(row.file, batch.file_bytes().get(at).unwrap_or(0));
        let Ok(offset) = u64::try_from(offset) else { return Ok(()) };
        if ask != Ask::Sync && (!row.is_request || bytes == 0) {
            return Ok(());
        }
        let end = offset.saturating_add(bytes);
        self.know_size(row.file, end);
        self.check(end.div_ceil(PAGE_BYTES) - offset / PAGE_BYTES, row)?;
        if self.run != Some(batch.run()[at]) {
            self.run = Some(batch.run()[at]);
            self.phases.push(Phase::default());
            self.readers.clear();
            self.handles.clear();
        }
        let (pid, tid) = (batch.pid()[at], batch.tid()[at]);
        let time_ns = batch.time_ns()[at];
        self.push((pid, tid), row.file, TimedAccess { handle: 0, ask, offset, bytes, time_ns });
        Ok(())
    }
}

impl Accesses {
    /// Refuses a row that would take too much memory; all its pages may come into the cache.
    fn check(&mut self, pages: u64, row: &Row<'_>) -> Result<()> {
        /// What the cache and its policy keep of a page.
        const PAGE_STATE_BYTES: u64 = 64;
        self.count += 1;
        let accesses = self.count * size_of::<TimedAccess>() as u64;
        let files = 8 * self.sizes.len() as u64;
        let pages_bytes = pages.saturating_mul(PAGE_STATE_BYTES);
        if pages > REQUESTS_MAX {
            let what = counted(row.batch.bytes()[row.at], "byte");
            let message = format!("row {}: {what} are more than 2^32 pages; cut it", row.number);
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let array_bytes = accesses.saturating_add(files).saturating_add(pages_bytes);
        self.budget.check(array_bytes, row.called_bytes, row.number, || {
            format!("is one access of {} more", counted(pages, "page"))
        })
    }

    fn know_size(&mut self, file: FileId, bytes: u64) {
        let file = file as usize;
        if file >= self.sizes.len() {
            self.sizes.resize(file + 1, 0);
        }
        self.sizes[file] = self.sizes[file].max(bytes);
    }

    fn push(&mut self, thread: (u32, u32), file: FileId, access: TimedAccess) {
        let Some(phase) = self.phases.last_mut() else { return };
        let reader = *self.readers.entry(thread).or_insert_with(|| {
            phase.readers.push(Reader::default());
            phase.readers.len() - 1
        });
        let handle = *self.handles.entry((thread.0, file)).or_insert_with(|| {
            phase.handles.push(file);
            phase.handles.len() as u32 - 1
        });
        phase.readers[reader].accesses.push(TimedAccess { handle, ..access });
    }

    fn finish(self) -> Result<Workload> {
        let mut offset = 0_u64;
        let mut files = Vec::with_capacity(self.sizes.len());
        for bytes in self.sizes {
            files.push(FilePlace { offset, bytes });
            let padded = bytes.checked_next_multiple_of(PAGE_BYTES);
            offset = padded.and_then(|padded| offset.checked_add(padded)).ok_or_else(|| {
                Error::new(ErrorKind::Limit, "the files of the trace are too large for one device")
            })?;
        }
        Ok(Workload { files, phases: self.phases })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_trace::{Access, Metadata, Writer};

    fn write(folder: &Path, rows: &[(u32, u32, &str, i64, u64)]) -> PathBuf {
        let path = folder.join("run.parquet");
        let mut writer = Writer::create(&path, Metadata::default()).unwrap();
        for (time_ns, &(run, tid, file, offset, bytes)) in rows.iter().enumerate() {
            let file = writer.file(file);
            let (time_ns, pid) = (time_ns as u64, tid / 10);
            let access = Access::new(Op::Read, file);
            writer.push(Access { run, time_ns, pid, tid, offset, bytes, ..access }).unwrap();
        }
        writer.finish().unwrap();
        path
    }

    #[test]
    fn threads_are_readers_and_runs_are_phases() {
        let folder = tempfile::tempdir().unwrap();
        let rows = [
            (0, 11, "a", 0, 100),
            (0, 12, "a", 4096, 100),
            (0, 21, "b", 0, 100),
            (0, 11, "a", 100, 100),
            (0, 11, "a", -1, 100),
            (1, 11, "b", 0, 100),
        ];
        let workload = Workload::read(
            &[write(folder.path(), &rows)],
            &import::Options::default(),
            None,
            &mut |_, _| {},
        )
        .unwrap();
        let [first, second] = &workload.phases[..] else { panic!("{workload:?}") };
        assert_eq!(first.handles, [0, 1], "the threads of process 1 share their open file");
        let lengths: Vec<usize> =
            first.readers.iter().map(|reader| reader.accesses.len()).collect();
        assert_eq!(lengths, [2, 1, 1]);
        assert_eq!((&second.handles[..], workload.accesses()), (&[1][..], 5));
        let file = |offset, bytes| FilePlace { offset, bytes };
        assert_eq!(workload.files, [file(0, 4196), file(8192, 100)]);
        assert_eq!((first.readers[0].accesses[1].offset, workload.pages()), (100, 3));
    }

    #[test]
    fn a_range_past_every_file_is_an_error() {
        let refused = |row| {
            let folder = tempfile::tempdir().unwrap();
            let path = write(folder.path(), &[row]);
            let error =
                Workload::read(&[path], &import::Options::default(), Some(1 << 36), &mut |_, _| {})
                    .unwrap_err();
            (error.kind(), error.to_string())
        };
        let (kind, said) = refused((0, 1, "a", 0, 1 << 60));
        assert!(kind == ErrorKind::Limit && said.contains("row 0: "), "{said}");
        let (kind, said) = refused((0, 1, "a", 0, 1 << 43));
        assert!(kind == ErrorKind::Limit && said.contains("2,147,483,648 pages more"), "{said}");
        let (kind, said) = refused((0, 1, "a", i64::MAX, u64::MAX));
        assert!(kind == ErrorKind::Limit, "{said}");
    }
}
