//! What killed verbs have left in this user's folders: the spools of recordings, and the temporary
//! folders of starts that were recorded. What still runs has none of its things listed.

use seekless_job::{Error, ErrorKind, Result};
use seekless_sys::home;
use seekless_trace::{KeptSpool, kept_spools};
use serde::Serialize;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// How the names of temporary folders begin: of a recorded start, and of the tour.
const FOLDERS: [&str; 2] = ["seekless-run", "seekless-tour-"];

/// What is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The spool of a recording. `seekless trace recover` makes a trace of it.
    Spool,
    /// A temporary folder.
    Folder,
}

/// A file or folder that a killed verb has left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Leftover {
    /// What it is.
    pub kind: Kind,
    /// Where it lies.
    #[serde(serialize_with = "seekless_job::in_json::path")]
    pub path: PathBuf,
    /// Of a spool, the trace that was to be written, if it says so.
    #[serde(serialize_with = "seekless_job::in_json::some_path")]
    pub trace: Option<PathBuf>,
    /// Its size.
    pub bytes: u64,
    /// When it last changed, in seconds since 1970.
    pub changed_unix_s: u64,
}

/// All that is left, spools first, the one that changed last first.
#[must_use]
pub fn list() -> Vec<Leftover> {
    let spools = kept_spools();
    let mut folders = folders(&std::env::temp_dir(), &spools);
    // `record --post` collects requests in a folder beside its spool.
    if let Some(state) = home::state()
        && !spools.iter().any(|spool| spool.is_running)
    {
        folders.extend(entries(&state.join("spool")).filter_map(|path| of_folder(&path)));
    }
    folders.sort_by_key(|left| std::cmp::Reverse(left.changed_unix_s));
    spools.iter().filter(|spool| !spool.is_running).map(of_spool).chain(folders).collect()
}

/// Removes leftovers that have not changed for this many seconds, or only says what it would
/// remove.
///
/// # Errors
/// Something cannot be removed.
pub fn prune(older_than_s: u64, dry_run: bool) -> Result<Vec<Leftover>> {
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut old = list();
    old.retain(|left| now_s.saturating_sub(left.changed_unix_s) > older_than_s);
    if dry_run {
        return Ok(old);
    }
    let mut removed = Vec::new();
    for left in old {
        if remove(&left)? {
            removed.push(left);
        }
    }
    Ok(removed)
}

/// Whether it is gone; a recording may have begun meanwhile that uses it.
fn remove(left: &Leftover) -> Result<bool> {
    match left.kind {
        Kind::Spool => {
            let found = kept_spools().into_iter().find(|spool| spool.path == left.path);
            let removed = found.map_or(Ok(false), |spool| spool.remove());
            removed.map_err(|error| Error::because(ErrorKind::Io, "a spool stays", error))
        }
        Kind::Folder => {
            let failed = |error| {
                let why = format!("{} cannot be removed", left.path.display());
                Error::because(ErrorKind::Io, why, error)
            };
            fs::remove_dir_all(&left.path).map(|()| true).map_err(failed)
        }
    }
}

fn of_spool(spool: &KeptSpool) -> Leftover {
    Leftover {
        kind: Kind::Spool,
        path: spool.path.clone(),
        trace: spool.trace.clone(),
        bytes: spool.bytes,
        changed_unix_s: spool.changed_unix_s,
    }
}

/// The temporary folders of this user in `folder`, but for those of recordings that run.
fn folders(folder: &Path, spools: &[KeptSpool]) -> Vec<Leftover> {
    let is_ours = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        FOLDERS.iter().any(|beginning| name.starts_with(beginning))
    };
    let is_in_use = |path: &Path| {
        let running = spools.iter().filter(|spool| spool.is_running);
        running.filter_map(|spool| spool.trace.as_ref()).any(|trace| trace.starts_with(path))
    };
    let found = entries(folder).filter(|path| is_ours(path) && !is_in_use(path));
    found.filter_map(|path| of_folder(&path)).collect()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn of_folder(path: &Path) -> Option<Leftover> {
    let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_dir)?;
    if found.uid() != rustix::process::geteuid().as_raw() {
        return None;
    }
    let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let files = fs::read_dir(path).ok()?.flatten().filter_map(|entry| entry.metadata().ok());
    Some(Leftover {
        kind: Kind::Folder,
        path: path.to_owned(),
        trace: None,
        bytes: files.map(|file| file.len()).sum(),
        changed_unix_s: changed.as_secs(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_folders_are_left_but_for_those_of_recordings_that_run() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["seekless-runAAAA", "seekless-runBBBB", "other-run"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("seekless-runAAAA/run.parquet"), "12345").unwrap();
        let spool = |is_running| KeptSpool {
            path: folder.path().join("run.parquet-0.spool"),
            trace: Some(folder.path().join("seekless-runAAAA/run.parquet")),
            bytes: 9,
            changed_unix_s: 7,
            is_running,
        };
        let names = |spools: &[KeptSpool]| {
            let found = folders(folder.path(), spools).into_iter();
            let mut names: Vec<_> = found.map(|left| (left.bytes, left.path)).collect();
            names.sort();
            names
        };
        let [one, other] =
            ["seekless-runAAAA", "seekless-runBBBB"].map(|it| folder.path().join(it));
        assert_eq!(names(&[spool(false)]), [(0, other.clone()), (5, one)]);
        assert_eq!(names(&[spool(true)]), [(0, other)]);
    }
}
