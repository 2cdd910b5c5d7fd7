//! What is timed: anything that can be made cold and then run once.

use crate::{BoxError, Checksum, Coldness};
use std::time::Duration;

/// One of the rivals.
pub trait Workload {
    /// What the table calls it.
    fn name(&self) -> &str;

    /// Makes the next run start cold, and says how far that went; see
    /// [`make_cold`](crate::make_cold).
    ///
    /// # Errors
    /// The workload cannot run. The measurement ends with this error.
    fn make_cold(&mut self) -> Result<Coldness, BoxError>;

    /// Runs once. Only what the trial's `elapsed` covers is counted. Calls `progress` now and then
    /// with the share that is done, 0 to 1.
    ///
    /// # Errors
    /// The workload cannot run. The measurement ends with this error.
    fn run(&mut self, progress: &mut dyn FnMut(f64)) -> Result<Trial, BoxError>;
}

/// One run's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Time on the workload's clock: the wall's, or a modelled device's.
    pub elapsed: Duration,
    /// Requests that the device served; `None` when unknown, as it is for reads through the page
    /// cache.
    pub requests: Option<u64>,
    /// Bytes that the device served; `None` when unknown.
    pub bytes: Option<u64>,
    /// Bytes that the workload's user received. The same for all rivals.
    pub delivered_bytes: u64,
    /// A digest of those bytes. The same for all rivals.
    pub checksum: u64,
}

impl Trial {
    /// A run of unknown requests that delivered what the checksum has seen.
    #[must_use]
    pub fn ended(elapsed: Duration, delivered: Checksum) -> Self {
        Trial {
            elapsed,
            requests: None,
            bytes: None,
            delivered_bytes: delivered.bytes(),
            checksum: delivered.value(),
        }
    }

    /// The same run with what the device served, exactly.
    #[must_use]
    pub fn served(self, requests: u64, bytes: u64) -> Self {
        Trial { requests: Some(requests), bytes: Some(bytes), ..self }
    }
}
