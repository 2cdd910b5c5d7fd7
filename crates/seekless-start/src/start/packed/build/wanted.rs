//! What a profile's starts want: files in the order of first need, and names.

use super::super::unescaped;
use crate::profiles::{by_most, identify};
use seekless_mount::mirror::{About, Name};
use seekless_trace::{LookKind, Profile, escape_path};
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Files and names by their real paths: without links on the way.
#[derive(Default)]
pub(super) struct Wanted {
    /// In the order of first need.
    pub(super) files: Vec<File>,
    /// Names that are looked up.
    pub(super) names: BTreeSet<PathBuf>,
    /// The folders of all these, and those that are listed.
    pub(super) folders: BTreeSet<PathBuf>,
}

/// A file that is needed, and is as it was when that was learned.
pub(super) struct File {
    /// Its name in the profile, escaped.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) about: About,
    pub(super) needs: Vec<Range<u64>>,
}

/// The real path of an escaped name.
pub(super) fn real(name: &str) -> Option<PathBuf> {
    unescaped(name).canonicalize().ok()
}

impl Wanted {
    pub(super) fn of(profile: &Profile) -> Self {
        let mut wanted = Self::default();
        wanted.add_files(profile);
        for look in &profile.looks {
            let path = unescaped(&look.name);
            match look.kind {
                LookKind::Name => wanted.add_name(&path),
                LookKind::Folder | LookKind::Listed => {
                    wanted.add_name(&path);
                    wanted.folders.extend(path.canonicalize().ok().filter(|path| path.is_dir()));
                }
            }
        }
        wanted
    }

    fn add_files(&mut self, profile: &Profile) {
        let mut places: Vec<Option<Option<usize>>> = vec![None; profile.files.len()];
        let mut known: HashSet<PathBuf> = HashSet::new();
        for need in by_most(profile) {
            let place = *places[need.file as usize].get_or_insert_with(|| {
                let file = &profile.files[need.file as usize];
                let path = real(&file.name).filter(|path| !known.contains(path))?;
                let found = identify(&escape_path(path.as_os_str().as_bytes()))?;
                let is_same = file.identity.is_none_or(|identity| identity == found.1);
                let about = About::at(&path).ok().filter(|_| is_same)?;
                known.insert(path.clone());
                self.add_name(&unescaped(&file.name));
                self.add_name(&path);
                let name = file.name.clone();
                self.files.push(File { name, path, about, needs: Vec::new() });
                Some(self.files.len() - 1)
            });
            if let Some(place) = place {
                let range = need.extent.offset..need.extent.end();
                self.files[place].needs.push(range);
            }
        }
    }

    /// Adds a name, and its folder, each without links on the way.
    fn add_name(&mut self, path: &Path) {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return };
        if let Ok(above) = above.canonicalize() {
            self.names.insert(above.join(name));
            self.folders.insert(above);
        }
    }

    /// Names that are looked up in a folder and are not among those that it has.
    pub(super) fn absent_in(&self, folder: &Path, names: &[Name]) -> Vec<String> {
        let here: HashSet<&str> = names.iter().map(|name| &*name.name).collect();
        let in_folder = |path: &PathBuf| {
            let name = path.file_name().filter(|_| path.parent() == Some(folder))?.to_str()?;
            (!here.contains(name)).then(|| name.to_owned())
        };
        // In this order all below a folder follows it.
        let below = self.names.range(folder.to_owned()..);
        below.take_while(|path| path.starts_with(folder)).filter_map(in_folder).collect()
    }

    /// The folders of which names have changed since the newest run began.
    pub(super) fn changed_since(&self, profile: &Profile) -> Vec<PathBuf> {
        let started = profile.runs.last().and_then(|run| run.info.started_unix_ns);
        let started = started.and_then(|at| i64::try_from(at).ok()).unwrap_or(i64::MIN);
        let has_changed =
            |folder: &&PathBuf| About::at(folder).is_ok_and(|it| it.changed_ns >= started);
        self.folders.iter().filter(has_changed).cloned().collect()
    }
}
