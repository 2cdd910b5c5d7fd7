//! The frame table of a cache: one state byte an id.

use super::command::Sink;
use crate::eviction::{Id, PageState, Pool};

/// In the cache, as the policy sees it.
pub(super) const RESIDENT: u8 = 1;
/// Being read from the device. In flight and not resident is an *orphan*: evicted before its read
/// ended.
pub(super) const IN_FLIGHT: u8 = 2;
/// Written to, and not yet written back. Only a resident id is dirty: its eviction starts the
/// write-back.
pub(super) const DIRTY: u8 = 4;
/// Being written to the device. In write-back and not resident is an orphan too.
pub(super) const IN_WRITE_BACK: u8 = 8;
/// Dirty and written back again while its write-back was under way: the next one starts when that
/// one ends, since a device may carry out two writes of one place in either order.
pub(super) const WRITE_AGAIN: u8 = 16;
const BUSY: u8 = IN_FLIGHT | IN_WRITE_BACK;

/// One state byte an id, and the dirty ids.
#[derive(Debug, Default)]
pub(super) struct Frames {
    pub(super) states: Vec<u8>,
    /// How many ids are dirty.
    pub(super) dirty: u64,
    /// All dirty ids in the order in which they became dirty, with stale ids among them. `None`
    /// unless the owner asks for it.
    pub(super) log: Option<Vec<Id>>,
}

impl Frames {
    pub(super) fn pool<'a, S: Sink>(&'a mut self, sink: &'a mut S) -> FramePool<'a, S> {
        FramePool { states: &mut self.states, dirty: &mut self.dirty, sink }
    }

    #[inline]
    pub(super) fn soil(&mut self, id: Id) {
        let state = &mut self.states[id as usize];
        if *state & DIRTY == 0 {
            *state |= DIRTY;
            self.dirty += 1;
            self.note(id);
        }
    }

    fn note(&mut self, id: Id) {
        let Some(log) = &mut self.log else { return };
        log.push(id);
        // There are never many more stale entries than true ones: amortised O(1).
        if log.len() as u64 > 2 * self.dirty + 1024 {
            let kept = take_dirty(log, &mut self.states);
            *log = kept;
        }
    }

    pub(super) fn clean(&mut self, id: Id) {
        let state = &mut self.states[id as usize];
        self.dirty -= u64::from(*state & DIRTY != 0);
        *state &= !DIRTY;
    }

    /// Removes from the log the dirty ids for which `chosen` is true, and returns them in its
    /// order.
    pub(super) fn take(&mut self, mut chosen: impl FnMut(Id) -> bool) -> Vec<Id> {
        let Some(log) = &mut self.log else { return Vec::new() };
        let mut wanted = take_dirty(log, &mut self.states);
        log.clear();
        wanted.retain(|&id| {
            let yes = chosen(id);
            if !yes {
                log.push(id);
            }
            yes
        });
        wanted
    }
}

/// The dirty ids of `log`, each once, at its first place. An id that was written back and became
/// dirty again keeps the earlier place.
fn take_dirty(log: &[Id], states: &mut [u8]) -> Vec<Id> {
    let mut kept = Vec::new();
    for &id in log {
        if states[id as usize] & DIRTY != 0 {
            states[id as usize] &= !DIRTY; // marks it as seen
            kept.push(id);
        }
    }
    kept.iter().for_each(|&id| states[id as usize] |= DIRTY);
    kept
}

/// Starts the write-back of an id, or has it follow the one that is under way.
pub(super) fn begin_write_back<S: Sink>(state: &mut u8, id: Id, sink: &mut S) {
    if *state & IN_WRITE_BACK != 0 {
        *state |= WRITE_AGAIN;
    } else if sink.write_back(id) {
        *state |= IN_WRITE_BACK;
    }
}

pub(super) struct FramePool<'a, S> {
    states: &'a mut [u8],
    dirty: &'a mut u64,
    sink: &'a mut S,
}

impl<S: Sink> Pool for FramePool<'_, S> {
    #[inline]
    fn evict(&mut self, victim: Id) {
        let state = &mut self.states[victim as usize];
        let dirty = *state & DIRTY != 0;
        *state &= !(RESIDENT | DIRTY);
        if dirty {
            *self.dirty -= 1;
            begin_write_back(state, victim, self.sink);
        }
        if *state & BUSY == 0 {
            self.sink.dropped(victim);
        }
    }

    #[inline]
    fn forget(&mut self, id: Id) {
        self.sink.forgotten(id);
    }

    #[inline]
    fn state(&self, id: Id) -> PageState {
        let state = self.states[id as usize];
        PageState {
            dirty: state & DIRTY != 0,
            in_write_back: state & IN_WRITE_BACK != 0,
            in_flight: state & IN_FLIGHT != 0,
        }
    }
}
