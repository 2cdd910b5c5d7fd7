//! What is expected of the start: alone, with `seekless run`, from a pack of its own, and after
//! `seekless layout`. The code that does these says so.

use super::device::Found;
use super::starts::Learned;
use seekless_device::Costs;
use seekless_job::Result;
use seekless_start::layout::{self, layout};
use seekless_start::start::{self, Decision, Recording, Waits, answer_s, prepare};
use std::ffi::OsString;

/// Before the correction by what was measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    /// Alone, and with `run`.
    pub(super) decision: Decision,
    /// Seconds that a new layout saves `run`; `None` if the files cannot be laid.
    pub(super) layout_saves_s: Option<f64>,
    /// Files that a layout would move.
    pub(super) out_of_place: u64,
    /// The whole start from its pack, in seconds; `None` if there can be none, or it would come no
    /// sooner.
    pub(super) packed_s: Option<f64>,
    /// Of that, for answers to the kernel, which no device makes slower.
    pub(super) answers_s: f64,
}

/// To be asked while the program's files are cold.
pub(super) fn of(words: &[OsString], learned: &Learned, device: &Found) -> Result<Expected> {
    let costs = &device.costs;
    let options = start::Options {
        profile: Some(learned.profile.clone()),
        costs: Some(*costs),
        look_ups: device.look_ups,
        recording: Recording::Never,
        expects: true,
        answer_s: answer_s(),
        ..start::Options::default()
    };
    let decision = prepare(words, &options)?.decision;
    let packed = prepare(words, &start::Options { packs: true, ..options })?.decision;
    let pack = packed.pack.filter(|pack| pack.without.is_none());
    let options =
        layout::Options { costs: Some(*costs), dry_run: true, ..layout::Options::default() };
    let sources = [learned.profile.clone()];
    // Files that cannot be laid are no error here: then there is nothing to gain.
    let laid = layout(&sources, &options, &mut |_, _, _| {}).ok();
    let mut expected = Expected {
        decision,
        layout_saves_s: laid.as_ref().map(|laid| laid.before.seconds - laid.after.seconds),
        packed_s: pack.as_ref().map(|_| packed.warmed.seconds),
        answers_s: pack.map_or(0.0, |pack| pack.answers_s),
        out_of_place: laid.as_ref().map_or(0, |laid| laid.out_of_place),
    };
    if device.limits_apart {
        let seconds = |waits: &Waits| longer_s(waits, costs);
        expected.layout_saves_s = laid.map(|laid| seconds(&laid.before) - seconds(&laid.after));
        expected.packed_s = expected.packed_s.map(|_| seconds(&packed.warmed) + expected.answers_s);
        let decision = &mut expected.decision;
        for waits in [&mut decision.plain, &mut decision.warmed] {
            waits.seconds = seconds(waits);
        }
    }
    Ok(expected)
}

/// The wait on a device that limits requests and bytes, each by itself: the longer of the two.
fn longer_s(waits: &Waits, costs: &Costs) -> f64 {
    let request_s = costs.request_ns as f64 / 1e9 / f64::from(costs.depth.max(1));
    let transfer_s = waits.bytes as f64 / costs.bytes_per_second.max(1) as f64;
    (waits.requests as f64 * request_s).max(transfer_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_limits_the_one_that_takes_longer_counts() {
        let costs = Costs { request_ns: 2_000_000, bytes_per_second: 100_000_000, depth: 1 };
        let waits = |requests, bytes| Waits { requests, bytes, seconds: 0.0 };
        assert_eq!(longer_s(&waits(500, 50_000_000), &costs), 1.0);
        assert_eq!(longer_s(&waits(100, 50_000_000), &costs), 0.5);
    }
}
