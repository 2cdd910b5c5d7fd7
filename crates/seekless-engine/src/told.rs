//! An engine that reports other costs than it would by itself: those that its user knows of the
//! device. Reads are not changed.

use crate::{AlignedBuf, Counters, Engine, Read};
use seekless_device::{Costs, Nanos};
use std::fs::File;
use std::io;
use std::sync::Arc;

/// An engine that plans with the costs it was told.
pub struct Told {
    inner: Arc<dyn Engine>,
    costs: Costs,
}

impl Told {
    /// `inner`, on a device of these costs.
    #[must_use]
    pub fn new(inner: Arc<dyn Engine>, costs: Costs) -> Self {
        Told { inner, costs }
    }
}

impl Engine for Told {
    fn submit(&self, reads: Vec<Read>) {
        self.inner.submit(reads);
    }

    fn read_now(
        &self,
        file: Arc<File>,
        offset: u64,
        buffer: AlignedBuf,
    ) -> (AlignedBuf, io::Result<usize>) {
        self.inner.read_now(file, offset, buffer)
    }

    fn counters(&self) -> Counters {
        self.inner.counters()
    }

    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn costs(&self) -> Costs {
        self.costs
    }

    fn now(&self) -> Nanos {
        self.inner.now()
    }

    fn charge(&self, bytes: u64) {
        self.inner.charge(bytes);
    }
}

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Told")
            .field("inner", &self.inner.name())
            .field("costs", &self.costs)
            .finish()
    }
}
