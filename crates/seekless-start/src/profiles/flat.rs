//! The profile once more, for a start that has no time for Parquet: the small program reads it at
//! once and by itself. It is checked by a sum, and it stands for the very file that it was made
//! from: another profile in that place makes it void, and the whole command reads that.
//!
//! As in the profile, of a run's command line only the program is kept: arguments may be secrets.
//!
//! It lies beside a profile of this user. Of one that came with a program, it lies in `flat` in the
//! user's state folder.
//!
//! ```text
//! "seekless profile 1\n"   CRC-32 of the rest, little-endian   postcard: Flat
//! ```

use super::beside::{self, FLAT};
use super::is_own;
use seekless_sys::home;
use seekless_trace::{Look, Need, Profile, ProfiledFile, ProfiledRun, RunInfo, fnv_1a};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::{DirBuilder, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

const MARK: &[u8] = b"seekless profile 1\n";
/// A larger file is not ours.
const BYTES_MAX: u64 = 64 << 20;

/// What shows that a profile has not changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProfileIs {
    inode: u64,
    bytes: u64,
    changed_s: i64,
    changed_ns: i64,
}

impl ProfileIs {
    pub(crate) fn of(found: &Metadata) -> Self {
        Self {
            inode: found.ino(),
            bytes: found.len(),
            changed_s: found.mtime(),
            changed_ns: found.mtime_nsec(),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Flat<'a> {
    of: ProfileIs,
    key: Cow<'a, str>,
    files: Cow<'a, [ProfiledFile]>,
    runs: Vec<FlatRun<'a>>,
    looks: Cow<'a, [Look]>,
    written: Cow<'a, Option<Vec<String>>>,
    between: Cow<'a, [ProfiledFile]>,
}

#[derive(Serialize, Deserialize)]
struct FlatRun<'a> {
    command: Cow<'a, [String]>,
    clock: Cow<'a, str>,
    source: Cow<'a, str>,
    started_unix_ns: Option<u64>,
    duration_ns: Option<u64>,
    exit_status: Option<i32>,
    whole: bool,
    cpu_ns: Option<u64>,
    needs: Cow<'a, [Need]>,
}

impl<'a> Flat<'a> {
    fn of(profile: &'a Profile, of: ProfileIs) -> Self {
        let run = |run: &'a ProfiledRun| FlatRun {
            command: Cow::Borrowed(run.info.command.get(..1).unwrap_or_default()),
            clock: Cow::Borrowed(&run.info.clock),
            source: Cow::Borrowed(&run.info.source),
            started_unix_ns: run.info.started_unix_ns,
            duration_ns: run.info.duration_ns,
            exit_status: run.info.exit_status,
            whole: run.whole,
            cpu_ns: run.cpu_ns,
            needs: Cow::Borrowed(&run.needs),
        };
        Self {
            of,
            key: Cow::Borrowed(&profile.key),
            files: Cow::Borrowed(&profile.files),
            runs: profile.runs.iter().map(run).collect(),
            looks: Cow::Borrowed(&profile.looks),
            written: Cow::Borrowed(&profile.written),
            between: Cow::Borrowed(&profile.between),
        }
    }

    fn profile(self) -> Profile {
        let run = |run: FlatRun<'_>| ProfiledRun {
            info: RunInfo {
                command: run.command.into_owned(),
                clock: run.clock.into_owned(),
                source: run.source.into_owned(),
                started_unix_ns: run.started_unix_ns,
                duration_ns: run.duration_ns,
                exit_status: run.exit_status,
                ..RunInfo::default()
            },
            whole: run.whole,
            cpu_ns: run.cpu_ns,
            needs: run.needs.into_owned(),
        };
        Profile {
            key: self.key.into_owned(),
            files: self.files.into_owned(),
            runs: self.runs.into_iter().map(run).collect(),
            looks: self.looks.into_owned(),
            written: self.written.into_owned(),
            between: self.between.into_owned(),
        }
    }
}

/// The flat form of a profile that is that of no file.
pub(crate) fn encoded(profile: &Profile) -> Vec<u8> {
    sealed(&Flat::of(profile, ProfileIs::default()))
}

fn sealed(flat: &Flat<'_>) -> Vec<u8> {
    let content = postcard::to_stdvec(flat).unwrap_or_default(); // plain data cannot fail
    let sum = crc32fast::hash(&content).to_le_bytes();
    [MARK, &sum, &content].concat()
}

/// The profile of a flat form, and the file that it stands for; `None` if it is damaged or of
/// another version.
pub(crate) fn decoded(bytes: &[u8]) -> Option<(Profile, ProfileIs)> {
    let (sum, content) = bytes.strip_prefix(MARK)?.split_first_chunk()?;
    if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
        return None;
    }
    let flat: Flat<'_> = postcard::from_bytes(content).ok()?;
    let of = flat.of;
    Some((flat.profile(), of))
}

/// Writes the flat form of the profile at a path. Without it starts read the profile itself.
pub(crate) fn write(path: &Path, profile: &Profile) {
    if let Some(place) = place(path) {
        write_at(&place, path, profile);
    }
}

fn write_at(place: &Path, path: &Path, profile: &Profile) {
    let Ok(found) = std::fs::metadata(path) else { return };
    let bytes = sealed(&Flat::of(profile, ProfileIs::of(&found)));
    let folder = place.parent().unwrap_or(Path::new("."));
    if DirBuilder::new().recursive(true).mode(0o700).create(folder).is_ok() {
        let written = beside::write_private(place, &bytes);
        drop(written);
    }
}

/// Where the flat form of a profile lies.
fn place(profile: &Path) -> Option<PathBuf> {
    if is_own(profile) {
        return Some(profile.with_extension(FLAT));
    }
    let path = std::path::absolute(profile).ok()?;
    let name = format!("{:016x}", fnv_1a(path.as_os_str().as_bytes()));
    Some(home::state()?.join(FLAT).join(name))
}

/// The profile at a path by its flat form, if there is one that stands for it.
pub(crate) fn read(path: &Path) -> Option<Profile> {
    read_at(&place(path)?, path)
}

fn read_at(place: &Path, path: &Path) -> Option<Profile> {
    let is = ProfileIs::of(&std::fs::metadata(path).ok()?);
    let content = beside::read_at_once(place, BYTES_MAX)?;
    let (profile, of) = decoded(&content)?;
    (of == is).then_some(profile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_trace::{Identity, LookKind};

    fn sample() -> Profile {
        let identity = Some(Identity { inode: 17, modified_ns: -5 });
        let file = ProfiledFile { name: "/a".into(), bytes: Some(9), identity, place: Some(4096) };
        let need = Need { file: 0, offset: 0, bytes: 9, time_ns: 3, mapped: true };
        let info = RunInfo {
            command: vec!["/bin/cat".into()],
            started_unix_ns: Some(5),
            exit_status: Some(1),
            ..RunInfo::default()
        };
        Profile {
            key: "cat".into(),
            between: vec![file.clone()],
            files: vec![file],
            runs: vec![ProfiledRun { info, whole: true, cpu_ns: Some(8), needs: vec![need; 3] }],
            looks: vec![Look { name: "/a".into(), kind: LookKind::Name, inode: None, bytes: None }],
            written: Some(vec!["/tmp".into()]),
        }
    }

    #[test]
    fn it_comes_back_while_the_profile_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cat.parquet");
        std::fs::write(&path, "a profile").unwrap();
        let place = folder.path().join("flat/cat");
        assert_eq!(read_at(&place, &path), None, "there is none");
        write_at(&place, &path, &sample());
        assert_eq!(read_at(&place, &path), Some(sample()));
        std::fs::write(&path, "another profile").unwrap();
        assert_eq!(read_at(&place, &path), None);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read_at(&place, &path), None);
    }

    #[test]
    fn a_flipped_or_missing_byte_is_seen() {
        let good = encoded(&sample());
        assert_eq!(decoded(&good), Some((sample(), ProfileIs::default())));
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 0x10;
            assert_eq!(decoded(&bytes), None, "byte {at}");
            assert_eq!(decoded(&good[..at]), None, "{at} bytes");
        }
    }

    #[test]
    fn arguments_are_not_kept() {
        let mut profile = sample();
        profile.runs[0].info.command.push("--token=sesame".into());
        let form = encoded(&profile);
        assert!(!form.windows(6).any(|window| window == b"sesame"));
        assert_eq!(decoded(&form), Some((sample(), ProfileIs::default())));
    }
}
