//! Traces by whole files: which files each run loaded, and in which order. `order`, `compare`,
//! `synth` and the simulation of files work on this.

use crate::error::{Error, ErrorKind, Place, Result};
use crate::import::REMOVAL;
use crate::names::Names;
use crate::writer::RUNS_MAX;
use crate::{Access, Columns, FileId, Op, Trace, import, open_with};
use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU64;
use std::path::PathBuf;

/// What a load takes while loads are read. An array that grows holds up to three times its
/// elements.
const LOAD_BYTES: u64 = 3 * size_of::<Load>() as u64;

/// One load of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Which file; an index into [`Loads::names`].
    pub file: FileId,
    /// How much was loaded, in bytes.
    pub bytes: u64,
    /// When, in nanoseconds from the run's start.
    pub time_ns: u64,
    /// When the program released it, if the trace has a `release` row for it.
    pub released_ns: Option<NonZeroU64>,
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
    /// Successful reads of all files.
    pub reads: u64,
    /// Successful reads of files that their run did not load whole. The first of each file counts
    /// as a load.
    pub reads_inside: u64,
}

impl Loads {
    /// Reads the loads of several traces (anything that [`open_any`](crate::open_any) opens): files
    /// are joined by name, runs appended in the order given.
    ///
    /// Within a run each `load` row of a file counts. A file without load rows counts once, at its
    /// first successful read or map. Its size counts, or, if the trace does not have the size, the
    /// end of the bytes that were read. A `release` row ends the oldest load of its file that has
    /// not been released.
    ///
    /// # Errors
    /// A trace cannot be opened or read.
    pub fn read(paths: &[PathBuf]) -> Result<Loads> {
        Self::read_within(paths, None)
    }

    /// As [`Loads::read`], with at most `memory_bytes_max` bytes of memory for the loads.
    ///
    /// # Errors
    /// As [`Loads::read`]; or there are too many loads. That error names the row.
    pub fn read_within(paths: &[PathBuf], memory_bytes_max: Option<u64>) -> Result<Loads> {
        Self::read_with(paths, memory_bytes_max, &import::Options::default())
    }

    /// As [`Loads::read_within`]; `options` say how files of other formats are read.
    ///
    /// # Errors
    /// As [`Loads::read_within`].
    pub fn read_with(
        paths: &[PathBuf],
        memory_bytes_max: Option<u64>,
        options: &import::Options,
    ) -> Result<Loads> {
        let mut names = Names::default();
        let mut loads = Loads::default();
        for path in paths {
            let trace = open_with(path, options)?;
            let mut chosen = options.select.of(&trace)?;
            loads.append(&trace, &mut names, memory_bytes_max, (options, &mut chosen))?;
            chosen.end(&options.left_out);
        }
        loads.names = names.into_vec();
        Ok(loads)
    }

    fn append(
        &mut self,
        trace: &Trace,
        names: &mut Names,
        memory_bytes_max: Option<u64>,
        (options, chosen): (&import::Options, &mut import::Chosen),
    ) -> Result<()> {
        let joined: Vec<FileId> =
            trace.file_names()?.iter().map(|name| names.intern(name).0).collect();
        self.bytes.resize(names.len(), 0);
        let loads_max = memory_bytes_max.map_or(u64::MAX, |bytes| bytes / LOAD_BYTES);
        let mut gather = Gather { left: loads_max, ..Gather::default() };
        let mut rows = 0;
        let columns =
            Columns::RUN | Columns::TIME_NS | Columns::OP | Columns::FILE | Columns::BYTES;
        for batch in trace.scan(columns | Columns::ERROR | Columns::FILE_BYTES | Columns::OFFSET)? {
            let batch = batch?;
            for row in 0..batch.rows() {
                if chosen.is_over(rows + row as u64) {
                    break;
                }
                if !chosen.takes(batch.file()[row]) {
                    continue;
                }
                let mut access = Access::new(batch.op()[row], batch.file()[row]);
                access.run = batch.run()[row];
                access.time_ns = batch.time_ns()[row];
                access.bytes = batch.bytes()[row];
                access.offset = batch.offset()[row];
                access.error = batch.error().get(row);
                access.file_bytes = batch.file_bytes().get(row);
                if access.op == Op::Remove {
                    options.left_out.count(REMOVAL, 1);
                    continue;
                }
                gather.add(&access, trace)?;
                if gather.left == 0 {
                    let message = format!(
                        "is load {loads_max} of the trace, and more would take too much memory"
                    );
                    return Err(Error::new(ErrorKind::Limit, trace.path(), message)
                        .at(Place::Row(rows + row as u64)));
                }
            }
            rows += batch.rows() as u64;
        }
        let runs = gather.finish(trace.metadata().runs.len());
        self.reads += gather.reads;
        self.reads_inside += gather.reads_inside;
        for mut run in runs {
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

/// Gathers the runs of one trace, one after another, in one table of files.
#[derive(Default)]
struct Gather {
    runs: Vec<Vec<Load>>,
    loads: Vec<Load>,
    files: Vec<File>,
    /// Files that the current run has touched.
    touched: Vec<FileId>,
    /// Loads of each file that may be released yet, once the current run has a release.
    held: Option<HashMap<FileId, VecDeque<usize>>>,
    reads: u64,
    reads_inside: u64,
    /// How many more loads there may be.
    left: u64,
}

/// What is known of a file.
#[derive(Clone, Copy, Default)]
struct File {
    /// What the current run did with it.
    seen: Seen,
    /// Its reads in the current run.
    reads: u64,
    /// Its size, as far as the rows up to now show it.
    bytes: u64,
}

/// Its first read or map in the current run, unless it has load rows.
#[derive(Clone, Copy, Default)]
enum Seen {
    #[default]
    Nothing,
    First(Load),
    Loaded,
}

impl Gather {
    fn add(&mut self, access: &Access, trace: &Trace) -> Result<()> {
        let run = access.run as usize;
        if run < self.runs.len() || access.run >= RUNS_MAX {
            let message = "is not sorted by run, or has too many; `seekless trace merge` sorts it";
            return Err(Error::new(ErrorKind::Schema, trace.path(), message));
        }
        while self.runs.len() < run {
            self.finish_run();
        }
        if access.error.is_none() {
            self.measure(access);
            match access.op {
                Op::Load | Op::Read | Op::Map => self.add_successful(access),
                Op::Release => self.release(access),
                _ => {}
            }
        }
        Ok(())
    }

    /// Learns a file's size from any row: an open has the size, and a read cannot end behind it.
    fn measure(&mut self, access: &Access) {
        let file = access.file as usize;
        if file >= self.files.len() {
            self.files.resize(file + 1, File::default());
        }
        let read_to = match access.op {
            Op::Read => u64::try_from(access.offset).unwrap_or(0).saturating_add(access.bytes),
            _ => 0,
        };
        let bytes = &mut self.files[file].bytes;
        *bytes = access.file_bytes.unwrap_or(read_to).max(*bytes);
    }

    fn add_successful(&mut self, access: &Access) {
        let File { seen, reads, bytes } = &mut self.files[access.file as usize];
        if matches!(seen, Seen::Nothing) {
            self.touched.push(access.file);
        }
        *reads += u64::from(access.op == Op::Read);
        let size = if access.op == Op::Load { access.bytes } else { (*bytes).max(access.bytes) };
        let (file, time_ns) = (access.file, access.time_ns);
        let load = Load { file, bytes: size, time_ns, released_ns: None };
        if access.op == Op::Load {
            *seen = Seen::Loaded;
            if let Some(held) = &mut self.held {
                held.entry(file).or_default().push_back(self.loads.len());
            }
            self.loads.push(load);
            self.left = self.left.saturating_sub(1);
        } else if matches!(seen, Seen::Nothing) {
            *seen = Seen::First(load);
            self.left = self.left.saturating_sub(1);
        }
    }

    /// Most traces have no releases, so their loads are looked up only from the first on.
    fn release(&mut self, access: &Access) {
        let Self { held, loads, .. } = self;
        let held = held.get_or_insert_with(|| {
            let mut held: HashMap<FileId, VecDeque<usize>> = HashMap::new();
            for (at, load) in loads.iter().enumerate() {
                held.entry(load.file).or_default().push_back(at);
            }
            held
        });
        if let Some(at) = held.get_mut(&access.file).and_then(VecDeque::pop_front) {
            loads[at].released_ns = NonZeroU64::new(access.time_ns.max(1));
        }
    }

    fn finish_run(&mut self) {
        self.held = None;
        let mut loads = std::mem::take(&mut self.loads);
        for id in self.touched.drain(..) {
            let File { seen, reads, bytes } = &mut self.files[id as usize];
            let reads = std::mem::take(reads);
            self.reads += reads;
            if let Seen::First(load) = std::mem::take(seen) {
                self.reads_inside += reads;
                // Rows since then may have shown a larger size.
                loads.push(Load { bytes: (*bytes).max(load.bytes), ..load });
            }
        }
        loads.sort_by_key(|load| load.time_ns); // stable: loads of one instant stay in the trace's order
        self.runs.push(loads);
    }

    /// The loads of each run. There are at least `runs` lists, since a run may have loaded nothing.
    fn finish(&mut self, runs: usize) -> Vec<Vec<Load>> {
        if !self.loads.is_empty() || !self.touched.is_empty() {
            self.finish_run();
        }
        let runs = runs.clamp(self.runs.len(), RUNS_MAX as usize);
        self.runs.resize_with(runs, Vec::new);
        std::mem::take(&mut self.runs)
    }
}
