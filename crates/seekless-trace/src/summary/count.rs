//! The counters behind a summary. They take one row at a time, run by run.

use super::intervals::Intervals;
use super::{Reuse, RunSummary, Sizes, TraceSummary};
use crate::error::{Error, ErrorKind, Place};
use crate::metadata::Metadata;
use crate::{Batch, Op};
use std::path::Path;

/// A trace may read this many separate ranges, and one more for each of its bytes. A real row takes
/// more than a byte.
const RANGES_BASE: u64 = 1 << 20;

/// Why a trace cannot be summed up, and at which row.
pub(super) enum Uncountable {
    NotSorted(u64),
    TooManyRanges(u64),
}

impl Uncountable {
    pub(super) fn into_error(self, path: &Path) -> Error {
        match self {
            Uncountable::NotSorted(row) => {
                let message =
                    "is not sorted by run, or has too many; `seekless trace merge` sorts it";
                Error::new(ErrorKind::Schema, path, message).at(Place::Row(row))
            }
            Uncountable::TooManyRanges(row) => {
                let message = "reads more places than the trace has bytes; its rows are not those of a program";
                Error::new(ErrorKind::Limit, path, message).at(Place::Row(row))
            }
        }
    }
}

#[derive(Default)]
pub(super) struct Count {
    summary: TraceSummary,
    ops: [u64; Op::ALL.len()],
    files: Vec<File>,
    /// The current run, its first access and the end of its last.
    run: u32,
    started: bool,
    first_ns: u64,
    last_ns: u64,
    /// Files that the current run used.
    used: Vec<u32>,
    /// How many ranges all files have.
    ranges: u64,
    ranges_max: u64,
}

#[derive(Default)]
struct File {
    bytes: Option<u64>,
    runs: u32,
    first_run: u32,
    loaded: bool,
    all: Intervals,
    here: Here,
}

/// What the current run did with a file.
#[derive(Default)]
struct Here {
    seen: bool,
    used: bool,
    called: bool,
    loads: u64,
    load_bytes: u64,
    ranges: Intervals,
}

impl Count {
    /// Starts counting a trace whose file has this many bytes.
    pub(super) fn new(file_bytes: u64) -> Self {
        Count { ranges_max: RANGES_BASE.saturating_add(file_bytes), ..Count::default() }
    }

    pub(super) fn add(&mut self, batch: &Batch, row: usize) -> Result<(), Uncountable> {
        self.go_to_run(batch.run()[row])?;
        let (op, file) = (batch.op()[row], batch.file()[row]);
        self.summary.accesses += 1;
        self.ops[op as usize] += 1;
        let time = batch.time_ns()[row];
        self.first_ns = self.first_ns.min(time);
        self.last_ns =
            self.last_ns.max(time.saturating_add(batch.latency_ns().get(row).unwrap_or(0)));
        if file as usize >= self.files.len() {
            self.files.resize_with(file as usize + 1, File::default);
        }
        self.mention(file);
        self.run_mut().accesses += 1;
        self.files[file as usize].here.called |= op.is_call();
        match batch.error().get(row) {
            Some(error) if op == Op::Open => {
                self.run_mut().failed_opens += 1;
                *self.summary.failed_opens.entry(error).or_default() += 1;
            }
            Some(_) => {}
            None => self.add_successful(op, file, batch, row),
        }
        if self.ranges > self.ranges_max {
            return Err(Uncountable::TooManyRanges(self.summary.accesses - 1));
        }
        Ok(())
    }

    fn add_successful(&mut self, op: Op, file: u32, batch: &Batch, row: usize) {
        let bytes = batch.bytes()[row];
        let known = batch.file_bytes().get(row).or((op == Op::Load).then_some(bytes));
        let state = &mut self.files[file as usize];
        state.bytes = state.bytes.max(known);
        state.here.used |= matches!(op, Op::Read | Op::Map | Op::Load);
        // A load's bytes count only if its run has no calls for the file. The calls come before it.
        if op == Op::Read || (op == Op::Load && !state.here.called) {
            let start = batch.offset()[row].max(0) as u64;
            let before = state.here.ranges.count();
            state.here.ranges.add(start, start.saturating_add(bytes));
            self.ranges = (self.ranges + state.here.ranges.count()).saturating_sub(before);
        }
        match op {
            Op::Open => self.run_mut().opens += 1,
            Op::Read => add(&mut self.run_mut().read_bytes, bytes),
            Op::Write => add(&mut self.run_mut().written_bytes, bytes),
            Op::Load => {
                state.here.loads += 1;
                add(&mut state.here.load_bytes, bytes);
            }
            _ => {}
        }
    }

    /// Notes a file when the current run uses it for the first time.
    fn mention(&mut self, file: u32) {
        let here = &mut self.files[file as usize].here;
        if !here.seen {
            here.seen = true;
            self.used.push(file);
        }
    }

    fn run_mut(&mut self) -> &mut RunSummary {
        &mut self.summary.runs[self.run as usize]
    }

    fn go_to_run(&mut self, run: u32) -> Result<(), Uncountable> {
        if self.started && run == self.run {
            return Ok(());
        }
        if (self.started && run < self.run) || run >= crate::writer::RUNS_MAX {
            return Err(Uncountable::NotSorted(self.summary.accesses));
        }
        self.finish_run();
        self.summary.runs.resize_with(run as usize + 1, RunSummary::default);
        (self.run, self.started, self.first_ns, self.last_ns) = (run, true, u64::MAX, 0);
        Ok(())
    }

    fn finish_run(&mut self) {
        if !self.started {
            return;
        }
        let run = &mut self.summary.runs[self.run as usize];
        let reuse = &mut self.summary.reuse;
        for file in self.used.drain(..) {
            let state = &mut self.files[file as usize];
            let here = std::mem::take(&mut state.here);
            let (unique_bytes, before) =
                (here.ranges.bytes(), here.ranges.count() + state.all.count());
            state.all.add_all(here.ranges);
            self.ranges = (self.ranges + state.all.count()).saturating_sub(before);
            if !here.used {
                continue;
            }
            state.first_run = if state.runs == 0 { self.run } else { state.first_run };
            state.runs += 1;
            run.files += 1;
            run.loads += here.loads;
            add(&mut run.unique_bytes, unique_bytes);
            add(&mut run.read_bytes, if here.called { 0 } else { here.load_bytes });
            reuse.repeated_in_run += here.loads.saturating_sub(1);
            reuse.repeated += here.loads.saturating_sub(u64::from(!state.loaded));
            state.loaded |= here.loads > 0;
        }
        run.span_ns = self.last_ns.saturating_sub(self.first_ns);
    }

    pub(super) fn finish(mut self, metadata: Metadata) -> TraceSummary {
        self.finish_run();
        let mut all = self.summary;
        let runs = metadata.runs.len().clamp(all.runs.len(), crate::writer::RUNS_MAX as usize);
        all.runs.resize_with(runs, RunSummary::default);
        all.metadata = metadata;
        all.names = self.files.len() as u64;
        let used = Op::ALL.into_iter().zip(self.ops).filter(|(_, count)| *count > 0);
        all.ops = used.map(|(op, count)| (op.as_str(), count)).collect();
        for file in self.files.iter().filter(|file| file.runs > 0) {
            all.files += 1;
            add(&mut all.unique_bytes, file.all.bytes());
            all.reuse.files_in_every_run += u64::from(file.runs as usize == runs);
            all.reuse.files_in_one_run += u64::from(file.runs == 1);
            all.runs[file.first_run as usize].files_only_here += u64::from(file.runs == 1);
        }
        all.sizes = Sizes::of(
            self.files.iter().filter(|file| file.runs > 0).filter_map(|file| file.bytes).collect(),
        );
        sum_runs(&mut all.reuse, &all.runs, &mut all.read_bytes, &mut all.written_bytes);
        all
    }
}

fn sum_runs(reuse: &mut Reuse, runs: &[RunSummary], read_bytes: &mut u64, written_bytes: &mut u64) {
    for run in runs {
        reuse.loads += run.loads;
        add(read_bytes, run.read_bytes);
        add(written_bytes, run.written_bytes);
    }
}

/// Sums saturate: an absurd trace shows the largest number.
fn add(sum: &mut u64, bytes: u64) {
    *sum = sum.saturating_add(bytes);
}
