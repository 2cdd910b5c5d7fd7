//! What each way of loading works with, and what it has loaded.

use super::Args;
use super::prepared::Prepared;
use super::storage::Storage;
use anyhow::ensure;
use seekless::measure::Checksum;
use seekless_testing::Served;
use std::time::{Duration, Instant};

/// With `--quick`, for each rival.
const QUICK_LIMIT: Duration = Duration::from_secs(5);

/// What a way has loaded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    pub(super) seconds: f64,
    pub(super) files: usize,
    pub(super) delivered: Checksum,
}

/// One trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) loaded: Loaded,
    /// What the proxy has counted.
    pub(super) served: Served,
}

/// What each way works with.
pub(super) struct Means<'a> {
    pub(super) args: &'a Args,
    pub(super) prepared: &'a Prepared,
    pub(super) storage: &'a Storage,
}

impl Means<'_> {
    /// Loads, and checks what came.
    pub(super) fn trial(
        &self,
        load: impl FnOnce() -> anyhow::Result<Loaded>,
    ) -> anyhow::Result<Trial> {
        let before = self.storage.served();
        let loaded = load()?;
        let after = self.storage.served();
        let is_whole = loaded.files == self.prepared.wanted.len();
        let expected = self.prepared.expected.value();
        ensure!(!is_whole || loaded.delivered.value() == expected, "other bytes came");
        let served = Served {
            requests: after.requests - before.requests,
            lists: after.lists - before.lists,
            bytes: after.bytes - before.bytes,
            ..after
        };
        Ok(Trial { loaded, served })
    }

    /// How long a rival may take.
    pub(super) fn limit(&self) -> Duration {
        if self.args.quick { QUICK_LIMIT } else { Duration::from_secs(self.args.limit) }
    }

    /// All files were loaded.
    pub(super) fn all(&self, began: Instant, delivered: Checksum) -> anyhow::Result<Loaded> {
        self.some(began, self.prepared.wanted.len(), delivered)
    }

    /// So many files were loaded.
    pub(super) fn some(
        &self,
        began: Instant,
        files: usize,
        delivered: Checksum,
    ) -> anyhow::Result<Loaded> {
        Ok(Loaded { seconds: began.elapsed().as_secs_f64(), files, delivered })
    }
}
