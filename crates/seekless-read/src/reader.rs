//! Delivers the bytes of files and streams, the cheapest first, each exactly once, in whole records.
//!
//! The strategy is *freeze and bypass*: what the page cache holds is read first, through mapped windows that set off no readahead;
//! the rest is read by exact requests past the cache, so that what is in it stays for the next pass. Only while the cache
//! has room, or grows by what is read, is it filled.

mod deliver;
mod device;
mod kernel;
mod learned;
mod linear;
mod ranges;
mod source;
mod sources;
mod stitch;
mod survey;
#[cfg(test)]
mod tests;

use crate::cached::pages;
use crate::growth::Growth;
use crate::headroom::Headroom;
use crate::{Error, ErrorKind, Plan, Records};
use deliver::Block;
use device::{Device, Way};
use kernel::{Kernel, Linux};
use learned::Learned;
use linear::Linear;
use seekless_engine::AlignedBuf;
use seekless_sled::page_cache::GRAIN_BYTES;
use source::{Absent, Source, State};
use sources::Sources;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use survey::Room;

/// The most that is pinned at a time.
const PINNED_BYTES_MAX: u64 = 4 << 20;

/// How to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What must not be cut apart.
    pub records: Records,
    /// In what order.
    pub plan: Plan,
    /// Deliver only what costs no device anything; the rest is counted in [`Event::End`]'s `skipped`.
    pub cached_only: bool,
    /// About how many bytes a chunk has; a single record may make it longer, and what comes from a device comes in up to 1 MiB.
    pub chunk_bytes: usize,
    /// Read from the device while what is cached is being delivered. A program that may stop early (`grep -q`) says no, so
    /// that nothing is read before all that is cached has been seen.
    pub overlap: bool,
    /// For a program that needs each file in order, and keeps or reads again what comes before its turn: where reading past the
    /// cache disturbs nothing, a short range that is not cached comes before the cached one behind it.
    pub in_order: bool,
    /// How much is kept of records that lie across the edges of pieces, and so how long one may be; one that is longer fails its
    /// file. Where pieces in the order of cost would take more, the rest of a file is read from the front.
    pub record_bytes_max: usize,
    /// How many cached bytes that are to be read are held in memory until then (section 3.4), at most half of what may be
    /// cached. What is held cannot be pushed out, by this reading or by others': it is bought at their expense.
    pub hold_bytes: u64,
}

/// A piece of a file: whole records.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// Which file, in the order they were added.
    pub file: usize,
    /// Where it starts, counted from where the file stood when it was added.
    pub offset: u64,
    /// What it holds, never empty. May be the page cache itself: should another process write to the file meanwhile, two looks
    /// at a byte may differ. So draw no conclusion of memory safety from it (no unchecked `str`).
    pub bytes: &'a [u8],
    /// The file that it comes from, for a program that wants a part again, whatever its name stands for by now. Not to be moved.
    pub open: Option<&'a File>,
    block: Option<&'a Block>,
}

impl<'a> Chunk<'a> {
    /// A piece that no reader has read.
    #[must_use]
    pub fn new(file: usize, offset: u64, bytes: &'a [u8]) -> Self {
        Chunk { file, offset, bytes, open: None, block: None }
    }

    /// Whether some of it turned out to be zeros that never were in the file, because it was cut short meanwhile: the file is
    /// begun again next. For a program that is about to draw conclusions from zeros.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.block.is_some_and(Block::is_lost)
    }
}

/// What happens to the files, a chunk at a time.
#[derive(Debug)]
pub enum Event<'a> {
    /// The next piece.
    Chunk(Chunk<'a>),
    /// Every byte of the file has been delivered once, but those skipped.
    End {
        /// Which file.
        file: usize,
        /// Its size as read.
        bytes: u64,
        /// Bytes left out because of [`Options::cached_only`].
        skipped: u64,
        /// Whether nobody tells what of the file is cached: then what was left out may be, or not.
        unknown: bool,
    },
    /// Forget what the chunks of this file told: some of it was cut off meanwhile. All of it comes again, from its first byte to
    /// the last.
    Restart {
        /// Which file.
        file: usize,
    },
    /// The rest of the file cannot be had; its chunks may tell less than all that lies before. The other files go on.
    Failed {
        /// Which file.
        file: usize,
        /// Why.
        error: Error,
    },
}

/// What a reader has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Bytes delivered.
    pub bytes: u64,
    /// Chunks delivered.
    pub chunks: u64,
    /// Bytes that were in memory when they were first asked about.
    pub resident_bytes: u64,
    /// In how many runs those lay.
    pub resident_runs: u64,
    /// Of those, bytes that were held ([`Options::hold_bytes`]).
    pub held_bytes: u64,
    /// Bytes read as not cached: from the device, unless they came into the cache meanwhile.
    pub device_bytes: u64,
    /// Of those, bytes read past the cache, which stays as it was.
    pub bypassed_bytes: u64,
    /// Times that a file was asked again what of it is cached.
    pub looks: u64,
    /// Files begun again because they were cut or replaced.
    pub restarts: u64,
}

/// Reads files and streams; see the crate's example.
#[derive(Debug)]
pub struct Reader {
    options: Options,
    kernel: Arc<dyn Kernel>,
    sources: Sources,
    /// The first file that nobody has looked at.
    surveyed: usize,
    /// Files of which cached bytes are to come.
    cached_files: BTreeSet<usize>,
    /// Files of which other bytes are to come.
    absent_files: BTreeSet<Absent>,
    /// What the first byte costs on each device, by its number: asked once.
    dearness: HashMap<u64, u64>,
    /// The first file that was looked at.
    first_path: Option<PathBuf>,
    /// What reads from the device cost; nothing once the table knows.
    learned: Learned,
    /// Files open, longest first.
    open_files: VecDeque<usize>,
    /// Files to be read in the plain order.
    linear_files: VecDeque<usize>,
    linear: Option<Linear>,
    device: Device,
    /// Buffers for reads from the device, and one for small cached reads.
    spare: Vec<AlignedBuf>,
    small: AlignedBuf,
    /// How the cache is left alone, as far as this system can.
    bypass: Way,
    room: Room,
    /// How full the cache was at the start.
    headroom: Option<Option<Headroom>>,
    /// Bytes found absent by the first look at each file, and how many they were when the room was judged last.
    absent_bytes: u64,
    judged: u64,
    /// Of the file that is being read into the cache.
    growth: Option<(usize, Growth)>,
    depth: usize,
    /// Where the bytes of the chunks in `ready` lie.
    block: Block,
    /// The file whose last block may have been its last.
    touched: Option<usize>,
    ready: VecDeque<Ready>,
    /// The record across an edge that was handed out last.
    own: Vec<u8>,
    statistics: Statistics,
}

/// An event that waits to be handed out.
#[derive(Debug)]
enum Ready {
    Chunk { file: usize, offset: u64, bytes: Bytes },
    End { file: usize, bytes: u64, skipped: u64, unknown: bool },
    Restart(usize),
    Failed(usize, Error),
}

/// Why the rest of a file cannot be had.
#[derive(Debug)]
enum Trouble {
    /// It could not be opened.
    Open(io::Error),
    Io(io::Error),
    /// The record at `offset` has over `most` bytes.
    TooLong {
        offset: u64,
        most: usize,
    },
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Trouble::Io(error)
    }
}

impl Trouble {
    fn of_file(self, path: &Path) -> Error {
        match self {
            Trouble::Open(error) => Error::open(path, error),
            Trouble::Io(error) => Error::io(path, error),
            Trouble::TooLong { offset, most } => {
                let message = format!("the record at byte {offset} is longer than {most} bytes");
                Error::new(ErrorKind::TooLong, message).of_file(path)
            }
        }
    }
}

#[derive(Debug)]
enum Bytes {
    /// Of the block.
    Block(Range<usize>),
    /// A record across an edge.
    Own(Vec<u8>),
    /// What the linear reader holds out.
    Linear,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            records: Records::None,
            plan: Plan::Best,
            cached_only: false,
            chunk_bytes: 256 << 10,
            overlap: true,
            in_order: false,
            record_bytes_max: usize::MAX,
            hold_bytes: 0,
        }
    }
}

impl Reader {
    /// A reader of nothing yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Reader::over(options, Arc::new(Linux))
    }

    fn over(options: Options, kernel: Arc<dyn Kernel>) -> Self {
        let options = Options { chunk_bytes: options.chunk_bytes.max(1), ..options };
        Reader {
            options,
            device: Device::new(Arc::clone(&kernel)),
            kernel,
            sources: Sources::default(),
            surveyed: 0,
            cached_files: BTreeSet::new(),
            absent_files: BTreeSet::new(),
            dearness: HashMap::new(),
            first_path: None,
            learned: Learned::default(),
            open_files: VecDeque::new(),
            linear_files: VecDeque::new(),
            linear: None,
            spare: Vec::new(),
            small: AlignedBuf::default(),
            bypass: Way::Direct,
            room: Room::Unknown,
            headroom: None,
            absent_bytes: 0,
            judged: 0,
            growth: None,
            depth: deliver::DEPTH,
            block: Block::Empty,
            touched: None,
            ready: VecDeque::new(),
            own: Vec::new(),
            statistics: Statistics::default(),
        }
    }

    /// Adds a file by its path; it is opened when its turn comes. Returns its number.
    pub fn add_path(&mut self, path: &Path) -> usize {
        self.add(path, None)
    }

    /// Adds an open file or a stream (a pipe, a terminal), read from where it stands; `name` is what errors call it. A file
    /// is left standing at its end.
    pub fn add_file(&mut self, name: &Path, file: File) -> usize {
        self.add(name, Some(file))
    }

    fn add(&mut self, path: &Path, given: Option<File>) -> usize {
        self.sources.push(Source::new(path, given))
    }

    /// What the reader has done so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Keeps a range (up to 4 MiB, rounded to 64 KiB) in memory if it can: a hit that a later pass will look for again. Without
    /// this, what lies outside the kept part of a file would be fetched anew by every pass. What is cached whole is left as it is.
    pub fn pin(&mut self, file: usize, offset: u64, bytes: u64) {
        let Some(source) = self.sources.get(file) else { return };
        let planned = source.planned();
        let base = planned.map_or(0, |planned| planned.base);
        let open = planned.and_then(|planned| planned.opened.as_ref().map(|opened| opened.buffered.clone()));
        let Some(open) = open.or_else(|| File::open(&source.path).ok().map(Arc::new)) else { return };
        let range = base + offset..(base + offset).saturating_add(bytes);
        let pages = pages(range.start, range.end - range.start);
        if self.kernel.count(&open, range.clone()).is_some_and(|held| held.cached >= pages) {
            return;
        }
        // The whole grain: what is asked by the grain is else found mostly absent.
        let start = range.start / GRAIN_BYTES * GRAIN_BYTES;
        let end = range.end.div_ceil(GRAIN_BYTES).saturating_mul(GRAIN_BYTES);
        let length = std::num::NonZeroU64::new(end.saturating_sub(start).min(PINNED_BYTES_MAX));
        let _ = rustix::fs::fadvise(&*open, start, length, rustix::fs::Advice::WillNeed);
    }

    /// Leaves out what is still to come of a file; it gets no further event.
    pub fn finish_file(&mut self, file: usize) {
        if self.sources.get(file).is_some_and(|source| !matches!(source.state, State::Ended)) {
            self.ready.retain(|ready| !matches!(ready, Ready::Chunk { file: of, .. } if *of == file));
            self.forget(file);
        }
    }

    /// The next event, or `None` when all files have ended.
    #[expect(clippy::should_implement_trait, reason = "an event lends the reader's buffer")]
    pub fn next(&mut self) -> Option<Event<'_>> {
        while self.ready.is_empty() {
            if !self.step() {
                self.tell_device_table();
                return self.unfinished();
            }
        }
        self.sources.forget_ended(self.surveyed);
        Some(match self.ready.pop_front()? {
            Ready::End { file, bytes, skipped, unknown } => Event::End { file, bytes, skipped, unknown },
            Ready::Restart(file) => Event::Restart { file },
            Ready::Failed(file, error) => Event::Failed { file, error },
            Ready::Chunk { file, offset, bytes } => {
                let bytes = match bytes {
                    Bytes::Block(range) => &self.block.bytes()[range],
                    Bytes::Linear => self.linear.as_ref()?.bytes(),
                    Bytes::Own(record) => {
                        self.own = record;
                        &self.own
                    }
                };
                self.statistics.bytes += bytes.len() as u64;
                self.statistics.chunks += 1;
                let open = match &self.linear {
                    Some(linear) if linear.file == file => Some(linear.stream()),
                    _ => self.sources.get(file).and_then(Source::opened),
                };
                Event::Chunk(Chunk { file, offset, bytes, open, block: Some(&self.block) })
            }
        })
    }

    /// Nothing is left to do: every file must have ended. One that has not is an error of ours, and no count of it is right.
    fn unfinished(&mut self) -> Option<Event<'static>> {
        let file = self.sources.first_unended()?;
        self.forget(file);
        let message =
            "not all of it was delivered: this is a defect of seekless, please report it".to_owned();
        let error = Error::new(ErrorKind::Incomplete, message).of_file(&self.sources[file].path);
        Some(Event::Failed { file, error })
    }

    /// Lets the device table learn from what was read, once; of several devices nobody knows which cost what.
    fn tell_device_table(&mut self) {
        let learned = std::mem::take(&mut self.learned);
        if let (Some(cost), Some(path), 0..2) = (learned.cost(), &self.first_path, self.dearness.len()) {
            self.kernel.learn(path, cost);
        }
    }

    /// Does the next thing, cheapest first; false when nothing is left to do.
    fn step(&mut self) -> bool {
        if self.settle() {
            return true;
        }
        if self.linear.is_some() {
            return self.read_linear();
        }
        // Where devices differ, none is read before all files are known: the next may lie on a cheaper one.
        let chosen = self.dearness.len() < 2 || self.surveyed == self.sources.len();
        if self.options.overlap && chosen && self.judge_room() != Room::Unknown {
            self.start_reads();
        }
        if let Some(done) = self.device.ready() {
            self.accept(done);
            return true;
        }
        if self.options.in_order && self.read_gap() {
            return true;
        }
        if self.read_cached() || self.survey_next() {
            return true;
        }
        self.judge_room();
        if self.read_absent() {
            return true;
        }
        // A look at what was absent may have found it cached meanwhile.
        let found = self.touched.is_some() || !self.cached_files.is_empty();
        found || !self.ready.is_empty() || self.begin_linear()
    }
}
