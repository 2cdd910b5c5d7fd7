//! Gives the kernel names and contents before the program asks for them: each question that it has
//! to ask takes the program some 40 µs, in which nothing else is done, however fast the answer is.
//!
//! It is done by a thread of the server itself, which looks names up in the mount as a program
//! does, and stores contents in the kernel's page cache.

use super::nodes::{Node, Nodes};
use super::requests::Requests;
use super::served::read_at;
use fuser::{INodeNo, Notifier};
use rustix::fs::{AtFlags, Mode, OFlags, openat, statat};
use rustix::thread::gettid;
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

const PAGE_BYTES: u64 = 4096;
/// Content is handed to the kernel in pieces of this, so that the program waits for no more.
const PIECE_BYTES: u64 = 1 << 20;

/// What of a mirror can be given to the kernel. It keeps the mount alive: drop it when the program
/// has what its start needs.
pub struct Ahead {
    nodes: Arc<Nodes>,
    notifier: Notifier,
    /// The folder that holds the roots.
    top: OwnedFd,
    /// The files that lie in the pack, as they lie there.
    files: Vec<Packed>,
    /// Whether the names of a folder were looked up, by its place.
    is_known: Vec<bool>,
}

/// A file that lies in the pack.
struct Packed {
    number: u64,
    at: u64,
    bytes: u64,
    /// The place of its folder.
    folder: usize,
}

impl fmt::Debug for Ahead {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Ahead").field("files", &self.files.len()).finish_non_exhaustive()
    }
}

impl Ahead {
    /// What the calling thread asks from now on counts for no request of the program.
    pub(super) fn begin(
        nodes: Arc<Nodes>,
        notifier: Notifier,
        top: OwnedFd,
        requests: &Requests,
    ) -> Self {
        requests.leave_out(gettid());
        let places: HashMap<&Path, usize> = nodes
            .folders
            .iter()
            .enumerate()
            .map(|(place, known)| (&*known.folder.path, place))
            .collect();
        let packed = |(number, node): (u64, &Node)| {
            let folder = *places.get(node.path.parent()?)?;
            Some(Packed { number, at: node.offset?, bytes: node.about.bytes, folder })
        };
        let mut files: Vec<Packed> = nodes.files().filter_map(packed).collect();
        files.sort_by_key(|file| file.at);
        let is_known = vec![false; nodes.folders.len()];
        Self { nodes, notifier, top, files, is_known }
    }

    /// Gives the kernel the files of these ranges of the pack, and the names beside them, until
    /// `goes_on` is false. `pack` should have the ranges in the page cache.
    pub fn hand_over(&mut self, pack: &File, ranges: &[Range<u64>], goes_on: &dyn Fn() -> bool) {
        for range in ranges {
            let first = self.files.partition_point(|file| file.at + file.bytes <= range.start);
            for place in first..self.files.len() {
                if self.files[place].at >= range.end || !goes_on() {
                    break;
                }
                self.look_up(self.files[place].folder);
                self.store(&self.files[place], pack, range);
            }
        }
    }

    /// Gives the kernel the names of the folders of which nothing has been handed over.
    pub fn look_up_rest(&mut self, goes_on: &dyn Fn() -> bool) {
        for place in 0..self.nodes.folders.len() {
            if !goes_on() {
                return;
            }
            self.look_up(place);
        }
    }

    /// Has the kernel look up the names of a folder that starts look at, there or not.
    fn look_up(&mut self, place: usize) {
        let known = &self.nodes.folders[place];
        if std::mem::replace(&mut self.is_known[place], true) || !known.is_known() {
            return;
        }
        let Some(folder) = self.opened(&known.folder.path) else { return };
        for name in &known.folder.names {
            let about = self.nodes.about(name);
            // Of links all are known, and starts look at few of them.
            if about.is_some() && name.link.is_none() && known.is_known() {
                let _ = statat(&folder, &*name.name, AtFlags::SYMLINK_NOFOLLOW);
            }
        }
        for name in known.folder.absent.iter().filter(|_| known.is_known()) {
            let _ = statat(&folder, &**name, AtFlags::SYMLINK_NOFOLLOW);
        }
    }

    /// A known folder, in the mount.
    fn opened(&self, path: &Path) -> Option<OwnedFd> {
        let folders = &self.nodes.folders;
        let below = |(number, root): (usize, &usize)| {
            let rest = path.strip_prefix(&folders[*root].folder.path).ok()?;
            Some(Path::new(&number.to_string()).join(rest))
        };
        let place = self.nodes.roots.iter().enumerate().find_map(below)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.top, place, flags, Mode::empty()).ok()
    }

    /// Stores what of a file lies in a range of the pack: whole pages.
    fn store(&self, file: &Packed, pack: &File, range: &Range<u64>) {
        let start = range.start.saturating_sub(file.at).next_multiple_of(PAGE_BYTES);
        let end = (range.end - file.at).min(file.bytes);
        let end = if end == file.bytes { end } else { end / PAGE_BYTES * PAGE_BYTES };
        let is_same = || self.nodes.unchanged(file.number).is_some();
        let mut at = start;
        while at < end && is_same() {
            let bytes = PIECE_BYTES.min(end - at);
            let Ok(content) = read_at(pack, file.at + at, bytes as usize) else { return };
            if self.notifier.store(INodeNo(file.number), at, &content).is_err() {
                return;
            }
            at += bytes;
        }
        // It changed while its content was on the way: that came after the word to forget it.
        if start < end && !is_same() {
            let _ = self.notifier.inval_inode(INodeNo(file.number), 0, 0);
        }
    }
}
