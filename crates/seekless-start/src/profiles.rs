//! The profiles of this user's programs: where they lie, and how they are listed, learned, merged
//! and removed. One file a kind of start, named by the program and a sum of its [`Key`].

pub(crate) mod beside;
pub(crate) mod between;
pub(crate) mod flat;
mod key;
mod learn;
mod looks;
mod places;
pub mod shared;

pub use key::Key;
pub(crate) use key::found;
pub use learn::{Learned, learn, learn_needed, learn_trace};
pub(crate) use learn::{by_most, identify, identity_of};
pub(crate) use places::renew_places;
pub(crate) use shared::Names;

use seekless_job::{Error, ErrorKind, Result};
use seekless_sys::output::Destination;
use seekless_sys::{home, lock_folder, objects};
use seekless_trace::{Profile, ProfiledRun};
use serde::Serialize;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const EXTENSION: &str = "parquet";

/// The folder of this user's profiles.
///
/// # Errors
/// Neither `XDG_STATE_HOME` nor `HOME` says where it is.
pub fn folder() -> Result<PathBuf> {
    let state = home::state().ok_or_else(|| {
        let why = "there is no folder for profiles: set HOME or XDG_STATE_HOME";
        Error::new(ErrorKind::Missing, why)
    })?;
    Ok(state.join("profiles"))
}

/// Where the profile of a kind of start lies, whether there is one or not.
///
/// # Errors
/// As [`folder`].
pub fn place(key: &Key) -> Result<PathBuf> {
    Ok(folder()?.join(key.name()).with_extension(EXTENSION))
}

/// Whether a profile lies in the folder of this user's.
pub(crate) fn is_own(path: &Path) -> bool {
    folder().is_ok_and(|own| path.parent() == Some(&own))
}

/// A profile in figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Its name in the folder, without the extension.
    pub name: String,
    /// Where it lies.
    #[serde(serialize_with = "seekless_job::in_json::path")]
    pub path: PathBuf,
    /// The program and the shape of its arguments.
    pub start: String,
    /// Its runs.
    pub runs: u64,
    /// The files that these needed.
    pub files: u64,
    /// Bytes that the newest run needed.
    pub needed_bytes: u64,
    /// The size of the profile itself.
    pub bytes: u64,
    /// The size of the pack that was made of its files, with what is noted of it; 0 if there is
    /// none.
    pub pack_bytes: u64,
    /// When it last changed, in seconds since 1970.
    pub changed_unix_s: u64,
    /// Why it cannot be read, if so.
    pub unreadable: Option<String>,
}

/// All profiles of this user, the one that changed last first.
///
/// # Errors
/// The folder cannot be read. Without a folder there are no profiles.
pub fn list() -> Result<Vec<Kept>> {
    let folder = folder()?;
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::unreadable(&folder, error)),
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut all: Vec<Kept> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION))
        .filter_map(|path| kept(&path))
        .collect();
    all.sort_by(|one, other| {
        (other.changed_unix_s, &one.name).cmp(&(one.changed_unix_s, &other.name))
    });
    Ok(all)
}

fn kept(path: &Path) -> Option<Kept> {
    let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let read = Profile::read(path);
    let unreadable = read.as_ref().err().map(ToString::to_string);
    let profile = read.unwrap_or_default();
    Some(Kept {
        name: path.file_stem()?.to_string_lossy().into_owned(),
        path: path.to_owned(),
        runs: profile.runs.len() as u64,
        files: profile.files.len() as u64,
        needed_bytes: profile.needed_bytes(),
        start: profile.key,
        bytes: found.len(),
        pack_bytes: beside::bytes(path),
        changed_unix_s: changed.as_secs(),
        unreadable,
    })
}

/// The profile that a word names: a file or an object, or the only one whose name begins so.
///
/// # Errors
/// There is none, or there are several.
pub fn find(word: &Path) -> Result<PathBuf> {
    if word.is_file() || objects::of(word).is_some() {
        return Ok(word.to_owned());
    }
    let name = word.to_string_lossy();
    let mut paths: Vec<PathBuf> = list()?
        .into_iter()
        .filter(|kept| kept.name.starts_with(&*name))
        .map(|kept| kept.path)
        .collect();
    match (paths.pop(), paths.len()) {
        (Some(path), 0) => Ok(path),
        (None, _) => {
            let why = format!("{name}: no such profile; `seekless profiles` lists them");
            Err(Error::new(ErrorKind::Missing, why))
        }
        (Some(_), others) => {
            let why = format!("{name}: {} profiles begin so; give more of the name", others + 1);
            Err(Error::new(ErrorKind::Invalid, why))
        }
    }
}

/// Reads a profile, or a trace as one. The names in one that machines share become those of this
/// machine.
///
/// # Errors
/// It cannot be read.
pub fn read(path: &Path) -> Result<Profile> {
    let read = Profile::read(path).map(|profile| Names::of_user().shown(profile));
    read.map_err(|error| Error::because(ErrorKind::Trace, "the profile cannot be read", error))
}

/// A profile as it is shown to users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// The program and the shape of its arguments.
    pub start: String,
    /// How many runs it has.
    pub runs: u64,
    /// Its files, in the order in which the newest run needed them.
    pub files: Vec<ShownFile>,
}

/// A file of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShownFile {
    /// Its path.
    pub path: String,
    /// Its size.
    pub bytes: Option<u64>,
    /// How many bytes of it most runs needed.
    pub needed_bytes: u64,
    /// In how many ranges.
    pub ranges: u64,
    /// How many runs needed some of it.
    pub runs: u64,
    /// Whether it still is the file that was recorded.
    pub same: bool,
}

/// What a profile names.
///
/// # Errors
/// It cannot be read.
pub fn shown(path: &Path) -> Result<Shown> {
    let profile = read(path)?;
    let mut places: Vec<Option<usize>> = vec![None; profile.files.len()];
    let mut files: Vec<ShownFile> = Vec::new();
    for need in by_most(&profile) {
        let number = need.file as usize;
        let place = *places[number].get_or_insert_with(|| {
            files.push(shown_file(&profile, need.file));
            files.len() - 1
        });
        files[place].needed_bytes += need.extent.bytes;
        files[place].ranges += 1;
    }
    Ok(Shown { start: profile.key.clone(), runs: profile.runs.len() as u64, files })
}

fn shown_file(profile: &Profile, number: u32) -> ShownFile {
    let file = &profile.files[number as usize];
    let needs_it = |run: &&ProfiledRun| run.needs.iter().any(|need| need.file == number);
    let found = identify(&file.name);
    ShownFile {
        path: file.name.clone(),
        bytes: file.bytes,
        needed_bytes: 0,
        ranges: 0,
        runs: profile.runs.iter().filter(needs_it).count() as u64,
        same: found.is_some_and(|(bytes, identity)| {
            file.bytes.is_none_or(|known| known == bytes)
                && file.identity.is_none_or(|known| known == identity)
        }),
    }
}

/// Changes the profile at `path`: reads it, applies `change`, and replaces it by the result in one
/// step, which only this user may read. A lock on the folder makes other processes wait meanwhile,
/// so that no run is lost. `change` gets `None` if there is no profile, or only what cannot be
/// read.
///
/// # Errors
/// The folder cannot be made, or the profile cannot be written.
pub fn update(path: &Path, change: impl FnOnce(Option<Profile>) -> Profile) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let unwritable = |error: std::io::Error| {
        let why = format!("the profile {} cannot be written", path.display());
        Error::because(ErrorKind::Io, why, error)
    };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unwritable)?;
    let _lock = lock_folder(folder).map_err(unwritable)?;
    let profile = change(Profile::read(path).ok());
    write(&profile, Destination::new(path).replacing(true).private())?;
    if is_own(path) {
        flat::write(path, &profile);
    }
    Ok(())
}

/// Adds the runs of a flat form, which a small program has learned, to the profile at `path`.
///
/// # Errors
/// It is damaged, or as [`update`].
pub fn add_flat(path: &Path, form: &[u8]) -> Result<()> {
    let damaged = || Error::new(ErrorKind::Invalid, "what was learned of a start is damaged");
    let (learned, _) = flat::decoded(form).ok_or_else(damaged)?;
    update(path, |before| learn::merged(before, learned))
}

fn write(profile: &Profile, out: Destination) -> Result<()> {
    profile
        .write(out)
        .map_err(|error| Error::because(ErrorKind::Trace, "the profile cannot be written", error))
}

/// Merges profiles and traces into one: the runs of all of them, those named last being the newest.
///
/// # Errors
/// One cannot be read, or `out` is there and may not be replaced.
pub fn merge(sources: &[PathBuf], out: Destination) -> Result<Profile> {
    let mut merged = Profile::default();
    for source in sources {
        let profile = read(source)?;
        if merged.key.is_empty() {
            merged.key.clone_from(&profile.key);
        }
        learn::append(&mut merged, profile);
    }
    learn::keep_newest(&mut merged, learn::RUNS_MAX);
    write(&merged, out)?;
    Ok(merged)
}

/// What to remove.
#[derive(Clone, Debug, Default)]
pub struct Prune {
    /// Profiles that have not changed for this many seconds.
    pub older_than_s: Option<u64>,
    /// The oldest, until the rest take at most this many bytes.
    pub bytes_max: Option<u64>,
    /// Remove nothing; say what would be.
    pub dry_run: bool,
}

/// Removes profiles, each with its pack; gives those that it removed.
///
/// # Errors
/// One cannot be removed.
pub fn prune(options: &Prune) -> Result<Vec<Kept>> {
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut room = options.bytes_max.unwrap_or(u64::MAX);
    let mut removed = Vec::new();
    for kept in list()? {
        let age_s = now_s.saturating_sub(kept.changed_unix_s);
        let old = options.older_than_s.is_some_and(|limit| age_s > limit);
        let bytes = kept.bytes + kept.pack_bytes;
        let fits = bytes <= room;
        if !old && fits {
            room -= bytes;
            continue;
        }
        if !options.dry_run {
            beside::remove_all(&kept.path);
            fs::remove_file(&kept.path).map_err(|error| {
                let why = format!("{} cannot be removed", kept.path.display());
                Error::because(ErrorKind::Io, why, error)
            })?;
        }
        removed.push(kept);
    }
    Ok(removed)
}

#[cfg(test)]
mod tests;
