//! A folder through a file system over a network: FUSE that passes a folder through, read-only, and
//! answers each read after a delay, this many at once. Names and attributes are answered at once.
//! Mounted anew it has nothing cached.

use anyhow::Context;
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, Request, Session,
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

/// How the device answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delays {
    pub(super) read: Duration,
    pub(super) at_once: u16,
}

/// What was asked of the file system.
#[derive(Debug, Default)]
pub(super) struct Asked {
    reads: AtomicU64,
    bytes: AtomicU64,
}

/// A mounted folder; unmounted at the end.
pub(super) struct Delayed {
    folder: PathBuf,
    mounted: PathBuf,
    delays: Delays,
    session: Option<BackgroundSession>,
    asked: Arc<Asked>,
}

impl Delayed {
    pub(super) fn of(folder: &Path, mounted: &Path, delays: Delays) -> anyhow::Result<Self> {
        let asked = Arc::default();
        let (folder, mounted) = (folder.canonicalize()?, mounted.to_owned());
        let mut delayed = Self { folder, mounted, delays, session: None, asked };
        delayed.cool()?;
        Ok(delayed)
    }

    /// Mounts it anew, so that nothing of it is cached, and nothing was asked.
    pub(super) fn cool(&mut self) -> anyhow::Result<()> {
        self.unmount()?;
        self.asked = Arc::default();
        let served = Passed::new(&self.folder, self.delays.read, Arc::clone(&self.asked))
            .with_at_once(self.delays.at_once);
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

    /// Read requests since it was mounted, and their bytes.
    pub(super) fn asked(&self) -> (u64, u64) {
        (self.asked.reads.load(Ordering::Relaxed), self.asked.bytes.load(Ordering::Relaxed))
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
    delay: Duration,
    at_once: u16,
    asked: Arc<Asked>,
    paths: Mutex<HashMap<u64, PathBuf>>,
    next: AtomicU64,
    open: Mutex<HashMap<u64, Arc<File>>>,
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
    fn new(folder: &Path, delay: Duration, asked: Arc<Asked>) -> Self {
        let paths = Mutex::new([(INodeNo::ROOT.0, folder.to_owned())].into());
        let (next, open) = (AtomicU64::new(1), Mutex::default());
        Self { delay, at_once: 1, asked, paths, next, open }
    }

    fn with_at_once(self, at_once: u16) -> Self {
        Self { at_once, ..self }
    }

    fn path(&self, inode: INodeNo) -> Result<PathBuf, Errno> {
        lock(&self.paths).get(&inode.0).cloned().ok_or(Errno::ESTALE)
    }

    fn found(&self, parent: INodeNo, name: &OsStr) -> Result<FileAttr, Errno> {
        let path = self.path(parent)?.join(name);
        let found = path.symlink_metadata().map_err(Errno::from)?;
        lock(&self.paths).insert(found.ino(), path);
        Ok(attributes(found.ino(), &found))
    }

    fn read_now(&self, handle: FileHandle, offset: u64, size: u32) -> Result<Vec<u8>, Errno> {
        let file = lock(&self.open).get(&handle.0).cloned().ok_or(Errno::EBADF)?;
        let mut bytes = vec![0; size as usize];
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read_at(&mut bytes[filled..], offset + filled as u64).map_err(Errno::from)? {
                0 => break,
                count => filled += count,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
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
        let _ = config.set_max_background(self.at_once.max(1));
        let _ = config.set_congestion_threshold(self.at_once.max(1));
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

    fn open(&self, _request: &Request, inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        match self.path(inode).and_then(|path| File::open(path).map_err(Errno::from)) {
            Ok(file) => {
                let number = self.next.fetch_add(1, Ordering::Relaxed);
                lock(&self.open).insert(number, Arc::new(file));
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
        let asked = Instant::now();
        match self.read_now(handle, offset, size) {
            Ok(bytes) => {
                self.asked.reads.fetch_add(1, Ordering::Relaxed);
                self.asked.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                sleep(self.delay.saturating_sub(asked.elapsed()));
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
        let delays = Delays { read: Duration::from_micros(100), at_once: 4 };
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
            assert_eq!(delayed.asked().1, 10_000);
            assert!(File::create(mounted.path().join("new")).is_err());
            delayed.cool().unwrap();
            assert_eq!(delayed.asked(), (0, 0));
        }
    }
}
