//! An open file of the file system: past the page cache where that is possible.

use super::frame::FRAME_BYTES;
use crate::lock;
use rustix::fs::{Advice, FileType, OFlags, SeekFrom, fadvise, fcntl_setfl, fstat};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use seekless_sys::{direct, open_seekable};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Which file it is, however it is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    device: u64,
    inode: u64,
}

/// What changes when the file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    /// Bytes up to its end.
    pub(super) bytes: u64,
    modified: (i64, u64),
    changed: (i64, u64),
}

/// An open file. Reads of it are whole pages into aligned memory.
#[derive(Debug)]
pub(super) struct Source {
    file: Arc<File>,
    /// Whether reads go past the page cache (O_DIRECT).
    direct: AtomicBool,
    key: Key,
    /// The size of a block device, which does not change.
    device_bytes: Option<u64>,
    /// What was seen last, and in which tick.
    seen: Mutex<Option<(Tick, Version)>>,
}

/// Seconds and nanoseconds of the kernel's coarse clock, by which it also sets the times of files.
type Tick = (i64, i64);

fn tick() -> Tick {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    (now.tv_sec, now.tv_nsec)
}

impl Source {
    /// Opens a file or block device; past the page cache if `direct` is set and the file system
    /// allows it for whole pages.
    pub(super) fn open(path: &Path, direct: bool) -> io::Result<Self> {
        let file = open_seekable(path)?;
        let found = fstat(&file)?;
        let is_device = FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice;
        let device_bytes = is_device.then(|| rustix::fs::seek(&file, SeekFrom::End(0)));
        let source = Self {
            key: Key { device: found.st_dev, inode: found.st_ino },
            device_bytes: device_bytes.transpose()?,
            seen: Mutex::new(None),
            direct: AtomicBool::new(direct && set_direct(&file)?),
            file: Arc::new(file),
        };
        if !source.is_direct() {
            source.leave_to_us();
        }
        Ok(source)
    }

    /// Whether `path` names the file of this key.
    pub(super) fn names(path: &Path, key: Key) -> bool {
        rustix::fs::stat(path)
            .is_ok_and(|found| Key { device: found.st_dev, inode: found.st_ino } == key)
    }

    pub(super) fn key(&self) -> Key {
        self.key
    }

    /// Looks at the file.
    pub(super) fn version(&self) -> io::Result<Version> {
        let tick = tick();
        let found = fstat(&self.file)?;
        let bytes = self.device_bytes.unwrap_or(u64::try_from(found.st_size).unwrap_or(0));
        let version = Version {
            bytes,
            modified: (found.st_mtime, found.st_mtime_nsec as u64),
            changed: (found.st_ctime, found.st_ctime_nsec as u64),
        };
        *lock(&self.seen) = Some((tick, version));
        Ok(version)
    }

    /// As [`Source::version`], but for a read up to `end_byte` that lies within the file it looks
    /// only once a tick of the kernel's clock: in a shorter time the file's times need not change.
    /// A system call would take a third as long as a read that is served from the cache.
    pub(super) fn version_of_this_tick(&self, end_byte: u64) -> io::Result<Version> {
        let seen = *lock(&self.seen);
        match seen {
            Some((then, version)) if end_byte <= version.bytes && then == tick() => Ok(version),
            _ => self.version(),
        }
    }

    /// The file to read from.
    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Whether reads go past the page cache.
    pub(super) fn is_direct(&self) -> bool {
        self.direct.load(Ordering::Relaxed)
    }

    /// A read failed. True if the file system accepted O_DIRECT and refused the read for it. Then
    /// later reads go through the page cache, and this one may be tried again.
    pub(super) fn refuses(&self, error: &io::Error) -> bool {
        let refused = error.kind() == io::ErrorKind::InvalidInput
            && self.direct.swap(false, Ordering::Relaxed);
        if refused {
            let _ = fcntl_setfl(&self.file, OFlags::empty());
            self.leave_to_us();
        }
        refused
    }

    /// The cache above reads ahead, so that the kernel need not. If it refuses that, it only does
    /// more than it must.
    fn leave_to_us(&self) {
        let _ = fadvise(&self.file, 0, None, Advice::Random);
    }
}

/// Sets O_DIRECT; false if the file system does not allow it for whole pages.
fn set_direct(file: &File) -> io::Result<bool> {
    match fcntl_setfl(file, OFlags::DIRECT) {
        Ok(()) => {}
        Err(Errno::INVAL | Errno::OPNOTSUPP) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    let alignment = direct::alignment(file)?;
    let page = FRAME_BYTES as u32;
    let fits = alignment.offset_bytes <= page && alignment.memory_bytes <= page;
    if !fits {
        fcntl_setfl(file, OFlags::empty())?;
    }
    Ok(fits)
}
