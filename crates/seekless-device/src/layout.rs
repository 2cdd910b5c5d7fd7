//! Where the files of a tree lie on an ext4 file system: the folders on the way to them, their
//! inodes, and the pieces of the device that hold their bytes. A layout is either found on a device
//! or that of a fresh copy.

use crate::geometry::Geometry;
use std::collections::{BTreeMap, HashMap};

/// Where the data of a fresh copy begins: behind its metadata.
const FRESH_DATA_FROM: u64 = 1 << 30;

/// A contiguous range of the device that holds part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First byte on the device; `None` where that is not known.
    pub place: Option<u64>,
    /// Length in bytes.
    pub bytes: u64,
}

/// Folders and files by number, in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    pub(crate) folders: Vec<Folder>,
    pub(crate) files: Vec<File>,
}

/// What a path leads through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folder {
    /// The folder above, and this one's name in it; `None` for the first of a path.
    pub(crate) entry: Option<Entry>,
    pub(crate) inode: u64,
    /// Blocks of its list of names.
    pub(crate) blocks: u64,
}

/// A file as it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) entry: Entry,
    pub(crate) inode: u64,
    /// Neighbours on the device are joined.
    pub(crate) pieces: Vec<Piece>,
    /// Extents that the file system keeps for it: more pieces than there are, where neighbours were
    /// joined.
    pub(crate) extents: u64,
}

/// A name in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) folder: usize,
    /// Decides in which block of a large folder the name stands.
    pub(crate) hash: u64,
}

impl Entry {
    pub(crate) fn new(folder: usize, name: &[u8]) -> Self {
        // FNV-1a. ext4's own hash is salted for each file system with what only root may read; any
        // even spread will do.
        let step =
            |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        let hash = name.iter().fold(0xCBF2_9CE4_8422_2325, step);
        Entry { folder, hash: hash ^ (hash >> 32) }
    }
}

impl Layout {
    /// Adds the folder at which paths begin.
    pub fn add_root(&mut self, inode: u64, blocks: u64) -> usize {
        self.folders.push(Folder { entry: None, inode, blocks });
        self.folders.len() - 1
    }

    /// Adds a folder called `name` in folder number `parent`, whose own list of names fills
    /// `blocks`. Returns its number.
    pub fn add_folder(&mut self, parent: usize, name: &[u8], inode: u64, blocks: u64) -> usize {
        self.folders.push(Folder { entry: Some(Entry::new(parent, name)), inode, blocks });
        self.folders.len() - 1
    }

    /// Adds a file called `name` in folder number `folder`, whose bytes lie in `extents`, in their
    /// order. Returns its number.
    pub fn add_file(&mut self, folder: usize, name: &[u8], inode: u64, extents: &[Piece]) -> usize {
        let count = extents.len() as u64;
        let pieces = joined(extents);
        self.files.push(File { entry: Entry::new(folder, name), inode, pieces, extents: count });
        self.files.len() - 1
    }

    /// Files added.
    #[must_use]
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// The layout of a fresh copy in an empty file system. `files` are paths relative to the tree,
    /// with `/`, and sizes in bytes; they are numbered as given. Inodes are in order of the paths,
    /// folders before files. The files lie end to end in that order, each in one piece.
    #[must_use]
    pub fn fresh(files: &[(&str, u64)], geometry: &Geometry) -> Self {
        let mut layout = Layout::default();
        let names = names_by_folder(files);
        let mut numbers = HashMap::new();
        let mut inode = Geometry::FIRST_INODE;
        for (path, names) in &names {
            let blocks = folder_blocks(names, geometry);
            let number = match path.rsplit_once('/') {
                _ if path.is_empty() => layout.add_root(inode, blocks),
                Some((above, name)) => {
                    layout.add_folder(numbers[above], name.as_bytes(), inode, blocks)
                }
                None => layout.add_folder(numbers[""], path.as_bytes(), inode, blocks),
            };
            numbers.insert(*path, number);
            inode += 1;
        }
        let mut by_path: Vec<usize> = (0..files.len()).collect();
        by_path.sort_unstable_by_key(|&file| files[file].0);
        let mut inodes = vec![0; files.len()];
        let mut places = vec![0; files.len()];
        let mut next = FRESH_DATA_FROM;
        for (file, inode) in by_path.into_iter().zip(inode..) {
            (inodes[file], places[file]) = (inode, next);
            next = next.saturating_add(rounded(files[file].1, geometry));
        }
        for ((&(path, bytes), inode), place) in files.iter().zip(inodes).zip(places) {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let piece = Piece { place: Some(place), bytes: rounded(bytes, geometry) };
            let pieces = if bytes == 0 { &[][..] } else { &[piece] };
            layout.add_file(numbers[folder], name.as_bytes(), inode, pieces);
        }
        layout
    }
}

/// The names in each folder, the folders by path: one above comes before those below it.
fn names_by_folder<'a>(files: &[(&'a str, u64)]) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    names.insert("", Vec::new());
    for &(path, _) in files {
        let mut below = path;
        loop {
            let (folder, name) = below.rsplit_once('/').unwrap_or(("", below));
            let known = names.contains_key(folder);
            names.entry(folder).or_default().push(name);
            if known || folder.is_empty() {
                break;
            }
            below = folder;
        }
    }
    names
}

/// Blocks of a list of names: one, or an index block and leaves that splitting leaves three
/// quarters full.
fn folder_blocks(names: &[&str], geometry: &Geometry) -> u64 {
    let bytes: u64 = names.iter().map(|name| 8 + (name.len() as u64).next_multiple_of(4)).sum();
    // `.`, `..` and the checksum at the end.
    let bytes = bytes + 36;
    if bytes <= geometry.block_bytes {
        return 1;
    }
    1 + (4 * bytes).div_ceil(3 * geometry.block_bytes).max(2)
}

fn rounded(bytes: u64, geometry: &Geometry) -> u64 {
    bytes.checked_next_multiple_of(geometry.block_bytes).unwrap_or(bytes)
}

fn joined(extents: &[Piece]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::with_capacity(extents.len());
    for &extent in extents {
        match pieces.last_mut() {
            Some(last) if is_next(last, &extent) => {
                last.bytes = last.bytes.saturating_add(extent.bytes);
            }
            _ => pieces.push(extent),
        }
    }
    pieces
}

fn is_next(last: &Piece, extent: &Piece) -> bool {
    let end = last.place.and_then(|place| place.checked_add(last.bytes));
    end.is_some() && extent.place == end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_extents_are_one_piece() {
        let at = |place, bytes| Piece { place, bytes };
        let extents = [at(Some(0), 10), at(Some(10), 5), at(Some(16), 1), at(None, 4), at(None, 4)];
        let expected = [at(Some(0), 15), at(Some(16), 1), at(None, 4), at(None, 4)];
        assert_eq!(joined(&extents), expected);
    }

    #[test]
    fn a_fresh_copy_numbers_folders_then_files_by_path() {
        let files = [("b/x", 5000), ("a/deep/y", 0), ("a/z", 1)];
        let layout = Layout::fresh(&files, &Geometry::default());
        assert_eq!(
            layout.folders.iter().map(|folder| folder.inode).collect::<Vec<_>>(),
            [11, 12, 13, 14]
        );
        let above = |number: usize| layout.folders[number].entry.map(|entry| entry.folder);
        assert_eq!([above(0), above(1), above(2), above(3)], [None, Some(0), Some(1), Some(0)]);
        // By path: a/deep/y, a/z, b/x.
        assert_eq!(layout.files.iter().map(|file| file.inode).collect::<Vec<_>>(), [17, 15, 16]);
        assert_eq!(
            layout.files.iter().map(|file| file.entry.folder).collect::<Vec<_>>(),
            [3, 2, 1]
        );
        let piece = |place, bytes| Piece { place: Some(FRESH_DATA_FROM + place), bytes };
        assert_eq!(layout.files[0].pieces, [piece(4096, 8192)]);
        assert_eq!(layout.files[2].pieces, [piece(0, 4096)]);
        assert_eq!(layout.files[1].pieces, []);
    }

    #[test]
    fn a_folder_of_many_names_has_an_index_and_leaves() {
        let names: Vec<String> = (0..1000).map(|number| format!("a file {number:05}")).collect();
        let files: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 1)).collect();
        let layout = Layout::fresh(&files, &Geometry::default());
        // 1000 entries of 20 bytes, the leaves three quarters full.
        assert_eq!(layout.folders[0].blocks, 1 + 7);
    }
}
