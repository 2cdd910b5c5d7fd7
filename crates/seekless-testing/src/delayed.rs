//! A folder behind a slow device: FUSE that passes the folder through, read-only, and answers each
//! read when the device has served it. Names and attributes are answered at once. Mounted anew it
//! has nothing cached.

use crate::device::{Delays, Device};
use crate::recalls::Staging;
use anyhow::Context;
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyXattr, Request, Session,
};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// How long the kernel may believe names and attributes: nothing changes.
const FOREVER: Duration = Duration::from_secs(1 << 30);
/// Answers names while all others wait.
const SPARE_THREADS: usize = 2;
/// Attempts to unmount, a tenth of a second apart: a helper may still have files open.
const ATTEMPTS: usize = 100;

/// The attribute of a file that must be recalled, and its value.
const STATE: (&str, &[u8]) = ("user.hsm.state", b"released");

#[derive(Debug, Default)]
struct Counters {
    reads: AtomicU64,
    bytes: AtomicU64,
    recalls: AtomicU64,
}

/// What was asked of the file system since it was mounted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Read requests.
    pub reads: u64,
    /// Of these reads.
    pub bytes: u64,
    /// Files that were recalled.
    pub recalls: u64,
}

/// A mounted folder; unmounted at the end.
#[derive(Debug)]
pub struct Delayed {
    folder: PathBuf,
    mounted: PathBuf,
    delays: Delays,
    session: Option<BackgroundSession>,
    counters: Arc<Counters>,
    staging: Arc<Option<Staging>>,
}

impl Delayed {
    /// Mounts `folder` at `mounted`.
    ///
    /// # Errors
    /// FUSE cannot be had.
    pub fn of(folder: &Path, mounted: &Path, delays: Delays) -> anyhow::Result<Self> {
        let staging = Arc::new(delays.recall.map(Staging::new));
        let (folder, mounted) = (folder.canonicalize()?, mounted.to_owned());
        let counters = Arc::default();
        let mut delayed = Self { folder, mounted, delays, session: None, counters, staging };
        delayed.cool()?;
        Ok(delayed)
    }

    /// Mounts it anew, so that nothing of it is cached or recalled, and nothing was asked.
    ///
    /// # Errors
    /// It cannot be unmounted or mounted.
    pub fn cool(&mut self) -> anyhow::Result<()> {
        self.unmount()?;
        self.counters = Arc::default();
        self.staging = Arc::new(self.delays.recall.map(Staging::new));
        let served = Passed {
            at_once: self.delays.at_once.max(1),
            device: Device::new(self.delays),
            counters: Arc::clone(&self.counters),
            staging: Arc::clone(&self.staging),
            paths: Mutex::new([(INodeNo::ROOT.0, self.folder.clone())].into()),
            next: AtomicU64::new(1),
            open: Mutex::default(),
        };
        let mut config = Config::default();
        let name = self.folder.display().to_string().replace([',', '\\'], "_");
        config.mount_options = vec![
            MountOption::RO,
            MountOption::FSName(name),
            MountOption::Subtype("delayed".to_owned()),
        ];
        config.n_threads = Some(usize::from(self.delays.at_once) + SPARE_THREADS);
        config.clone_fd = true;
        let session = Session::new(served, &self.mounted, &config).and_then(Session::spawn);
        self.session = Some(session.context("cannot mount by FUSE (is there a /dev/fuse?)")?);
        Ok(())
    }

    /// Where it is mounted.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.mounted
    }

    /// What was asked since it was mounted.
    #[must_use]
    pub fn asked(&self) -> Asked {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Counters { reads, bytes, recalls } = &*self.counters;
        Asked { reads: count(reads), bytes: count(bytes), recalls: count(recalls) }
    }

    /// Releases all files of an archive: the next open of each recalls it.
    pub fn release_all(&self) {
        self.staging.iter().for_each(Staging::release_all);
    }

    fn unmount(&mut self) -> anyhow::Result<()> {
        let Some(session) = self.session.take() else { return Ok(()) };
        for _ in 0..ATTEMPTS {
            match rustix::mount::unmount(&self.mounted, rustix::mount::UnmountFlags::empty()) {
                Err(rustix::io::Errno::BUSY) => sleep(Duration::from_millis(100)),
                Err(rustix::io::Errno::INVAL) | Ok(()) => break, // it is unmounted
                Err(error) => return Err(error).context("cannot unmount"),
            }
        }
        let _ = session.join(); // its threads end because the mount has
        Ok(())
    }
}

impl Drop for Delayed {
    fn drop(&mut self) {
        let _ = self.unmount();
    }
}

/// Serves one mount.
struct Passed {
    at_once: u16,
    device: Device,
    counters: Arc<Counters>,
    staging: Arc<Option<Staging>>,
    paths: Mutex<HashMap<u64, PathBuf>>,
    next: AtomicU64,
    /// By handle: the inode, and the file.
    open: Mutex<HashMap<u64, (u64, Arc<File>)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn attributes(inode: u64, found: &Metadata) -> FileAttr {
    let time = |s: i64, ns: i64| UNIX_EPOCH + Duration::new(s.unsigned_abs(), ns as u32);
    let kind = FileType::from_std(found.file_type()).unwrap_or(FileType::RegularFile);
    let modified = time(found.mtime(), found.mtime_nsec());
    FileAttr {
        ino: INodeNo(inode),
        size: found.size(),
        blocks: found.blocks(),
        atime: modified,
        mtime: modified,
        ctime: time(found.ctime(), found.ctime_nsec()),
        crtime: modified,
        kind,
        perm: (found.mode() & 0o777) as u16,
        nlink: found.nlink() as u32,
        uid: found.uid(),
        gid: found.gid(),
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

impl Passed {
    fn path(&self, inode: INodeNo) -> Result<PathBuf, Errno> {
        lock(&self.paths).get(&inode.0).cloned().ok_or(Errno::ESTALE)
    }

    fn found(&self, parent: INodeNo, name: &OsStr) -> Result<FileAttr, Errno> {
        let path = self.path(parent)?.join(name);
        let found = path.symlink_metadata().map_err(Errno::from)?;
        lock(&self.paths).insert(found.ino(), path);
        Ok(attributes(found.ino(), &found))
    }

    fn read_now(
        &self,
        handle: FileHandle,
        offset: u64,
        size: u32,
    ) -> Result<(u64, Vec<u8>), Errno> {
        let (inode, file) = lock(&self.open).get(&handle.0).cloned().ok_or(Errno::EBADF)?;
        let mut bytes = vec![0; size as usize];
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read_at(&mut bytes[filled..], offset + filled as u64).map_err(Errno::from)? {
                0 => break,
                count => filled += count,
            }
        }
        bytes.truncate(filled);
        Ok((inode, bytes))
    }

    /// Recalls a file if it lies in an archive. This process may look at any file.
    fn recall(&self, by: u32, inode: u64, file: &File) {
        let Some(staging) = &*self.staging else { return };
        if Path::new(&format!("/proc/self/task/{by}")).exists() {
            return;
        }
        let bytes = file.metadata().map_or(0, |found| found.len());
        if staging.open(inode, bytes) {
            self.counters.recalls.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The value of an attribute.
    fn attribute(&self, inode: INodeNo, name: &OsStr) -> Result<&'static [u8], Errno> {
        let Some(staging) = &*self.staging else { return Err(Errno::ENOTSUP) };
        let is_file = self.path(inode)?.is_file();
        match name == STATE.0 && is_file && !staging.holds(inode.0) {
            true => Ok(STATE.1),
            false => Err(Errno::NO_XATTR),
        }
    }
}

impl Filesystem for Passed {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        for wanted in [
            InitFlags::FUSE_ASYNC_READ,
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_CACHE_SYMLINKS,
            InitFlags::FUSE_MAX_PAGES,
        ] {
            let _ = config.add_capabilities(wanted); // what a kernel lacks costs speed alone
        }
        let _ = config.set_max_background(self.at_once);
        let _ = config.set_congestion_threshold(self.at_once);
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.found(parent, name) {
            Ok(found) => reply.entry(&FOREVER, &found, Generation(0)),
            Err(error) => reply.error(error),
        }
    }

    fn getattr(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: Option<FileHandle>,
        reply: ReplyAttr,
    ) {
        let found = self.path(inode).and_then(|path| path.symlink_metadata().map_err(Errno::from));
        match found {
            Ok(found) => reply.attr(&FOREVER, &attributes(inode.0, &found)),
            Err(error) => reply.error(error),
        }
    }

    fn readlink(&self, _request: &Request, inode: INodeNo, reply: ReplyData) {
        let target = self.path(inode).and_then(|path| path.read_link().map_err(Errno::from));
        match target {
            Ok(target) => reply.data(target.as_os_str().as_bytes()),
            Err(error) => reply.error(error),
        }
    }

    fn getxattr(
        &self,
        _request: &Request,
        inode: INodeNo,
        name: &OsStr,
        size: u32,
        reply: ReplyXattr,
    ) {
        match self.attribute(inode, name) {
            Ok(value) if size == 0 => reply.size(value.len() as u32),
            Ok(value) if value.len() > size as usize => reply.error(Errno::ERANGE),
            Ok(value) => reply.data(value),
            Err(error) => reply.error(error),
        }
    }

    fn open(&self, request: &Request, inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        match self.path(inode).and_then(|path| File::open(path).map_err(Errno::from)) {
            Ok(file) => {
                self.recall(request.pid(), inode.0, &file);
                let number = self.next.fetch_add(1, Ordering::Relaxed);
                lock(&self.open).insert(number, (inode.0, Arc::new(file)));
                reply.opened(FileHandle(number), FopenFlags::FOPEN_KEEP_CACHE);
            }
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _request: &Request,
        _inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let arrival = Instant::now();
        match self.read_now(handle, offset, size) {
            Ok((inode, bytes)) => {
                let count = bytes.len() as u64;
                self.counters.reads.fetch_add(1, Ordering::Relaxed);
                self.counters.bytes.fetch_add(count, Ordering::Relaxed);
                self.device.serve(arrival, inode, offset, count);
                reply.data(&bytes);
            }
            Err(error) => reply.error(error),
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
        lock(&self.open).remove(&handle.0);
        reply.ok();
    }

    fn readdir(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let entries = self.path(inode).and_then(|path| path.read_dir().map_err(Errno::from));
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => return reply.error(error),
        };
        let mut names: Vec<_> = entries.flatten().collect();
        names.sort_by_key(std::fs::DirEntry::file_name);
        let rest = names.into_iter().zip(1..).skip(usize::try_from(offset).unwrap_or(usize::MAX));
        for (entry, place) in rest {
            let (Ok(found), Ok(kind)) = (entry.metadata(), entry.file_type()) else { continue };
            let kind = FileType::from_std(kind).unwrap_or(FileType::RegularFile);
            if reply.add(INodeNo(found.ino()), place, kind, entry.file_name()) {
                break;
            }
        }
        reply.ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_lies_there_and_is_counted_anew_for_each_mount() {
        let (folder, mounted) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(folder.path().join("deep")).unwrap();
        std::fs::write(folder.path().join("deep/file"), vec![7; 10_000]).unwrap();
        let delays = Delays { read: Duration::from_micros(100), at_once: 4, ..Delays::default() };
        let Ok(mut delayed) = Delayed::of(folder.path(), mounted.path(), delays) else {
            println!("skipped: the machine does not let this user mount by FUSE");
            return;
        };
        for _ in 0..2 {
            let read = std::fs::read(mounted.path().join("deep/file")).unwrap();
            assert_eq!(read, vec![7; 10_000]);
            let names: Vec<_> = mounted
                .path()
                .read_dir()
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            assert_eq!(names, ["deep"]);
            assert_eq!(delayed.asked().bytes, 10_000);
            assert!(File::create(mounted.path().join("new")).is_err());
            delayed.cool().unwrap();
            assert_eq!(delayed.asked(), Asked::default());
        }
    }
}
