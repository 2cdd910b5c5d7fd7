//! Which folders a pack may stand for: those in which programs do not write.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What lies there is made by the kernel, or written by its administrator.
const NEVER: [&str; 5] = ["/proc", "/sys", "/dev", "/run", "/etc"];
/// A folder that holds so many roots is one itself, if it may be.
const TOGETHER: usize = 3;
/// Each root is a mount, which takes its time.
const ROOTS_MAX: usize = 16;

/// What keeps a folder from being one that is seen from a pack.
pub(super) struct Places {
    /// Neither these nor a folder above them: the user's home and the working folder.
    pub(super) own: Vec<PathBuf>,
    /// Neither these nor a folder above them: runs wrote there, or others are mounted there.
    pub(super) changing: Vec<PathBuf>,
}

impl Places {
    fn allow(&self, folder: &Path) -> bool {
        let holds = |inner: &PathBuf| inner.starts_with(folder);
        folder.components().count() > 2 // the root is one
            && !NEVER.iter().any(|never| folder.starts_with(never))
            && !self.own.iter().any(holds)
            && !self.changing.iter().any(holds)
    }

    /// The folders to mount, of those that hold needed bytes directly: none lies in another, and
    /// the largest come first.
    pub(super) fn roots(&self, needed: &BTreeMap<PathBuf, u64>) -> Vec<PathBuf> {
        let mut roots: BTreeSet<PathBuf> = BTreeSet::new();
        // A folder comes before what it holds.
        for folder in needed.keys().filter(|folder| self.allow(folder)) {
            if !is_below(folder, &roots) {
                roots.insert(folder.clone());
            }
        }
        while let Some(above) = self.joined(&roots) {
            roots.retain(|root| !root.starts_with(&above));
            roots.insert(above);
        }
        let bytes = |root: &PathBuf| -> u64 {
            needed.iter().filter(|(path, _)| path.starts_with(root)).map(|(_, bytes)| bytes).sum()
        };
        let mut roots: Vec<PathBuf> = roots.into_iter().collect();
        roots.sort_by_key(|root| std::cmp::Reverse(bytes(root)));
        roots.truncate(ROOTS_MAX);
        roots
    }

    /// A folder that holds several roots and may be one.
    fn joined(&self, roots: &BTreeSet<PathBuf>) -> Option<PathBuf> {
        let mut count: BTreeMap<&Path, usize> = BTreeMap::new();
        for above in roots.iter().filter_map(|root| root.parent()) {
            *count.entry(above).or_default() += 1;
        }
        let several = count.into_iter().filter(|(_, count)| *count >= TOGETHER);
        several.map(|(above, _)| above).find(|above| self.allow(above)).map(Path::to_owned)
    }
}

/// Whether a folder is one of the roots, or lies in one.
pub(super) fn is_below(folder: &Path, roots: &BTreeSet<PathBuf>) -> bool {
    folder.ancestors().any(|above| roots.contains(above))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(needed: &[&str], own: &[&str], changing: &[&str]) -> Vec<String> {
        let paths = |words: &[&str]| words.iter().map(PathBuf::from).collect();
        let places = Places { own: paths(own), changing: paths(changing) };
        let needed = needed.iter().zip(1_u64..).map(|(path, bytes)| (PathBuf::from(path), bytes));
        let roots = places.roots(&needed.collect());
        roots.iter().map(|root| root.display().to_string()).collect()
    }

    #[test]
    fn the_topmost_folders_are_mounted_and_many_beside_one_another_as_one() {
        let found =
            roots(&["/usr/lib/py/a", "/usr/lib/py", "/opt/x/a", "/lib64", "/etc/ssl"], &[], &[]);
        assert_eq!(found, ["/opt/x/a", "/usr/lib/py"]);
        assert_eq!(roots(&["/v/sp/a", "/v/sp/b", "/v/sp/c/d", "/v/sp/e"], &[], &[]), ["/v/sp"]);
        assert_eq!(roots(&["/v/sp/a", "/v/sp/b"], &[], &[]), ["/v/sp/b", "/v/sp/a"]);
    }

    #[test]
    fn no_folder_is_mounted_in_which_something_is_written() {
        let needed = ["/v/sp", "/v/sp/a", "/v/sp/b", "/v/sp/b/c"];
        assert_eq!(roots(&needed, &[], &["/v/sp/b"]), ["/v/sp/b/c", "/v/sp/a"]);
        assert_eq!(roots(&["/home/ada", "/home/ada/x"], &["/home/ada"], &[]), ["/home/ada/x"]);
        assert_eq!(roots(&["/home/ada/x"], &["/home/ada/x/y"], &[]), Vec::<String>::new());
    }
}
