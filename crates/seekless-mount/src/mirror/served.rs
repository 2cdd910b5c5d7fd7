//! What a mirror's answers are made of.

use super::about::{About, Found};
use super::nodes::{Nodes, TOP};
use super::real::{self, Handles};
use super::requests::Requests;
use super::watch::Watch;
use fuser::{Errno, FileAttr, FileHandle, Generation, INodeNo, ReplyEmpty, ReplyEntry, Request};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The kernel may believe what is known until it is told of a change.
pub(super) const FOREVER: Duration = Duration::from_secs(1 << 30);
/// It asks again for what is not.
pub(super) const NEVER: Duration = Duration::ZERO;

/// What answers the kernel.
pub(super) struct Served {
    pub(super) nodes: Arc<Nodes>,
    pub(super) handles: Handles,
    watch: Arc<Watch>,
    requests: Arc<Requests>,
}

impl Served {
    pub(super) fn new(nodes: Arc<Nodes>, watch: Arc<Watch>, requests: Arc<Requests>) -> Self {
        Self { nodes, handles: Handles::default(), watch, requests }
    }

    /// Counts a question, and learns first what has changed so far.
    pub(super) fn begin(&self, request: &Request) {
        self.requests.count(request.pid());
        // If nothing more can be seen, nothing is known.
        let _ = self.watch.catch_up();
    }

    /// The folder that holds the roots, which no path leads to.
    pub(super) fn top() -> FileAttr {
        About { mode: 0o040_555, links: 2, ..About::default() }.attributes(TOP, (0, 0))
    }

    pub(super) fn path_in(&self, folder: INodeNo, name: &OsStr) -> Result<PathBuf, Errno> {
        Ok(self.nodes.path(folder.0).ok_or(Errno::ENOENT)?.join(name))
    }

    pub(super) fn path(&self, node: INodeNo) -> Result<PathBuf, Errno> {
        self.nodes.path(node.0).ok_or(Errno::ENOENT)
    }

    /// A root by its place.
    pub(super) fn root(&self, name: &OsStr) -> Result<FileAttr, Errno> {
        let place: Option<usize> = name.to_str().and_then(|name| name.parse().ok());
        let place = place.and_then(|place| self.nodes.roots.get(place)).ok_or(Errno::ENOENT)?;
        let folder = &self.nodes.folders[*place].folder;
        if self.nodes.known(folder.about.inode).is_some() {
            return Ok(folder.about.attributes(folder.about.inode, (0, 0)));
        }
        let found = Found::at(&folder.path)?;
        let number = self.nodes.found(folder.path.clone(), &found);
        Ok(found.about.attributes(number, found.special))
    }

    /// The name in the real folder.
    pub(super) fn look(
        &self,
        folder: INodeNo,
        name: &OsStr,
    ) -> Result<(FileAttr, Generation), Errno> {
        let path = self.path_in(folder, name)?;
        let found = Found::at(&path)?;
        let number = self.nodes.found(path, &found);
        Ok((found.about.attributes(number, found.special), generation_of(&found.about)))
    }

    /// A name that the program changes, in a folder of which the names are then no longer known.
    pub(super) fn changing(&self, folder: INodeNo, name: &OsStr) -> Result<PathBuf, Errno> {
        let path = self.path_in(folder, name)?;
        self.nodes.names_change(folder.0);
        Ok(path)
    }

    /// Tells the kernel of a name that was made.
    pub(super) fn made(&self, path: Result<PathBuf, Errno>, reply: ReplyEntry) {
        let found = path.and_then(|path| Ok((Found::at(&path)?, path)));
        match found {
            Ok((found, path)) => {
                let number = self.nodes.found(path, &found);
                let attributes = found.about.attributes(number, found.special);
                reply.entry(&NEVER, &attributes, generation_of(&found.about));
            }
            Err(error) => reply.error(error),
        }
    }

    pub(super) fn read_real(&self, node: INodeNo, handle: FileHandle) -> Result<Arc<File>, Errno> {
        match self.handles.file(handle.0) {
            Some(file) => Ok(file),
            None => Ok(Arc::new(real::opened(&self.path(node)?)?)),
        }
    }
}

/// Two files may have one inode, one after the other. Folders are told by their type alone: one
/// that was mounted is not made again.
pub(super) fn generation_of(about: &About) -> Generation {
    Generation(if about.is_folder() { 0 } else { about.born_ns.unsigned_abs() })
}

pub(super) fn reply_empty(done: Result<(), Errno>, reply: ReplyEmpty) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

pub(super) fn read_at(file: &File, offset: u64, bytes: usize) -> io::Result<Vec<u8>> {
    let mut content = vec![0; bytes];
    let mut filled = 0;
    while filled < bytes {
        match file.read_at(&mut content[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    content.truncate(filled);
    Ok(content)
}
