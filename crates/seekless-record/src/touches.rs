//! The first touches of mapped files by a program that somebody else starts. Nothing is stopped:
//! the kernel reports page faults, at some hundred nanoseconds each. Reads by calls are not seen.

use crate::error::{Error, ErrorKind, Result};
use crate::faults::{Watch, Whose};
use crate::record::why_no_touches;
use crate::sink::Rows;
use crate::tracer::Settings;
use seekless_trace::Access;
use std::sync::Arc;

/// Follows a process. Dropped, it stops.
pub struct Touches {
    watch: Watch,
    rows: Rows,
    names: Vec<String>,
}

impl std::fmt::Debug for Touches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Touches({} files)", self.names.len())
    }
}

impl Touches {
    /// Follows process `pid` of this user, from its next exec on, and all that it starts then.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`]: perf events are refused; the message says how to allow them.
    pub fn follow(pid: i32) -> Result<Self> {
        let rows = Rows::unwritten();
        let settings = Settings::default();
        let watch = Watch::start(Whose::Starting(pid), rows.clone(), Arc::new(settings)).map_err(
            |error| Error::new(ErrorKind::Refused, why_no_touches(&error)).because(error),
        )?;
        Ok(Self { watch, rows, names: Vec::new() })
    }

    /// Appends the `fault` rows that came since the last call. Their `file` is an index into
    /// [`Touches::names`], their time is from the start of this recording.
    pub fn take(&mut self, rows: &mut Vec<Access>) {
        self.rows.drain(&mut self.names, rows);
    }

    /// The paths of the files in the rows taken so far, escaped as a trace's are.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Once the program has ended: appends the last rows. Gives all names, and how many records the
    /// kernel had no room for.
    pub fn finish(self, rows: &mut Vec<Access>) -> (Vec<String>, u64) {
        let Self { watch, rows: queue, mut names } = self;
        let lost = watch.finish().map_or(1, |seen| seen.lost);
        queue.drain(&mut names, rows);
        (names, lost)
    }
}
