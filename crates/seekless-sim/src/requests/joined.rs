//! The part that reading pages and reading objects share: files joined by name, time that continues
//! over runs, and which rows are requests.

use super::budget::Budget;
use crate::{Error, ErrorKind, Result};
use seekless_trace::import::REMOVAL;
use seekless_trace::{Batch, Columns, FileId, Op, Trace, import, open_with};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The largest number of requests, or pages, in a simulation.
pub(super) const REQUESTS_MAX: u64 = u32::MAX as u64 - 1;

/// Turns rows into requests.
pub(super) trait Rows {
    /// The rows of this trace, opened from `path`, come next.
    fn next_trace(&mut self, trace: &Trace, path: &Path);
    /// The limit on what reading takes of memory.
    fn budget(&self) -> &Budget;
    /// Whether removals have a meaning; else they are counted as left out.
    const REMOVES: bool = false;
    /// The next row.
    fn row(&mut self, row: &Row<'_>) -> Result<()>;
}

/// A row of a trace.
pub(super) struct Row<'a> {
    pub(super) batch: &'a Batch,
    /// Its index in the batch.
    pub(super) at: usize,
    /// Its number in the trace, from 0.
    pub(super) number: u64,
    /// The joined number of its file.
    pub(super) file: FileId,
    /// Whether it is a request, see [`Called::is_request`].
    pub(super) is_request: bool,
    /// The memory in bytes for distinguishing requests from other rows.
    pub(super) called_bytes: u64,
}

/// Reads the columns that every request needs, and `more`, of all rows of `traces`. Returns the
/// names of the files if they are `named`, as they must be to join several traces.
pub(super) fn read_rows<R: Rows>(
    traces: &[PathBuf],
    options: &import::Options,
    more: Columns,
    named: bool,
    rows: &mut R,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<String>> {
    let columns = Columns::RUN
        | Columns::OP
        | Columns::FILE
        | Columns::OFFSET
        | Columns::BYTES
        | Columns::ERROR;
    let mut files = Files::default();
    for path in traces {
        let trace = open_with(path, options)?;
        let named = named || traces.len() > 1;
        let joined = if named { Some(files.join(trace.file_names()?)?) } else { None };
        let mut chosen = options.select.of(&trace)?;
        rows.next_trace(&trace, path);
        let called = Called::scan(&trace, rows.budget())?;
        let called_bytes = called.memory_bytes();
        let mut before = 0;
        for batch in trace.scan(columns | more)? {
            let batch = batch?;
            for at in 0..batch.rows() {
                let file = batch.file()[at];
                if chosen.is_over(before + at as u64) {
                    break;
                }
                if !chosen.takes(file) {
                    continue;
                }
                if !R::REMOVES && batch.op()[at] == Op::Remove {
                    options.left_out.count(REMOVAL, 1);
                }
                let file = joined.as_ref().map_or(file, |joined| joined[file as usize]);
                let (number, is_request) = (before + at as u64, called.is_request(&batch, at));
                rows.row(&Row { batch: &batch, at, number, file, is_request, called_bytes })?;
            }
            before += batch.rows() as u64;
            progress(before, trace.rows());
            if chosen.is_over(before) {
                break;
            }
        }
        chosen.end(&options.left_out);
    }
    Ok(files.names)
}

/// Files of several traces, joined by name.
#[derive(Default)]
struct Files {
    numbers: HashMap<String, FileId>,
    /// By number.
    names: Vec<String>,
}

impl Files {
    /// Returns the joined number of each file of a trace.
    fn join(&mut self, names: Vec<String>) -> Result<Vec<FileId>> {
        let mut joined = Vec::with_capacity(names.len());
        for name in names {
            let next = FileId::try_from(self.names.len()).map_err(|_| {
                Error::new(ErrorKind::Limit, "the traces name more than 2^32 files")
            })?;
            let number = *self.numbers.entry(name.clone()).or_insert(next);
            if number == next {
                self.names.push(name);
            }
            joined.push(number);
        }
        Ok(joined)
    }
}

/// Time that continues from run to run and from trace to trace.
#[derive(Debug, Default)]
pub(super) struct Clock {
    run: u32,
    start: u64,
    now: u64,
}

impl Clock {
    /// The rows of another trace follow.
    pub(super) fn next_trace(&mut self) {
        (self.run, self.start) = (0, self.now);
    }

    pub(super) fn at(&mut self, run: u32, time_ns: u64) -> u64 {
        if run != self.run {
            (self.run, self.start) = (run, self.now);
        }
        self.now = self.start.saturating_add(time_ns).max(self.now);
        self.now
    }
}

/// Whether the row reads or writes part of a file.
fn touches_pages(op: Op) -> bool {
    matches!(op, Op::Read | Op::Write | Op::Fault)
}

/// The (run, file) pairs that have calls which touch pages, sorted. For these a load is not a
/// request.
struct Called(Vec<(u32, FileId)>);

impl Called {
    fn scan(trace: &Trace, budget: &Budget) -> Result<Self> {
        let mut pairs = Vec::new();
        // The last run in which each file was pushed, plus 1. Rows are sorted by run, so this drops
        // nearly all repeats.
        let mut pushed: Vec<u32> = Vec::new();
        let columns = Columns::RUN | Columns::OP | Columns::FILE | Columns::BYTES | Columns::ERROR;
        let mut rows = 0;
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
                    let array_bytes = size_of_val(&pairs[..]) + size_of_val(&pushed[..]);
                    let what = || "is of one file and run more".to_owned();
                    budget.check(array_bytes as u64, 0, rows + row as u64, what)?;
                }
            }
            rows += batch.rows() as u64;
        }
        pairs.sort_unstable();
        pairs.dedup();
        Ok(Self(pairs))
    }

    /// The bytes of these pairs in memory.
    fn memory_bytes(&self) -> u64 {
        (size_of::<(u32, FileId)>() * self.0.capacity()) as u64
    }

    /// Whether the row is a request: a successful call, or a load whose run has no calls for the
    /// file.
    fn is_request(&self, batch: &Batch, row: usize) -> bool {
        let op = batch.op()[row];
        let load = || op == Op::Load && !self.contains(batch.run()[row], batch.file()[row]);
        batch.error().get(row).is_none() && (touches_pages(op) || load())
    }

    fn contains(&self, run: u32, file: FileId) -> bool {
        self.0.binary_search(&(run, file)).is_ok()
    }
}

fn is_call(batch: &Batch, row: usize) -> bool {
    touches_pages(batch.op()[row]) && batch.bytes()[row] > 0 && batch.error().get(row).is_none()
}
