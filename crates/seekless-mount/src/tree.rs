//! The folders and files of a pack, by number.

use seekless_pack::{Entry, Index, PREDICTION};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The number of the folder that has all others; FUSE's number of the root less one.
pub(crate) const ROOT: usize = 0;

const KIND: u32 = 0o170_000;
const LINK: u32 = 0o120_000;

/// All folders and files. A node's number is its place.
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// Entries that have no place: another has their name, or a file lies where they need a folder.
    pub(crate) left_out: u64,
    /// Size of the contents of all files, in bytes.
    pub(crate) bytes: u64,
}

pub(crate) struct Node {
    pub(crate) parent: usize,
    pub(crate) kind: Kind,
    /// Permissions, if the pack says.
    pub(crate) mode: Option<u16>,
    pub(crate) modified: SystemTime,
}

pub(crate) enum Kind {
    /// Nodes by name.
    Folder(BTreeMap<Box<str>, usize>),
    File {
        entry: u32,
        bytes: u64,
    },
    /// A symbolic link; the content is where it leads.
    Link {
        entry: u32,
        bytes: u64,
    },
}

impl Tree {
    pub(crate) fn new(index: &Index) -> Self {
        let root = Node::folder(ROOT);
        let mut tree = Self { nodes: vec![root], left_out: 0, bytes: 0 };
        for (entry, number) in index.entries().zip(0..) {
            let name = index.name(number);
            if name != PREDICTION && tree.add(name, &entry, number).is_none() {
                tree.left_out += 1;
            }
        }
        tree
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn get(&self, number: usize) -> Option<&Node> {
        self.nodes.get(number)
    }

    /// The node called `name` in a folder.
    pub(crate) fn child(&self, folder: usize, name: &str) -> Option<usize> {
        match &self.get(folder)?.kind {
            Kind::Folder(children) => children.get(name).copied(),
            Kind::File { .. } | Kind::Link { .. } => None,
        }
    }

    /// The node of an entry of this name. `None` if it has no place, or one that no path leads to.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let mut parts = name.split('/').filter(|part| !part.is_empty() && *part != ".");
        parts.try_fold(ROOT, |folder, part| (part != "..").then(|| self.child(folder, part))?)
    }

    /// `None` if there is no place for it.
    fn add(&mut self, name: &str, entry: &Entry, number: u32) -> Option<()> {
        // As the store compares names: without empty and `.` parts.
        let mut parts = name.split('/').filter(|part| !part.is_empty() && *part != ".").peekable();
        let mut at = ROOT;
        while let Some(part) = parts.next() {
            let is_folder = parts.peek().is_some() || entry.is_dir();
            at = match self.child(at, part) {
                Some(found) if is_folder && self.nodes[found].is_folder() => found,
                Some(_) => return None,
                None if is_folder => self.push(at, part, Node::folder(at))?,
                None => self.push(at, part, Node::file(at, entry, number))?,
            };
        }
        let node = &mut self.nodes[at];
        if entry.is_dir() {
            node.mode = permissions(entry);
            node.modified = modified(entry);
        } else {
            self.bytes += entry.bytes;
        }
        (at != ROOT || entry.is_dir()).then_some(())
    }

    fn push(&mut self, parent: usize, name: &str, node: Node) -> Option<usize> {
        let number = self.nodes.len();
        match &mut self.nodes[parent].kind {
            Kind::Folder(children) => children.insert(name.into(), number),
            Kind::File { .. } | Kind::Link { .. } => return None,
        };
        self.nodes.push(node);
        Some(number)
    }
}

impl Node {
    fn folder(parent: usize) -> Self {
        Self { parent, kind: Kind::Folder(BTreeMap::new()), mode: None, modified: UNIX_EPOCH }
    }

    fn file(parent: usize, entry: &Entry, number: u32) -> Self {
        let bytes = entry.bytes;
        let kind = match entry.mode.is_some_and(|mode| mode & KIND == LINK) {
            true => Kind::Link { entry: number, bytes },
            false => Kind::File { entry: number, bytes },
        };
        Self { parent, kind, mode: permissions(entry), modified: modified(entry) }
    }

    fn is_folder(&self) -> bool {
        matches!(self.kind, Kind::Folder(_))
    }
}

fn permissions(entry: &Entry) -> Option<u16> {
    entry.mode.map(|mode| (mode & 0o777) as u16)
}

fn modified(entry: &Entry) -> SystemTime {
    let seconds = entry.modified.unwrap_or(0);
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let second = match seconds < 0 {
        true => UNIX_EPOCH.checked_sub(distance),
        false => UNIX_EPOCH.checked_add(distance),
    };
    let after = Duration::from_nanos(entry.modified_ns.into());
    second.and_then(|second| second.checked_add(after)).unwrap_or(UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_pack::{About, Codec, PackWriter, prepare, prepare_directory};

    #[test]
    fn what_has_no_place_is_left_out_and_counted() {
        let mut pack = PackWriter::new(Vec::new());
        for name in ["a/b", "a", "a/b/c", "d/e", ".seekless/prediction"] {
            pack.add(prepare(About::named(name), vec![1; 10], Codec::Stored).unwrap()).unwrap();
        }
        pack.add(prepare_directory(About::named("d/").mode(0o40_750)).unwrap()).unwrap();
        let archive = pack.finish().unwrap().0;
        let tree = Tree::new(&Index::open(&archive, archive.len() as u64).unwrap());
        assert_eq!((tree.left_out, tree.bytes), (2, 20));
        let d = tree.child(ROOT, "d").unwrap();
        assert_eq!(tree.get(d).unwrap().mode, Some(0o750));
        assert!(tree.child(d, "e").is_some() && tree.child(ROOT, ".seekless").is_none());
        assert_eq!(tree.len(), 5);
        assert_eq!((tree.find("./d//e"), tree.find("/d")), (tree.child(d, "e"), Some(d)));
        assert!(["d/../d/e", "d/f", "a/b/c"].iter().all(|name| tree.find(name).is_none()));
    }
}
