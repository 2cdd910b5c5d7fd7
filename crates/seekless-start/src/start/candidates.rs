//! The files of a profile that a start may need, each once, with what most runs needed of it.

use super::Options;
use crate::profiles;
use crate::warm::bring::Recorded;
use seekless_policy::foresight::start::Need;
use seekless_trace::{Profile, unescape_path};
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// A file of the profile, with what is needed of it.
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    pub(super) recorded: Recorded,
    /// Where its first byte lay, if that is known.
    pub(super) place: Option<u64>,
    pub(super) needs: Vec<Need>,
}

impl Candidate {
    pub(super) fn needed_bytes(&self) -> u64 {
        self.needs.iter().fold(0, |sum, need| sum.saturating_add(need.extent.bytes))
    }

    pub(super) fn bytes(&self) -> u64 {
        let end = self.needs.iter().map(|need| need.extent.end()).max().unwrap_or(0);
        self.recorded.bytes.unwrap_or(end)
    }
}

pub(super) fn candidates(profile: &Profile, options: &Options) -> Vec<Candidate> {
    let mut needs: Vec<Vec<Need>> = vec![Vec::new(); profile.files.len()];
    for need in profiles::by_most(profile) {
        if let Some(of_file) = needs.get_mut(need.file as usize) {
            of_file.push(need);
        }
    }
    let candidate = |(file, needs): (&seekless_trace::ProfiledFile, Vec<Need>)| {
        let path = PathBuf::from(OsString::from_vec(unescape_path(&file.name)));
        let within = &options.within;
        let allowed = path.is_absolute()
            && (within.is_empty() || within.iter().any(|root| path.starts_with(root)))
            && !options.hidden.hides(&path);
        let recorded = Recorded { bytes: file.bytes, identity: file.identity };
        let place = file.place;
        (allowed && !needs.is_empty()).then_some(Candidate { path, recorded, place, needs })
    };
    one_a_file(profile.files.iter().zip(needs).filter_map(candidate))
}

/// Joins the names of one file, which comes in once: what is needed under another name alone is
/// added to the first.
fn one_a_file(named: impl Iterator<Item = Candidate>) -> Vec<Candidate> {
    let mut files: Vec<Candidate> = Vec::new();
    let mut known: HashMap<(u64, i64, Option<u64>), usize> = HashMap::new();
    for candidate in named {
        let Recorded { bytes, identity } = candidate.recorded;
        let same = identity.map(|file| (file.inode, file.modified_ns, bytes));
        let place = same.map_or(files.len(), |same| *known.entry(same).or_insert(files.len()));
        let Some(first) = files.get_mut(place) else {
            files.push(candidate);
            continue;
        };
        let overlaps = |one: &Need, other: &Need| {
            one.extent.offset < other.extent.end() && other.extent.offset < one.extent.end()
        };
        for need in candidate.needs {
            if !first.needs.iter().any(|known| overlaps(known, &need)) {
                first.needs.push(need);
            }
        }
    }
    files
}
