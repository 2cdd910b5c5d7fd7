//! Carries the best measure out and times it, cold, in turn with the program alone.

use super::Options;
use super::advice::{Advice, Found, Verified, median};
use super::measures::RUN;
use super::starts::{Learned, Session};
use seekless_job::Result;
use std::process::Command;

/// Times the best measure that changes nothing; `None` if there is none. A layout moves files: that
/// is for the user to ask for.
pub(super) fn carry_out(
    session: &mut Session<'_>,
    learned: &Learned,
    advice: &Advice,
    options: &Options,
) -> Result<Option<Verified>> {
    let Some(measure) = advice.measures.iter().find(|measure| measure.what == RUN) else {
        return Ok(None);
    };
    let (mut plain_s, mut with_s) = (Vec::new(), Vec::new());
    for run in 0..options.runs {
        (session.tell)(&format!("start alone and with run {} of {}", run + 1, options.runs));
        session.make_cold()?;
        plain_s.push(session.timed(&mut session.plain())?.seconds);
        session.make_cold()?;
        let mut helped = Command::new(&options.command);
        helped.arg("run").arg("--no-record").arg("--profile").arg(&learned.profile);
        // Apart from what other starts have noted of this device.
        helped.env("XDG_STATE_HOME", learned.folder.path()).arg("--").args(session.words);
        with_s.push(session.timed(&mut helped)?.seconds);
    }
    Ok(Some(Verified {
        what: measure.what.clone(),
        expected_start_s: measure.start_s,
        wait_s: (median(&with_s) - advice.starts.cached_median_s).max(0.0),
        plain_s,
        with_s,
    }))
}

/// Puts the measured figures in place of the simulated ones.
pub(super) fn replace(advice: &mut Advice) {
    let Some(verified) = &advice.verified else { return };
    let start_s = median(&verified.with_s);
    for measure in advice.measures.iter_mut().filter(|measure| measure.what == verified.what) {
        (measure.start_s, measure.wait_s) = (start_s, verified.wait_s);
        measure.error_s = spread_s(&verified.with_s);
        measure.found = Found::Measured;
    }
    advice.measures.sort_by(|one, other| one.start_s.total_cmp(&other.start_s));
}

fn spread_s(values: &[f64]) -> f64 {
    let longest = values.iter().copied().fold(0.0, f64::max);
    let shortest = values.iter().copied().fold(f64::MAX, f64::min);
    ((longest - shortest) / 2.0).max(0.0)
}
