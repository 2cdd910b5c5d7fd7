//! Forks of this process. A child has none of its parent's threads, and a lock that one of them
//! held stays locked. So stores are opened again in it, the simulator gets threads of its own, and
//! what is the parent's is not touched.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

static GENERATION: AtomicU64 = AtomicU64::new(0);

/// How many forks lie between the process that loaded this module and this one.
pub(crate) fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// Python calls this in the child of a fork.
#[pyfunction]
pub(crate) fn after_fork() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// What is of use only in the process that made it. Elsewhere it is not even dropped.
#[derive(Debug)]
pub(crate) struct OfProcess<T> {
    value: Option<T>,
    generation: u64,
}

impl<T> OfProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Some(value), generation: generation() }
    }

    /// The value; `None` in another process.
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| self.generation == generation())
    }

    /// The value, although this may be another process: for what a fork leaves whole.
    pub(crate) fn anywhere(&self) -> Option<&T> {
        self.value.as_ref()
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if self.generation != generation() {
            std::mem::forget(self.value.take());
        }
    }
}
