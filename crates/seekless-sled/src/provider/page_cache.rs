//! The page cache of this machine, as the kernel reports it.

use super::claim::{Claim, Presence, Provider, Target};
use crate::{Confidence, Error, Level};
use seekless_device::Zone;
use seekless_sys::residency::{self, GRAIN_BYTES, PageRun};
use std::os::fd::AsFd;
use std::path::Path;

/// Claims cached ranges at the cost of memory.
#[derive(Clone, Copy, Debug)]
pub struct PageCache {
    /// The cost of memory.
    pub memory: Zone,
}

impl Provider for PageCache {
    fn name(&self) -> &'static str {
        "page cache"
    }

    fn claims(&self, target: &Target<'_>) -> Result<Vec<Claim>, Error> {
        let Some(file) = target.file else { return Ok(Vec::new()) };
        let said = |error| Error::io(target.path.unwrap_or(Path::new("?")), error);
        let all = 0..target.bytes;
        let Some(runs) = residency::runs(file.as_fd(), all, GRAIN_BYTES).map_err(said)? else {
            return Ok(vec![Claim::now(0, target.bytes, Presence::Unknown)]);
        };
        let claim = |run: &PageRun| {
            let confidence = if run.exact { Confidence::Exact } else { Confidence::Sampled };
            let presence = match run.resident {
                true => Presence::at(Level::Memory, &self.memory, confidence),
                false => Presence::Absent(confidence),
            };
            Claim::now(run.range.start, run.range.end - run.range.start, presence)
        };
        Ok(runs.iter().map(claim).collect())
    }
}
