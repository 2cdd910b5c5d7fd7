//! The entries of an archive that is repacked, as the files and folders of a tree.

use super::Options;
use super::archive::Archive;
use super::exclude::Exclude;
use super::tree::{Folder, LeftOut, Node, Stamp, Tree};
use seekless_job::{Error, ErrorKind, Result};
use seekless_pack::{Entry, LINK_BYTES_MAX, LeftOut as Without, PREDICTION, Reading, check_name};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// The modes of a file and a folder whose modes the archive does not say.
const FILE_MODE: u32 = 0o100_644;
const FOLDER_MODE: u32 = 0o040_755;
/// More than a link takes in an archive, headers included.
const LINK_EXTENT_BYTES_MAX: u64 = 1 << 20;

/// Refuses to write over the archive that is read.
pub(super) fn check_output(archive: &Path, out: &Path) -> Result<()> {
    let identity = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    let (from, to) = (identity(archive), identity(out));
    if from.is_none() || from != to {
        return Ok(());
    }
    let why =
        format!("{} is the archive to repack: write the new one to another file", out.display());
    Err(Error::new(ErrorKind::Invalid, why))
}

/// The entries of an archive as a tree. What a pack cannot hold is left out by reason, or an error
/// if `options` are strict.
pub(super) fn tree(path: &Path, options: &Options) -> Result<Tree> {
    let reading = Reading { strict: options.strict, names: options.names };
    let archive = Arc::new(Archive::open(path, reading)?);
    let exclude = Exclude::new(&options.exclude)?;
    let mut chosen = Chosen { without: archive.index.left_out().clone(), ..Chosen::default() };
    for (entry, number) in archive.index.entries().zip(0..) {
        chosen.add(&entry, archive.index.name(number), number, &exclude);
    }
    chosen.leave_out_below_files();
    if options.strict && !chosen.without.entries.is_empty() {
        let why = format!("{}: {}", path.display(), chosen.without.words());
        return Err(Error::new(ErrorKind::Invalid, why));
    }
    let (mut nodes, mut folders) = (Vec::new(), Vec::new());
    let mut entries = chosen.names.into_iter().peekable();
    while let Some((name, number)) = entries.next() {
        let is_empty = !entries.peek().is_some_and(|(next, _)| next.starts_with(&name));
        let node = node(&archive, name, number)?;
        match node.name.ends_with('/') {
            true => folders.push(Folder { node, is_empty }),
            false => nodes.push(node),
        }
    }
    let left_out = LeftOut::of_archive(&chosen.without);
    // Traced paths are found by their tails: the archive says nothing of where its files lay.
    Ok(Tree::new(path.to_owned(), nodes, folders, left_out, chosen.excluded))
}

fn node(archive: &Arc<Archive>, name: String, number: u32) -> Result<Node> {
    let entry = archive.index.entry(number);
    let usual = if name.ends_with('/') { FOLDER_MODE } else { FILE_MODE };
    let modified = entry.file_time().unwrap_or_default();
    let stamp = Stamp::of_entry(entry.bytes, modified, entry.mode.unwrap_or(usual));
    let path = archive.path.join(&name);
    let link = match is_short_link(&entry) {
        true => Some(archive.content(number)?.into()),
        false => None,
    };
    Ok(Node { name, path, stamp, link, packed: Some((archive.clone(), number)) })
}

/// Whether an entry is a link whose text can be a path.
fn is_short_link(entry: &Entry) -> bool {
    entry.is_link() && entry.bytes <= LINK_BYTES_MAX && entry.extent_bytes <= LINK_EXTENT_BYTES_MAX
}

/// The entries to repack, by the names that they will have.
#[derive(Default)]
struct Chosen {
    names: BTreeMap<String, u32>,
    without: Without,
    excluded: u64,
}

impl Chosen {
    fn add(&mut self, entry: &Entry, stored: &str, number: u32, exclude: &Exclude) {
        let name = plain(stored, entry.is_dir());
        if name == PREDICTION || (name.is_empty() && entry.is_dir()) {
            return; // what it says is of another order of files
        }
        if is_excluded(&name, exclude) {
            self.excluded += 1;
        } else if let Some(why) = entry.unreadable() {
            self.without.note(why, stored);
        } else if check_name(&name).is_err() {
            self.without.note("a name that no pack can hold", stored);
        } else if self.names.insert(name, number).is_some() {
            self.without.note("a name that stands there again", stored);
        }
    }

    /// What lies in a folder that is a file has no place in a file system.
    fn leave_out_below_files(&mut self) {
        let is_below_file = |name: &str| {
            let above = name.trim_end_matches('/').match_indices('/');
            above.into_iter().any(|(at, _)| self.names.contains_key(&name[..at]))
                || (name.ends_with('/') && self.names.contains_key(name.trim_end_matches('/')))
        };
        let below: Vec<String> =
            self.names.keys().filter(|name| is_below_file(name)).cloned().collect();
        for name in below {
            self.names.remove(&name);
            self.without.note("a name below that of a file", &name);
        }
    }
}

/// A name with `/` between its parts, and without empty and `.` parts. That of a folder ends in
/// `/`.
fn plain(stored: &str, is_folder: bool) -> String {
    let parts = stored.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
    let name = parts.collect::<Vec<_>>().join("/");
    if is_folder && !name.is_empty() { name + "/" } else { name }
}

/// Whether an entry is excluded, by itself or with a folder above it.
fn is_excluded(name: &str, exclude: &Exclude) -> bool {
    let name = name.trim_end_matches('/');
    let above = name.match_indices('/').map(|(at, _)| &name[..at]);
    above.chain([name]).any(|name| exclude.holds(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_those_of_a_pack() {
        for (stored, is_folder, expected) in [
            ("a/b", false, "a/b"),
            ("./a//b", false, "a/b"),
            ("a\\b.txt", false, "a/b.txt"),
            ("a/", true, "a/"),
            ("./", true, ""),
            ("a\\", true, "a/"),
        ] {
            assert_eq!(plain(stored, is_folder), expected, "{stored}");
        }
    }
}
