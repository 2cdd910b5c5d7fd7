//! The names that a recorded start looked up, as a profile keeps them: with inodes, and with the
//! folders on the way. It is asked after the start, when all of these are in memory.

use seekless_trace::{Look, LookKind, escape_path, unescape_path};
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// More names are not kept. A start of PyTorch looks up some 10,000.
const LOOKS_MAX: usize = 1 << 16;

/// The looks for these names, which are escaped; of each, whether it was listed.
pub(super) fn of(names: &[(String, bool)]) -> Vec<Look> {
    let mut looking = Looking::default();
    for (name, is_listed) in names.iter().take(LOOKS_MAX) {
        let path = PathBuf::from(OsString::from_vec(unescape_path(name)));
        if is_on_device(&path) {
            looking.name(&path, *is_listed);
        }
    }
    looking.looks
}

fn is_on_device(path: &Path) -> bool {
    path.is_absolute() && !["/proc", "/sys", "/dev"].iter().any(|root| path.starts_with(root))
}

#[derive(Default)]
struct Looking {
    looks: Vec<Look>,
    /// By folder as it was named, the folder without links; `None` if there is none.
    real: HashMap<PathBuf, Option<PathBuf>>,
    known: HashSet<(PathBuf, LookKind)>,
}

impl Looking {
    fn name(&mut self, path: &Path, is_listed: bool) {
        let Some(name) = path.file_name() else { return self.folder(path) };
        let Some(folder) = path.parent().and_then(|folder| self.real(folder)) else { return };
        self.folder(&folder);
        let path = folder.join(name);
        let found = fs::symlink_metadata(&path).ok();
        let is_folder = found.as_ref().is_some_and(fs::Metadata::is_dir);
        let kind = match (is_folder, is_listed) {
            (true, true) => LookKind::Listed,
            (true, false) => LookKind::Folder,
            (false, _) => LookKind::Name,
        };
        self.add(path, kind, found.as_ref());
    }

    /// The folders on the way, the outermost first.
    fn folder(&mut self, path: &Path) {
        let ways: Vec<&Path> = path.ancestors().collect();
        for way in ways.into_iter().rev() {
            if !self.known.contains(&(way.to_owned(), LookKind::Folder)) {
                let found = fs::symlink_metadata(way).ok();
                self.add(way.to_owned(), LookKind::Folder, found.as_ref());
            }
        }
    }

    /// The folder without links: the last part that is there, if it is not.
    fn real(&mut self, folder: &Path) -> Option<PathBuf> {
        if let Some(real) = self.real.get(folder) {
            return real.clone();
        }
        let real = folder.canonicalize().ok();
        self.real.insert(folder.to_owned(), real.clone());
        if real.is_none() {
            self.name(folder, false); // the look ends where the way does
        }
        real
    }

    fn add(&mut self, path: PathBuf, kind: LookKind, found: Option<&fs::Metadata>) {
        if self.looks.len() >= LOOKS_MAX || self.known.contains(&(path.clone(), kind)) {
            return;
        }
        self.looks.push(Look {
            name: escape_path(path.as_os_str().as_bytes()),
            kind,
            inode: found.map(MetadataExt::ino),
            bytes: found.filter(|found| found.is_dir()).map(MetadataExt::size),
        });
        self.known.insert((path, kind));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_with_the_folders_on_the_way_and_nothing_where_it_ends() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink("a", root.join("link")).unwrap();
        let name = |name: &str| escape_path(root.join(name).as_os_str().as_bytes());
        let names = ["link/b/file", "a/b/file", "a/gone/deep/file", "a/b"].map(name);
        let listed = names.iter().map(|name| (name.clone(), name.ends_with("/a/b")));
        let looks = of(&listed.chain([("/proc/self".to_owned(), false)]).collect::<Vec<_>>());
        let found: Vec<(&str, LookKind, bool)> = looks
            .iter()
            .filter_map(|look| {
                let name = look.name.strip_prefix(root.to_str()?)?;
                (!name.is_empty()).then_some((name, look.kind, look.inode.is_some()))
            })
            .collect();
        let expected = [
            ("/a", LookKind::Folder, true),
            ("/a/b", LookKind::Folder, true),
            ("/a/b/file", LookKind::Name, true),
            ("/a/gone", LookKind::Name, false),
            ("/a/b", LookKind::Listed, true),
        ];
        assert_eq!(found, expected);
        let root_look = looks.iter().find(|look| look.name == "/").unwrap();
        assert!(
            root_look.bytes.is_some() && root_look.inode == Some(2) || root_look.inode.is_some()
        );
    }
}
