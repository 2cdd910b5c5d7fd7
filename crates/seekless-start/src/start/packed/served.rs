//! What it took to answer the kernel for a pack: noted after a start, and expected of the next.

use crate::profiles::beside;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Processor time of an answer, with that of the kernel on both sides, before one was measured.
const ANSWER_S: f64 = 40e-6;
/// The server's processor time is about half of what an answer takes: the program's is the rest.
const BOTH_SIDES: f64 = 2.0;
/// What is noted is good for so long.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// Answers, and what they took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Served {
    pub(super) answers: u64,
    pub(super) cpu_ns: u64,
}

impl Served {
    pub(super) fn noted(profile: &Path) -> Option<Self> {
        let text = std::fs::read(profile.with_extension(beside::SERVED)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Notes it, unless that was done lately.
    pub(super) fn note(self, profile: &Path) {
        let place = profile.with_extension(beside::SERVED);
        let changed = std::fs::metadata(&place).and_then(|found| found.modified());
        let age = changed.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if self.answers > 0
            && age.is_none_or(|age| age > FRESH)
            && let Ok(text) = serde_json::to_vec(&self)
        {
            let written = beside::write_private(&place, &text);
            drop(written); // without it the next start notes it
        }
    }
}

/// The processor time that a start of so many answers is expected to take, in seconds.
pub(super) fn expected_s(noted: Option<Served>, answers: u64) -> f64 {
    match noted {
        Some(served) => served.cpu_ns as f64 / 1e9 * BOTH_SIDES,
        None => answers as f64 * ANSWER_S,
    }
}
