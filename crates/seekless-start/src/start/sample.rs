//! A sample of what a start needs, for starts of which all is cached: these have nothing to gain,
//! so they must cost next to nothing. When a start is found to need no help, some of its ranges are
//! noted in `samples` in the user's state folder. As long as these are cached and the profile is
//! the same, the next start becomes the program without a look at the profile.
//!
//! A sample is good for a day, and no longer than the profile is fresh. A start of which a part is
//! no longer cached is noticed by it as surely as that part is large: of 48 ranges that are spread
//! over all, one lies in a tenth of them in 99 of 100 cases.

use super::Options;
use crate::profiles::Key;
use crate::profiles::flat::ProfileIs;
use crate::warm::bring::{Recorded, open};
use seekless_job::{Error, ErrorKind, Result};
use seekless_policy::layout::extents::Extent;
use seekless_sys::home;
use seekless_sys::output::{Content, Destination};
use seekless_trace::{Identity, escape_path, unescape_path};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{DirBuilder, Metadata};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const VERSION: u32 = 1;
/// The largest ranges that are looked at, and this many of the others, evenly spread.
const LARGEST: usize = 24;
const SPREAD: usize = 24;
/// A larger file is not ours.
const BYTES_MAX: u64 = 1 << 20;
const DAY_S: u64 = 24 * 60 * 60;

/// A range that a start needs and that is cached.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) recorded: Recorded,
    pub(super) extent: Extent,
}

#[derive(Debug, Serialize, Deserialize)]
struct Sample {
    version: u32,
    profile: ProfileIs,
    until_unix_s: u64,
    places: Vec<Noted>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Noted {
    path: String,
    offset: u64,
    bytes: u64,
    file_bytes: Option<u64>,
    identity: Option<Identity>,
}

/// Whether a start is known to need no help.
pub(super) fn shows_no_need(key: &Key, profile: &Path) -> bool {
    sample_of(key, profile).is_some_and(|sample| is_cached(profile, &sample))
}

fn sample_of(key: &Key, profile: &Path) -> Option<PathBuf> {
    let profile = std::path::absolute(profile).ok()?;
    let name = key.name_with(profile.as_os_str().as_bytes());
    Some(home::state()?.join("samples").join(name).with_extension("json"))
}

/// Whether the sample is of this profile, and all of it is cached.
fn is_cached(profile: &Path, sample: &Path) -> bool {
    let small = std::fs::metadata(sample).is_ok_and(|found| found.len() <= BYTES_MAX);
    let text = small.then(|| std::fs::read(sample).ok()).flatten();
    let Some(sample) = text.and_then(|text| serde_json::from_slice::<Sample>(&text).ok()) else {
        return false;
    };
    let found = std::fs::metadata(profile);
    sample.version == VERSION
        && (now_s()..=now_s() + DAY_S).contains(&sample.until_unix_s)
        && found.is_ok_and(|found| ProfileIs::of(&found) == sample.profile)
        && sample.places.chunk_by(|one, next| one.path == next.path).all(are_cached)
}

/// Whether ranges of one file are cached, and it is the file that was recorded.
fn are_cached(places: &[Noted]) -> bool {
    let Some(Noted { path, file_bytes, identity, .. }) = places.first() else { return true };
    let path = PathBuf::from(OsString::from_vec(unescape_path(path)));
    let recorded = Recorded { bytes: *file_bytes, identity: *identity };
    let Ok(opened) = open(&path, &recorded, &[]) else { return false };
    let is_cached = |noted: &Noted| {
        let extent = Extent { offset: noted.offset, bytes: noted.bytes };
        opened.cached(extent).is_some_and(|cached| cached >= noted.bytes)
    };
    places.iter().all(is_cached)
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Notes a sample of what is cached, for the next start. `fresh_s` is how long the profile is.
///
/// # Errors
/// There is no state folder, or it cannot be written to.
pub(super) fn keep(key: &Key, profile: &Path, cached: &[Place], fresh_s: u64) -> Result<()> {
    let wrong = |error: std::io::Error| {
        Error::because(ErrorKind::Io, "the sample of what is cached cannot be written", error)
    };
    let missing = || Error::new(ErrorKind::Missing, "there is no folder for samples");
    let path = sample_of(key, profile).ok_or_else(missing)?;
    let found = std::fs::metadata(profile).map_err(wrong)?;
    let sample = Sample {
        version: VERSION,
        profile: ProfileIs::of(&found),
        until_unix_s: now_s() + fresh_s.min(DAY_S),
        places: chosen(cached).into_iter().map(noted).collect(),
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(wrong)?;
    let text = serde_json::to_vec(&sample).map_err(|error| wrong(error.into()))?;
    let unpublished = |error| Error::because(ErrorKind::Io, "the sample cannot be written", error);
    let destination = Destination::new(&path).replacing(true).private();
    let mut file = destination.create(Content::Text).map_err(unpublished)?;
    file.write_all(&text).map_err(wrong)?;
    file.publish().map_err(unpublished)?;
    remove_old(folder);
    Ok(())
}

/// Removes samples that stand no more. One that cannot be removed does no harm.
fn remove_old(folder: &Path) {
    let old = |found: &Metadata| found.mtime().unsigned_abs() + 2 * DAY_S < now_s();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.metadata().is_ok_and(|found| found.is_file() && old(&found)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The largest ranges, and some of the others, those of one file together.
fn chosen(cached: &[Place]) -> Vec<&Place> {
    let mut places: Vec<&Place> = cached.iter().collect();
    places.sort_by_key(|place| std::cmp::Reverse(place.extent.bytes));
    let others = places.len().saturating_sub(LARGEST);
    let spread = others.min(SPREAD);
    let mut chosen: Vec<&Place> = places.iter().take(LARGEST).copied().collect();
    chosen.extend((0..spread).map(|at| places[LARGEST + at * others / spread]));
    chosen.sort_by(|one, other| one.path.cmp(&other.path));
    chosen
}

fn noted(place: &Place) -> Noted {
    Noted {
        path: escape_path(place.path.as_os_str().as_bytes()),
        offset: place.extent.offset,
        bytes: place.extent.bytes,
        file_bytes: place.recorded.bytes,
        identity: place.recorded.identity,
    }
}

/// Whether these options are those for which a sample stands.
pub(super) fn stands_for(options: &Options) -> bool {
    let Options { within, hidden, budget_bytes, costs, packs, .. } = options;
    !packs && within.is_empty() && hidden.is_none() && budget_bytes.is_none() && costs.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsFd;

    #[test]
    fn a_sample_stands_while_its_ranges_are_cached_and_the_profile_is_the_same() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let (data, profile) = (folder.path().join("data"), folder.path().join("p.parquet"));
        std::fs::write(&data, vec![7; 1 << 20]).unwrap();
        std::fs::write(&profile, "a profile").unwrap();
        File::open(&data).unwrap().sync_all().unwrap();
        let extent = Extent { offset: 0, bytes: 1 << 20 };
        let cached = [Place { path: data.clone(), recorded: Recorded::default(), extent }];
        let sample = folder.path().join("sample.json");
        let write = |until_unix_s: u64| {
            let places = chosen(&cached).into_iter().map(noted).collect();
            let found = std::fs::metadata(&profile).unwrap();
            let is = ProfileIs::of(&found);
            let sample_is = Sample { version: VERSION, profile: is, until_unix_s, places };
            std::fs::write(&sample, serde_json::to_vec(&sample_is).unwrap()).unwrap();
        };
        write(now_s() + 60);
        if !is_cached(&profile, &sample) {
            println!("skipped: this kernel does not tell what is cached");
            return;
        }
        write(now_s() - 1);
        assert!(!is_cached(&profile, &sample), "it is old");
        write(now_s() + 60);
        seekless_sys::residency::drop_cached(File::open(&data).unwrap().as_fd()).unwrap();
        assert!(!is_cached(&profile, &sample), "nothing is cached");
        std::fs::read(&data).unwrap();
        assert!(is_cached(&profile, &sample));
        std::fs::write(&profile, "another profile").unwrap();
        assert!(!is_cached(&profile, &sample), "the profile has changed");
        std::fs::write(&sample, "{").unwrap();
        assert!(!is_cached(&profile, &sample), "it is damaged");
    }

    #[test]
    fn ranges_of_one_file_are_looked_at_together() {
        let place = |file: u64, at: u64| Place {
            path: format!("/f{file}").into(),
            recorded: Recorded::default(),
            extent: Extent { offset: at, bytes: at + 1 },
        };
        let all: Vec<Place> = (0..400).map(|at| place(at % 3, at)).collect();
        let chosen = chosen(&all);
        assert_eq!(chosen.len(), LARGEST + SPREAD);
        assert_eq!(chosen.chunk_by(|one, next| one.path == next.path).count(), 3);
        assert!(chosen.iter().any(|place| place.extent.bytes == 400));
        assert!(chosen.iter().any(|place| place.extent.bytes < 50));
    }
}
