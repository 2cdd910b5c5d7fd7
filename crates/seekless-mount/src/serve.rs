//! Answers the kernel's questions about a pack.

use crate::ahead::Expected;
use crate::open::{Open, Stored};
use crate::tree::{Kind, NAME_BYTES_MAX, Node, ROOT, Tree, inode};
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyDirectoryPlus,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, Request,
};
use seekless_io::Store;
use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How long the kernel may believe an answer: nothing changes while the pack is mounted.
const FOREVER: Duration = Duration::from_secs(1 << 30);

const BLOCK_BYTES: u32 = 4096;

/// As far as the kernel may read ahead; it takes at most what it supports.
const READAHEAD_BYTES: u32 = 1 << 20;

/// A pack that is served.
pub(crate) struct Served {
    pub(crate) store: Store,
    pub(crate) tree: Tree,
    /// Owner of all files.
    pub(crate) owner: (u32, u32),
    /// Gets the words of each read that fails.
    pub(crate) failed: Box<dyn Fn(&str) + Send + Sync>,
    pub(crate) open: Open,
    /// Learns what the program opens.
    pub(crate) expected: Arc<Expected>,
    /// Whether the kernel opens folders by itself, once it knows that it may.
    pub(crate) opens_folders: bool,
}

fn number(inode: INodeNo) -> usize {
    usize::try_from(inode.0).unwrap_or(usize::MAX).wrapping_sub(1)
}

impl Served {
    fn attributes(&self, number: usize, node: &Node) -> FileAttr {
        let (kind, size, usual) = match node.kind {
            Kind::Folder(_) => (FileType::Directory, 0, 0o755),
            Kind::File { bytes, .. } => (FileType::RegularFile, bytes, 0o644),
            Kind::Link { bytes, .. } => (FileType::Symlink, bytes, 0o777),
        };
        // Programs that count links look for no more folders than these in a folder: its name, its
        // `.`, and the `..` of each folder in it.
        let nlink = match &node.kind {
            Kind::Folder(children) => u32::try_from(children.folders + 2).unwrap_or(1),
            Kind::File { .. } | Kind::Link { .. } => 1,
        };
        FileAttr {
            ino: inode(number),
            size,
            blocks: size.div_ceil(512),
            atime: node.modified,
            mtime: node.modified,
            ctime: node.modified,
            crtime: node.modified,
            kind,
            // The mount is read-only whatever this says.
            perm: node.mode.unwrap_or(usual),
            nlink,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: BLOCK_BYTES,
            flags: 0,
        }
    }

    /// What the program gets for an error, whose words go to the user.
    fn failed(&self, error: &seekless_io::Error) -> Errno {
        (self.failed)(&error.to_string());
        match error.kind() {
            seekless_io::ErrorKind::TooLarge => Errno::EFBIG,
            seekless_io::ErrorKind::Unsupported => Errno::EOPNOTSUPP,
            _ => Errno::EIO,
        }
    }

    /// The entries of a folder from place `from` on: the place after each, its name and number.
    /// Takes as long for each place, since a large folder is listed in thousands of calls.
    fn entries(
        &self,
        folder: usize,
        from: u64,
    ) -> Option<impl Iterator<Item = (u64, &str, usize)>> {
        let node = self.tree.get(folder)?;
        let Kind::Folder(children) = &node.kind else { return None };
        let own = [(".", folder), ("..", node.parent)];
        let first = usize::try_from(from).unwrap_or(usize::MAX);
        let children = children.after(first.saturating_sub(own.len()));
        let rest = own.into_iter().skip(first).chain(children);
        let places = from.saturating_add(1)..;
        Some(rest.zip(places).map(|((name, number), place)| (place, name, number)))
    }
}

impl Filesystem for Served {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // What a kernel does not have costs speed alone.
        for wanted in [
            InitFlags::FUSE_ASYNC_READ,
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_DO_READDIRPLUS,
            InitFlags::FUSE_READDIRPLUS_AUTO,
            InitFlags::FUSE_CACHE_SYMLINKS,
            InitFlags::FUSE_MAX_PAGES,
        ] {
            let _ = config.add_capabilities(wanted);
        }
        self.opens_folders = config.add_capabilities(InitFlags::FUSE_NO_OPENDIR_SUPPORT).is_ok();
        if let Err(most) = config.set_max_readahead(READAHEAD_BYTES) {
            let _ = config.set_max_readahead(most);
        }
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = name.to_str().and_then(|name| self.tree.child(number(parent), name));
        match found.and_then(|found| Some((found, self.tree.get(found)?))) {
            Some((found, node)) => {
                reply.entry(&FOREVER, &self.attributes(found, node), Generation(0));
            }
            None => {
                // Number 0: there is nothing, and the kernel may remember that.
                let Some(root) = self.tree.get(ROOT) else { return reply.error(Errno::ENOENT) };
                let nothing = FileAttr { ino: INodeNo(0), ..self.attributes(ROOT, root) };
                reply.entry(&FOREVER, &nothing, Generation(0));
            }
        }
    }

    fn getattr(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: Option<FileHandle>,
        reply: ReplyAttr,
    ) {
        let number = number(inode);
        match self.tree.get(number) {
            Some(node) => reply.attr(&FOREVER, &self.attributes(number, node)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn readlink(&self, _request: &Request, inode: INodeNo, reply: ReplyData) {
        let found = match self.tree.get(number(inode)) {
            Some(Node { kind: Kind::Link { entry, .. }, .. }) => {
                self.store.link_text(self.store.index().name(*entry)).ok_or(Errno::EIO)
            }
            _ => Err(Errno::EINVAL),
        };
        match found {
            Ok(target) => reply.data(target),
            Err(error) => reply.error(error),
        }
    }

    fn opendir(&self, _request: &Request, _inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        match self.opens_folders {
            // It does so from now on, and keeps what folders hold.
            true => reply.error(Errno::ENOSYS),
            false => reply.opened(FileHandle(0), FopenFlags::FOPEN_CACHE_DIR),
        }
    }

    fn open(&self, _request: &Request, inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let Some(Node { kind: Kind::File { entry, .. }, .. }) = self.tree.get(number(inode)) else {
            return reply.error(Errno::EISDIR);
        };
        self.expected.opened(number(inode));
        // The kernel itself refuses to open for writing: the mount is read-only.
        reply.opened(self.open.add(*entry), FopenFlags::FOPEN_KEEP_CACHE);
    }

    fn read(
        &self,
        _request: &Request,
        inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some(Node { kind: Kind::File { entry, bytes }, .. }) = self.tree.get(number(inode))
        else {
            return reply.error(Errno::EISDIR);
        };
        let wanted = offset..offset.saturating_add(u64::from(size));
        let Some(file) = self.open.get(handle) else { return reply.error(Errno::EBADF) };
        let of = Stored { store: &self.store, entry: *entry, bytes: *bytes };
        match self.open.part(&file, of, wanted) {
            Ok(part) => reply.data(&part),
            Err(error) => reply.error(self.failed(&error)),
        }
    }

    fn release(
        &self,
        _request: &Request,
        _inode: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        self.open.remove(handle);
        reply.ok();
    }

    fn readdir(
        &self,
        _request: &Request,
        folder: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let Some(entries) = self.entries(number(folder), offset) else {
            return reply.error(Errno::ENOTDIR);
        };
        for (place, name, found) in entries {
            let Some(node) = self.tree.get(found) else { continue };
            if reply.add(inode(found), place, self.attributes(found, node).kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn readdirplus(
        &self,
        _request: &Request,
        folder: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        let Some(entries) = self.entries(number(folder), offset) else {
            return reply.error(Errno::ENOTDIR);
        };
        for (place, name, found) in entries {
            let Some(node) = self.tree.get(found) else { continue };
            let attributes = self.attributes(found, node);
            if reply.add(inode(found), place, name, &FOREVER, &attributes, Generation(0)) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _request: &Request, _inode: INodeNo, reply: ReplyStatfs) {
        let blocks = self.tree.bytes.div_ceil(u64::from(BLOCK_BYTES));
        let files = (self.tree.len() - ROOT) as u64;
        reply.statfs(blocks, 0, 0, files, 0, BLOCK_BYTES, NAME_BYTES_MAX as u32, BLOCK_BYTES);
    }
}
