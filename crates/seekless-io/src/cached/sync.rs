//! The locks of the slots and of the log. The loom model replaces them by its own, so that it
//! can try every order of the threads' steps.

use std::cell::Cell;
pub(super) use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) use seekless_sys::brief::{BriefGuard as LockGuard, BriefLock as Lock};

pub(super) use crate::lock;

static NEXT_NUMBER: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The calling thread's number, given when it first asks.
#[inline]
pub(crate) fn own_number() -> usize {
    NUMBER.with(|number| match number.get() {
        usize::MAX => first_number(number),
        own => own,
    })
}

#[cold]
fn first_number(number: &Cell<usize>) -> usize {
    number.set(NEXT_NUMBER.fetch_add(1, Ordering::Relaxed));
    number.get()
}
