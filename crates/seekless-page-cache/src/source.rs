//! An open file of the file system: past the page cache where that is possible.

use super::frame::FRAME_BYTES;
use crate::lock;
use rustix::fs::{Advice, FileType, OFlags, SeekFrom, fadvise, fcntl_setfl, fstat};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use seekless_sys::{direct, open_seekable, open_to_write};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Which file it is, however it is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    device: u64,
    inode: u64,
}

/// What changes when the file does. While the device lacks what was written, `bytes` is the end of
/// that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    /// Bytes up to its end.
    pub(super) bytes: u64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl Version {
    /// Whether the file was touched between the two, by its times.
    pub(super) fn is_as_old_as(&self, other: &Self) -> bool {
        (self.modified, self.changed) == (other.modified, other.changed)
    }
}

/// An open file. Reads and writes of it are whole pages of aligned memory.
#[derive(Debug)]
pub(super) struct Source {
    file: Arc<File>,
    /// Whether reads go past the page cache (O_DIRECT).
    direct: AtomicBool,
    key: Key,
    /// The size of a block device, which does not change.
    device_bytes: Option<u64>,
    looked: Arc<Looked>,
    writer: Option<Writer>,
}

/// What is known of the file by looking at it. All that have it open share this.
#[derive(Debug, Default)]
struct Looked {
    /// What was seen last, and in which tick.
    seen: Mutex<Option<(Tick, Version)>>,
    /// The end of what was written through the cache, which the device may lack.
    end: AtomicU64,
    /// How often the file was cut through the cache: a look that began before is not kept.
    cuts: AtomicU64,
    /// Whether it was opened to write.
    written: AtomicBool,
    /// Held during a sync.
    syncs: Mutex<()>,
}

/// What only a file that is open to write has.
#[derive(Debug)]
struct Writer {
    /// For messages.
    path: PathBuf,
    /// The file once more, through the kernel's page cache: its last page is written up to the
    /// file's end, and past that cache only whole pages can be. So the file is never longer than
    /// what was written to it, not even for a moment or after a power cut.
    buffered: Option<Arc<File>>,
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
        Self::new(open_seekable(path)?, direct)
    }

    /// The same to read and write; a file that is absent is made.
    pub(super) fn open_to_write(path: &Path, direct: bool) -> io::Result<Self> {
        let mut source = Self::new(open_to_write(path)?, direct)?;
        let buffered = match source.is_direct() {
            true => {
                let file = open_to_write(path)?;
                if key(&fstat(&file)?) != source.key {
                    let message = "another file took its name while it was opened: open it again";
                    return Err(io::Error::other(message));
                }
                Some(Arc::new(file))
            }
            false => None,
        };
        source.writer = Some(Writer { path: path.to_owned(), buffered });
        source.looked.written.store(true, Ordering::Relaxed);
        Ok(source)
    }

    fn new(file: File, direct: bool) -> io::Result<Self> {
        let found = fstat(&file)?;
        let is_device = FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice;
        let device_bytes = is_device.then(|| rustix::fs::seek(&file, SeekFrom::End(0)));
        let source = Self {
            key: key(&found),
            device_bytes: device_bytes.transpose()?,
            looked: Arc::default(),
            writer: None,
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
        rustix::fs::stat(path).is_ok_and(|found| self::key(&found) == key)
    }

    /// Takes over what another that has the same file open knows of it.
    pub(super) fn share(&mut self, other: &Self) {
        self.looked = Arc::clone(&other.looked);
        if self.is_writable() {
            self.looked.written.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it was opened to write.
    pub(super) fn is_writable(&self) -> bool {
        self.writer.is_some()
    }

    /// Whether this or another that has the same file open may write to it.
    pub(super) fn is_written(&self) -> bool {
        self.looked.written.load(Ordering::Relaxed)
    }

    /// Its name for messages; empty if it is open for reading alone.
    pub(super) fn path(&self) -> &Path {
        self.writer.as_ref().map_or(Path::new(""), |writer| &writer.path)
    }

    /// The size of a block device, which cannot grow.
    pub(super) fn device_bytes(&self) -> Option<u64> {
        self.device_bytes
    }

    /// The file for a write of this many bytes.
    pub(super) fn file_to_write(&self, bytes: usize) -> Arc<File> {
        let buffered = self.writer.as_ref().and_then(|writer| writer.buffered.as_ref());
        match buffered {
            Some(buffered) if self.is_direct() && !bytes.is_multiple_of(FRAME_BYTES) => {
                Arc::clone(buffered)
            }
            _ => self.file(),
        }
    }

    /// Something was written up to this byte, or the file was cut there.
    pub(super) fn set_end(&self, end: u64, is_cut: bool) {
        let mut seen = lock(&self.looked.seen);
        self.looked.end.store(end, Ordering::Relaxed);
        if is_cut {
            self.looked.cuts.fetch_add(1, Ordering::Relaxed);
            *seen = None;
        }
    }

    pub(super) fn key(&self) -> Key {
        self.key
    }

    /// Looks at the file.
    pub(super) fn version(&self) -> io::Result<Version> {
        Ok(self.look()?.1)
    }

    /// Looks at the file: as the device has it, and with what the device lacks.
    pub(super) fn look(&self) -> io::Result<(Version, Version)> {
        loop {
            let (tick, cuts) = (tick(), self.looked.cuts.load(Ordering::Relaxed));
            let device = self.on_device()?;
            let mut seen = lock(&self.looked.seen);
            if self.looked.cuts.load(Ordering::Relaxed) == cuts {
                let bytes = device.bytes.max(self.looked.end.load(Ordering::Relaxed));
                let version = Version { bytes, ..device };
                *seen = Some((tick, version));
                return Ok((device, version));
            }
        }
    }

    /// Waits until no other thread syncs the file. None does while the guard lives.
    pub(super) fn sync_turn(&self) -> MutexGuard<'_, ()> {
        lock(&self.looked.syncs)
    }

    /// The file as the device has it.
    pub(super) fn on_device(&self) -> io::Result<Version> {
        let found = fstat(&self.file)?;
        let bytes = self.device_bytes.unwrap_or(u64::try_from(found.st_size).unwrap_or(0));
        Ok(Version {
            bytes,
            modified: (found.st_mtime, found.st_mtime_nsec as u64),
            changed: (found.st_ctime, found.st_ctime_nsec as u64),
        })
    }

    /// As [`Source::version`], but for a read up to `end_byte` that lies within the file it looks
    /// only once a tick of the kernel's clock: in a shorter time the file's times need not change.
    /// A system call would take a third as long as a read that is served from the cache.
    pub(super) fn version_of_this_tick(&self, end_byte: u64) -> io::Result<Version> {
        let seen = *lock(&self.looked.seen);
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

    /// A read or write failed. True if the file system accepted O_DIRECT and refused this for it.
    /// Then later ones go through the page cache, and this one may be tried again.
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

fn key(found: &rustix::fs::Stat) -> Key {
    Key { device: found.st_dev, inode: found.st_ino }
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
