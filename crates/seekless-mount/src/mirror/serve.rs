//! Answers the kernel's questions about a mirror.

use super::about::{Found, kind};
use super::change::{self, Set, only_reads};
use super::nodes::TOP;
use super::real::{self, NONE};
use super::served::{FOREVER, NEVER, Served, generation_of, read_at, reply_empty};
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, IoctlFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr,
    ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyIoctl, ReplyOpen,
    ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::statvfs;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// As far as the kernel may read ahead, and around a touch of a mapped file: little, since what a
/// start needs is brought in, and what lies further around it is not.
const READAHEAD_BYTES: u32 = 64 << 10;

/// Real files that the kernel reads itself may lie on a file system that is stacked on others.
const STACKED: u32 = 2;

/// In a listing `.` and `..` come first.
const OWN: usize = 2;
/// The type of a folder in the bits of a mode.
const FOLDER: u32 = 0o040_000;

impl Filesystem for Served {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // What a kernel does not have costs speed alone.
        for wanted in [
            InitFlags::FUSE_ASYNC_READ,
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_CACHE_SYMLINKS,
            InitFlags::FUSE_MAX_PAGES,
        ] {
            let _ = config.add_capabilities(wanted);
        }
        if config.add_capabilities(InitFlags::FUSE_PASSTHROUGH).is_ok()
            && config.set_max_stack_depth(STACKED).is_ok()
        {
            self.handles.pass();
        }
        if let Err(most) = config.set_max_readahead(READAHEAD_BYTES) {
            let _ = config.set_max_readahead(most);
        }
        Ok(())
    }

    fn lookup(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.begin(request);
        if parent.0 == TOP {
            return match self.root(name) {
                Ok(found) => reply.entry(&NEVER, &found, Generation(0)),
                Err(error) => reply.error(error),
            };
        }
        if let Some(folder) = self.nodes.known(parent.0) {
            let Some(known) = folder.find(name) else {
                // Number 0: there is nothing, and the kernel may remember that.
                let nothing = FileAttr { ino: INodeNo(0), ..Self::top() };
                return reply.entry(&FOREVER, &nothing, Generation(0));
            };
            if let Some(about) = self.nodes.about(known) {
                let found = about.attributes(about.inode, (0, 0));
                return reply.entry(&FOREVER, &found, generation_of(&about));
            }
        }
        match self.look(parent, name) {
            Ok((found, generation)) => reply.entry(&NEVER, &found, generation),
            Err(error) => reply.error(error),
        }
    }

    fn forget(&self, _request: &Request, node: INodeNo, count: u64) {
        self.nodes.forget(node.0, count);
    }

    fn getattr(
        &self,
        request: &Request,
        node: INodeNo,
        handle: Option<FileHandle>,
        reply: ReplyAttr,
    ) {
        self.begin(request);
        if node.0 == TOP {
            return reply.attr(&FOREVER, &Self::top());
        }
        let known = self.nodes.known(node.0).map(|folder| folder.about);
        if let Some(about) = known.or_else(|| Some(self.nodes.unchanged(node.0)?.about)) {
            return reply.attr(&FOREVER, &about.attributes(node.0, (0, 0)));
        }
        let found = self.path(node).and_then(|path| Ok(Found::at(&path)?));
        match found {
            Ok(found) => reply.attr(&NEVER, &found.about.attributes(node.0, found.special)),
            // The name is gone; the file may still be open.
            Err(error) => match self.nodes.file(node.0).filter(|_| handle.is_some()) {
                Some(file) => reply.attr(&NEVER, &file.about.attributes(node.0, (0, 0))),
                None => reply.error(error),
            },
        }
    }

    fn readlink(&self, request: &Request, node: INodeNo, reply: ReplyData) {
        self.begin(request);
        if let Some(link) = self.nodes.unchanged(node.0).and_then(|node| node.link.as_ref()) {
            return reply.data(link.as_bytes());
        }
        match self.path(node).and_then(|path| Ok(std::fs::read_link(path)?)) {
            Ok(target) => reply.data(&target.into_os_string().into_vec()),
            Err(error) => reply.error(error),
        }
    }

    fn opendir(&self, request: &Request, node: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        self.begin(request);
        if self.nodes.known(node.0).is_some() {
            let keeps = FopenFlags::FOPEN_CACHE_DIR | FopenFlags::FOPEN_KEEP_CACHE;
            return reply.opened(FileHandle(NONE), keeps);
        }
        match self.path(node).and_then(|path| Ok(self.handles.list(&path)?)) {
            Ok(handle) => reply.opened(FileHandle(handle), FopenFlags::empty()),
            Err(error) => reply.error(error),
        }
    }

    fn readdir(
        &self,
        request: &Request,
        node: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        self.begin(request);
        let own = [".", ".."];
        let first = usize::try_from(offset).unwrap_or(usize::MAX);
        for (place, name) in own.iter().enumerate().skip(first) {
            if reply.add(node, place as u64 + 1, FileType::Directory, name) {
                return reply.ok();
            }
        }
        let skipped = first.saturating_sub(OWN);
        let places = (first.max(OWN) as u64 + 1)..;
        if let Some(listed) = self.handles.listing(handle.0) {
            for ((inode, kind, name), place) in listed.iter().skip(skipped).zip(places) {
                if reply.add(INodeNo(*inode), place, *kind, name) {
                    break;
                }
            }
            return reply.ok();
        }
        // A listing that has begun goes on as it began.
        let Some(folder) = self.nodes.folder(node.0) else { return reply.error(Errno::ENOTDIR) };
        for (name, place) in folder.names.iter().skip(skipped).zip(places) {
            if reply.add(INodeNo(name.inode), place, kind(name.kind), &name.name) {
                break;
            }
        }
        reply.ok();
    }

    fn releasedir(
        &self,
        _request: &Request,
        _node: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.handles.close(handle.0);
        reply.ok();
    }

    fn open(&self, request: &Request, node: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        self.begin(request);
        let reads = only_reads(flags.0);
        if !reads {
            self.nodes.entry_changes(node.0);
        } else if self.nodes.unchanged(node.0).is_some_and(|file| file.offset.is_some()) {
            let keeps = FopenFlags::FOPEN_KEEP_CACHE | FopenFlags::FOPEN_NOFLUSH;
            return reply.opened(FileHandle(NONE), keeps);
        }
        let open = |path: PathBuf| match reads {
            true => real::opened(&path),
            false => change::opened(&path, flags.0, None),
        };
        // A file of the pack may be open as such, and the kernel reads it in one way at a time.
        let may_pass = reads && self.nodes.file(node.0).is_none_or(|file| file.offset.is_none());
        match self.path(node).and_then(|path| Ok(open(path)?)) {
            Ok(file) => self.handles.open(node.0, file, may_pass, reply),
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        request: &Request,
        node: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.begin(request);
        let packed = self.nodes.unchanged(node.0).filter(|_| handle.0 == NONE);
        let content = match packed.and_then(|file| Some((file, file.offset?))) {
            Some((file, at)) => {
                let left = file.about.bytes.saturating_sub(offset);
                let bytes = usize::try_from(left).unwrap_or(usize::MAX).min(size as usize);
                read_at(&self.nodes.pack, at.saturating_add(offset), bytes).map_err(Errno::from)
            }
            None => self
                .read_real(node, handle)
                .and_then(|file| Ok(read_at(&file, offset, size as usize)?)),
        };
        match content {
            Ok(content) => reply.data(&content),
            Err(error) => reply.error(error),
        }
    }

    fn release(
        &self,
        _request: &Request,
        _node: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        self.handles.close(handle.0);
        reply.ok();
    }

    fn setattr(
        &self,
        request: &Request,
        node: INodeNo,
        mode: Option<u32>,
        user: Option<u32>,
        group: Option<u32>,
        bytes: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _changed: Option<SystemTime>,
        handle: Option<FileHandle>,
        _created: Option<SystemTime>,
        _backed_up: Option<SystemTime>,
        _times: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.begin(request);
        self.nodes.entry_changes(node.0);
        let file = handle.and_then(|handle| self.handles.file(handle.0));
        let asked = Set { mode, user, group, bytes, accessed, modified };
        let set = |path: PathBuf| change::set(&path, file.as_deref(), &asked);
        match self.path(node).and_then(set) {
            Ok(found) => reply.attr(&NEVER, &found.about.attributes(node.0, found.special)),
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        request: &Request,
        node: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        self.begin(request);
        self.nodes.entry_changes(node.0);
        let Some(file) = self.handles.file(handle.0) else { return reply.error(Errno::EBADF) };
        match file.write_at(data, offset) {
            Ok(written) => reply.written(written as u32),
            Err(error) => reply.error(error.into()),
        }
    }

    fn fsync(
        &self,
        request: &Request,
        _node: INodeNo,
        handle: FileHandle,
        data_alone: bool,
        reply: ReplyEmpty,
    ) {
        self.begin(request);
        let synced = self.handles.file(handle.0).map_or(Ok(()), |file| match data_alone {
            true => file.sync_data(),
            false => file.sync_all(),
        });
        reply_empty(synced.map_err(Errno::from), reply);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        self.begin(request);
        let made = self.changing(parent, name).and_then(|path| {
            let is_new = Found::at(&path).is_err();
            let file = change::opened(&path, flags, Some(mode & !umask))?;
            if is_new {
                change::give(&path, request)?;
            }
            let found = Found::at(&path)?;
            let number = self.nodes.found(path, &found);
            Ok((number, found, self.handles.add(number, file)))
        });
        match made {
            Ok((number, found, handle)) => {
                self.nodes.entry_changes(number);
                let attributes = found.about.attributes(number, found.special);
                let (generation, flags) = (generation_of(&found.about), FopenFlags::FOPEN_NOFLUSH);
                reply.created(&NEVER, &attributes, generation, FileHandle(handle), flags);
            }
            Err(error) => reply.error(error),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _special: u32,
        reply: ReplyEntry,
    ) {
        self.begin(request);
        let path = self.changing(parent, name).and_then(|path| {
            change::make(&path, mode & !umask, request)?;
            Ok(path)
        });
        self.made(path, reply);
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        self.begin(request);
        let path = self.changing(parent, name).and_then(|path| {
            change::make(&path, FOLDER | (mode & !umask & 0o7777), request)?;
            Ok(path)
        });
        self.made(path, reply);
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        self.begin(request);
        let path = self.changing(parent, name).and_then(|path| {
            std::os::unix::fs::symlink(target, &path)?;
            change::give(&path, request)?;
            Ok(path)
        });
        self.made(path, reply);
    }

    fn link(
        &self,
        request: &Request,
        node: INodeNo,
        parent: INodeNo,
        name: &OsStr,
        reply: ReplyEntry,
    ) {
        self.begin(request);
        self.nodes.entry_changes(node.0);
        let link = |to: PathBuf| Ok(change::link(&self.path(node)?, to)?);
        self.made(self.changing(parent, name).and_then(link), reply);
    }

    fn unlink(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.begin(request);
        let path = self.changing(parent, name);
        reply_empty(path.and_then(|path| Ok(std::fs::remove_file(path)?)), reply);
    }

    fn rmdir(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.begin(request);
        let path = self.changing(parent, name);
        reply_empty(path.and_then(|path| Ok(std::fs::remove_dir(path)?)), reply);
    }

    fn rename(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        self.begin(request);
        let renamed = self.changing(parent, name).and_then(|from| {
            let to = self.changing(new_parent, new_name)?;
            self.nodes.place_changes(&from);
            self.nodes.place_changes(&to);
            change::rename(&from, &to, flags.bits())?;
            self.nodes.moved(&from, &to);
            Ok(())
        });
        reply_empty(renamed, reply);
    }

    fn ioctl(
        &self,
        request: &Request,
        _node: INodeNo,
        _handle: FileHandle,
        _flags: IoctlFlags,
        _command: u32,
        _input: &[u8],
        _output_bytes: u32,
        reply: ReplyIoctl,
    ) {
        // Python asks of each file that it opens whether it is a terminal.
        self.begin(request);
        reply.error(Errno::ENOTTY);
    }

    fn statfs(&self, request: &Request, node: INodeNo, reply: ReplyStatfs) {
        self.begin(request);
        match self
            .path(node)
            .and_then(|path| statvfs(path).map_err(|error| Errno::from(io::Error::from(error))))
        {
            Ok(found) => reply.statfs(
                found.f_blocks,
                found.f_bfree,
                found.f_bavail,
                found.f_files,
                found.f_ffree,
                u32::try_from(found.f_bsize).unwrap_or(4096),
                u32::try_from(found.f_namemax).unwrap_or(255),
                u32::try_from(found.f_frsize).unwrap_or(4096),
            ),
            Err(error) => reply.error(error),
        }
    }
}
