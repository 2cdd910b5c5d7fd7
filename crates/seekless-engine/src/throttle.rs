//! Pacing for callers that do their own I/O, such as the loose files that a pack is compared with.

use crate::Counters;
use crate::clock::{Clock, LOOK_AGAIN, others_sleep};
use crate::pacer::Pacer;
use seekless_device::{DeviceModel, DeviceSpec, Nanos};
use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The last stretch is waited for awake: a sleeping thread comes back some 60 µs late, which a fast
/// device would feel.
const AWAKE: Duration = Duration::from_micros(100);

/// A device model that makes its callers wait. All threads that share one share the device.
#[derive(Debug)]
pub struct Throttle {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug)]
struct State {
    pacer: Pacer,
    /// Ends that another thread saw before the one that waits for them.
    ended: HashMap<u64, Nanos>,
}

impl Throttle {
    /// A device of this kind, idle now.
    #[must_use]
    pub fn new(spec: DeviceSpec) -> Self {
        Throttle::with_model(Box::new(spec.model()), Clock::wall())
    }

    /// Paces by any model and clock.
    #[must_use]
    pub fn with_model(model: Box<dyn DeviceModel + Send>, clock: Clock) -> Self {
        let state = State { pacer: Pacer::new(model, clock), ended: HashMap::new() };
        Throttle { state: Mutex::new(state), ended: Condvar::new() }
    }

    /// One request of `bytes` at the device's start, cut if it is large; 0 bytes, as for an open,
    /// is one request. Blocks until the model lets it end, and returns that time in nanoseconds on
    /// the clock.
    pub fn charge(&self, bytes: u64) -> Nanos {
        self.during(0, bytes, || ()).1
    }

    /// Runs `work`, the I/O itself, while the request of `bytes` at `offset` on the device runs on
    /// the model, and returns when both have ended: the model's time is not added to the real one.
    /// Also returns the model's end as [`charge`](Self::charge) does.
    pub fn during<T>(&self, offset: u64, bytes: u64, work: impl FnOnce() -> T) -> (T, Nanos) {
        let tag = self.lock().pacer.submit(false, offset, bytes);
        let result = work();
        (result, self.wait(tag))
    }

    /// What has been charged. Always exact.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.lock().pacer.counters()
    }

    fn wait(&self, tag: u64) -> Nanos {
        let mut state = self.lock();
        loop {
            let State { pacer, ended } = &mut *state;
            let before = ended.len();
            pacer.advance(&mut |tag, end| {
                ended.insert(tag, end);
            });
            let news = ended.len() > before;
            let mine = ended.remove(&tag);
            // The next end may be another thread's: the first thread that looks notes all of them.
            let wait = pacer.next_in().unwrap_or_default();
            if news {
                self.ended.notify_all();
            }
            if let Some(end) = mine {
                return end;
            }
            state = self.pause(state, wait);
        }
    }

    fn pause<'a>(&'a self, state: MutexGuard<'a, State>, wait: Duration) -> MutexGuard<'a, State> {
        if state.pacer.may_skip() {
            return self.skip(state, wait);
        }
        if wait > AWAKE {
            let (state, _) = self
                .ended
                .wait_timeout(state, wait - AWAKE)
                .unwrap_or_else(PoisonError::into_inner);
            return state;
        }
        drop(state);
        std::thread::yield_now();
        self.lock()
    }

    /// Skips the wait if no other thread works. Looks without holding the lock: a thread that waits
    /// for the lock is about to work.
    fn skip<'a>(&'a self, state: MutexGuard<'a, State>, wait: Duration) -> MutexGuard<'a, State> {
        drop(state);
        let all_wait = others_sleep();
        let state = self.lock();
        if all_wait {
            state.pacer.skip();
            return state;
        }
        let (state, _) = self
            .ended
            .wait_timeout(state, wait.min(LOOK_AGAIN))
            .unwrap_or_else(PoisonError::into_inner);
        state
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
