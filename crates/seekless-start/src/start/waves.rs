//! Reads by waves. What is needed first comes first, but the reads of one wave are made in the
//! order in which they lie on the device, and handed over at once: the kernel then joins those that
//! lie side by side into one request, also where they are of several files.

use super::bringing::Bringing;
use super::plan::{PlannedRead, WAVE_READS_MAX};
use crate::warm::bring::Opened;
use rustix::fs::{Advice, fadvise};
use seekless_engine::{AlignedBuf, Completion, Engine, EngineKind, Read, Ring, build};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

/// Waves under way: one is made ready while the device reads another.
pub(super) const AT_ONCE: usize = 2;

/// The waves of a plan's reads.
pub(super) struct Waves<'a> {
    bringing: &'a Bringing<'a>,
    engine: Arc<dyn Engine>,
    /// Held while a wave is made ready, so that waves come in their order.
    turn: Mutex<()>,
}

/// A read of a wave, and where it lies.
struct Placed {
    place: u64,
    read: PlannedRead,
    opened: Arc<Opened>,
}

impl<'a> Waves<'a> {
    /// `None` where the file system does not say where files lie, or no engine can be had.
    pub(super) fn new(bringing: &'a Bringing<'a>) -> Option<Self> {
        let first = bringing.plan.reads.first()?;
        bringing.file(first)?.place(first.extent.offset)?;
        let ring = Ring::with_depth(WAVE_READS_MAX as u32)
            .ok()
            .map(|ring| Arc::new(ring) as Arc<dyn Engine>);
        let engine = ring.or_else(|| build(EngineKind::Auto).ok())?;
        Some(Self { bringing, engine, turn: Mutex::new(()) })
    }

    /// Makes one more wave, and waits for it. Whether there was one.
    pub(super) fn next(&self) -> bool {
        let (done, ended) = channel();
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(taken) = self.bringing.take_wave() else { return false };
        let mut wave: Vec<Placed> = taken.iter().filter_map(|read| self.placed(read)).collect();
        wave.sort_by_key(|read| read.place);
        self.engine.submit(wave.into_iter().filter_map(|read| read.asked(&done)).collect());
        drop((turn, done));
        ended.iter().for_each(drop);
        self.bringing.are_done(taken.len());
        true
    }

    fn placed(&self, read: &PlannedRead) -> Option<Placed> {
        let opened = self.bringing.file(read)?;
        let place = opened.place(read.extent.offset).unwrap_or(u64::MAX);
        Some(Placed { place, read: *read, opened })
    }
}

impl Placed {
    /// The read, unless all of it is cached, or there is no memory for it.
    fn asked(self, done: &Sender<Completion>) -> Option<Read> {
        let extent = self.read.extent;
        if self.opened.cached(extent).is_some_and(|bytes| bytes >= extent.bytes) {
            return None;
        }
        let buffer = AlignedBuf::try_with_capacity(usize::try_from(extent.bytes).ok()?).ok()?;
        // Else the kernel reads more than is asked for.
        let _ = fadvise(&self.opened.file, 0, None, Advice::Random);
        let (file, done) = (Arc::clone(&self.opened.file), done.clone().into());
        Some(Read { file, offset: extent.offset, buffer, tag: 0, done })
    }
}
