//! The folders and files of a pack, by number.

use fuser::INodeNo;
use seekless_pack::{Entry, Index, PREDICTION};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The number of the folder that has all others; FUSE's number of the root less one.
pub(crate) const ROOT: usize = 0;

/// The longest name of a file in its folder, in bytes. The kernel takes no longer one from FUSE: if
/// a folder has one, it refuses to list the folder.
pub(crate) const NAME_BYTES_MAX: usize = 1024;

/// All folders and files. A node's number is its place.
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// Entries that have no place: another has their name, a file lies where they need a folder, or
    /// the kernel takes no such name.
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
    Folder(Children),
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

/// What a folder holds: names and numbers of nodes, sorted by name.
#[derive(Default)]
pub(crate) struct Children {
    sorted: Box<[(Box<str>, usize)]>,
    /// How many of them are folders.
    pub(crate) folders: usize,
}

impl Children {
    /// The children from place `from` on.
    pub(crate) fn after(&self, from: usize) -> impl Iterator<Item = (&str, usize)> {
        let rest = self.sorted.get(from..).unwrap_or_default();
        rest.iter().map(|(name, number)| (&**name, *number))
    }

    fn get(&self, name: &str) -> Option<usize> {
        let place = self.sorted.binary_search_by(|(child, _)| (**child).cmp(name)).ok()?;
        Some(self.sorted[place].1)
    }
}

impl Tree {
    /// The tree of a pack, with these folders beside its own.
    pub(crate) fn new(index: &Index, folders: &[String]) -> Self {
        let mut growing = Growing::default();
        let mut left_out = 0;
        for (entry, number) in index.entries().zip(0..) {
            let name = index.name(number);
            if name != PREDICTION && growing.add(name, &entry, number).is_none() {
                left_out += 1;
            }
        }
        for folder in folders {
            // Where a file is in the way, whoever mounts there gets the kernel's error.
            let _ = growing.reach(folder);
        }
        growing.grown(left_out)
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
            Kind::Folder(children) => children.get(name),
            Kind::File { .. } | Kind::Link { .. } => None,
        }
    }

    /// The node of an entry of this name. `None` if it has no place, or one that no path leads to.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let mut parts = parts(name);
        parts.try_fold(ROOT, |folder, part| (part != "..").then(|| self.child(folder, part))?)
    }
}

/// As the store compares names: without empty and `.` parts.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split('/').filter(|part| !part.is_empty() && *part != ".")
}

/// A tree to which nodes are added.
struct Growing {
    nodes: Vec<Node>,
    /// By number: what a folder holds. Of files nothing.
    children: Vec<BTreeMap<Box<str>, usize>>,
    bytes: u64,
}

impl Default for Growing {
    fn default() -> Self {
        Self { nodes: vec![Node::folder(ROOT)], children: vec![BTreeMap::new()], bytes: 0 }
    }
}

impl Growing {
    /// `None` if there is no place for it.
    fn add(&mut self, name: &str, entry: &Entry, number: u32) -> Option<()> {
        if parts(name).any(|part| part.len() > NAME_BYTES_MAX) {
            return None;
        }
        if entry.is_dir() {
            let at = self.reach(name)?;
            self.nodes[at].mode = permissions(entry);
            self.nodes[at].modified = modified(entry);
            return Some(());
        }
        let mut parts = parts(name).peekable();
        let mut parent = ROOT;
        while let Some(part) = parts.next() {
            if parts.peek().is_some() {
                parent = self.folder(parent, part)?;
            } else if self.children[parent].contains_key(part) {
                return None;
            } else {
                self.push(parent, part, Node::file(parent, entry, number));
                self.bytes += entry.bytes;
                return Some(());
            }
        }
        None
    }

    /// The folder of this name. `None` if a file is in the way.
    fn reach(&mut self, name: &str) -> Option<usize> {
        parts(name).try_fold(ROOT, |at, part| self.folder(at, part))
    }

    /// The folder called `name` in another, which is made if there is none.
    fn folder(&mut self, parent: usize, name: &str) -> Option<usize> {
        match self.children[parent].get(name) {
            Some(&found) => self.nodes[found].is_folder().then_some(found),
            None => Some(self.push(parent, name, Node::folder(parent))),
        }
    }

    fn push(&mut self, parent: usize, name: &str, node: Node) -> usize {
        let number = self.nodes.len();
        self.children[parent].insert(name.into(), number);
        self.children.push(BTreeMap::new());
        self.nodes.push(node);
        number
    }

    fn grown(mut self, left_out: u64) -> Tree {
        for (number, children) in self.children.into_iter().enumerate() {
            let folders = children.values().filter(|&&child| self.nodes[child].is_folder()).count();
            if let Kind::Folder(own) = &mut self.nodes[number].kind {
                *own = Children { sorted: children.into_iter().collect(), folders };
            }
        }
        Tree { nodes: self.nodes, left_out, bytes: self.bytes }
    }
}

impl Node {
    fn folder(parent: usize) -> Self {
        let kind = Kind::Folder(Children::default());
        Self { parent, kind, mode: None, modified: UNIX_EPOCH }
    }

    fn file(parent: usize, entry: &Entry, number: u32) -> Self {
        let bytes = entry.bytes;
        let kind = match entry.is_link() {
            true => Kind::Link { entry: number, bytes },
            false => Kind::File { entry: number, bytes },
        };
        Self { parent, kind, mode: permissions(entry), modified: modified(entry) }
    }

    fn is_folder(&self) -> bool {
        matches!(self.kind, Kind::Folder(_))
    }
}

/// What others may do; bits that give the rights of another user are left out.
fn permissions(entry: &Entry) -> Option<u16> {
    entry.mode.map(|mode| (mode & 0o777) as u16)
}

fn modified(entry: &Entry) -> SystemTime {
    let seconds = entry.modified_here().unwrap_or(0);
    let distance = Duration::from_secs(seconds.unsigned_abs());
    let second = match seconds < 0 {
        true => UNIX_EPOCH.checked_sub(distance),
        false => UNIX_EPOCH.checked_add(distance),
    };
    let after = Duration::from_nanos(entry.modified_ns.into());
    second.and_then(|second| second.checked_add(after)).unwrap_or(UNIX_EPOCH)
}

/// FUSE counts from 1.
pub(crate) fn inode(number: usize) -> INodeNo {
    INodeNo(number as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_pack::{About, Codec, PackWriter, prepare, prepare_directory};

    fn tree(names: &[&str], folders: &[&str]) -> Tree {
        let mut pack = PackWriter::new(Vec::new());
        for name in names {
            pack.add(prepare(About::named(*name), vec![1; 10], Codec::Stored).unwrap()).unwrap();
        }
        pack.add(prepare_directory(About::named("d/").mode(0o42_750)).unwrap()).unwrap();
        let archive = pack.finish().unwrap().0;
        let folders: Vec<String> = folders.iter().map(|&folder| folder.to_owned()).collect();
        Tree::new(&Index::open(&archive, archive.len() as u64).unwrap(), &folders)
    }

    fn children(tree: &Tree, number: usize) -> &Children {
        match &tree.get(number).unwrap().kind {
            Kind::Folder(children) => children,
            _ => panic!("{number} is no folder"),
        }
    }

    #[test]
    fn what_has_no_place_is_left_out_and_counted() {
        let tree = tree(&["a/b", "a", "a/b/c", "d/e", ".seekless/prediction"], &[]);
        assert_eq!((tree.left_out, tree.bytes), (2, 20));
        let d = tree.child(ROOT, "d").unwrap();
        assert_eq!(tree.get(d).unwrap().mode, Some(0o750));
        assert!(tree.child(d, "e").is_some() && tree.child(ROOT, ".seekless").is_none());
        assert_eq!(tree.len(), 5);
        assert_eq!((tree.find("./d//e"), tree.find("/d")), (tree.child(d, "e"), Some(d)));
        assert!(["d/../d/e", "d/f", "a/b/c"].iter().all(|name| tree.find(name).is_none()));
    }

    #[test]
    fn a_name_that_the_kernel_does_not_take_is_left_out_and_the_others_are_listed() {
        let (long, longer) = ("x".repeat(NAME_BYTES_MAX), "y".repeat(NAME_BYTES_MAX + 1));
        let below = format!("{longer}/z");
        let tree = tree(&["a", &long, &longer, &below], &[]);
        assert_eq!(tree.left_out, 2);
        let names: Vec<_> = children(&tree, ROOT).after(0).map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "d", &long]);
    }

    #[test]
    fn children_are_sorted_and_found_by_name_and_place() {
        let tree = tree(&["c", "b/x/y", "b/z", "a"], &[]);
        let root = children(&tree, ROOT);
        let names = |from| root.after(from).map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!((names(0), names(3)), (vec!["a", "b", "c", "d"], vec!["d"]));
        assert!(names(4).is_empty() && names(usize::MAX).is_empty());
        assert!(root.after(0).all(|(name, number)| tree.child(ROOT, name) == Some(number)));
        let b = tree.child(ROOT, "b").unwrap();
        assert_eq!((root.folders, children(&tree, b).folders), (2, 1));
    }

    #[test]
    fn folders_to_mount_at_are_there_unless_a_file_is_in_the_way() {
        let tree = tree(&["a/b"], &["a/new/deep", "a/b", "d"]);
        assert!(tree.find("a/new/deep").is_some_and(|at| children(&tree, at).folders == 0));
        assert!(matches!(tree.get(tree.find("a/b").unwrap()).unwrap().kind, Kind::File { .. }));
        assert_eq!((tree.len(), tree.left_out), (6, 0));
    }
}
