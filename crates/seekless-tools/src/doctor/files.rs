//! What depends on the file system, and on whose file it is: tried with a file of our own.

use seekless_device::units::format_bytes;
use seekless_sys::direct::{alignment, open_direct};
use seekless_sys::extents::extents;
use seekless_sys::folios::{FOLIO_BYTES, bring_in};
use seekless_sys::handle::Handle;
use seekless_sys::locked::{Locked, raise_limit};
use seekless_sys::reads::{Caching, read_at};
use seekless_sys::reason;
use seekless_sys::residency;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A program of root's that is everywhere: a file of another user's, unless this is root.
const OF_ANOTHER: &str = "/bin/sh";

/// A file to try things with.
pub(super) struct Tried {
    folder: PathBuf,
    file: File,
}

impl Tried {
    /// A file that is on its device, and in no folder. It goes when this is dropped.
    pub(super) fn in_folder(folder: &Path) -> io::Result<Self> {
        let mut file = tempfile::tempfile_in(folder)?;
        file.write_all(&vec![7; FOLIO_BYTES as usize])?;
        file.sync_data()?;
        Ok(Self { folder: folder.to_owned(), file })
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn direct(&self) -> super::Tried {
        let path = PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()));
        let direct = open_direct(&path).map_err(|error| reason(&error))?;
        let direct = direct.ok_or("this file system refuses it")?;
        let grain = alignment(&direct).map_err(|error| reason(&error))?;
        let (block, memory) = (grain.offset_bytes as usize, grain.memory_bytes as usize);
        let mut buffer = vec![0; block + memory];
        let start = buffer.as_ptr().align_offset(memory);
        match direct.read_at(&mut buffer[start..start + block], 0) {
            Ok(_) => Ok(None),
            Err(error) => Err(reason(&error)),
        }
    }

    pub(super) fn dont_cache(&self) -> super::Tried {
        match read_at(&self.file, &mut [0; 4096], 0, Caching::Leave) {
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                Err("this kernel or this file system does not know it".to_owned())
            }
            Err(error) => Err(reason(&error)),
        }
    }

    pub(super) fn large_folios(&self) -> super::Tried {
        match bring_in(&self.file, 0..FOLIO_BYTES) {
            Some(_) => Ok(None),
            None => Err("this kernel would map a file page by page".to_owned()),
        }
    }

    pub(super) fn cachestat(&self) -> super::Tried {
        let seen = residency::is_seen(self.file.as_fd()).map_err(|error| reason(&error))?;
        residency::count(self.file.as_fd(), 0, 0).map_err(|error| reason(&error))?;
        if !seen {
            return Err("it does not count what this file system has cached".to_owned());
        }
        let of_another = File::open(OF_ANOTHER);
        let is_refused = of_another.is_ok_and(|file| residency::count(file.as_fd(), 0, 0).is_err());
        Ok(is_refused.then(only_own))
    }

    pub(super) fn mincore(&self) -> super::Tried {
        let told = |file: &File| residency::resident_bytes_by_mincore(file.as_fd());
        match told(&self.file) {
            Ok(Some(_)) => {
                let of_another = File::open(OF_ANOTHER).and_then(|file| told(&file));
                Ok(matches!(of_another, Ok(None)).then(only_own))
            }
            Ok(None) => Err("it is wrong about this file system".to_owned()),
            Err(error) => Err(reason(&error)),
        }
    }

    pub(super) fn fiemap(&self) -> super::Tried {
        match extents(&self.file, 0..u64::MAX, 1) {
            Ok(Some(_)) => Ok(None),
            Ok(None) => Err("this file system does not say".to_owned()),
            Err(error) => Err(reason(&error)),
        }
    }

    pub(super) fn handles(&self) -> super::Tried {
        let opened = File::open(&self.folder)
            .and_then(|folder| Handle::of(&folder).and_then(|handle| handle.open(&folder)));
        opened.map(|_| None).map_err(|error| reason(&error))
    }

    pub(super) fn locked(&self) -> super::Tried {
        let limit = raise_limit();
        Locked::new(&self.file, 0, 4096).map_err(|error| reason(&error))?;
        let may_lock_more = rustix::thread::capabilities(None)
            .is_ok_and(|sets| sets.effective.contains(rustix::thread::CapabilitySet::IPC_LOCK));
        let limit = limit.filter(|_| !may_lock_more);
        Ok(limit.map(|bytes| format!("up to {}", format_bytes(bytes))))
    }
}

fn only_own() -> String {
    "only for files that you own or may write to".to_owned()
}
