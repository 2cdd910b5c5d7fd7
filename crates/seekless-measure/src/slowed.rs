//! A real device slowed for this process alone, by Linux's own throttle: a control group that
//! limits the requests and bytes read a second, and counts exactly what was asked of the device.
//! Needs root. Version 1 (blkio) is used where it is mounted, else version 2 (io).
//!
//! The throttle charges requests before neighbours are joined, and ext4 reads 32 inode-table blocks
//! ahead, each a request of its own: so that a limit on requests says about what it would on a
//! volume, that readahead is set to 1 meanwhile. It still charges twice as many requests for inodes
//! as a volume, or more. Behind a loop device with direct I/O the throttle sees merged requests,
//! and charges what a volume does: there the readahead stays. All is put back when [`Slowed`] is
//! dropped, and also if this process is killed ([`seekless_sys::undo`]).

mod disk;
mod group;
mod readahead;
#[cfg(test)]
mod tests;

pub use readahead::INODE_READAHEAD_BLOCKS;
pub use seekless_sys::cgroup::ReadsServed;

use crate::Error;
use disk::Disk;
use group::{Own, Place};
use readahead::Readahead;
use seekless_sys::cgroup::ReadLimits;
use seekless_sys::undo::Undo;
use std::os::fd::AsFd;
use std::path::Path;

/// Limits that hold for this process during [`Slowed::during`].
#[derive(Debug)]
pub struct Slowed {
    /// Major and minor number of each limited disk.
    disks: Vec<(u32, u32)>,
    merges: bool,
    group: Own,
    /// Before the locks, so that these last until all is put back.
    _undo: Undo,
    _locks: Vec<Readahead>,
}

impl Slowed {
    /// Prepares the limits for the devices that `paths` lie on.
    ///
    /// # Errors
    /// Without root, where a path lies on no block device (tmpfs, overlay, a network), where the
    /// kernel has no such control group, while another measurement holds the same file system, or
    /// where it cannot be written down what will be changed.
    pub fn new(paths: &[&Path], iops: u64, bytes_per_second: u64) -> Result<Self, Error> {
        Self::of(paths, Disk::of, iops, bytes_per_second)
    }

    /// The same, but a loop device is limited itself, and not the disk below it: requests count
    /// before neighbours are merged.
    ///
    /// # Errors
    /// As [`Slowed::new`].
    pub fn before_merging(
        paths: &[&Path],
        iops: u64,
        bytes_per_second: u64,
    ) -> Result<Self, Error> {
        Self::of(paths, Disk::itself, iops, bytes_per_second)
    }

    fn of(
        paths: &[&Path],
        disk_of: fn(&Path) -> Result<Disk, Error>,
        iops: u64,
        bytes_per_second: u64,
    ) -> Result<Self, Error> {
        let mut disks: Vec<Disk> = Vec::new();
        for path in paths {
            let disk = disk_of(path)?;
            if !disks.contains(&disk) {
                disks.push(disk);
            }
        }
        let locks = disks
            .iter()
            .filter(|disk| !disk.merges)
            .filter_map(Readahead::of)
            .collect::<Result<Vec<_>, _>>()?;
        let merges = disks.first().is_some_and(|disk| disk.merges);
        let mut disks: Vec<(u32, u32)> = disks.into_iter().map(|disk| disk.number).collect();
        disks.sort_unstable();
        disks.dedup();
        let place = Place::find()?;
        let undo = undo(&place, &disks, &locks).map_err(|error| {
            Error::io(paths.first().copied().unwrap_or(Path::new("/")), "cannot be slowed", error)
        })?;
        locks.iter().try_for_each(Readahead::narrow)?;
        let group = place.make()?;
        let limits = ReadLimits {
            bytes_per_second: Some(bytes_per_second),
            requests_per_second: Some(iops),
        };
        disks.iter().try_for_each(|&disk| group.limit(disk, limits))?;
        Ok(Slowed { disks, merges, group, _undo: undo, _locks: locks })
    }

    /// Whether requests to the disk of the first path are merged before they are limited and
    /// counted. Otherwise each block of metadata counts, and ext4 reads [`INODE_READAHEAD_BLOCKS`]
    /// ahead.
    #[must_use]
    pub fn merges(&self) -> bool {
        self.merges
    }

    /// Does `work` under the limits, all threads of this process with it, and says what it asked of
    /// the devices.
    ///
    /// # Errors
    /// The group cannot be entered, left, or asked what it counted.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> Result<(T, ReadsServed), Error> {
        let before = self.served()?;
        let result = {
            let _stay = self.group.enter()?;
            work()
        };
        let after = self.served()?;
        let served = ReadsServed {
            requests: after.requests.saturating_sub(before.requests),
            bytes: after.bytes.saturating_sub(before.bytes),
        };
        Ok((result, served))
    }

    fn served(&self) -> Result<ReadsServed, Error> {
        self.disks.iter().try_fold(ReadsServed::default(), |sum, &disk| {
            let of_disk = self.group.served(disk)?;
            Ok(ReadsServed {
                requests: sum.requests + of_disk.requests,
                bytes: sum.bytes + of_disk.bytes,
            })
        })
    }
}

/// Writes down what will be changed, before it is.
fn undo(place: &Place, disks: &[(u32, u32)], locks: &[Readahead]) -> std::io::Result<Undo> {
    let mut steps = place.undo(disks)?;
    for lock in locks {
        steps.push(lock.undo()?);
    }
    let held: Vec<_> = locks.iter().map(AsFd::as_fd).collect();
    Undo::prepare(steps, &held)
}
