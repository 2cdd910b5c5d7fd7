//! The page cache of this machine, as the kernel reports it.

use super::{Claim, Provider, Range, Target};
use crate::page_cache::{GRAIN_BYTES, runs};
use crate::{Error, Level};
use seekless_device::Zone;
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

    fn ranges(&self, target: &Target<'_>) -> Result<Vec<Range>, Error> {
        let Some(file) = target.file else { return Ok(Vec::new()) };
        let said = |error| Error::io(target.path.unwrap_or(Path::new("?")), error);
        let runs = runs(file, 0..target.bytes, GRAIN_BYTES).map_err(said)?;
        let range = |run: &crate::page_cache::PageRun| {
            let claim = match run.resident {
                Some(true) => Claim::at(Level::Memory, &self.memory, run.confidence),
                Some(false) => Claim::Lacks(run.confidence),
                None => Claim::Unknown,
            };
            Range::now(run.offset, run.bytes, claim)
        };
        Ok(runs.iter().map(range).collect())
    }
}
