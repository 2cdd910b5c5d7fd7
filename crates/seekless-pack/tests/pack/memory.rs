//! What reading an archive takes of memory, against what its size justifies: every byte allocated by a thread is counted, for
//! every archive that any test reads.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Bytes for each byte of the archive, and bytes whatever its size, that reading may take.
const SHARE: usize = 16;
const BASE: usize = 64 << 20;

/// Bytes that this thread has allocated and not freed, and the most there were.
#[derive(Clone, Copy)]
struct Count {
    now: usize,
    most: usize,
}

thread_local! {
    static COUNT: Cell<Count> = const { Cell::new(Count { now: 0, most: 0 }) };
}

struct Counting;

impl Counting {
    fn change(from: usize, to: usize) {
        let Count { now, most } = COUNT.get();
        let now = (now + to).saturating_sub(from);
        COUNT.set(Count { now, most: most.max(now) });
    }
}

// SAFETY: every call goes to the system's allocator as it is; the count is a thread's own cell, which allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::change(0, layout.size());
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        Self::change(layout.size(), 0);
        // SAFETY: as above; `at` came from the system's allocator.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::change(layout.size(), size);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Does `act` with an archive of `archive_bytes`, and fails if it takes more memory than that justifies.
pub(crate) fn bounded<T>(archive_bytes: usize, act: impl FnOnce() -> T) -> T {
    let before = COUNT.get().now;
    COUNT.set(Count { now: before, most: before });
    let done = act();
    let taken = COUNT.get().most - before;
    assert!(
        taken <= SHARE * archive_bytes + BASE,
        "{taken} bytes of memory for an archive of {archive_bytes} bytes"
    );
    done
}
