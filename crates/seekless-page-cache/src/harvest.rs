//! Who takes ended reads and writes in: a thread that waits, or one that comes by. So no other
//! thread need wake up before a reader gets its bytes.

use super::shared::Shared;
use crate::lock;
use seekless_engine::Completion;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;

impl Shared {
    /// Takes in what has ended, without waiting.
    pub(super) fn harvest(&self) {
        let landing = &self.landing;
        if landing.in_air.load(Ordering::Relaxed) == 0 {
            return;
        }
        // A reader that waits for the engine takes in what ends.
        let Ok(ended) = landing.ended.try_lock() else { return };
        self.engine.drive(false);
        if self.take_in(&ended, None) > 0 {
            drop(ended);
            landing.wake(&lock(&landing.watch));
        }
    }

    /// Waits until something is so that the end of a read or write makes so. Of all threads that
    /// wait for the engine, one waits for its next completion, and wakes the others.
    pub(super) fn wait_until(&self, is_so: &dyn Fn() -> bool) {
        let landing = &self.landing;
        while !is_so() {
            let mut watch = lock(&landing.watch);
            while watch.taken && !is_so() {
                watch = landing.wait(watch);
            }
            if is_so() {
                return;
            }
            watch.taken = true;
            drop(watch);
            self.watch(is_so);
            let mut watch = lock(&landing.watch);
            watch.taken = false;
            landing.wake(&watch);
        }
    }

    /// Takes in what has ended, or what ends next.
    fn watch(&self, is_so: &dyn Fn() -> bool) {
        let ended = lock(&self.landing.ended);
        self.take_in(&ended, None);
        // It may have ended meanwhile, and nothing else be under way.
        if is_so() {
            return;
        }
        let first = if self.engine.drive(true) { None } else { ended.recv().ok() };
        self.take_in(&ended, first);
    }

    /// Lands what was received and all others that have ended; how many.
    fn take_in(&self, ended: &Receiver<Completion>, received: Option<Completion>) -> usize {
        let mut landed = 0;
        for Completion { tag, buffer, result, .. } in received.into_iter().chain(ended.try_iter()) {
            self.landing.in_air.fetch_sub(1, Ordering::Relaxed);
            self.land(tag, buffer, result);
            landed += 1;
        }
        landed
    }
}
