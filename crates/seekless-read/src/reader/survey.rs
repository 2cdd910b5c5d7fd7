//! Looking at the files of a reader: what each has in the page cache, and whether that cache is full.

use super::deliver::DEPTH_LARGE;
use super::device::Way;
use super::linear::{Linear, Start};
use super::ranges::Ranges;
use super::source::{Opened, Planned, Stamp, State};
use super::stitch::Stitch;
use super::{Reader, Ready, Trouble};
use crate::{Hold, Plan};
use seekless_sled::Confidence;
use seekless_sled::page_cache::{GRAIN_BYTES, PageRun};
use seekless_sys::memory::page_bytes;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::time::Instant;

/// Files held open at most, beside those being read.
const OPEN_MAX: usize = 128;
/// Below this, advice about readahead costs more than readahead does.
const ADVISED_BYTES: u64 = 256 << 10;
/// With less to fetch it is not worth asking how full the cache is.
pub(super) const ASKED_BYTES: u64 = 4 << 20;
/// A gap up to this size in what is cached is filled.
const HOLE_BYTES: u64 = 4 * GRAIN_BYTES;
/// A cache of this size does not miss the memory of a few more reads in flight.
const LARGE_BYTES: u64 = 1 << 30;
/// A file of which more pieces are cached is read from its first byte on: to remember so many would take more than it saves.
const RANGES_MAX: usize = 64 << 10;

/// What is believed of the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Nobody knows: what is read is kept as long as the count of kept pages grows.
    Unknown,
    /// It takes all that is missing without pushing anything out.
    Enough,
    /// It is full: what is not in it is read past it, so that what is in it stays.
    Full,
}

impl Reader {
    /// Looks at the next file that nobody looked at; false when there is none.
    pub(super) fn survey_next(&mut self) -> bool {
        let file = self.surveyed;
        let Some(source) = self.sources.get(file) else { return false };
        self.surveyed += 1;
        if !matches!(source.state, State::New) {
            return true;
        }
        if let Err(error) = self.survey(file) {
            self.fail(file, error);
        }
        true
    }

    /// What a device costs matters only beside another's: a lone file is not asked about.
    fn dearness_ns(&mut self, file: usize, device: u64) -> u64 {
        if self.sources.len() == 1 {
            return 0;
        }
        let (kernel, path) = (&self.kernel, &self.sources[file].path);
        *self.dearness.entry(device).or_insert_with(|| kernel.dearness_ns(path))
    }

    fn survey(&mut self, file: usize) -> Result<(), Trouble> {
        let (opened, base) = self.sources[file].open().map_err(Trouble::Open)?;
        let about = opened.metadata()?;
        // A size of 0 says nothing: files of /proc have content.
        let linear = self.options.plan == Plan::Linear || !about.is_file() || about.len() <= base;
        if linear {
            // A file that was handed in was opened again, and stands at its start.
            let _ = rustix::fs::seek(&opened, rustix::fs::SeekFrom::Start(base)); // a stream has no position
            self.sources[file].state =
                State::Linear(Some(Start { stream: opened, offset: 0, begun: Vec::new() }));
            self.linear_files.push_back(file);
            return Ok(());
        }
        let stamp = Stamp::from(&about);
        let runs = self.look(file, &opened, base..stamp.bytes);
        let sampled = self.kernel.count(&opened, base..stamp.bytes).is_none();
        let dearness_ns = self.dearness_ns(file, stamp.device);
        let planned = Planned {
            stamp,
            dearness_ns,
            base,
            opened: Some(Opened::new(opened)),
            cached: Ranges::default(),
            absent: Ranges::default(),
            holes: Ranges::default(),
            hold: Hold::default(),
            in_flight: 0,
            stitch: Stitch::new(self.options.records),
            emitted: 0,
            sampled,
            looked_at: Instant::now(),
            known: runs.iter().any(|run| run.resident.is_some()),
            in_order: false,
            just_looked: true,
            surprised: false,
        };
        self.sources[file].state = State::Planned(Box::new(planned));
        self.sort_in(file, &runs);
        self.note(file);
        self.hold(file);
        self.touched = Some(file);
        Ok(())
    }

    /// Holds the end of what is cached of a file, as far as the bound allows.
    fn hold(&mut self, file: usize) {
        let wanted = self.options.hold_bytes.saturating_sub(self.statistics.held_bytes);
        if wanted == 0 {
            return;
        }
        let room = *self.headroom.get_or_insert_with(|| self.kernel.headroom());
        let most = room.map_or(u64::MAX, |room| room.bytes() / 2);
        let most = wanted.min(most.saturating_sub(self.statistics.held_bytes));
        let Some(Planned { opened: Some(opened), cached, hold, .. }) = self.sources.planned(file) else {
            return;
        };
        *hold = Hold::on(&opened.buffered, cached.iter(), most);
        self.statistics.held_bytes += hold.bytes();
    }

    /// Which parts of a file are cached; where only touching tells, by touching, if that is cheap and all is to be read.
    fn look(&self, file: usize, open: &File, range: Range<u64>) -> Vec<PageRun> {
        let grain = if self.options.cached_only { page_bytes() } else { GRAIN_BYTES };
        let unknown = PageRun {
            offset: range.start,
            bytes: range.end - range.start,
            resident: None,
            confidence: Confidence::Unknown,
        };
        let asked = self.kernel.runs(open, range.clone(), grain, false).unwrap_or_else(|_| vec![unknown]);
        let told = asked.iter().any(|run| run.resident.is_some());
        if told || self.options.cached_only || !self.kernel.may_touch(&self.sources[file].path) {
            return asked;
        }
        self.kernel.runs(open, range, grain, true).unwrap_or(asked)
    }

    /// Puts the runs of a file among what is cached or what is absent.
    ///
    /// A run that is cached but for a few pages counts as a hole: to read the pages into a full cache pushes out those that are
    /// read next, whose reading pushes out the next (seen: 26 MiB read for one missing). Where such runs are many it is worth it.
    fn sort_in(&mut self, file: usize, runs: &[PageRun]) {
        let cached = |run: &&PageRun| run.resident == Some(true);
        let holed = |run: &PageRun| run.confidence != Confidence::Exact;
        let all: u64 = runs.iter().filter(cached).map(|run| run.bytes).sum();
        let with_holes: u64 = runs.iter().filter(cached).filter(|run| holed(run)).map(|run| run.bytes).sum();
        let exact_only = self.options.cached_only || with_holes < all / 16;
        let Some(planned) = self.sources.planned(file) else { return };
        let in_pieces = planned.cached.len() + planned.absent.len() + runs.len() <= RANGES_MAX;
        for run in runs {
            if !in_pieces && !self.options.cached_only {
                planned.absent.push(run.range());
            } else if cached(&run) && !(exact_only && holed(run)) {
                planned.cached.push(run.range());
            } else {
                planned.absent.push(run.range());
            }
        }
        if all > 0 && !self.options.cached_only {
            let holes = planned.absent.split_off_small(HOLE_BYTES);
            if holes.bytes() < all / 16 {
                holes.iter().for_each(|range| planned.holes.push(range));
            } else {
                holes.iter().for_each(|range| planned.absent.push(range));
            }
        }
        if !planned.cached.is_empty() {
            self.cached_files.insert(file);
        }
        if planned.lacks() {
            self.absent_files.insert(planned.absent(file));
        }
    }

    /// Counts a file just looked at, and what it tells of the cache.
    fn note(&mut self, file: usize) {
        let Some(planned) = self.sources.planned(file) else { return };
        let Some(opened) = planned.opened.clone() else { return };
        let (absent, cached) = (planned.absent.bytes() + planned.holes.bytes(), planned.cached.bytes());
        if planned.stamp.bytes > ADVISED_BYTES {
            opened.advise_random();
        }
        self.statistics.resident_bytes += cached;
        self.statistics.resident_runs += planned.cached.len() as u64;
        self.first_path.get_or_insert_with(|| self.sources[file].path.clone());
        self.absent_bytes += absent;
        self.open_files.push_back(file);
        self.close_surplus();
    }

    /// What is believed of the cache now. Once it was seen full it stays so.
    pub(super) fn judge_room(&mut self) -> Room {
        if self.room == Room::Full || self.absent_bytes < ASKED_BYTES || self.judged == self.absent_bytes {
            return self.room;
        }
        self.judged = self.absent_bytes;
        let Some(now) = *self.headroom.get_or_insert_with(|| self.kernel.headroom()) else {
            return self.room;
        };
        if now.bytes() >= LARGE_BYTES {
            self.depth = DEPTH_LARGE;
        }
        self.room = if now.takes(self.absent_bytes) {
            Room::Enough
        } else if now.is_full_of(self.statistics.resident_bytes) {
            Room::Full
        } else {
            Room::Unknown
        };
        self.room
    }

    /// How what is absent of a file is read now.
    pub(super) fn way(&mut self, file: usize) -> Way {
        let known = self.sources.planned(file).is_some_and(|planned| planned.known);
        if known && self.room == Room::Full { self.bypass } else { Way::Keep }
    }

    /// Asks again about what of a file is still to be read.
    pub(super) fn look_again(&mut self, file: usize) {
        let Some(opened) = self.opened(file) else { return };
        let Some(planned) = self.sources.planned(file) else { return };
        let parts = [&planned.cached, &planned.absent, &planned.holes];
        let mut left: Vec<_> = parts.iter().flat_map(|part| part.iter()).collect();
        left.sort_unstable_by_key(|range| range.start);
        planned.just_looked = true;
        planned.surprised = false;
        planned.looked_at = Instant::now();
        planned.cached = Ranges::default();
        planned.absent = Ranges::default();
        planned.holes = Ranges::default();
        self.cached_files.remove(&file);
        self.absent_files.remove(&planned.absent(file));
        let mut joined = Ranges::default();
        left.into_iter().for_each(|range| joined.push(range));
        for range in joined.iter() {
            let runs = self.look(file, &opened.buffered, range);
            self.sort_in(file, &runs);
        }
        self.statistics.looks += 1;
        self.touched = Some(file);
    }

    /// The file's descriptors, opened again if they had to be closed; `None` after a failure, which is then told.
    pub(super) fn opened(&mut self, file: usize) -> Option<Opened> {
        let path = self.sources.get(file)?.path.clone();
        let reopened = match self.sources.planned(file)? {
            Planned { opened: Some(opened), .. } => return Some(opened.clone()),
            planned => File::open(path)
                .and_then(|opened| Ok((planned.stamp.is_kept_by(&Stamp::of(&opened)?), opened))),
        };
        match reopened {
            Ok((true, again)) => {
                let again = Opened::new(again);
                again.advise_random();
                self.sources.planned(file)?.opened = Some(again.clone());
                self.open_files.push_back(file);
                self.close_surplus();
                Some(again)
            }
            Ok((false, _)) => {
                self.restart(file);
                None
            }
            Err(error) => {
                self.fail(file, error);
                None
            }
        }
    }

    /// Closes the files opened longest ago; those handed in open, and what is in flight, keep their own descriptors.
    fn close_surplus(&mut self) {
        while self.open_files.len() > OPEN_MAX {
            let Some(file) = self.open_files.pop_front() else { return };
            let given = self.sources.get(file).is_some_and(|source| source.given.is_some());
            if let Some(planned) = self.sources.planned(file).filter(|_| !given) {
                planned.opened = None;
            }
        }
    }

    /// Begins the next file in the plain order; false when there is none.
    pub(super) fn begin_linear(&mut self) -> bool {
        while let Some(file) = self.linear_files.pop_front() {
            let State::Linear(stream) = &mut self.sources[file].state else { continue };
            let stream = stream.take();
            match stream.map_or_else(|| self.reopen(file), Ok) {
                Ok(stream) => {
                    self.linear = Some(Linear::new(file, stream));
                    return true;
                }
                Err(error) => {
                    self.fail(file, error);
                    return true;
                }
            }
        }
        false
    }

    /// For a file that is begun again: from where it was to start.
    fn reopen(&self, file: usize) -> io::Result<Start> {
        let (stream, base) = self.sources[file].open()?;
        rustix::fs::seek(&stream, rustix::fs::SeekFrom::Start(base))?;
        Ok(Start { stream, offset: 0, begun: Vec::new() })
    }

    /// The file is not what it was: all of it again, in the plain order.
    pub(super) fn restart(&mut self, file: usize) {
        self.ready.retain(|ready| !matches!(ready, Ready::Chunk { file: of, .. } if *of == file));
        self.forget(file);
        self.sources[file].state = State::Linear(None);
        self.linear_files.push_back(file);
        self.statistics.restarts += 1;
        self.ready.push_back(Ready::Restart(file));
    }

    /// What was read before the trouble is still handed out.
    pub(super) fn fail(&mut self, file: usize, trouble: impl Into<Trouble>) {
        self.forget(file);
        let error = trouble.into().of_file(&self.sources[file].path);
        self.ready.push_back(Ready::Failed(file, error));
    }

    /// Reads no more of a file.
    pub(super) fn forget(&mut self, file: usize) {
        self.cached_files.remove(&file);
        if let Some(planned) = self.sources.planned(file) {
            self.absent_files.remove(&planned.absent(file));
        }
        if self.linear.as_ref().is_some_and(|linear| linear.file == file) {
            self.linear = None;
        }
        let source = &mut self.sources[file];
        source.life += 1;
        source.state = State::Ended;
    }
}
