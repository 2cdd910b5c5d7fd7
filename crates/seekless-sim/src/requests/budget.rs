//! Limits the memory of the requests while a trace is read. One row of a few bytes can ask for all
//! pages of an exabyte.

use crate::{Error, ErrorKind, Result};
use seekless_device::units::{counted, format_count};
use std::path::Path;

/// While an array that doubles moves, it takes three times its contents.
const GROWTH: u64 = 3;

/// The limit, and the trace that is being read.
#[derive(Clone, Debug, Default)]
pub(super) struct Budget {
    bytes_max: Option<u64>,
    trace: String,
}

impl Budget {
    pub(super) fn new(bytes_max: Option<u64>) -> Self {
        Self { bytes_max, trace: String::new() }
    }

    pub(super) fn next_trace(&mut self, trace: &Path) {
        self.trace = trace.display().to_string();
    }

    /// Refuses `row` (from 0) if arrays of `array_bytes` with the row in them, and `other_bytes`
    /// besides, would take too much. `what` describes the row.
    #[inline]
    pub(super) fn check(
        &self,
        array_bytes: u64,
        other_bytes: u64,
        row: u64,
        what: impl FnOnce() -> String,
    ) -> Result<()> {
        let Some(bytes_max) = self.bytes_max else { return Ok(()) };
        let bytes = array_bytes.saturating_mul(GROWTH).saturating_add(other_bytes);
        if bytes <= bytes_max {
            return Ok(());
        }
        let message = format!(
            "{}, row {row}: {}, and the requests up to it take {} of memory, over the limit of {}; allow more with \
             --memory, cut the trace, or simulate it with --unit file",
            self.trace,
            what(),
            counted(bytes, "byte"),
            format_count(bytes_max)
        );
        Err(Error::new(ErrorKind::Limit, message))
    }
}
