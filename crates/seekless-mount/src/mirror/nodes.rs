//! The files that the kernel asks for, by number: a file's number is that of its inode, so that
//! programs see the inodes that are there.

use super::about::{About, Found};
use super::{Folder, Mirror, Name};
use crate::lock;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// FUSE's number of the folder that holds the roots. ext4 has no file of this inode.
pub(super) const TOP: u64 = 1;
/// Files of other devices, whose inodes may be the same, get numbers from here on.
const ELSEWHERE: u64 = 1 << 62;

/// All that is known, and what the kernel has found beside it.
pub(super) struct Nodes {
    pub(super) pack: File,
    pub(super) roots: Vec<usize>,
    pub(super) folders: Vec<Known>,
    files: HashMap<u64, Node>,
    folder_numbers: HashMap<u64, usize>,
    device: (u32, u32),
    seen: Mutex<Seen>,
    next: AtomicU64,
}

/// A folder, and whether all of it is known.
pub(super) struct Known {
    pub(super) folder: Folder,
    is_known: AtomicBool,
}

/// A file whose entry is known.
pub(super) struct Node {
    pub(super) path: PathBuf,
    pub(super) about: About,
    pub(super) offset: Option<u64>,
    pub(super) link: Option<String>,
    is_changed: AtomicBool,
}

/// What the kernel has found in the real folders.
#[derive(Default)]
struct Seen {
    paths: HashMap<u64, (PathBuf, u64)>,
    elsewhere: HashMap<((u32, u32), u64), u64>,
}

impl Nodes {
    pub(super) fn new(mirror: Mirror, pack: File, root: &Path) -> io::Result<Self> {
        let Mirror { roots, mut folders } = mirror;
        let (mut files, mut folder_numbers) = (HashMap::new(), HashMap::new());
        for (place, folder) in folders.iter_mut().enumerate() {
            folder.names.sort_by(|one, other| one.name.cmp(&other.name));
            folder_numbers.insert(folder.about.inode, place);
            for name in &folder.names {
                let Some(about) = name.about.filter(|about| !about.is_folder()) else { continue };
                let node = Node {
                    path: folder.path.join(&name.name),
                    about,
                    offset: name.offset,
                    link: name.link.clone(),
                    is_changed: AtomicBool::new(false),
                };
                // Of two names of one file, that counts whose content is in the pack.
                if name.offset.is_some() || !files.contains_key(&about.inode) {
                    files.insert(about.inode, node);
                }
            }
        }
        let known = |folder| Known { folder, is_known: AtomicBool::new(false) };
        Ok(Self {
            pack,
            roots,
            folders: folders.into_iter().map(known).collect(),
            files,
            folder_numbers,
            device: Found::at(root)?.device,
            seen: Mutex::default(),
            next: AtomicU64::new(ELSEWHERE),
        })
    }

    /// Of how many folders all is known.
    pub(super) fn known_folders(&self) -> usize {
        self.folders.iter().filter(|folder| folder.is_known()).count()
    }

    /// The folder of this number, known or not.
    pub(super) fn known_folder(&self, node: u64) -> Option<&Known> {
        Some(&self.folders[*self.folder_numbers.get(&node)?])
    }

    /// The folder of this number, if all of it is known.
    pub(super) fn known(&self, node: u64) -> Option<&Folder> {
        self.known_folder(node).filter(|known| known.is_known()).map(|known| &known.folder)
    }

    /// The folder of this number, as it was known.
    pub(super) fn folder(&self, node: u64) -> Option<&Folder> {
        self.known_folder(node).map(|known| &known.folder)
    }

    /// The file of this number, if its entry is known and has not changed.
    pub(super) fn unchanged(&self, node: u64) -> Option<&Node> {
        self.files.get(&node).filter(|file| !file.is_changed.load(Ordering::SeqCst))
    }

    /// The file of this number, as it was known.
    pub(super) fn file(&self, node: u64) -> Option<&Node> {
        self.files.get(&node)
    }

    /// The files, with their numbers.
    pub(super) fn files(&self) -> impl Iterator<Item = (u64, &Node)> {
        self.files.iter().map(|(number, node)| (*number, node))
    }

    /// The entry of a name in a folder that is known, if it is known too.
    pub(super) fn about(&self, name: &Name) -> Option<About> {
        let about = name.about?;
        match about.is_folder() {
            true => self.known(about.inode).map(|folder| folder.about),
            false => self.unchanged(about.inode).map(|node| node.about),
        }
    }

    /// Where a file of this number lies.
    pub(super) fn path(&self, node: u64) -> Option<PathBuf> {
        if let Some((path, _)) = lock(&self.seen).paths.get(&node) {
            return Some(path.clone());
        }
        let folder = || self.folder(node).map(|folder| folder.path.clone());
        self.files.get(&node).map(|node| node.path.clone()).or_else(folder)
    }

    /// The number of a file that was found in the real folder, which the kernel looks up by it.
    pub(super) fn found(&self, path: PathBuf, found: &Found) -> u64 {
        let number = self.number(found);
        if let Some(known) = self.files.get(&number)
            && !known.about.is_as(&found.about)
        {
            known.is_changed.store(true, Ordering::SeqCst);
        }
        let mut seen = lock(&self.seen);
        let (at, count) = seen.paths.entry(number).or_insert_with(|| (path.clone(), 0));
        (*at, *count) = (path, *count + 1);
        number
    }

    fn number(&self, found: &Found) -> u64 {
        let inode = found.about.inode;
        if found.device == self.device && inode > TOP && inode < ELSEWHERE {
            return inode;
        }
        let mut seen = lock(&self.seen);
        let new = || self.next.fetch_add(1, Ordering::Relaxed);
        *seen.elsewhere.entry((found.device, inode)).or_insert_with(new)
    }

    /// What lay at or below a path lies elsewhere now.
    pub(super) fn moved(&self, from: &Path, to: &Path) {
        let mut seen = lock(&self.seen);
        for (path, _) in seen.paths.values_mut() {
            if let Ok(rest) = path.strip_prefix(from) {
                *path = if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) };
            }
        }
    }

    /// The kernel has forgotten a file that it had found so many times.
    pub(super) fn forget(&self, node: u64, count: u64) {
        let mut seen = lock(&self.seen);
        if let Some((_, left)) = seen.paths.get_mut(&node) {
            *left = left.saturating_sub(count);
            if *left == 0 {
                seen.paths.remove(&node);
            }
        }
    }
}

impl Known {
    pub(super) fn is_known(&self) -> bool {
        self.is_known.load(Ordering::SeqCst)
    }

    /// Says whether all of it is known; returns what was said before.
    pub(super) fn set_known(&self, is_known: bool) -> bool {
        self.is_known.swap(is_known, Ordering::SeqCst)
    }
}

impl Node {
    /// It has changed; false if that was known.
    pub(super) fn change(&self) -> bool {
        !self.is_changed.swap(true, Ordering::SeqCst)
    }
}

impl Folder {
    /// A name in it.
    pub(super) fn find(&self, name: &OsStr) -> Option<&Name> {
        let name = name.to_str()?;
        let place = self.names.binary_search_by(|known| known.name.as_str().cmp(name)).ok()?;
        Some(&self.names[place])
    }
}
