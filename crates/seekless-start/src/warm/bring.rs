//! Opens a file and asks the kernel for ranges of it.

use crate::profiles::identity_of;
use rustix::fs::{Advice, CWD, FileType, Mode, OFlags, ResolveFlags, fadvise, fstat};
use rustix::io::Errno;
use seekless_policy::layout::extents::Extent;
use seekless_sys::extents::extents;
use seekless_sys::memory::page_bytes;
use seekless_sys::residency;
use seekless_trace::Identity;
use std::fs::File;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The kernel reads at most this much for one advice, unless the device allows more.
const ADVICE_BYTES: u64 = 128 << 10;
const FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// A file that may be brought in.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: Arc<File>,
    pub(crate) bytes: u64,
    device: u64,
}

/// Which file it has to be: `None` is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// Its size.
    pub(crate) bytes: Option<u64>,
    pub(crate) identity: Option<Identity>,
}

/// Opens a regular file for reading. Neither a pipe nor a device is waited for, and a file that has
/// changed is no longer the one that was recorded. A link may not lead out of the folders `within`,
/// unless there are none.
///
/// # Errors
/// Why it is left out, in words.
pub(crate) fn open(
    path: &Path,
    recorded: &Recorded,
    within: &[PathBuf],
) -> Result<Opened, &'static str> {
    let file = rustix::fs::open(path, FLAGS, Mode::empty()).map_err(why_not)?;
    checked(file, recorded, within)
}

/// As [`open`], of a file whose name and inode are in memory: the device is asked nothing. `None`
/// if they are not.
pub(crate) fn open_known(path: &Path, recorded: &Recorded) -> Option<Result<Opened, &'static str>> {
    match rustix::fs::openat2(CWD, path, FLAGS, Mode::empty(), ResolveFlags::CACHED) {
        Ok(file) => Some(checked(file, recorded, &[])),
        Err(error) => is_known(error).then(|| Err(why_not(error))),
    }
}

/// Whether memory knows the name, or knows that it does not exist. The device is asked nothing.
pub(crate) fn is_name_known(path: &Path) -> bool {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED);
    found.map_or_else(is_known, |_| true)
}

/// Whether such an error of a look in memory says something of the name.
fn is_known(error: Errno) -> bool {
    matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP)
}

fn why_not(error: Errno) -> &'static str {
    match error {
        Errno::NOENT | Errno::NOTDIR => "no longer there",
        Errno::ACCESS | Errno::PERM => "not readable by this user",
        _ => "cannot be opened",
    }
}

fn checked(file: OwnedFd, recorded: &Recorded, within: &[PathBuf]) -> Result<Opened, &'static str> {
    let stat = fstat(&file).map_err(|_| "cannot be examined")?;
    if !FileType::from_raw_mode(stat.st_mode).is_file() {
        return Err("not a regular file");
    }
    if !lies_within(&file, within) {
        return Err("a link that leads out of the folders given");
    }
    let bytes = stat.st_size.unsigned_abs();
    if recorded.bytes.is_some_and(|recorded| recorded != bytes) {
        return Err("of another size than when it was recorded");
    }
    if recorded.identity.is_some_and(|identity| identity != identity_of(&stat)) {
        return Err("changed since it was recorded");
    }
    Ok(Opened { file: Arc::new(file.into()), bytes, device: stat.st_dev })
}

/// Whether an opened file lies below one of some folders, links followed, or there are none.
fn lies_within(file: &OwnedFd, within: &[PathBuf]) -> bool {
    if within.is_empty() {
        return true;
    }
    let Ok(real) = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())) else {
        return false;
    };
    within.iter().filter_map(|root| root.canonicalize().ok()).any(|root| real.starts_with(root))
}

/// How far the kernel reads around a touch on a device, in bytes.
pub(crate) fn readahead_bytes(device: u64) -> u64 {
    limit_kib(device, "bdi/read_ahead_kb").map_or(ADVICE_BYTES, |kib| kib << 10)
}

/// How much one advice may read, as the device of the file says. What a device says is kept: many
/// files lie on one.
fn advice_bytes(device: u64) -> u64 {
    static KNOWN: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, bytes)) = known.iter().find(|(number, _)| *number == device) {
        return *bytes;
    }
    let bytes = told_advice_bytes(device);
    known.push((device, bytes));
    bytes
}

fn told_advice_bytes(device: u64) -> u64 {
    let limits = ["queue/max_sectors_kb", "queue/read_ahead_kb", "bdi/read_ahead_kb"];
    let known = limits.iter().filter_map(|limit| limit_kib(device, limit)).max();
    known.map_or(ADVICE_BYTES, |kib| (kib << 10).max(ADVICE_BYTES))
}

fn limit_kib(device: u64, limit: &str) -> Option<u64> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let (name, of_disk) = match limit.strip_prefix("bdi/") {
        Some(name) => (format!("/sys/class/bdi/{major}:{minor}/{name}"), None),
        None => {
            let base = format!("/sys/dev/block/{major}:{minor}");
            (format!("{base}/{limit}"), Some(format!("{base}/../{limit}")))
        }
    };
    let read = |path: String| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    read(name).or_else(|| read(of_disk?))
}

impl Opened {
    /// How much of a range is in the page cache. `None` if the kernel does not say.
    pub(crate) fn cached(&self, extent: Extent) -> Option<u64> {
        let pages = residency::count(self.file.as_fd(), extent.offset, extent.bytes).ok()?;
        Some((pages.cached * page_bytes()).min(extent.bytes))
    }

    /// Where a byte lies on the device, if the file system says so.
    pub(crate) fn place(&self, offset: u64) -> Option<u64> {
        let found = extents(self.file.as_fd(), offset..offset.checked_add(1)?, 1).ok()??;
        let first = found.list.first()?;
        first.place?.checked_add(offset.checked_sub(first.offset)?)
    }

    /// Asks for a range, and does not wait for it.
    pub(crate) fn ask(&self, extent: Extent, cancel: &AtomicBool) {
        let advice_bytes = advice_bytes(self.device);
        let mut offset = extent.offset;
        while offset < extent.end() && !cancel.load(Ordering::Relaxed) {
            let bytes = advice_bytes.min(extent.end() - offset);
            let _ = fadvise(&self.file, offset, NonZeroU64::new(bytes), Advice::WillNeed);
            offset += bytes;
        }
    }

    /// Asks for all ranges, then waits until they are there.
    pub(crate) fn bring_in(&self, extents: &[Extent], cancel: &AtomicBool) {
        // Else a read of one byte, to wait, would bring in what lies behind it.
        let _ = fadvise(&self.file, 0, None, Advice::Random);
        extents.iter().for_each(|extent| self.ask(*extent, cancel));
        for extent in extents.iter().filter(|extent| extent.bytes > 0) {
            if cancel.load(Ordering::Relaxed) {
                return;
            }
            let _ = self.file.read_at(&mut [0], extent.end() - 1); // it is only to wait
        }
    }
}
