//! The file-granular view of traces: which files each run loaded, in which order. What `order`, file-unit simulation,
//! `compare` and `synth` work on.

use crate::error::{Error, ErrorKind, Result};
use crate::names::Names;
use crate::{Access, Columns, FileId, Op, Trace, open_any};
use std::path::PathBuf;

/// One load of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Which file; an index into [`Loads::names`].
    pub file: FileId,
    /// How much was loaded, in bytes.
    pub bytes: u64,
    /// When, in nanoseconds from the run's start.
    pub time_ns: u64,
}

/// The loads of one or more traces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loads {
    /// The path of each file.
    pub names: Vec<String>,
    /// The largest size seen of each file.
    pub bytes: Vec<u64>,
    /// The loads of each run, by time; the last run is the newest.
    pub runs: Vec<Vec<Load>>,
}

impl Loads {
    /// Reads the loads of several traces (anything that [`open_any`] opens): files are joined by name, runs appended in
    /// the order given.
    ///
    /// Within a run a file's `load` rows count; a file without any counts once, at its first successful read or map, with
    /// its size (else with the bytes read).
    ///
    /// # Errors
    /// A trace cannot be opened or read.
    pub fn read(paths: &[PathBuf]) -> Result<Loads> {
        let mut names = Names::default();
        let mut loads = Loads::default();
        for path in paths {
            let trace = open_any(path)?;
            loads.append(&trace, &mut names)?;
        }
        loads.names = names.into_vec();
        Ok(loads)
    }

    fn append(&mut self, trace: &Trace, names: &mut Names) -> Result<()> {
        let joined: Vec<FileId> = trace.file_names()?.iter().map(|name| names.intern(name).0).collect();
        self.bytes.resize(names.len(), 0);
        let mut gather = Gather::default();
        let columns = Columns::RUN | Columns::TIME_NS | Columns::OP | Columns::FILE | Columns::BYTES;
        for batch in trace.scan(columns | Columns::ERROR | Columns::FILE_BYTES)? {
            let batch = batch?;
            for row in 0..batch.rows() {
                let mut access = Access::new(batch.op()[row], batch.file()[row]);
                access.run = batch.run()[row];
                access.time_ns = batch.time_ns()[row];
                access.bytes = batch.bytes()[row];
                access.error = batch.error().get(row);
                access.file_bytes = batch.file_bytes().get(row);
                gather.add(&access, trace)?;
            }
        }
        for mut run in gather.finish(trace.metadata().runs.len()) {
            for load in &mut run {
                load.file = joined[load.file as usize];
                let bytes = &mut self.bytes[load.file as usize];
                *bytes = load.bytes.max(*bytes);
            }
            self.runs.push(run);
        }
        Ok(())
    }
}

/// The runs of one trace as they are read.
#[derive(Default)]
struct Gather {
    runs: Vec<Run>,
}

#[derive(Default)]
struct Run {
    loads: Vec<Load>,
    /// Per file: its first read or map, unless it has load rows.
    files: Vec<Seen>,
}

#[derive(Clone, Copy)]
enum Seen {
    Nothing,
    First(Load),
    Loaded,
}

impl Gather {
    fn add(&mut self, access: &Access, trace: &Trace) -> Result<()> {
        let run = access.run as usize;
        if access.run >= crate::writer::RUNS_MAX {
            let message = format!("has a run {run}; a trace holds {} runs", crate::writer::RUNS_MAX);
            return Err(Error::new(ErrorKind::Limit, trace.path(), message));
        }
        if run >= self.runs.len() {
            self.runs.resize_with(run + 1, Run::default);
        }
        if access.error.is_none() {
            self.runs[run].add(access);
        }
        Ok(())
    }

    /// The loads of each run, at least `runs` of them: a run may have loaded nothing.
    fn finish(mut self, runs: usize) -> Vec<Vec<Load>> {
        let runs = runs.clamp(self.runs.len(), crate::writer::RUNS_MAX as usize);
        self.runs.resize_with(runs, Run::default);
        self.runs.into_iter().map(Run::finish).collect()
    }
}

impl Run {
    fn add(&mut self, access: &Access) {
        if !matches!(access.op, Op::Load | Op::Read | Op::Map) {
            return;
        }
        let file = access.file as usize;
        if file >= self.files.len() {
            self.files.resize(file + 1, Seen::Nothing);
        }
        let bytes =
            if access.op == Op::Load { access.bytes } else { access.file_bytes.unwrap_or(access.bytes) };
        let load = Load { file: access.file, bytes, time_ns: access.time_ns };
        if access.op == Op::Load {
            self.loads.push(load);
            self.files[file] = Seen::Loaded;
        } else if matches!(self.files[file], Seen::Nothing) {
            self.files[file] = Seen::First(load);
        }
    }

    fn finish(self) -> Vec<Load> {
        let mut loads = self.loads;
        loads.extend(self.files.into_iter().filter_map(|seen| match seen {
            Seen::First(load) => Some(load),
            Seen::Nothing | Seen::Loaded => None,
        }));
        loads.sort_by_key(|load| load.time_ns); // stable: loads of one instant stay in the trace's order
        loads
    }
}
