//! Changes that the program makes: they go to the real folders, and what was known of the place is
//! known no longer.

use super::about::Found;
use super::nodes::Nodes;
use fuser::{Errno, Request, TimeOrNow};
use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, RenameFlags, Timespec, Timestamps, UTIME_NOW,
    UTIME_OMIT, Uid, chownat, linkat, lstat, mknodat, open, renameat_with, utimensat,
};
use rustix::process::{getegid, geteuid};
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const SET_GROUP: u32 = 0o2000;
/// What of the flags of an open concerns the real file; the kernel has done the rest.
const OPEN: i32 = (OFlags::ACCMODE.bits()
    | OFlags::TRUNC.bits()
    | OFlags::EXCL.bits()
    | OFlags::SYNC.bits()
    | OFlags::DSYNC.bits()) as i32;

/// What a program sets of an entry.
pub(super) struct Set {
    pub(super) mode: Option<u32>,
    pub(super) user: Option<u32>,
    pub(super) group: Option<u32>,
    pub(super) bytes: Option<u64>,
    pub(super) accessed: Option<TimeOrNow>,
    pub(super) modified: Option<TimeOrNow>,
}

/// Whether such an open is for reading alone.
pub(super) fn only_reads(flags: i32) -> bool {
    let flags = OFlags::from_bits_retain(flags as u32);
    flags & OFlags::ACCMODE == OFlags::RDONLY && !flags.contains(OFlags::TRUNC)
}

/// Opens a file that may be written.
pub(super) fn opened(path: &Path, flags: i32, create: Option<u32>) -> io::Result<File> {
    let own = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let own = if create.is_some() { own | OFlags::CREATE } else { own };
    let flags = OFlags::from_bits_retain((flags & OPEN) as u32) | own;
    Ok(open(path, flags, Mode::from_raw_mode(create.unwrap_or(0) & 0o7777))?.into())
}

impl Nodes {
    /// The names in a folder change: they are no longer known.
    pub(super) fn names_change(&self, folder: u64) {
        if let Some(known) = self.known_folder(folder) {
            known.set_known(false);
        }
    }

    /// A file, or the entry of a folder, changes.
    pub(super) fn entry_changes(&self, node: u64) {
        self.names_change(node);
        if let Some(file) = self.file(node) {
            file.change();
        }
    }

    /// All at and below a path changes its place.
    pub(super) fn place_changes(&self, path: &Path) {
        for known in self.folders.iter().filter(|known| known.folder.path.starts_with(path)) {
            known.set_known(false);
        }
        for (_, file) in self.files().filter(|(_, file)| file.path.starts_with(path)) {
            file.change();
        }
    }
}

/// What is made belongs to the user of the process that asked for it.
pub(super) fn give(path: &Path, request: &Request) -> io::Result<()> {
    let (user, group) = (request.uid(), request.gid());
    let of_folder = path.parent().and_then(|above| lstat(above).ok());
    let of_folder = of_folder.filter(|above| above.st_mode & SET_GROUP != 0);
    let group = of_folder.map_or(group, |above| above.st_gid);
    if (user, group) == (geteuid().as_raw(), getegid().as_raw()) {
        return Ok(());
    }
    let owner = (Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
    Ok(chownat(CWD, path, owner.0, owner.1, AtFlags::SYMLINK_NOFOLLOW)?)
}

pub(super) fn set(path: &Path, file: Option<&File>, set: &Set) -> Result<Found, Errno> {
    if let Some(bytes) = set.bytes {
        match file {
            Some(file) => file.set_len(bytes)?,
            None => opened(path, OFlags::WRONLY.bits() as i32, None)?.set_len(bytes)?,
        }
    }
    if set.user.is_some() || set.group.is_some() {
        let (user, group) = (set.user.map(Uid::from_raw), set.group.map(Gid::from_raw));
        chownat(CWD, path, user, group, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from)?;
    }
    if let Some(mode) = set.mode {
        // The kernel asks this of no link.
        std::fs::set_permissions(path, Permissions::from_mode(mode & 0o7777))?;
    }
    if set.accessed.is_some() || set.modified.is_some() {
        let times =
            Timestamps { last_access: time(set.accessed), last_modification: time(set.modified) };
        utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from)?;
    }
    Ok(Found::at(path)?)
}

fn time(time: Option<TimeOrNow>) -> Timespec {
    match time {
        None => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        Some(TimeOrNow::Now) => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
        Some(TimeOrNow::SpecificTime(time)) => since_1970(time),
    }
}

fn since_1970(time: SystemTime) -> Timespec {
    let parts = |seconds: u64, ns: u32| (i64::try_from(seconds).unwrap_or(i64::MAX), ns);
    let (seconds, ns) = match time.duration_since(UNIX_EPOCH) {
        Ok(after) => parts(after.as_secs(), after.subsec_nanos()),
        Err(before) => {
            let before = before.duration();
            let (seconds, ns) = parts(before.as_secs(), before.subsec_nanos());
            if ns == 0 { (-seconds, 0) } else { (-seconds - 1, 1_000_000_000 - ns) }
        }
    };
    Timespec { tv_sec: seconds, tv_nsec: ns.into() }
}

pub(super) fn make(path: &Path, mode: u32, request: &Request) -> io::Result<()> {
    let kind = FileType::from_raw_mode(mode);
    let mode = Mode::from_raw_mode(mode & 0o7777);
    match kind {
        FileType::Directory => rustix::fs::mkdir(path, mode)?,
        FileType::Unknown => mknodat(CWD, path, FileType::RegularFile, mode, 0)?,
        kind => mknodat(CWD, path, kind, mode, 0)?,
    }
    give(path, request)
}

pub(super) fn rename(from: &Path, to: &Path, flags: u32) -> io::Result<()> {
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::from_bits_retain(flags))?)
}

pub(super) fn link(from: &Path, to: PathBuf) -> io::Result<PathBuf> {
    linkat(CWD, from, CWD, &to, AtFlags::empty())?;
    Ok(to)
}
