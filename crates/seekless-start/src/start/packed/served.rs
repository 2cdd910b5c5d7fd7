//! What a program waits for the answers of a pack: how many there were is noted after a start, and
//! expected of the next.

use crate::profiles::beside;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How long a program waits for an answer, where that was not measured.
const ANSWER_S: f64 = 40e-6;
/// What is noted is good for so long.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// The answers that a program waited for, and what serving the pack took.
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

/// How long a start of so many answers, unless others were noted, is expected to wait for them, in
/// seconds. `answer_s` is what one takes, if that was measured.
pub(super) fn expected_s(noted: Option<Served>, answers: u64, answer_s: Option<f64>) -> f64 {
    noted.map_or(answers, |served| served.answers) as f64 * answer_s.unwrap_or(ANSWER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_and_measured_goes_before_what_is_assumed() {
        let noted = Some(Served { answers: 2000, cpu_ns: 0 });
        assert_eq!(expected_s(None, 1000, None), 1000.0 * ANSWER_S);
        assert_eq!(expected_s(noted, 1000, None), 2000.0 * ANSWER_S);
        assert_eq!(expected_s(noted, 1000, Some(1e-5)), 0.02);
    }
}
