//! What several followed threads have in common: their records of it point to one value. It may be
//! looked at from either thread of the recorder, one at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A value behind several pointers. A caller that looks at it has the whole tracer to itself, so
/// that it never waits.
#[derive(Debug, Default)]
pub(crate) struct Shared<T>(Mutex<T>);

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// The value. One look must end before the next begins.
    pub(crate) fn borrow(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`Shared::borrow`], to change it.
    pub(crate) fn borrow_mut(&self) -> MutexGuard<'_, T> {
        self.borrow()
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
