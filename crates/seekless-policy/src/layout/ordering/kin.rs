//! Which files are alike by name: of one folder, of one kind.

use crate::eviction::Id;
use std::collections::HashMap;

/// The top folder, and the kind of files about which nothing is known.
const TOP: u32 = 0;

/// The folder and the kind of each file, numbered. A kind is all of a name after its first dot, so
/// `a.png.cached.dds` is no `a.dds`.
///
/// - **Memory:** 8 bytes a file, 4 a folder.
#[derive(Clone, Debug, Default)]
pub struct Kin {
    folder: Vec<u32>,
    kind: Vec<u32>,
    /// The folder above each folder; the top is above itself.
    above: Vec<u32>,
}

impl Kin {
    /// The kin of files with these names, by number. `/` separates folders.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut kin, mut folders, mut kinds) = (Kin::default(), HashMap::new(), HashMap::new());
        kin.above.push(TOP);
        folders.insert("", TOP);
        for name in names {
            let (folder, base) = name.rsplit_once('/').unwrap_or(("", name));
            let kind = base.find('.').map_or("", |dot| &base[dot..]);
            let folder = kin.number(folder, &mut folders);
            let count = kinds.len() as u32;
            kin.folder.push(folder);
            kin.kind.push(*kinds.entry(kind).or_insert(count));
        }
        kin
    }

    /// The number of a folder. Folders above it are numbered before it.
    fn number<'a>(&mut self, folder: &'a str, folders: &mut HashMap<&'a str, u32>) -> u32 {
        let (mut rest, mut fresh) = (folder, Vec::new());
        let mut above = loop {
            if let Some(&known) = folders.get(rest) {
                break known;
            }
            fresh.push(rest);
            rest = rest.rsplit_once('/').map_or("", |(above, _)| above);
        };
        for folder in fresh.into_iter().rev() {
            let number = self.above.len() as u32;
            self.above.push(above);
            folders.insert(folder, number);
            above = number;
        }
        above
    }

    /// How many folders there are, the top among them.
    pub(super) fn folders(&self) -> usize {
        self.above.len().max(1)
    }

    /// The folder of a file. A file that has no name lies in the top folder.
    pub(crate) fn folder(&self, id: Id) -> u32 {
        self.folder.get(id as usize).copied().unwrap_or(TOP)
    }

    /// The kind of a file.
    pub(crate) fn kind(&self, id: Id) -> u32 {
        self.kind.get(id as usize).copied().unwrap_or(TOP)
    }

    /// The folder of a file, the one above it, and so on to the top.
    pub(super) fn folders_above(&self, id: Id) -> impl Iterator<Item = u32> {
        let above = |&folder: &u32| (folder != TOP).then(|| self.above[folder as usize]);
        std::iter::successors(Some(self.folder(id)), above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_kinds_are_told_apart() {
        let kin = Kin::new(["a/b/x.dds", "a/y.dds", "a/b/z.png.dds", "w", "/a/b/x.dds"]);
        assert_eq!(kin.folder(0), kin.folder(2));
        assert_ne!(kin.folder(0), kin.folder(4), "an absolute path is another folder");
        assert_eq!((kin.kind(0) == kin.kind(1), kin.kind(0) == kin.kind(2)), (true, false));
        assert_eq!(kin.folders_above(0).collect::<Vec<_>>(), [kin.folder(0), kin.folder(1), TOP]);
        assert_eq!(kin.folders_above(3).collect::<Vec<_>>(), [TOP]);
    }

    #[test]
    fn without_names_all_files_are_alike() {
        let kin = Kin::default();
        assert_eq!((kin.folder(7), kin.kind(7), kin.folders()), (TOP, TOP, 1));
    }
}
