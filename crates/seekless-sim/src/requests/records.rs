//! Reads files of records (libCacheSim's oracleGeneral and lcs) without making a trace of them.
//! Each record is a request for its object, as in the trace that an import would make.

use super::budget::Budget;
use super::joined::{Clock, REQUESTS_MAX};
use super::reading::Reading;
use super::sequence::Requests;
use super::sizes::Changes;
use crate::unit::Unit;
use crate::{Error, ErrorKind, Result};
use seekless_policy::eviction::Id;
use seekless_sys::objects;
use seekless_trace::import::{NOT_SAMPLED, Options};
use seekless_trace::{News, Objects, Piece, Records, estimated_rows, is_pipe};
use std::path::PathBuf;

/// Objects have numbers below this.
const OBJECTS_MAX: u64 = u32::MAX as u64 - 1;
const SECOND_NS: u64 = 1_000_000_000;

/// Requests that follow each other, and what they showed of their objects.
#[derive(Debug, Default)]
pub(crate) struct Window {
    pub(crate) ids: Vec<Id>,
    /// The times of the requests, if they are kept.
    times: Vec<u64>,
    /// The sizes of the objects that were not known before, by number.
    new: Vec<u64>,
    changes: Changes,
}

impl Window {
    /// Empties it, but for the requests' memory.
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.times.clear();
        self.new.clear();
        self.changes.clear();
    }

    /// The sizes of the objects that were not known before, by number.
    pub(crate) fn new_sizes(&self) -> &[u64] {
        &self.new
    }

    /// The sizes that were not known before: of new objects, and changed ones.
    pub(crate) fn unknown_sizes(&self) -> impl Iterator<Item = u64> {
        self.new.iter().copied().chain(self.changes.sizes())
    }

    /// Brings `weights`, which has the size of each object before this window, to its end. Returns
    /// the size that each request asks for, if one has changed.
    pub(crate) fn weigh(&mut self, weights: &mut Vec<u64>) -> Vec<u64> {
        weights.append(&mut self.new);
        self.changes.of_each(&self.ids, weights)
    }

    fn memory_bytes(&self) -> u64 {
        (size_of_val(&self.ids[..]) + size_of_val(&self.times[..]) + size_of_val(&self.new[..]))
            as u64
            + self.changes.memory_bytes()
    }
}

/// Reads the requests of files of records, one file after another.
#[derive(Debug)]
pub(crate) struct Reader {
    traces: Vec<PathBuf>,
    options: Options,
    keeps_times: bool,
    /// The pipes that were opened and not begun, by their place among the traces.
    pipes: Vec<Option<Records>>,
    /// The file that is being read.
    records: Option<Records>,
    /// How many files have been opened.
    opened: usize,
    pub(crate) objects: Objects,
    clock: Clock,
    /// The first time of this file, and the last, in its seconds.
    started: Option<u32>,
    now_ns: u64,
    /// Records of this file that were read, and of all.
    rows: u64,
    all_rows: u64,
    /// Bytes of the files before this one, and of all.
    bytes_before: u64,
    bytes: u64,
    budget: Budget,
    /// Whether it is read once more.
    again: bool,
}

impl Reader {
    /// `None` if one of the files holds no records.
    pub(crate) fn open(traces: &[PathBuf], reading: &Reading) -> Result<Option<Self>> {
        let (mut bytes, mut pipes) = (0, Vec::new());
        for path in traces {
            let Some(records) = Records::open(path, &reading.import)? else {
                if pipes.iter().all(Option::is_none) {
                    return Ok(None);
                }
                let message = format!(
                    "{}: holds no records, but a trace before it is a pipe of records; give each a simulation of its own",
                    path.display()
                );
                return Err(Error::new(ErrorKind::Usage, message));
            };
            bytes += objects::metadata(path).map_or(0, |found| found.len());
            pipes.push(is_pipe(path).then_some(records));
        }
        Ok(Some(Self {
            traces: traces.to_vec(),
            options: reading.import.clone(),
            keeps_times: reading.times,
            pipes,
            records: None,
            opened: 0,
            objects: Objects::default(),
            clock: Clock::default(),
            started: None,
            now_ns: 0,
            rows: 0,
            all_rows: 0,
            bytes_before: 0,
            bytes,
            budget: Budget::new(reading.memory_bytes_max),
            again: false,
        }))
    }

    /// Adds requests to `window` until it has at least `requests_max`, or the files end. Returns
    /// whether they go on. Calls `progress` with the rows read and those of all files,
    /// estimated.
    pub(crate) fn read(
        &mut self,
        window: &mut Window,
        requests_max: usize,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<bool> {
        while window.ids.len() < requests_max {
            if self.records.is_none() && !self.next_file()? {
                return Ok(false);
            }
            let Some(records) = &mut self.records else { return Ok(false) };
            let consumed = records.consumed();
            let Some(piece) = records.next_piece()? else {
                self.bytes_before += consumed;
                let not_sampled = records.not_sampled();
                if not_sampled > 0 && !self.again {
                    self.options.left_out.count(NOT_SAMPLED, not_sampled);
                }
                self.records = None;
                continue;
            };
            let objects = self.objects.len() as u64 + piece.len() as u64;
            let requests = window.ids.len() as u64 + piece.len() as u64;
            if objects > OBJECTS_MAX || requests > REQUESTS_MAX {
                let message = "the trace has more than 2^32 requests or objects; cut it";
                return Err(Error::new(ErrorKind::Limit, message));
            }
            window.ids.reserve(piece.len());
            if self.keeps_times {
                times(piece, &mut self.started, &mut self.now_ns, &mut self.clock, window);
            }
            let Window { ids, new, changes, .. } = window;
            self.objects.number(piece.records(), |record, id, news| {
                match news {
                    News::Nothing => {}
                    News::New => new.push(record.bytes),
                    News::Changed => changes.push(ids.len(), record.bytes),
                }
                ids.push(id);
            });
            self.rows += piece.len() as u64;
            let held = self.objects.memory_bytes() + 8 * u64::from(self.objects.len());
            self.budget.check(window.memory_bytes(), held, self.rows - 1, || {
                "is one request more".to_owned()
            })?;
            self.all_rows += piece.len() as u64;
            let read = self.bytes_before + consumed;
            progress(self.all_rows, estimated_rows(self.all_rows, read, self.bytes));
        }
        Ok(true)
    }

    /// Opens the next file; false after the last.
    fn next_file(&mut self) -> Result<bool> {
        let Some(path) = self.traces.get(self.opened) else { return Ok(false) };
        let changed = || {
            let message = format!("{}: has changed while it was read", path.display());
            Error::new(ErrorKind::Trace, message)
        };
        self.records = match self.pipes[self.opened].take() {
            Some(pipe) => Some(pipe),
            None => Some(Records::open(path, &self.options)?.ok_or_else(changed)?),
        };
        self.budget.next_trace(path);
        self.clock.next_trace();
        (self.started, self.now_ns, self.rows) = (None, 0, 0);
        self.opened += 1;
        Ok(true)
    }

    /// Whether it can be read again.
    pub(crate) fn can_rewind(&self) -> bool {
        !self.traces.iter().any(|path| is_pipe(path))
    }

    /// Begins again at the first request, with what is known of the objects: they have the sizes of
    /// their last requests.
    pub(crate) fn rewind(&mut self) {
        (self.records, self.opened, self.bytes_before, self.all_rows) = (None, 0, 0, 0);
        self.clock = Clock::default();
        self.again = true;
    }
}

/// Adds the time of each record to the window. Times never go back.
fn times(
    piece: Piece<'_>,
    started: &mut Option<u32>,
    now_ns: &mut u64,
    clock: &mut Clock,
    window: &mut Window,
) {
    window.times.extend(piece.records().map(|record| {
        let start = *started.get_or_insert(record.seconds);
        *now_ns = (u64::from(record.seconds.saturating_sub(start)) * SECOND_NS).max(*now_ns);
        clock.at(0, *now_ns)
    }));
}

impl Requests {
    /// The requests of a window that has everything.
    pub(crate) fn of_window(unit: Unit, mut window: Window) -> Self {
        let first = window.new.clone();
        let sizes = window.weigh(&mut Vec::new());
        let mut requests = Requests::new(unit, window.ids, first).with_sizes(sizes);
        requests.times = window.times;
        requests
    }
}
