//! The reads of a plan by waves: what is needed first comes first, and within a wave what lies
//! first.

use super::bringing::Bringing;
use crate::warm::wave;
use std::sync::{Mutex, PoisonError};

/// Waves under way: one is made ready while the device reads another.
pub(super) const AT_ONCE: usize = 2;

/// The waves of a plan's reads.
pub(super) struct Waves<'a> {
    bringing: &'a Bringing<'a>,
    waves: wave::Waves,
    /// Held while a wave is made ready, so that waves come in their order.
    turn: Mutex<()>,
}

impl<'a> Waves<'a> {
    /// `None` where the file system does not say where files lie.
    pub(super) fn new(bringing: &'a Bringing<'a>) -> Option<Self> {
        let first = bringing.plan.reads.first()?;
        bringing.file(first)?.place(first.extent.offset)?;
        Some(Self { bringing, waves: wave::Waves::new(), turn: Mutex::new(()) })
    }

    /// Makes one more wave, and waits for it. Whether there was one.
    pub(super) fn next(&self) -> bool {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(taken) = self.bringing.take_wave() else { return false };
        let reads = taken.iter().filter_map(|read| Some((self.bringing.file(read)?, read.extent)));
        let wave = self.waves.begin(reads);
        drop(turn);
        wave.wait();
        self.bringing.are_done(taken.len());
        true
    }
}
