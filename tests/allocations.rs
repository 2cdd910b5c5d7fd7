//! Counts what a test allocates, for tests that hold memory to a bound. A test binary that includes
//! this file by its path gets an allocator that counts and hands every call on to the system's.
//!
//! A thread's own count serves a binary whose other tests run at the same time. The count of the
//! process also sees what threads allocate that the measured code starts; its binary has no tests
//! but those that count.

#![expect(unsafe_code, reason = "an allocator is an unsafe trait")]
#![allow(dead_code, reason = "a test binary counts either a thread or the process")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes in use, and the most there were.
#[derive(Clone, Copy)]
struct Count {
    now: isize,
    most: isize,
}

thread_local! {
    static OF_THREAD: Cell<Count> = const { Cell::new(Count { now: 0, most: 0 }) };
}

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static TURN: Mutex<()> = Mutex::new(());

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn change(from: usize, to: usize) {
    let Count { now, most } = OF_THREAD.get();
    // Below 0 where a thread frees what another allocated.
    let now = now + to as isize - from as isize;
    OF_THREAD.set(Count { now, most: most.max(now) });
    let more = to.wrapping_sub(from);
    let now = NOW.fetch_add(more, Ordering::Relaxed).wrapping_add(more);
    MOST.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator as it is; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        change(0, layout.size());
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        change(0, layout.size());
        // SAFETY: as above. The system hands out zeroed pages that take no memory before they are
        // touched; they count here.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        change(layout.size(), 0);
        // SAFETY: as above; `at` came from the system's allocator.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        change(layout.size(), size);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// What `act` returns, and the most bytes that this thread had in use meanwhile, above those
/// before.
pub(crate) fn peak_of_thread<T>(act: impl FnOnce() -> T) -> (T, usize) {
    let before = OF_THREAD.get().now;
    OF_THREAD.set(Count { now: before, most: before });
    let done = act();
    (done, (OF_THREAD.get().most - before) as usize)
}

/// A test that counts the process holds this from its first line on, so that no other is counted
/// with it.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As [`peak_of_thread`], of all threads.
pub(crate) fn peak_of_process<T>(act: impl FnOnce() -> T) -> (T, usize) {
    let before = in_use_by_process();
    MOST.store(before, Ordering::Relaxed);
    let done = act();
    (done, MOST.load(Ordering::Relaxed).saturating_sub(before))
}

/// Bytes that all threads have in use now.
pub(crate) fn in_use_by_process() -> usize {
    NOW.load(Ordering::Relaxed)
}
