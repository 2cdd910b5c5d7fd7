//! The lock, under every order of threads' steps in `tests/brief_model.rs`.

use super::sync::{AtomicBool, Ordering, UnsafeCell, pause};
use std::ops::{Deref, DerefMut};

/// Lets one thread at a time at a value, for so short that others wait for it without sleeping at
/// first. Not fair, and not to be held over anything that blocks for long: a waiter then looks
/// every 50 microseconds.
#[derive(Debug)]
pub struct BriefLock<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only by the thread that holds the lock, which may be any: so it must
// be one that may go from thread to thread.
unsafe impl<T: Send> Sync for BriefLock<T> {}

/// The lock is held as long as this lives.
#[derive(Debug)]
#[must_use = "the lock is held as long as this lives"]
pub struct BriefGuard<'a, T>(&'a BriefLock<T>);

// SAFETY: it gives what a reference to the value gives.
unsafe impl<T: Sync> Sync for BriefGuard<'_, T> {}

impl<T> BriefLock<T> {
    /// A lock that is free.
    pub fn new(value: T) -> Self {
        Self { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits until no other thread holds the lock.
    #[inline]
    pub fn lock(&self) -> BriefGuard<'_, T> {
        if !self.take() {
            self.wait();
        }
        BriefGuard(self)
    }

    #[inline]
    fn take(&self) -> bool {
        self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn wait(&self) {
        let mut look = 0_u32;
        loop {
            pause(look);
            look = look.saturating_add(1);
            // A look first: waiters that only look do not take the line from the holder.
            if !self.held.load(Ordering::Relaxed) && self.take() {
                return;
            }
        }
    }
}

impl<T> Deref for BriefGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this thread holds the lock, so no other reaches the value.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for BriefGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and the borrow of the guard is exclusive.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for BriefGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.held.store(false, Ordering::Release);
    }
}
