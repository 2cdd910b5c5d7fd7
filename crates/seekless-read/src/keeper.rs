//! Reads an open file by *freeze and bypass*, for programs that choose their reads themselves
//! ([`FilePicker`](crate::FilePicker)). Cached bytes are copied out of the cache without setting
//! off readahead. Others come in by whole large folios while there is room, and are read past the
//! cache afterwards. [`Reader`](crate::Reader) does the same where it may choose the reads.

mod ours;
mod pieces;

use crate::bypass::Bypass;
use crate::cached;
use crate::headroom::{self, Headroom};
use crate::room::{Belief, Room};
use crate::{Error, ErrorKind, Hold};
use pieces::{Pieces, Stamp};
use rustix::fs::Advice;
use seekless_sys::descriptor::by_descriptor;
use seekless_sys::folios::{self, FOLIO_BYTES};
use seekless_sys::guarded::GuardedMap;
use seekless_sys::memory::page_bytes;
use seekless_sys::reads::{Caching, fill};
use seekless_sys::residency;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A piece in more runs than this is not read run by run.
const RUNS_MAX: usize = 8;
/// If less than this is absent, it is not worth asking how full the cache is.
const ASKED_BYTES: u64 = 1 << 20;
/// After this many bytes read, the cache is asked how many of them it kept.
const STEP_BYTES: u64 = 4 << 20;
/// Smaller ranges are not worth a mapping.
const HELD_BYTES_MIN: u64 = 64 << 10;

/// Keeps a file's cached bytes cached while it is read. Each call takes the file, which must always
/// be the same one. Any number of threads may read at a time.
///
/// The first read that would push something out advises the descriptor `POSIX_FADV_RANDOM`: only
/// then does a read past the cache leave the rest of it alone. [`finish`](Self::finish) takes the
/// advice back. No second descriptor is opened, because closing it would release the process's
/// record locks on the file.
///
/// ```
/// use seekless_read::Keeper;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("data");
/// # std::fs::write(&path, "one\ntwo\n")?;
/// let file = std::fs::File::open(&path)?;
/// let keeper = Keeper::new(&file)?;
/// let mut buffer = [0; 100];
/// assert_eq!(keeper.read(&file, &mut buffer, 4)?, 4);
/// assert_eq!(&buffer[..4], b"two\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Keeper {
    /// Device and inode.
    identity: (u64, u64),
    headroom: fn() -> Option<Headroom>,
    /// Judged at the first read.
    room: Mutex<Option<Room>>,
    /// Whether the descriptor was advised.
    advised: AtomicBool,
    bypass: Bypass,
    pieces: Mutex<Pieces>,
    hold: Mutex<Hold>,
}

/// How absent bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// As `pread` does.
    Plain,
    /// Into the cache.
    Keep,
    /// Past the cache.
    Past,
}

/// One read.
struct Asked<'a> {
    file: &'a File,
    stamp: Stamp,
    way: Way,
    /// Whether it is a search, so that the same bytes will be read again.
    again: bool,
}

impl Keeper {
    /// A keeper for an open file. Nothing is asked or advised before the first read.
    ///
    /// # Errors
    /// The system refuses to describe the file.
    pub fn new(file: &File) -> Result<Self, Error> {
        Self::with_headroom(file, headroom::tightest)
    }

    /// As [`new`](Self::new), with `headroom` in place of a look at the system.
    pub(crate) fn with_headroom(
        file: &File,
        headroom: fn() -> Option<Headroom>,
    ) -> Result<Self, Error> {
        let about = file.metadata().map_err(found(file))?;
        Ok(Keeper {
            identity: (about.dev(), about.ino()),
            headroom,
            room: Mutex::default(),
            advised: AtomicBool::new(false),
            bypass: Bypass::default(),
            pieces: Mutex::default(),
            hold: Mutex::default(),
        })
    }

    /// Reads into the buffer from `offset` on; returns the number of bytes, fewer than asked for
    /// only at the end of the file.
    ///
    /// # Errors
    /// The descriptor is of another file now, or the system refuses. The buffer's content is
    /// meaningless then.
    pub fn read(&self, file: &File, buffer: &mut [u8], offset: u64) -> Result<usize, Error> {
        let read = self.read_as(file, buffer, offset, false)?;
        self.let_go(offset..offset.saturating_add(read as u64));
        Ok(read)
    }

    /// As [`read`](Self::read), for bytes that will be read again at once.
    pub(crate) fn search(
        &self,
        file: &File,
        buffer: &mut [u8],
        offset: u64,
    ) -> Result<usize, Error> {
        self.read_as(file, buffer, offset, true)
    }

    /// Whether anything was read through this keeper.
    pub(crate) fn is_used(&self) -> bool {
        lock(&self.room).is_some()
    }

    /// Holds the cached parts of `ranges`, which ascend, in memory until they were read or the
    /// keeper is dropped (Van Meter and Gao 2000, section 3.4). The last come first, up to
    /// `bytes_max` and half of what the cache may hold. Returns the bytes held. An earlier hold is
    /// released.
    pub fn hold(
        &self,
        file: &File,
        ranges: impl Iterator<Item = Range<u64>>,
        bytes_max: u64,
    ) -> u64 {
        let most = (self.headroom)().map_or(u64::MAX, |room| room.bytes() / 2);
        let mut cached = Vec::new();
        for range in ranges {
            let runs = residency::runs(file.as_fd(), range, page_bytes()).ok().flatten();
            let held = runs.into_iter().flatten().filter(|run| run.resident).map(|run| run.range);
            cached.extend(held.filter(|range| range.end - range.start >= HELD_BYTES_MIN));
        }
        let mut hold = lock(&self.hold);
        *hold = Hold::default();
        *hold = Hold::on(file, cached.into_iter(), bytes_max.min(most));
        hold.bytes()
    }

    /// Releases held ranges that were read now.
    pub(crate) fn let_go(&self, read: Range<u64>) {
        lock(&self.hold).let_go(&read);
    }

    /// Takes back the advice about the descriptor, and releases what is held.
    pub fn finish(&self, file: &File) {
        *lock(&self.hold) = Hold::default();
        let same = file.metadata().is_ok_and(|about| (about.dev(), about.ino()) == self.identity);
        if same && self.advised.swap(false, Ordering::Relaxed) {
            let _ = rustix::fs::fadvise(file, 0, None, Advice::Normal); // only advice
        }
    }

    fn read_as(
        &self,
        file: &File,
        buffer: &mut [u8],
        offset: u64,
        again: bool,
    ) -> Result<usize, Error> {
        let about = file.metadata().map_err(found(file))?;
        if (about.dev(), about.ino()) != self.identity {
            return Err(changed(file, "is another file now: begin again"));
        }
        let bytes = (buffer.len() as u64).min(about.len().saturating_sub(offset)) as usize;
        let stamp = (about.len(), about.mtime(), about.mtime_nsec());
        let asked = Asked { file, stamp, way: self.way(file, about.len()), again };
        self.fill(&asked, &mut buffer[..bytes], offset).map_err(found(file))
    }

    /// How absent bytes are read, judged at the first read.
    fn way(&self, file: &File, file_bytes: u64) -> Way {
        let mut room = lock(&self.room);
        let room = room.get_or_insert_with(|| {
            let judged = self.judge(file, file_bytes);
            if judged.belief() != Belief::Enough {
                self.advised.store(true, Ordering::Relaxed);
                let _ = rustix::fs::fadvise(file, 0, None, Advice::Random); // only advice
            }
            judged
        });
        match room.belief() {
            Belief::Enough => Way::Plain,
            Belief::Free(_) | Belief::Trial => Way::Keep,
            Belief::Full => Way::Past,
        }
    }

    fn judge(&self, file: &File, file_bytes: u64) -> Room {
        // Where it is unknown what is cached, a read is a plain one.
        let Some(cached) = cached_bytes(file, file_bytes) else { return Room::new(Belief::Enough) };
        let ours = ours::note(self.identity, cached);
        match file_bytes - cached {
            absent if absent < ASKED_BYTES => Room::new(Belief::Enough),
            absent => Room::of_file(absent, cached, ours, (self.headroom)()),
        }
    }

    /// Counts bytes that were brought in.
    fn kept(&self, asked: &Asked, bytes: u64) {
        if let Some(room) = &mut *lock(&self.room) {
            room.kept(0, bytes, STEP_BYTES, || cached_bytes(asked.file, asked.stamp.0));
            if room.belief() == Belief::Full {
                cached_bytes(asked.file, asked.stamp.0)
                    .map(|cached| ours::note(self.identity, cached));
            }
        }
    }

    /// Reads folio by folio. The buffer ends at the end of the file.
    fn fill(&self, asked: &Asked, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if asked.way == Way::Plain {
            return fill(asked.file, buffer, offset, Caching::Usual);
        }
        let mut filled = 0;
        while filled < buffer.len() {
            let start = offset + filled as u64;
            let bytes =
                (FOLIO_BYTES - start % FOLIO_BYTES).min((buffer.len() - filled) as u64) as usize;
            let read = self.part(asked, &mut buffer[filled..filled + bytes], start)?;
            filled += read;
            if read < bytes {
                break;
            }
        }
        Ok(filled)
    }

    /// Reads a part that lies in one folio.
    fn part(&self, asked: &Asked, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = buffer.len() as u64;
        match residency::count(asked.file.as_fd(), offset, bytes).map(|pages| pages.cached) {
            Ok(0) => self.absent(asked, buffer, offset),
            Ok(cached) if cached == cached::pages(offset, bytes) => {
                self.cached(asked, buffer, offset)
            }
            Ok(_) => self.mixed(asked, buffer, offset),
            Err(_) => fill(asked.file, buffer, offset, Caching::Usual),
        }
    }

    fn cached(&self, asked: &Asked, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if cached::copy(asked.file, buffer, offset) {
            return Ok(buffer.len());
        }
        self.bypass.fill(asked.file, buffer, offset)
    }

    /// Reads a partly cached part, run by run. One read over both kinds would obey the marks for
    /// readahead that it meets.
    fn mixed(&self, asked: &Asked, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let start = offset / page_bytes() * page_bytes();
        let before = (offset - start) as usize;
        let end = offset + buffer.len() as u64;
        let Some(runs) = residency::runs(asked.file.as_fd(), start..end, page_bytes())? else {
            return self.absent(asked, buffer, offset);
        };
        let map = GuardedMap::new(asked.file, start, before + buffer.len());
        let Some(map) = map.filter(|_| runs.len() <= RUNS_MAX) else {
            return self.bypass.fill(asked.file, buffer, offset);
        };
        let mut filled = 0;
        for run in runs {
            let part = &mut buffer[filled..(run.range.end - offset) as usize];
            let (at, bytes) = (offset + filled as u64, part.len());
            // Pages that are not mapped yet are faulted in one by one; the mapping reads nothing
            // ahead.
            let copied =
                run.resident && cached::copy_of(&map, asked.file, part, at, before + filled);
            let read = if copied { bytes } else { self.absent(asked, part, at)? };
            filled += read;
            if read < bytes {
                break;
            }
        }
        Ok(filled)
    }

    fn absent(&self, asked: &Asked, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match asked.way {
            Way::Keep => self.bring_in(asked, buffer, offset),
            _ if asked.again => self.search_past(asked, buffer, offset),
            _ => self.past_pieces(asked, buffer, offset),
        }
    }

    /// Reads into the cache: the whole folio around the part if nothing of it is cached, otherwise
    /// exactly the part.
    fn bring_in(&self, asked: &Asked, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let start = offset / FOLIO_BYTES * FOLIO_BYTES;
        let end = (start + FOLIO_BYTES).min(asked.stamp.0);
        let empty = residency::count(asked.file.as_fd(), start, end - start)
            .is_ok_and(|pages| pages.cached == 0);
        let map = if empty { folios::bring_in(asked.file, start..end) } else { None };
        let brought = if map.is_some() { end - start } else { buffer.len() as u64 };
        let before = (offset - start) as usize;
        let copied =
            map.is_some_and(|map| cached::copy_of(&map, asked.file, buffer, offset, before));
        let read =
            if copied { buffer.len() } else { fill(asked.file, buffer, offset, Caching::Usual)? };
        self.kept(asked, brought);
        Ok(read)
    }

    /// Reads whole pages past the cache, and keeps them for the program, which will ask for the
    /// same bytes.
    fn search_past(&self, asked: &Asked, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let start = offset / page_bytes() * page_bytes();
        let before = (offset - start) as usize;
        let held = lock(&self.pieces).at(offset, asked.stamp);
        let (piece, at) = match held.filter(|(piece, at)| piece.len() - at >= buffer.len()) {
            Some(held) => held,
            None => {
                let mut piece =
                    vec![0; (before + buffer.len()).next_multiple_of(page_bytes() as usize)];
                let read = self.bypass.fill(asked.file, &mut piece, start)?;
                piece.truncate(read);
                let piece = Arc::new(piece);
                lock(&self.pieces).add(start, asked.stamp, Arc::clone(&piece));
                (piece, before)
            }
        };
        let found = piece.get(at..).unwrap_or_default();
        let bytes = found.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&found[..bytes]);
        Ok(bytes)
    }

    /// Reads past the cache what no search has read.
    fn past_pieces(&self, asked: &Asked, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            let (at, rest) = (offset + filled as u64, &mut buffer[filled..]);
            let (held, next) = {
                let pieces = lock(&self.pieces);
                (pieces.at(at, asked.stamp), pieces.next_after(at, asked.stamp))
            };
            if let Some((piece, start)) = held {
                let bytes = rest.len().min(piece.len() - start);
                rest[..bytes].copy_from_slice(&piece[start..start + bytes]);
                filled += bytes;
                continue;
            }
            let bytes = next.map_or(rest.len(), |next| rest.len().min((next - at) as usize));
            let read = self.bypass.fill(asked.file, &mut rest[..bytes], at)?;
            filled += read;
            if read < bytes {
                break;
            }
        }
        Ok(filled)
    }
}

/// The bytes of the file that are cached; `None` if unknown.
fn cached_bytes(file: &File, file_bytes: u64) -> Option<u64> {
    let pages = residency::count(file.as_fd(), 0, file_bytes).ok()?;
    Some((pages.cached * page_bytes()).min(file_bytes))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file's name as far as the system knows it.
fn named(file: &File) -> String {
    let by = by_descriptor(file);
    std::fs::read_link(&by).unwrap_or(by).display().to_string()
}

pub(crate) fn found(file: &File) -> impl Fn(io::Error) -> Error + '_ {
    move |error| Error::from(error).of_file(named(file).as_ref())
}

/// The file changed in a way that leaves no right answer.
pub(crate) fn changed(file: &File, how: &str) -> Error {
    Error::new(ErrorKind::Changed, how).of_file(named(file).as_ref())
}

#[cfg(test)]
mod tests;
