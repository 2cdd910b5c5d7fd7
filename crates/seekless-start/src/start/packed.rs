//! A pack of the files that starts of a kind need, beside their profile, and what it stands for.
//!
//! Names, entries and contents of a start lie all over a device: thousands of requests. In a pack
//! they come in a few. The program sees it in place of the real folders (`seekless_mount::mirror`):
//! so a pack is made only of folders in which no recorded run wrote or changed a name, and it is
//! used only if that is expected to pay.

mod build;
mod lay;
mod places;
mod served;
mod wait;

pub use build::build;
pub(super) use build::build_beside;
pub(super) use lay::lay;
pub(super) use wait::{Choice, NO_PACK, choose};

use super::hidden::Hidden;
use super::own::looked_at;
use crate::profiles::beside;
use crate::warm::bring::Recorded;
use seekless_mount::mirror::Mirror;
use seekless_policy::layout::extents::Extent;
use seekless_trace::{Identity, Profile, unescape_path};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The version of the notes that this program writes.
const VERSION: u32 = 2;
/// Larger notes are not ours.
const NOTES_BYTES_MAX: u64 = 64 << 20;
/// What is to be said is short.
const SAID_BYTES_MAX: u64 = 64 << 10;

/// A pack, and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Packed {
    version: u32,
    /// When it was made, in nanoseconds since 1970.
    made_ns: i64,
    /// The pack's size and identity: notes of another pack are worth nothing.
    bytes: u64,
    identity: Identity,
    /// What most runs needed of its files, by offset and bytes in the pack, in the order of need.
    reads: Vec<(u64, u64)>,
    /// The escaped names of needed files that lie in its folders, and are read where they lie.
    real: Vec<String>,
    mirror: Mirror,
}

impl Packed {
    /// The pack beside a profile, if there is a whole one.
    pub(super) fn beside(profile: &Path) -> Option<Self> {
        let notes = beside::read_at_once(&notes(profile), NOTES_BYTES_MAX)?;
        let packed: Self = serde_json::from_slice(&notes).ok()?;
        let found = looked_at(&pack(profile));
        let is_same = packed.stands_for_nothing() || found == Some((packed.bytes, packed.identity));
        (packed.version == VERSION && is_same).then_some(packed)
    }

    /// Whether no run was recorded whole after it was made.
    fn is_as_new_as(&self, profile: Option<&Profile>) -> bool {
        let runs = profile.iter().flat_map(|profile| &profile.runs).filter(|run| run.whole);
        let newest = runs.filter_map(|run| run.info.started_unix_ns).max().unwrap_or(0);
        i64::try_from(newest).is_ok_and(|newest| newest <= self.made_ns)
    }

    /// Whether there is no folder that it may stand for.
    pub(super) fn stands_for_nothing(&self) -> bool {
        self.mirror.roots.is_empty()
    }

    /// What its file has to be.
    fn recorded(&self) -> Recorded {
        Recorded { bytes: Some(self.bytes), identity: Some(self.identity) }
    }

    fn extents(&self) -> impl Iterator<Item = Extent> {
        self.reads.iter().map(|&(offset, bytes)| Extent { offset, bytes })
    }

    /// What a program that sees the pack does not read where it lies.
    pub(super) fn hidden(&self) -> Hidden {
        let real = self.real.iter().map(|name| unescaped(name)).collect();
        Hidden { folders: self.roots(), real }
    }

    /// The folders in whose place it is seen.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        self.mirror.roots().map(Path::to_owned).collect()
    }
}

/// The path of an escaped name.
fn unescaped(name: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape_path(name)))
}

fn pack(profile: &Path) -> PathBuf {
    profile.with_extension(beside::PACK)
}

fn notes(profile: &Path) -> PathBuf {
    profile.with_extension(beside::NOTES)
}

/// Whether there may be a pack, of which it is to be judged whether it pays.
pub(super) fn may_be_used(profile: &Path) -> bool {
    pack(profile).exists()
}

/// Whether an earlier start of the profile left something to say.
pub(super) fn has_unsaid(profile: &Path) -> bool {
    profile.with_extension(beside::SAID).exists()
}

/// What an earlier start of the profile had to say of its pack, and could not. It is said once.
pub(super) fn unsaid(profile: &Path) -> Option<String> {
    let place = profile.with_extension(beside::SAID);
    std::fs::metadata(&place).ok().filter(|found| found.len() <= SAID_BYTES_MAX)?;
    let words = std::fs::read_to_string(&place).ok()?;
    std::fs::remove_file(place).ok()?;
    Some(words)
}
