//! The I/Os of a trace: its reads and writes, first touches of mapped files, and loads of files for
//! which it has nothing else.

use super::{Options, Skipped};
use seekless_job::{Error, ErrorKind, Result};
use seekless_measure::replay::Io;
use seekless_sys::memory::free_bytes;
use seekless_trace::{Columns, FileId, Kind, Op, Trace, open_with};
use std::collections::HashMap;
use std::path::Path;

/// A trace as a player wants it.
pub(super) struct Rows {
    pub(super) kind: Kind,
    /// In the order of the trace, one run after the other on one clock.
    pub(super) ios: Vec<Io>,
    /// The names of its files or devices.
    pub(super) names: Vec<String>,
    pub(super) skipped: Skipped,
}

/// What a row takes in memory: the I/O, and its place in a thread's order.
const ROW_BYTES: u64 = size_of::<Io>() as u64 + 4;

pub(super) fn read(path: &Path, options: &Options) -> Result<Rows> {
    let because = |error: seekless_trace::Error| {
        Error::because(ErrorKind::Trace, format!("cannot replay {}", path.display()), error)
    };
    let trace = open_with(path, &options.import).map_err(because)?;
    let kind = trace.metadata().kind;
    if kind == Kind::Ids {
        let message = format!(
            "{}: a trace of bare ids names no place that could be read; replay a trace of files or \
             blocks",
            path.display()
        );
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    check_memory(&trace)?;
    let names = trace.file_names().map_err(because)?;
    let mut reading = Reading::new(names.len());
    let columns = Columns::RUN
        | Columns::TIME_NS
        | Columns::PID
        | Columns::TID
        | Columns::OP
        | Columns::FILE
        | Columns::OFFSET
        | Columns::BYTES;
    for batch in trace.scan(columns).map_err(because)? {
        let batch = batch.map_err(because)?;
        for row in 0..batch.rows() {
            let thread = (batch.run()[row], batch.pid()[row], batch.tid()[row]);
            let time_ns = reading.clock(batch.run()[row], batch.time_ns()[row]);
            let (file, offset) = (batch.file()[row], batch.offset()[row]);
            reading.row(batch.op()[row], time_ns, thread, file, offset, batch.bytes()[row]);
        }
    }
    let (ios, skipped) = reading.finish();
    Ok(Rows { kind, ios, names, skipped })
}

/// Refuses a trace that would take more than half of the free memory.
fn check_memory(trace: &Trace) -> Result<()> {
    let needed = trace.rows().saturating_mul(ROW_BYTES);
    match free_bytes() {
        Some(free) if needed > free / 2 => Err(Error::new(
            ErrorKind::Invalid,
            format!(
                "{}: its {} rows would take {} MiB, more than half of what is free: cut a part out \
                 (seekless trace cut)",
                trace.path().display(),
                trace.rows(),
                needed >> 20
            ),
        )),
        _ => Ok(()),
    }
}

/// Rows as they come.
struct Reading {
    ios: Vec<Io>,
    /// Loads of whole files, which count where there is nothing else.
    loads: Vec<Io>,
    /// Which files have reads or touches.
    has_reads: Vec<bool>,
    threads: HashMap<(u32, u32, u32), u32>,
    run: u32,
    /// When this run begins on the common clock, and the last time on it.
    base_ns: u64,
    last_ns: u64,
    skipped: Skipped,
}

impl Reading {
    fn new(files: usize) -> Self {
        Reading {
            ios: Vec::new(),
            loads: Vec::new(),
            has_reads: vec![false; files],
            threads: HashMap::new(),
            run: 0,
            base_ns: 0,
            last_ns: 0,
            skipped: Skipped::default(),
        }
    }

    /// Each run begins where the one before it ends.
    fn clock(&mut self, run: u32, time_ns: u64) -> u64 {
        if run != self.run {
            (self.run, self.base_ns) = (run, self.last_ns);
        }
        self.last_ns = self.last_ns.max(self.base_ns.saturating_add(time_ns));
        self.base_ns.saturating_add(time_ns)
    }

    fn row(
        &mut self,
        op: Op,
        time_ns: u64,
        thread: (u32, u32, u32),
        file: FileId,
        offset: i64,
        bytes: u64,
    ) {
        let transfers = matches!(op, Op::Read | Op::Write | Op::Fault | Op::Load);
        if !transfers || bytes == 0 {
            return;
        }
        let Ok(offset) = u64::try_from(offset) else {
            self.skipped.without_place += 1;
            return;
        };
        let next = self.threads.len() as u32;
        let thread = *self.threads.entry(thread).or_insert(next);
        let io = Io { time_ns, offset, bytes, file, thread, write: op == Op::Write };
        if op == Op::Load {
            self.loads.push(io);
        } else {
            self.has_reads[file as usize] |= op != Op::Write;
            self.ios.push(io);
        }
    }

    fn finish(mut self) -> (Vec<Io>, Skipped) {
        let alone = self.loads.iter().filter(|load| !self.has_reads[load.file as usize]);
        let before = self.ios.len();
        self.ios.extend(alone);
        if self.ios.len() > before {
            self.ios.sort_by_key(|io| io.time_ns);
        }
        (self.ios, self.skipped)
    }
}
