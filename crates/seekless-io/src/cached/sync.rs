//! The locks of the slots and of the log. The loom model replaces them by its own, so that it
//! can try every order of the threads' steps.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
pub(super) use std::sync::{Mutex, MutexGuard};

pub(super) use crate::lock;

static NEXT_NUMBER: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The calling thread's number, given when it first asks.
pub(crate) fn own_number() -> usize {
    NUMBER.with(|number| {
        if number.get() == usize::MAX {
            number.set(NEXT_NUMBER.fetch_add(1, Ordering::Relaxed));
        }
        number.get()
    })
}
