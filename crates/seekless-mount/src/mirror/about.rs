//! The entry of a file: what stat(2) says of it.

use fuser::{FileAttr, FileType, INodeNo};
use rustix::fs::{AtFlags, CWD, Statx, StatxFlags, StatxTimestamp, statx};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const TYPE_BITS: u32 = 0o170_000;

/// What stat(2) says of a file. Times are in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The inode's number.
    pub inode: u64,
    /// The type of file and its permissions.
    pub mode: u32,
    /// How many names it has.
    pub links: u32,
    /// Its owner.
    pub user: u32,
    /// Its group.
    pub group: u32,
    /// Its size in bytes.
    pub bytes: u64,
    /// What it takes on the device, in units of 512 bytes.
    pub blocks: u64,
    /// When it was last read.
    pub accessed_ns: i64,
    /// When its content last changed.
    pub modified_ns: i64,
    /// When its content or entry last changed.
    pub changed_ns: i64,
    /// When it was made; 0 if the file system does not say.
    pub born_ns: i64,
}

/// The entry of a file, and its device.
pub(super) struct Found {
    pub(super) about: About,
    pub(super) device: (u32, u32),
    pub(super) special: (u32, u32),
}

impl Found {
    /// Of the file of this name, itself if it is a link.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let found = statx(CWD, path, flags, StatxFlags::BASIC_STATS | StatxFlags::BTIME)?;
        Ok(Self {
            about: About::of(&found),
            device: (found.stx_dev_major, found.stx_dev_minor),
            special: (found.stx_rdev_major, found.stx_rdev_minor),
        })
    }
}

impl About {
    /// Of the file of this name, itself if it is a link.
    ///
    /// # Errors
    /// There is none, or it may not be looked at.
    pub fn at(path: &Path) -> io::Result<Self> {
        Found::at(path).map(|found| found.about)
    }

    fn of(found: &Statx) -> Self {
        let ns = |time: StatxTimestamp| {
            time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec.into())
        };
        Self {
            inode: found.stx_ino,
            mode: found.stx_mode.into(),
            links: found.stx_nlink,
            user: found.stx_uid,
            group: found.stx_gid,
            bytes: found.stx_size,
            blocks: found.stx_blocks,
            accessed_ns: ns(found.stx_atime),
            modified_ns: ns(found.stx_mtime),
            changed_ns: ns(found.stx_ctime),
            born_ns: ns(found.stx_btime),
        }
    }

    /// Whether it is the same file, unchanged since. The time of the last change shows new owners
    /// and permissions too.
    #[must_use]
    pub fn is_as(&self, other: &Self) -> bool {
        let shows = |it: &Self| (it.inode, it.bytes, it.modified_ns, it.changed_ns, it.born_ns);
        shows(self) == shows(other)
    }

    /// Whether it is the same file, whatever it holds by now.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        (self.inode, self.born_ns) == (other.inode, other.born_ns)
    }

    /// Whether it is a folder's.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        kind(self.mode) == FileType::Directory
    }

    /// As the kernel wants it.
    pub(super) fn attributes(&self, node: u64, special: (u32, u32)) -> FileAttr {
        FileAttr {
            ino: INodeNo(node),
            size: self.bytes,
            blocks: self.blocks,
            atime: time(self.accessed_ns),
            mtime: time(self.modified_ns),
            ctime: time(self.changed_ns),
            crtime: time(self.born_ns),
            kind: kind(self.mode),
            perm: (self.mode & 0o7777) as u16,
            nlink: self.links,
            uid: self.user,
            gid: self.group,
            // As new_encode_dev of the kernel.
            rdev: special.1 & 0xff | special.0 << 8 | (special.1 & !0xff) << 12,
            blksize: 4096,
            flags: 0,
        }
    }
}

/// The type of file of a mode.
pub(super) fn kind(mode: u32) -> FileType {
    match mode & TYPE_BITS {
        0o040_000 => FileType::Directory,
        0o120_000 => FileType::Symlink,
        0o010_000 => FileType::NamedPipe,
        0o140_000 => FileType::Socket,
        0o020_000 => FileType::CharDevice,
        0o060_000 => FileType::BlockDevice,
        _ => FileType::RegularFile,
    }
}

fn time(ns: i64) -> SystemTime {
    let length = Duration::from_nanos(ns.unsigned_abs());
    let time = if ns < 0 { UNIX_EPOCH.checked_sub(length) } else { UNIX_EPOCH.checked_add(length) };
    time.unwrap_or(UNIX_EPOCH)
}
