//! What lies on the device between the files that starts need: other files of the same folders. To
//! read through them makes one request of two, where a request costs more than their bytes.

use super::learn::{by_most, identify};
use crate::warm::bring::{Recorded, open};
use seekless_trace::{Profile, ProfiledFile, escape_path, unescape_path};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const PAGE_BYTES: u64 = 4096;
/// No device makes it worth to read through more.
const GAP_BYTES_MAX: u64 = 512 << 10;
/// So many files are looked at; a start of PyTorch needs some 3,000.
const FILES_MAX: usize = 1 << 15;

/// The files that lie whole between needed ranges. To be asked when the names are in memory.
pub(crate) fn find(profile: &Profile) -> Vec<ProfiledFile> {
    let paths: Vec<PathBuf> = profile
        .files
        .iter()
        .map(|file| PathBuf::from(OsString::from_vec(unescape_path(&file.name))))
        .collect();
    let gaps = gaps(profile, &paths);
    let needed: HashSet<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let folders: BTreeSet<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
    let entries = folders.into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let paths = entries.flatten().map(|entry| entry.path());
    let others = paths.filter(|path| !needed.contains(path.as_path())).take(FILES_MAX);
    others.filter_map(|path| lying_in(&gaps, &path)).collect()
}

/// The gaps between needed ranges, by device and in their order.
fn gaps(profile: &Profile, paths: &[PathBuf]) -> HashMap<u64, Vec<Range<u64>>> {
    let devices: Vec<Option<u64>> =
        paths.iter().map(|path| Some(fs::symlink_metadata(path).ok()?.dev())).collect();
    let mut needed: HashMap<u64, Vec<Range<u64>>> = HashMap::new();
    for need in by_most(profile) {
        let number = need.file as usize;
        let known = profile.files.get(number).and_then(|file| file.place).zip(devices[number]);
        let Some((place, device)) = known else { continue };
        let start = place.saturating_add(need.extent.offset);
        let end = start.saturating_add(need.extent.bytes.next_multiple_of(PAGE_BYTES));
        needed.entry(device).or_default().push(start..end);
    }
    let between = |mut ranges: Vec<Range<u64>>| {
        ranges.sort_unstable_by_key(|range| range.start);
        let gap = |pair: &[Range<u64>]| {
            let gap = pair[0].end..pair[1].start;
            (!gap.is_empty() && gap.end - gap.start <= GAP_BYTES_MAX).then_some(gap)
        };
        ranges.windows(2).filter_map(gap).collect()
    };
    needed.into_iter().map(|(device, ranges)| (device, between(ranges))).collect()
}

/// The file, if all of it lies in one of the gaps and side by side.
fn lying_in(gaps: &HashMap<u64, Vec<Range<u64>>>, path: &Path) -> Option<ProfiledFile> {
    let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    let gaps = gaps.get(&found.dev())?;
    if found.len() == 0 || found.len() > GAP_BYTES_MAX {
        return None;
    }
    let opened = open(path, &Recorded::default(), &[]).ok()?;
    let place = opened.place(0)?;
    let last = (found.len() - 1) / PAGE_BYTES * PAGE_BYTES;
    let gap = &gaps[gaps.partition_point(|gap| gap.end <= place)..].first()?;
    let lies_in = gap.start <= place && place + last + PAGE_BYTES <= gap.end;
    if !lies_in || opened.place(last)? != place + last {
        return None;
    }
    let name = escape_path(path.as_os_str().as_bytes());
    let (bytes, identity) = identify(&name)?;
    Some(ProfiledFile { name, bytes: Some(bytes), identity: Some(identity), place: Some(place) })
}
