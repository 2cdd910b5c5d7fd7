//! The reads of a plan, which several threads take in order; and the trial that shows how many of
//! them the device serves at once.

use super::at_once::{self, Found};
use super::plan::{Plan, PlannedRead, Trial};
use super::proof::Proof;
use crate::warm::bring::{Opened, open};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often the trial is looked at.
const TICK: Duration = Duration::from_millis(1);

/// A file that was opened, if it may be brought in.
type Tried = Option<Arc<Opened>>;

/// The reads of a plan.
pub(super) struct Bringing<'a> {
    pub(super) plan: &'a Plan,
    next: AtomicUsize,
    done: AtomicUsize,
    stop: AtomicBool,
    proof: Proof,
    /// Whether files are left alone that pay only if several requests are served at once.
    only_sure: AtomicBool,
    /// By read: whether a thread has taken it.
    taken: Vec<AtomicBool>,
    /// By file, once it was tried; `None` inside is a file that is left out.
    opened: Vec<Mutex<Option<Tried>>>,
}

impl<'a> Bringing<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        let opened = plan.files.iter().map(|_| Mutex::new(None)).collect();
        let taken = plan.reads.iter().map(|_| AtomicBool::new(false)).collect();
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (stop, only_sure) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { plan, next, done, stop, proof: Proof::new(), only_sure, taken, opened }
    }

    /// Does one more read. Whether there was one.
    pub(super) fn next(&self) -> bool {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(read) = self.plan.reads.get(at) else { return false };
        let is_early = at < self.plan.early_reads();
        if self.is_stopped() || !(is_early || self.proof.wait()) {
            return false;
        }
        if self.take(at) {
            let alone = self.only_sure.load(Ordering::Relaxed) && self.plan.files[read.file].hoped;
            if let Some(opened) = self.file(read).filter(|_| !alone) {
                opened.bring_in(&[read.extent], &self.stop);
            }
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        true
    }

    /// The reads of the next wave that are nobody's yet. `None` if none are left, or all is over.
    pub(super) fn take_wave(&self) -> Option<Vec<PlannedRead>> {
        let from = self.next.load(Ordering::Relaxed);
        if from >= self.plan.early_reads() && !self.proof.wait() || self.is_stopped() {
            return None;
        }
        let end = self.plan.wave_end(from);
        if end == from {
            return None;
        }
        self.next.store(end, Ordering::Relaxed);
        let untaken = (from..end).filter(|at| self.take(*at));
        Some(untaken.map(|at| self.plan.reads[at]).collect())
    }

    /// So many reads of a wave have ended.
    pub(super) fn are_done(&self, count: usize) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    /// Whether a read is this thread's to do.
    fn take(&self, at: usize) -> bool {
        !self.taken[at].swap(true, Ordering::Relaxed)
    }

    /// The file of a read, if it may be brought in.
    pub(super) fn file(&self, read: &PlannedRead) -> Option<Arc<Opened>> {
        let mut opened = self.opened[read.file].lock().ok()?;
        let file = &self.plan.files[read.file];
        let tried = || open(&file.path, &file.recorded, &self.plan.within).ok().map(Arc::new);
        let is_first = opened.is_none();
        let found = opened.get_or_insert_with(tried).clone();
        if is_first && found.is_some() {
            self.proof.brought_in(&file.path);
        }
        found
    }

    /// Looks whether the program opens what is brought in; to be done by a thread of its own.
    pub(super) fn prove(&self) {
        self.proof.look();
    }

    /// Waits until that is seen; false if it will not be.
    pub(super) fn is_proven(&self) -> bool {
        self.proof.wait()
    }

    /// Whether that is yet to be seen.
    pub(super) fn is_unproven(&self) -> bool {
        self.proof.is_open()
    }

    pub(super) fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.proof.is_over();
    }

    /// Set once nothing more is to be brought in.
    pub(super) fn stopped(&self) -> &AtomicBool {
        &self.stop
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn is_done(&self) -> bool {
        self.done() >= self.plan.reads.len() || self.is_stopped()
    }

    /// Makes the reads of a trial: some alone, then `ready` is called and many are made together.
    /// `None` if too few of them had to be read from the device.
    pub(super) fn trial(&self, trial: &Trial, ready: impl FnOnce()) -> Option<Found> {
        let found = self.found(trial, ready);
        if found.is_none_or(|found| found.at_once < 2) {
            self.only_sure.store(true, Ordering::Relaxed);
        }
        found
    }

    fn found(&self, trial: &Trial, ready: impl FnOnce()) -> Option<Found> {
        let mut alone = Vec::new();
        let mut places = trial.reads.iter().copied();
        while alone.len() < at_once::ALONE {
            alone.extend(self.timed(places.next()?));
        }
        let together = Together {
            bringing: self,
            places: &trial.reads[trial.reads.len() - places.len()..],
            next: AtomicUsize::new(0),
            read: AtomicUsize::new(0),
            over: AtomicUsize::new(0),
        };
        together.judge(&alone, ready)
    }

    /// Makes a read, and says how long it took if the device had to serve all of it.
    fn timed(&self, at: usize) -> Option<Duration> {
        if !self.take(at) {
            return None;
        }
        let read = &self.plan.reads[at];
        let opened = self.file(read);
        let cached = opened.as_ref().and_then(|opened| opened.cached(read.extent));
        let started = Instant::now();
        if let Some(opened) = opened {
            opened.bring_in(&[read.extent], &self.stop);
        }
        self.done.fetch_add(1, Ordering::Relaxed);
        (cached == Some(0)).then(|| started.elapsed())
    }
}

/// The reads of a trial that are made together.
struct Together<'a> {
    bringing: &'a Bringing<'a>,
    places: &'a [usize],
    next: AtomicUsize,
    /// Reads that the device has served.
    read: AtomicUsize,
    /// Threads that have ended.
    over: AtomicUsize,
}

impl Together<'_> {
    fn judge(&self, alone: &[Duration], ready: impl FnOnce()) -> Option<Found> {
        let started = Instant::now();
        let threads = at_once::THREADS.min(self.places.len());
        let found = || Found::of(alone, self.read.load(Ordering::Relaxed), started.elapsed());
        std::thread::scope(|scope| {
            if seekless_job::crew::start(scope, threads, || self.work()).is_err() {
                return None;
            }
            ready();
            while self.over.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(TICK);
                let settled = found().filter(|it| it.is_settled(alone, started.elapsed()));
                if settled.is_some() {
                    self.next.store(self.places.len(), Ordering::Relaxed);
                    return settled;
                }
            }
            found()
        })
    }

    fn work(&self) {
        while let Some(&place) = self.places.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if self.bringing.is_stopped() {
                break;
            }
            if self.bringing.timed(place).is_some() {
                self.read.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.over.fetch_add(1, Ordering::Relaxed);
    }
}
