//! What a program will not see where it lies, since something is mounted there.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Folders that a program does not see, but for some files in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    pub(super) folders: Vec<PathBuf>,
    /// These are seen where they lie.
    pub(super) real: HashSet<PathBuf>,
}

impl Hidden {
    /// All of these folders.
    #[must_use]
    pub fn below(folders: Vec<PathBuf>) -> Self {
        Self { folders, real: HashSet::new() }
    }

    pub(super) fn is_none(&self) -> bool {
        self.folders.is_empty()
    }

    pub(super) fn hides(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder)) && !self.real.contains(path)
    }

    /// Whether one of these folders lies in a hidden one, or holds one.
    pub(super) fn overlaps(&self, others: &[PathBuf]) -> bool {
        let overlaps =
            |one: &PathBuf, other: &PathBuf| one.starts_with(other) || other.starts_with(one);
        self.folders.iter().any(|hidden| others.iter().any(|other| overlaps(hidden, other)))
    }

    /// Both of them. Files of one that lie in a folder of the other are hidden.
    pub(super) fn with(self, other: Self) -> Self {
        if self.is_none() {
            return other;
        }
        let (mut folders, mut real) = (self.folders, self.real);
        real.retain(|path| !other.hides(path));
        let kept = Self { folders: folders.clone(), real: HashSet::new() };
        real.extend(other.real.into_iter().filter(|path| !kept.hides(path)));
        folders.extend(other.folders);
        Self { folders, real }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(folders: &[&str], real: &[&str]) -> Hidden {
        Hidden {
            folders: folders.iter().map(PathBuf::from).collect(),
            real: real.iter().map(PathBuf::from).collect(),
        }
    }

    #[test]
    fn a_folder_hides_all_but_its_real_files() {
        let one = hidden(&["/a"], &["/a/x"]);
        let hides = |hidden: &Hidden| {
            ["/a", "/a/x", "/a/y", "/b/y", "/c"].map(|path| hidden.hides(Path::new(path)))
        };
        assert_eq!(hides(&one), [true, false, true, false, false]);
        let both = one.clone().with(hidden(&["/b"], &["/b/y"]));
        assert_eq!(hides(&both), [true, false, true, false, false]);
        // What one of them leaves, the other may hide.
        let both = one.clone().with(Hidden::below(vec![PathBuf::from("/a")]));
        assert_eq!(hides(&both), [true, true, true, false, false]);
        let places = |words: &[&str]| words.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert!(one.overlaps(&places(&["/c", "/a/b"])) && one.overlaps(&places(&["/"])));
        assert!(!one.overlaps(&places(&["/ab", "/c"])));
    }
}
