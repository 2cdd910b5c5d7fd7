//! A value with many holders, and one lender of it that gives out most of the holds. The last of
//! all frees the value.
//!
//! A count that every hold raises and lowers costs two locked instructions a hold. Here the lender
//! counts what it lends in itself, without one, since it lends to one thread at a time. Holds that
//! end lower a count that all share. The two counts meet when the lender goes.

use super::sync::{AtomicU64, Ordering, fence, fetch_value};
use std::ptr::NonNull;

/// Added to the shared count while there is a lender. It exceeds the number of possible holds, so
/// that the count cannot fall to the last of them.
const LENDER: u64 = 1 << 63;

struct Inner<T> {
    /// The holds that are not the lender's, less all that ended, and [`LENDER`]: the holds, once
    /// the lender has gone.
    count: AtomicU64,
    value: T,
}

/// A hold of the value.
pub(super) struct Lent<T>(NonNull<Inner<T>>);

/// Gives out holds of the value. It keeps the value, too.
pub(super) struct Lender<T> {
    inner: NonNull<Inner<T>>,
    /// How many holds it gave out.
    lent: u64,
}

// SAFETY: holds on several threads share a reference to the value, and any of them may be the last,
// which drops it.
unsafe impl<T: Send + Sync> Send for Lent<T> {}
// SAFETY: as above: a reference to a hold gives further holds.
unsafe impl<T: Send + Sync> Sync for Lent<T> {}
// SAFETY: as for a hold.
unsafe impl<T: Send + Sync> Send for Lender<T> {}
// SAFETY: as for a hold. Only an exclusive reference lends.
unsafe impl<T: Send + Sync> Sync for Lender<T> {}

fn allocate<T>(value: T, count: u64) -> NonNull<Inner<T>> {
    NonNull::from(Box::leak(Box::new(Inner { count: AtomicU64::new(count), value })))
}

/// Frees the value, once no part of it is held any more.
///
/// # Safety
/// The caller took the count to zero, so it is the last that knows `inner`.
#[cold]
unsafe fn free<T>(inner: NonNull<Inner<T>>) {
    // What other holders read comes before what frees it.
    fence(Ordering::Acquire);
    // SAFETY: it was made by `allocate`, and the caller is the last to know it.
    drop(unsafe { Box::from_raw(inner.as_ptr()) });
}

impl<T> Lent<T> {
    /// The only hold of a value, without a lender.
    pub(super) fn new(value: T) -> Self {
        Self(allocate(value, 1))
    }

    pub(super) fn value(&self) -> &T {
        // SAFETY: this hold is in the count, so the value lives.
        unsafe { &self.0.as_ref().value }
    }
}

impl<T> Clone for Lent<T> {
    fn clone(&self) -> Self {
        // SAFETY: this hold is in the count, so the value lives.
        unsafe { self.0.as_ref() }.count.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

impl<T> Drop for Lent<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this hold is in the count, so the value lives.
        if unsafe { self.0.as_ref() }.count.fetch_sub(1, Ordering::Release) == 1 {
            // SAFETY: the count came to zero. There is no lender, since the count would be near
            // `LENDER`; and no other hold.
            unsafe { free(self.0) };
        }
    }
}

impl<T> Lender<T> {
    /// The lender of a value that nobody holds yet.
    pub(super) fn new(value: T) -> Self {
        Self { inner: allocate(value, LENDER), lent: 0 }
    }

    /// One more hold. Its end looks at the count, which may be far away in memory: it is fetched
    /// meanwhile.
    #[inline]
    pub(super) fn lend(&mut self) -> Lent<T> {
        self.lent += 1;
        // SAFETY: the lender is in the count, so the value lives.
        fetch_value(unsafe { self.inner.as_ref() });
        Lent(self.inner)
    }
}

impl<T> Drop for Lender<T> {
    fn drop(&mut self) {
        // All holds that there are now, since each that ended has lowered the count.
        let holds = self.lent.wrapping_sub(LENDER);
        // SAFETY: the lender is in the count, so the value lives.
        let before = unsafe { self.inner.as_ref() }.count.fetch_add(holds, Ordering::Release);
        if before.wrapping_add(holds) == 0 {
            // SAFETY: the count came to zero: the lender was the last.
            unsafe { free(self.inner) };
        }
    }
}
