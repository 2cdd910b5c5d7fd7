//! Who tells what of a file is cached, by the kind of its file system.
//!
//! cachestat(2) counts the pages of the file that is open. On most file systems those are the pages that a read copies from.
//! Some hand a read on to another file, whose pages they are, or keep what they read in a cache of their own; then the count
//! is 0 whatever is in memory. Measured on Linux 6.18, of a file that was just read:
//!
//! | file system | cachestat | mincore |
//! |---|---|---|
//! | ext4, tmpfs, ext4 on a loop device | all | all |
//! | overlayfs on ext4 and on tmpfs, lower and upper files alike | 0 | all |
//!
//! A mapping is of the file below, so mincore is right on overlayfs, for those to whom it does not lie.

use super::{honest, mapped_pages};
use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;

/// Values of `statfs.f_type` (linux/magic.h, and the file systems' own sources).
const OVERLAY: u64 = 0x794c_7630;
const AUFS: u64 = 0x6175_6673;
const FUSE: u64 = 0x6573_5546;
const ZFS: u64 = 0x2fc1_2fc1;
const GPFS: u64 = 0x4750_4653;

/// How much of a range is mapped to see whether cachestat's 0 can be believed on FUSE.
const LOOK_BYTES: u64 = 64 << 20;

/// Who tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// cachestat.
    Count,
    /// mincore, through a mapping, which is of the file below.
    Mapping,
    /// cachestat, but its 0 may hide a file below (FUSE passthrough, Linux 6.9).
    CountUnlessEmpty,
    /// Nobody: what is read lies in a cache of the file system's own.
    Nobody,
}

impl Told {
    pub(super) fn of(file: BorrowedFd<'_>) -> io::Result<Told> {
        Ok(Told::on(rustix::fs::fstatfs(file)?.f_type as u64))
    }

    fn on(file_system: u64) -> Told {
        match file_system & 0xffff_ffff {
            OVERLAY | AUFS => Told::Mapping,
            FUSE => Told::CountUnlessEmpty,
            ZFS | GPFS => Told::Nobody,
            _ => Told::Count,
        }
    }

    /// The pages of the range that are cached where cachestat counted none; `None` where nobody tells.
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

    #[test]
    fn file_systems_are_known_by_their_numbers() {
        assert_eq!(Told::on(0xef53), Told::Count, "ext4");
        assert_eq!(Told::on(0x0102_1994), Told::Count, "tmpfs");
        assert_eq!(Told::on(0x794c_7630), Told::Mapping, "overlayfs");
        assert_eq!(Told::on(0x6573_5546), Told::CountUnlessEmpty, "FUSE");
        assert_eq!(Told::on(0x2fc1_2fc1), Told::Nobody, "ZFS");
        // A 32-bit f_type with its highest bit set, widened with its sign (btrfs).
        assert_eq!(Told::on(0xffff_ffff_9123_683e), Told::Count);
    }
}
