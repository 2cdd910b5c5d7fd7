//! Which system call shows the cached pages of a file, by the type of its file system.
//!
//! cachestat(2) counts the pages of the open file. On most file systems a read copies from those
//! pages. Some file systems pass a read on to another file, which owns the pages. Others keep what
//! they read in a cache of their own. On both the count is 0, although the data may be in memory.
//! Measured on Linux 6.18, for a file that was just read:
//!
//! | file system | cachestat | mincore |
//! |---|---|---|
//! | ext4, tmpfs, ext4 on a loop device | all | all |
//! | overlayfs on ext4 and on tmpfs, lower and upper files alike | 0 | all |
//!
//! A mapping is of the file below, so mincore is right on overlayfs, for callers that it does not
//! lie to.

use super::honest;
use super::mincore::mapped_pages;
use rustix::fs::{AtFlags, StatxFlags, statx};
use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Values of `statfs.f_type` (linux/magic.h, and the file systems' own sources).
const OVERLAY: u64 = 0x794c_7630;
const AUFS: u64 = 0x6175_6673;
const FUSE: u64 = 0x6573_5546;
const ZFS: u64 = 0x2fc1_2fc1;
const GPFS: u64 = 0x4750_4653;
const NFS: u64 = 0x6969;
const CIFS: u64 = 0xff53_4d42;
const SMB2: u64 = 0xfe53_4d42;
const NINE_P: u64 = 0x0102_1997;
const CEPH: u64 = 0x00c3_6400;
const LUSTRE: u64 = 0x0bd0_0bd0;

/// File systems whose pages come from a server.
const SERVED: [u64; 7] = [FUSE, NFS, CIFS, SMB2, NINE_P, CEPH, LUSTRE];

/// How much of a range is mapped to check a count of 0 on FUSE.
const LOOK_BYTES: u64 = 64 << 20;

/// How long the type of a file system is believed: its device number may belong to another then.
const GOOD_FOR: Duration = Duration::from_secs(1);
/// File systems that are remembered.
const DEVICES_MAX: usize = 8;

/// What a file system was found to be.
#[derive(Clone, Copy, Debug)]
struct Known {
    device: (u32, u32),
    file_system: u64,
    asked: Instant,
}

static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

fn lock() -> std::sync::MutexGuard<'static, Vec<Known>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The device of a file, without a question to a server.
fn device(file: BorrowedFd<'_>) -> Option<(u32, u32)> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let found = statx(file, c"", flags, StatxFlags::INO).ok()?;
    Some((found.stx_dev_major, found.stx_dev_minor))
}

/// The type of the file's file system. To ask for it takes a round trip to the server of a
/// network's, so an answer holds for all files of a device for a second.
fn file_system(file: BorrowedFd<'_>) -> io::Result<u64> {
    let Some(device) = device(file) else { return asked(file) };
    let now = Instant::now();
    let known = lock().iter().find(|known| known.device == device).copied();
    if let Some(known) = known.filter(|known| now - known.asked < GOOD_FOR) {
        return Ok(known.file_system);
    }
    let file_system = asked(file)?;
    let mut all = lock();
    all.retain(|known| known.device != device && now - known.asked < GOOD_FOR);
    all.truncate(DEVICES_MAX - 1);
    all.push(Known { device, file_system, asked: now });
    Ok(file_system)
}

fn asked(file: BorrowedFd<'_>) -> io::Result<u64> {
    Ok(rustix::fs::fstatfs(file)?.f_type as u64 & 0xffff_ffff)
}

/// Whether each page of the file that is not cached may take a round trip to a server: that of a
/// network, or a process (FUSE).
#[must_use]
pub fn is_served(file: BorrowedFd<'_>) -> bool {
    file_system(file).is_ok_and(|found| SERVED.contains(&found))
}

/// The call that shows the cached pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// cachestat.
    Count,
    /// mincore, through a mapping, which is of the file below.
    Mapping,
    /// cachestat, but a count of 0 may hide a file below (FUSE passthrough, Linux 6.9).
    CountUnlessEmpty,
    /// Nothing: the data lies in a cache of the file system's own.
    Nobody,
}

impl Told {
    /// By the type of the file's file system.
    pub(super) fn of(file: BorrowedFd<'_>) -> io::Result<Told> {
        Ok(Told::on(file_system(file)?))
    }

    fn on(file_system: u64) -> Told {
        match file_system {
            OVERLAY | AUFS => Told::Mapping,
            FUSE => Told::CountUnlessEmpty,
            ZFS | GPFS => Told::Nobody,
            _ => Told::Count,
        }
    }

    /// The cached pages of the range where cachestat counted 0; `None` if unknown.
    pub(super) fn where_none_counted(
        self,
        file: BorrowedFd<'_>,
        range: Range<u64>,
    ) -> io::Result<Option<u64>> {
        match self {
            Told::Count => Ok(Some(0)),
            Told::Mapping if honest::is_told_by_mapping(file)? => mapped_pages(file, range),
            Told::CountUnlessEmpty => {
                let end = range.end.min(range.start.saturating_add(LOOK_BYTES));
                let below = mapped_pages(file, range.start..end)?;
                Ok((below.unwrap_or(0) == 0).then_some(0)) // what cannot be mapped has no pages
            }
            Told::Mapping | Told::Nobody => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn what_is_remembered_is_what_was_asked() {
        for path in ["/proc/self/status", env!("CARGO_MANIFEST_DIR"), "/proc/self/stat"] {
            let file = std::fs::File::open(path).unwrap();
            let asked = asked(file.as_fd()).unwrap();
            assert_eq!([(); 2].map(|()| file_system(file.as_fd()).unwrap()), [asked; 2], "{path}");
            assert!(!is_served(file.as_fd()), "{path}");
        }
        assert!(lock().len() <= DEVICES_MAX);
    }

    #[test]
    fn file_systems_are_known_by_their_numbers() {
        assert_eq!(Told::on(0xef53), Told::Count, "ext4");
        assert_eq!(Told::on(0x0102_1994), Told::Count, "tmpfs");
        assert_eq!(Told::on(0x794c_7630), Told::Mapping, "overlayfs");
        assert_eq!(Told::on(0x6573_5546), Told::CountUnlessEmpty, "FUSE");
        assert_eq!(Told::on(0x2fc1_2fc1), Told::Nobody, "ZFS");
    }
}
