//! Looks up where files lie while the program has them open.
//!
//! The look is through a duplicate of the program's own descriptor (pidfd_getfd). So it opens
//! nothing, which a lease or inotify would notice, and it also finds deleted files. Only file
//! systems of this machine's own block devices are asked: others may be served by the program.

use crate::inspect::{LOCAL, duplicate};
use crate::places::{FileKey, Places, Snapshot};
use hashbrown::HashMap;
use rustix::fs::{
    AtFlags, Mode, OFlags, Statx, StatxFlags, fdatasync, makedev, open, readlink, statx,
};
use seekless_sys::extents::extents;
use seekless_sys::handle::Handle;
use seekless_sys::mounts::Mounts;
use seekless_trace::escape_path;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// Extents of one file. More cost more time than a look may take while the program waits.
const FILE_EXTENTS_MAX: usize = 1 << 18;

/// Looks, and keeps what was found.
#[derive(Debug, Default)]
pub(crate) struct Looker {
    places: Places,
    /// By device: a folder of its file system; `None` if it is not to be asked.
    systems: HashMap<u64, Option<Arc<OwnedFd>>, foldhash::fast::RandomState>,
    seen: HashMap<FileKey, Seen, foldhash::fast::RandomState>,
}

/// A file that was used.
#[derive(Clone, Debug)]
struct Seen {
    name: Arc<[u8]>,
    handle: Option<Handle>,
    about: Option<About>,
    /// Nothing can change what was found but a write.
    complete: bool,
    written: bool,
}

/// What shows whether a file has changed since a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct About {
    born_ns: Option<u64>,
    changed_ns: u64,
    bytes: u64,
}

/// A file that the program has used.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    pub(crate) key: FileKey,
    pub(crate) name: Arc<[u8]>,
    pub(crate) written: bool,
}

impl Looker {
    /// Looks at the file behind descriptor `fd` of process `pid`.
    pub(crate) fn look(&mut self, pid: i32, fd: i32, used: Used, time_ns: u64) {
        if self.system(used.key.0).is_none() {
            return;
        }
        if self.try_look(pid, fd, used, time_ns).is_err() {
            self.places.refused += 1;
        }
    }

    fn try_look(&mut self, pid: i32, fd: i32, used: Used, time_ns: u64) -> io::Result<()> {
        let file = duplicate(pid, fd)?;
        let (key, about) = known(&file)?;
        if key != used.key {
            return Ok(()); // another thread has put another file there meanwhile
        }
        let seen = self.seen.get(&key);
        if seen.is_some_and(|seen| seen.complete && seen.about == Some(about)) {
            self.places.confirm(key, time_ns);
            return Ok(());
        }
        // Another file may have got the inode of one that was deleted.
        let other = |seen: &Seen| seen.about.is_some_and(|old| old.born_ns != about.born_ns);
        if seen.is_some_and(other)
            && let Some(older) = self.seen.remove(&key)
        {
            self.places.gone.push(escape_path(&older.name));
        }
        let written = used.written || self.seen.get(&key).is_some_and(|seen| seen.written);
        let Some(found) = extents(&file, 0..u64::MAX, FILE_EXTENTS_MAX)? else { return Ok(()) };
        let snapshot = Snapshot { time_ns, born_ns: about.born_ns, extents: Arc::new(found) };
        let complete = snapshot.is_complete();
        // Only a file that is looked at again needs to be found again.
        let handle = if complete && !written { None } else { Handle::of(&file).ok() };
        self.places.add(key, snapshot);
        let seen = Seen { name: used.name, handle, about: Some(about), complete, written };
        self.seen.insert(key, seen);
        Ok(())
    }

    /// A file that was used is no longer open. If it was not looked up, that is done at the end.
    pub(crate) fn left(&mut self, used: Used) {
        if self.system(used.key.0).is_some() && !self.seen.contains_key(&used.key) {
            let Used { key, name, written } = used;
            let seen = Seen { name, handle: None, about: None, complete: false, written };
            self.seen.insert(key, seen);
        }
    }

    /// After the program's end: looks again at files whose places were not known, and finds out
    /// which are gone or moved. With `sync` files without places are written back before.
    pub(crate) fn finish(mut self, sync: bool) -> Places {
        let mut seen: Vec<(FileKey, Seen)> = std::mem::take(&mut self.seen).into_iter().collect();
        seen.retain(|(_, seen)| seen.written || !seen.complete);
        seen.sort_by(|one, other| one.1.name.cmp(&other.1.name));
        for (key, seen) in seen {
            self.look_again(key, &seen, sync);
        }
        self.places.gone.sort_unstable();
        self.places.gone.dedup();
        self.places
    }

    fn look_again(&mut self, key: FileKey, seen: &Seen, sync: bool) {
        let Some(file) = self.find(key, seen) else {
            return self.places.gone.push(escape_path(&seen.name));
        };
        let link = format!("/proc/self/fd/{}", file.as_raw_fd());
        if let Ok(now) = readlink(link, Vec::new())
            && now.as_bytes() != &*seen.name
            && now.as_bytes().starts_with(b"/")
        {
            self.places.moved.push((escape_path(&seen.name), escape_path(now.as_bytes())));
        }
        if seen.complete {
            return;
        }
        if sync {
            let _ = fdatasync(&file); // the look says what has no place yet
        }
        match extents(&file, 0..u64::MAX, FILE_EXTENTS_MAX) {
            Ok(Some(found)) => {
                let born_ns = known(&file).ok().and_then(|(_, about)| about.born_ns);
                let extents = Arc::new(found);
                self.places.add(key, Snapshot { time_ns: u64::MAX, born_ns, extents });
            }
            _ => self.places.refused += 1,
        }
    }

    /// Opens the file again: by its handle, else by its name if that is still this file.
    fn find(&mut self, key: FileKey, seen: &Seen) -> Option<File> {
        let system = self.system(key.0);
        let same = |file: &File| {
            known(file).is_ok_and(|(found, about)| {
                found == key && seen.about.is_none_or(|old| old.born_ns == about.born_ns)
            })
        };
        let by_handle = seen.handle.as_ref().zip(system);
        if let Some(file) = by_handle.and_then(|(handle, system)| handle.open(&*system).ok())
            && same(&file)
        {
            return Some(file);
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = open(OsStr::from_bytes(&seen.name), flags, Mode::empty()).ok()?.into();
        same(&file).then_some(file)
    }

    /// A folder of the device's file system, if that may be asked.
    fn system(&mut self, device: u64) -> Option<Arc<OwnedFd>> {
        self.systems.entry(device).or_insert_with(|| system(device)).clone()
    }
}

fn system(device: u64) -> Option<Arc<OwnedFd>> {
    let number = (rustix::fs::major(device), rustix::fs::minor(device));
    if number.0 == 0 {
        return None; // on no block device
    }
    let mounts = Mounts::read().ok()?;
    let mount = mounts.of(number, None).filter(|mount| LOCAL.contains(&mount.kind.as_str()))?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Some(Arc::new(open(&mount.point, flags, Mode::empty()).ok()?))
}

fn known(file: &File) -> io::Result<(FileKey, About)> {
    let wanted = StatxFlags::INO | StatxFlags::BTIME | StatxFlags::CTIME | StatxFlags::SIZE;
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let stat: Statx = statx(file.as_fd(), "", flags, wanted)?;
    let time = |time: rustix::fs::StatxTimestamp| {
        (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec.into())
    };
    let has_birth = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
    let about = About {
        born_ns: has_birth.then(|| time(stat.stx_btime)),
        changed_ns: time(stat.stx_ctime),
        bytes: stat.stx_size,
    };
    Ok(((makedev(stat.stx_dev_major, stat.stx_dev_minor), stat.stx_ino), about))
}
