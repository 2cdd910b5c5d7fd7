//! Whether a start from its pack is expected to be sooner there.

use super::served::{Served, expected_s};
use super::{Packed, pack};
use crate::start::devices::Devices;
use crate::start::plan::Waits;
use crate::start::whole;
use crate::start::{Decision, Options};
use crate::warm::bring::open_known;
use seekless_policy::foresight::start::{REQUEST_BYTES_MAX, Wait, worth};
use seekless_policy::layout::extents::Extent;
use seekless_trace::Profile;
use std::path::Path;

/// Why there is no pack yet.
pub(in crate::start) const NO_PACK: &str = "there is none yet; it is made beside this start";

/// Whether the pack is used.
pub(in crate::start) enum Choice {
    /// It is, with this wait for what comes from it, and for the whole start.
    /// `answers_s` of both are for answers to the kernel, in seconds.
    Pack { packed: Box<Packed>, waits: Waits, whole: Waits, answers_s: f64 },
    /// It is not, and why.
    Without(&'static str),
}

/// Chooses between the pack beside a profile and a start without it.
pub(in crate::start) fn choose(
    path: &Path,
    profile: Option<&Profile>,
    options: &Options,
    why_not: Option<&'static str>,
    without: &Decision,
    rest: impl FnOnce(&Packed) -> Decision,
) -> Choice {
    let made = Packed::beside(path).filter(|packed| packed.is_as_new_as(profile));
    let Some(packed) = made else { return Choice::Without(NO_PACK) };
    if let Some(why) = why_not {
        return Choice::Without(why);
    }
    if packed.stands_for_nothing() {
        return Choice::Without("programs may write in all folders that this start needs");
    }
    let roots = packed.roots();
    let here = std::env::current_dir().unwrap_or_default();
    if roots.iter().any(|root| here.starts_with(root)) {
        return Choice::Without("the working folder lies in a folder that it stands for");
    }
    if options.hidden.overlaps(&roots) {
        return Choice::Without("another pack lies there");
    }
    let answers_s = expected_s(Served::noted(path), answers(&packed), options.answer_s);
    let wait = of(&packed, path, options).and(Wait { seconds: answers_s, ..Wait::default() });
    let rest = rest(&packed);
    let best = |decision: &Decision| match decision.warms {
        true => decision.warmed,
        false => decision.plain,
    };
    let whole = wait.and(best(&rest).into());
    if !worth(best(without).into(), whole) {
        return Choice::Without("it would come no sooner");
    }
    let (waits, whole) = (wait.into(), whole.into());
    Choice::Pack { packed: Box::new(packed), waits, whole, answers_s }
}

/// What is to be waited for until all of it has come, without the answers to the kernel.
fn of(packed: &Packed, profile: &Path, options: &Options) -> Wait {
    let mut devices = Devices::new(options.costs);
    let path = pack(profile);
    let number = devices.of(&path);
    let missing = missing(packed, &path);
    let bytes = missing.iter().map(|extent| extent.bytes).sum();
    let requests = missing.iter().map(|extent| extent.bytes.div_ceil(REQUEST_BYTES_MAX)).sum();
    let costs = devices.known(number).device.costs;
    let content = Wait::of(requests, bytes, costs.depth, &costs);
    let folders = packed.mirror.folders.iter().map(|folder| (&*folder.path, folder.about.inode));
    let folders = whole::for_folders(folders, &mut devices);
    content.and(folders)
}

/// What of the pack is not cached.
fn missing(packed: &Packed, path: &Path) -> Vec<Extent> {
    let Some(Ok(opened)) = open_known(path, &packed.recorded()) else {
        return packed.extents().collect();
    };
    let is_cached =
        |extent: &Extent| opened.cached(*extent).is_some_and(|bytes| bytes >= extent.bytes);
    packed.extents().filter(|extent| !is_cached(extent)).collect()
}

/// How many answers the program will wait for: an open of each file and a question about it, and
/// the listing of each folder. Names and contents are handed over ahead of it.
fn answers(packed: &Packed) -> u64 {
    let folders = &packed.mirror.folders;
    let names = folders.iter().flat_map(|folder| &folder.names);
    let files = names.filter(|name| name.offset.is_some()).count() as u64;
    2 * files + 3 * folders.len() as u64
}
