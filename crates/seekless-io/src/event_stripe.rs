//! The events of some threads, until the recording's thread takes them.

use crate::lock;
use rustix::thread::gettid;
use seekless_policy::eviction::Id;
use std::cell::Cell;
use std::sync::{Arc, Mutex};
use std::thread::Thread;
use std::time::Instant;

/// Events that a stripe holds. Those beyond are lost.
pub(crate) const EVENTS_MAX: usize = 16 << 10;

/// The writer is woken when a stripe has this many.
const EVENTS_WAKE: usize = EVENTS_MAX / 4;

/// A load or a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Since the recording began.
    pub(crate) time_ns: u64,
    pub(crate) tid: u32,
    pub(crate) id: Id,
    pub(crate) released: bool,
}

/// On cache lines of its own, so that two threads do not fight for one.
#[repr(align(128))]
pub(crate) struct Stripe {
    opened: Instant,
    noted: Mutex<Noted>,
}

#[derive(Default)]
struct Noted {
    /// The number of the recording that runs, from 1.
    recording: Option<u64>,
    /// When it began.
    began_ns: u64,
    events: Vec<Event>,
    lost: u64,
    writer: Option<Thread>,
}

impl Noted {
    /// False if the event is lost.
    fn add(&mut self, event: Event) -> bool {
        if self.events.len() >= EVENTS_MAX {
            self.lost += 1;
            return false;
        }
        let time_ns = event.time_ns.saturating_sub(self.began_ns);
        self.events.push(Event { time_ns, ..event });
        if self.events.len() == EVENTS_WAKE
            && let Some(writer) = &self.writer
        {
            writer.unpark();
        }
        true
    }
}

impl Stripe {
    pub(crate) fn new(opened: Instant) -> Self {
        Self { opened, noted: Mutex::default() }
    }

    fn now(&self) -> u64 {
        self.opened.elapsed().as_nanos() as u64
    }

    pub(crate) fn start(&self, recording: u64, writer: &Thread) {
        let began_ns = self.now();
        let noted = &mut *lock(&self.noted);
        (noted.recording, noted.began_ns) = (Some(recording), began_ns);
        noted.writer = Some(writer.clone());
    }

    pub(crate) fn stop(&self) {
        let noted = &mut *lock(&self.noted);
        (noted.recording, noted.writer) = (None, None);
    }

    /// Notes a load that began at `time_ns`. `None` if it is not recorded: then its release is not
    /// either.
    pub(crate) fn loaded(self: &Arc<Self>, time_ns: u64, id: Id) -> Option<Held> {
        let event = Event { time_ns, tid: own_tid(), id, released: false };
        let noted = &mut *lock(&self.noted);
        let recording = noted.recording?;
        noted.add(event).then(|| Held { stripe: self.clone(), recording, id })
    }

    /// Moves all events to the end of `events`; returns how many were lost.
    pub(crate) fn take(&self, events: &mut Vec<Event>) -> u64 {
        let noted = &mut *lock(&self.noted);
        events.append(&mut noted.events);
        std::mem::take(&mut noted.lost)
    }
}

/// What a program holds of a recorded load. The load is released when this is dropped.
pub(crate) struct Held {
    stripe: Arc<Stripe>,
    recording: u64,
    id: Id,
}

impl Drop for Held {
    fn drop(&mut self) {
        let event =
            Event { time_ns: self.stripe.now(), tid: own_tid(), id: self.id, released: true };
        let noted = &mut *lock(&self.stripe.noted);
        if noted.recording == Some(self.recording) {
            noted.add(event);
        }
    }
}

thread_local! {
    static TID: Cell<u32> = const { Cell::new(0) };
}

/// The calling thread's number in the system, asked once.
fn own_tid() -> u32 {
    TID.with(|tid| {
        if tid.get() == 0 {
            tid.set(gettid().as_raw_nonzero().get().unsigned_abs());
        }
        tid.get()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_stripe_counts_what_it_loses() {
        let stripe = Arc::new(Stripe::new(Instant::now()));
        assert!(stripe.loaded(1, 7).is_none(), "nothing is recorded yet");
        stripe.start(1, &std::thread::current());
        let held: Vec<_> = (0..EVENTS_MAX + 3).map(|at| stripe.loaded(at as u64, 7)).collect();
        assert_eq!(held.iter().flatten().count(), EVENTS_MAX, "a lost load has no release");
        let mut events = Vec::new();
        assert_eq!((stripe.take(&mut events), events.len()), (3, EVENTS_MAX));
        drop(held);
        events.clear();
        assert_eq!((stripe.take(&mut events), events.len()), (0, EVENTS_MAX));
        assert!(events.iter().all(|event| event.released && event.id == 7));
    }

    #[test]
    fn a_release_belongs_to_the_recording_of_its_load() {
        let stripe = Arc::new(Stripe::new(Instant::now()));
        stripe.start(1, &std::thread::current());
        let held = stripe.loaded(1, 7);
        stripe.stop();
        stripe.start(2, &std::thread::current());
        drop(held);
        let mut events = Vec::new();
        stripe.take(&mut events);
        assert!(events.iter().all(|event| !event.released), "{events:?}");
    }
}
