//! An engine that notes what it is asked for.

use seekless_device::Costs;
use seekless_engine::{Counters, Engine, EngineKind, Read, build};
use seekless_policy::layout::extents::Extent;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Reads with the usual engine, and notes each request.
pub(crate) struct Spy {
    inner: Arc<dyn Engine>,
    seen: Mutex<Vec<Extent>>,
}

impl Spy {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Spy { inner: build(EngineKind::Auto)?, seen: Mutex::default() })
    }

    /// What was asked for so far; 0 bytes for an open.
    pub(crate) fn seen(&self) -> Vec<Extent> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, extent: Extent) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(extent);
    }
}

impl Engine for Spy {
    fn submit(&self, reads: Vec<Read>) {
        for read in &reads {
            self.note(Extent { offset: read.offset, bytes: read.buffer.capacity() as u64 });
        }
        self.inner.submit(reads);
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }

    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn costs(&self) -> Costs {
        self.inner.costs()
    }

    fn opened(&self) {
        self.note(Extent { offset: 0, bytes: 0 });
    }
}
