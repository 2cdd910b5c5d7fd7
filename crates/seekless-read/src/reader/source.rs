//! One file or stream of a reader: how it is opened, what identifies it, and what of it is still to come.

use super::device::DIRECT_BYTES;
use super::linear::Start;
use super::ranges::Ranges;
use super::stitch::Stitch;
use crate::Hold;
use rustix::fs::SeekFrom;
use seekless_sys::descriptor::by_descriptor;
use seekless_sys::direct;
use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    /// The file or stream that was handed in open.
    pub(super) given: Option<File>,
    /// Goes up when the file is begun again or given up: what is still in flight then is of another life.
    pub(super) life: u32,
    pub(super) state: State,
}

#[derive(Debug)]
pub(super) enum State {
    /// Not yet looked at.
    New,
    /// In the order of cost.
    Planned(Box<Planned>),
    /// From the first byte to the last, when its turn comes.
    Linear(Option<Start>),
    Ended,
}

/// A regular file that is read in the order of cost. Offsets are the file's own; `base` is where reading was to start.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) stamp: Stamp,
    /// What the first byte from its device costs, in nanoseconds.
    pub(super) dearness_ns: u64,
    pub(super) base: u64,
    pub(super) opened: Option<Opened>,
    pub(super) cached: Ranges,
    pub(super) absent: Ranges,
    /// Small gaps in what is cached: read last, and kept, so that the kept set does not go to pieces.
    pub(super) holes: Ranges,
    /// Of what is cached, what is held until it is read.
    pub(super) hold: Hold,
    pub(super) in_flight: usize,
    pub(super) stitch: Stitch,
    /// Bytes delivered.
    pub(super) emitted: u64,
    /// Whether anybody could tell what is cached.
    pub(super) known: bool,
    /// Whether that was by touching samples, which is not asked for twice.
    pub(super) sampled: bool,
    /// Records were too long to be kept in pieces: what is left comes from the front.
    pub(super) in_order: bool,
    /// A look that found other than expected: the next window is read without another.
    pub(super) just_looked: bool,
    /// A read of what counted as cached took too long to have been that.
    pub(super) surprised: bool,
    pub(super) looked_at: Instant,
}

/// A file's descriptors: ours alone, so that advice about them concerns nobody else.
#[derive(Clone, Debug)]
pub(super) struct Opened {
    pub(super) buffered: Arc<File>,
    /// Opened when first wanted; `None` inside where the file system refuses it.
    pub(super) direct: Option<Option<Arc<File>>>,
    /// Opened when first wanted.
    ahead: Option<Arc<File>>,
}

/// A file of which something is to come from its device, cheap devices first, then in the order in which files were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Absent {
    dearness_ns: u64,
    pub(super) file: usize,
}

/// What tells a file from another, and whether it was cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp {
    pub(super) device: u64,
    inode: u64,
    /// Where the system keeps it: an inode's number may come round again.
    born: Option<SystemTime>,
    pub(super) bytes: u64,
}

impl Planned {
    /// Its place among the files that are read from devices.
    pub(super) fn absent(&self, file: usize) -> Absent {
        Absent { dearness_ns: self.dearness_ns, file }
    }

    /// Whether anything that is not cached is still to come.
    pub(super) fn lacks(&self) -> bool {
        !self.absent.is_empty() || !self.holes.is_empty()
    }

    /// Whether a hole is to be read next.
    pub(super) fn fills_hole(&self, cached_over: bool) -> bool {
        self.absent.is_empty() || (cached_over && !self.holes.is_empty())
    }

    /// Whether every byte has been handed out, the last record once it is.
    pub(super) fn is_delivered(&self) -> bool {
        self.emitted + self.stitch.kept() as u64 == self.stamp.bytes - self.base
    }

    /// From here on all that is left comes from the front, and these ranges once more.
    pub(super) fn go_in_order(&mut self, again: Vec<Range<u64>>) {
        self.in_order = true;
        let base = self.base;
        let mut left: Vec<_> =
            [&self.cached, &self.absent, &self.holes].iter().flat_map(|part| part.iter()).collect();
        left.extend(again.into_iter().map(|range| base + range.start..base + range.end));
        left.sort_unstable_by_key(|range| range.start);
        (self.cached, self.absent, self.holes) = Default::default();
        left.into_iter().for_each(|range| self.absent.push(range));
    }
}

impl Stamp {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let about = file.metadata()?;
        Ok(Stamp::from(&about))
    }

    /// Whether `now` is the same file, and no byte of it was cut off. Times and what was appended say nothing of the bytes that
    /// were there.
    pub(super) fn is_kept_by(&self, now: &Stamp) -> bool {
        (self.device, self.inode, self.born) == (now.device, now.inode, now.born) && now.bytes >= self.bytes
    }
}

impl From<&Metadata> for Stamp {
    fn from(about: &Metadata) -> Self {
        Stamp { device: about.dev(), inode: about.ino(), born: about.created().ok(), bytes: about.len() }
    }
}

impl Source {
    pub(super) fn new(path: &Path, given: Option<File>) -> Self {
        Source { path: path.to_owned(), given, life: 0, state: State::New }
    }

    /// A descriptor of the reader's own, and where in the file reading starts.
    pub(super) fn open(&self) -> io::Result<(File, u64)> {
        let Some(given) = &self.given else { return Ok((File::open(&self.path)?, 0)) };
        let start = rustix::fs::seek(given, SeekFrom::Current(0)).unwrap_or(0);
        let regular = given.metadata()?.is_file();
        let own = if regular { File::open(by_descriptor(given)).ok() } else { None };
        Ok((own.map_or_else(|| given.try_clone(), Ok)?, start))
    }

    pub(super) fn planned(&self) -> Option<&Planned> {
        match &self.state {
            State::Planned(planned) => Some(planned),
            _ => None,
        }
    }

    pub(super) fn planned_mut(&mut self) -> Option<&mut Planned> {
        match &mut self.state {
            State::Planned(planned) => Some(planned),
            _ => None,
        }
    }

    /// The descriptor that it is read by, where it is open.
    pub(super) fn opened(&self) -> Option<&File> {
        self.planned()?.opened.as_ref().map(|opened| &*opened.buffered)
    }

    /// Leaves a file that was handed in where a plain reader would leave it.
    pub(super) fn leave_at(&self, offset: u64) {
        if let Some(given) = &self.given {
            let _ = rustix::fs::seek(given, SeekFrom::Start(offset)); // a stream has no position
        }
    }
}

impl Opened {
    pub(super) fn new(file: File) -> Self {
        Opened { buffered: Arc::new(file), direct: None, ahead: None }
    }

    /// No readahead: it would fetch what was not asked for, and leave markers that set off more of it.
    pub(super) fn advise_random(&self) {
        let _ = rustix::fs::fadvise(&*self.buffered, 0, None, rustix::fs::Advice::Random);
    }

    /// The descriptor for filling a cache that has room: with readahead, which brings in large folios. A file cached by exact
    /// reads lies in single pages, and to ask about it or to map it costs several times as much.
    pub(super) fn ahead(&mut self) -> Arc<File> {
        let buffered = &self.buffered;
        let open = || File::open(by_descriptor(&**buffered)).map_or_else(|_| Arc::clone(buffered), Arc::new);
        Arc::clone(self.ahead.get_or_insert_with(open))
    }

    /// The descriptor for reads past the page cache, where there is one that takes whole pages.
    pub(super) fn direct(&mut self) -> Option<Arc<File>> {
        let buffered = &self.buffered;
        self.direct
            .get_or_insert_with(|| {
                let alignment = direct::alignment(buffered.as_fd()).ok()?;
                if u64::from(alignment.memory_bytes.max(alignment.offset_bytes)) > DIRECT_BYTES {
                    return None;
                }
                direct::open_direct(&by_descriptor(&**buffered)).ok().flatten().map(Arc::new)
            })
            .clone()
    }
}
