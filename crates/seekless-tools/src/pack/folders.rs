//! The folders of a pack: entries without content that keep mode and time. They lie together behind
//! all files, so that the files lie, and are read, as if there were none. The directory lists them
//! first, for tools that unpack.

use super::evidence::Evidence;
use super::tree::{Folder, Tree};
use seekless_pack::{Entry, Error, Index, PackWriter, prepare_directory};
use std::collections::HashSet;
use std::io::Write;

/// Appends an entry for each folder of the tree.
pub(super) fn add(writer: &mut PackWriter<impl Write>, tree: &Tree) -> Result<(), Error> {
    let folders = tree.folders.iter().map(|folder| folder.node.about());
    folders.map(prepare_directory).try_for_each(|prepared| writer.add(prepared?))
}

/// Which folders of a tree an older pack has, and how.
pub(super) struct Folders<'a> {
    /// Those with the mode and the time that they have now.
    pub(super) kept: Vec<&'a Folder>,
    /// Those whose mode or time has changed.
    pub(super) changed: Vec<&'a Folder>,
    /// Those that it has no entry for. Unless they are empty it may have what they hold: packs of
    /// earlier releases, and many of other tools, have no folders.
    pub(super) missing: Vec<&'a Folder>,
    /// The names of entries whose folders are gone.
    pub(super) gone: Vec<&'a str>,
}

impl<'a> Folders<'a> {
    pub(super) fn new(tree: &'a Tree, index: &'a Index, evidence: Evidence) -> Self {
        let (mut kept, mut changed, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for folder in &tree.folders {
            match index.find(&folder.node.name).map(|number| index.entry(number)) {
                None => missing.push(folder),
                Some(entry) if is_as_packed(folder, &entry, evidence) => kept.push(folder),
                Some(_) => changed.push(folder),
            }
        }
        let names = index.entries().zip(0..).filter(|(entry, _)| entry.is_dir());
        let names = names.map(|(_, number)| index.name(number));
        let gone = names.filter(|name| tree.folder(name).is_none()).collect();
        Self { kept, changed, missing, gone }
    }

    /// Whether the pack has all folders as they are now, to 100 ns.
    pub(super) fn are_exact(&self, index: &Index) -> bool {
        let is_exact = |folder: &&Folder| {
            let entry = index.find(&folder.node.name).map(|number| index.entry(number));
            entry.is_some_and(|entry| {
                let stamp = &folder.node.stamp;
                entry.mode == Some(stamp.mode)
                    && entry.file_time() == Some(stamp.modified.in_steps())
            })
        };
        let none_differs = self.changed.is_empty() && self.missing.is_empty();
        none_differs && self.gone.is_empty() && self.kept.iter().all(is_exact)
    }

    /// How many folders the pack and the tree have both, of those that are empty in the tree.
    pub(super) fn empty_kept(&self) -> u64 {
        count_empty(&self.kept) + count_empty(&self.changed)
    }

    /// How many empty folders are new.
    pub(super) fn empty_added(&self) -> u64 {
        count_empty(&self.missing)
    }

    /// How many folders are gone that were empty in the pack.
    pub(super) fn empty_removed(&self, index: &Index) -> u64 {
        if self.gone.is_empty() {
            return 0;
        }
        let names = (0..index.len() as u32).map(|number| index.name(number));
        let above = names.filter_map(|name| Some(name.trim_end_matches('/').rsplit_once('/')?.0));
        let filled: HashSet<&str> = above.collect();
        let is_empty = |name: &&&str| !filled.contains(name.trim_end_matches('/'));
        self.gone.iter().filter(is_empty).count() as u64
    }
}

fn count_empty(folders: &[&Folder]) -> u64 {
    folders.iter().filter(|folder| folder.is_empty).count() as u64
}

/// Whether an entry has the folder's mode, and its time where sizes and times are the evidence. A
/// time in whole seconds is taken for any of that second.
fn is_as_packed(folder: &Folder, entry: &Entry, evidence: Evidence) -> bool {
    let (mode, now) = (folder.node.stamp.mode, folder.node.stamp.modified.in_steps());
    let has_its_time = || {
        entry.file_time().is_some_and(|packed| {
            let is_whole = packed.ns == 0 || now.ns == 0;
            packed.seconds == now.seconds && (packed.ns == now.ns || is_whole)
        })
    };
    entry.mode.is_none_or(|packed| packed == mode)
        && (evidence == Evidence::Content || has_its_time())
}
