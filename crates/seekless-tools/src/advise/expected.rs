//! What is expected of the start: alone, with `seekless run`, from a pack of its own, and after
//! `seekless layout`. The code that does these says so.

use super::starts::Learned;
use seekless_device::Costs;
use seekless_job::Result;
use seekless_start::layout::{self, layout};
use seekless_start::start::{self, Decision, Recording, answer_s, prepare};
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
pub(super) fn of(words: &[OsString], learned: &Learned, costs: &Costs) -> Result<Expected> {
    let options = start::Options {
        profile: Some(learned.profile.clone()),
        costs: Some(*costs),
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
    Ok(Expected {
        decision,
        layout_saves_s: laid.as_ref().map(|laid| laid.before.seconds - laid.after.seconds),
        packed_s: pack.as_ref().map(|_| packed.warmed.seconds),
        answers_s: pack.map_or(0.0, |pack| pack.answers_s),
        out_of_place: laid.map_or(0, |laid| laid.out_of_place),
    })
}
