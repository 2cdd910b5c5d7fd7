//! Where files lie now, for a trace whose recording did not look.

use super::locate::Why;
use rustix::fs::{FileType, Mode, OFlags, fdatasync};
use seekless_job::roots::Roots;
use seekless_record::{FileKey, Snapshot};
use seekless_sys::extents::{Extent, Extents, Placeless, extents};
use seekless_trace::unescape_path;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// Extents of all files together, which take up to 200 MB.
const EXTENTS_MAX: usize = 1 << 22;

/// A file as it is now.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) file: FileKey,
    pub(super) snapshot: Snapshot,
}

/// Looks at files.
#[derive(Debug)]
pub(super) struct Now<'a> {
    roots: &'a Roots,
    sync: bool,
    extents: usize,
}

impl<'a> Now<'a> {
    /// With `sync`, a file without places is written back before it is looked at again.
    pub(super) fn new(roots: &'a Roots, sync: bool) -> Self {
        Self { roots, sync, extents: 0 }
    }

    /// The file that a trace calls `name`.
    pub(super) fn look(&mut self, name: &str) -> Result<Found, Why> {
        let name = self.roots.apply(name);
        let path = unescape_path(&name);
        let path = Path::new(OsStr::from_bytes(&path));
        let gone = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Why::Gone,
            _ => Why::Unreadable,
        };
        let about = path.metadata().map_err(gone)?;
        let extents = match FileType::from_raw_mode(about.mode()) {
            FileType::BlockDevice => return Ok(whole_device(about.rdev())),
            FileType::RegularFile => self.extents(path).map_err(gone)?,
            _ => return Err(Why::Unreadable),
        };
        let snapshot = Snapshot { time_ns: u64::MAX, born_ns: None, extents: Arc::new(extents) };
        Ok(Found { file: (about.dev(), about.ino()), snapshot })
    }

    fn extents(&mut self, path: &Path) -> io::Result<Extents> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        let limit = EXTENTS_MAX.saturating_sub(self.extents);
        let all = 0..u64::MAX;
        let untold =
            Extents { list: vec![extent(u64::MAX, None, Some(Placeless::Unknown))], end: u64::MAX };
        let mut found = extents(&file, all.clone(), limit)?.unwrap_or(untold);
        let delayed = |extent: &Extent| extent.placeless == Some(Placeless::Delayed);
        if self.sync && found.list.iter().any(delayed) && fdatasync(&file).is_ok() {
            found = extents(&file, all, limit)?.unwrap_or(found);
        }
        self.extents += found.list.len();
        Ok(found)
    }
}

fn extent(bytes: u64, place: Option<u64>, placeless: Option<Placeless>) -> Extent {
    Extent { offset: 0, bytes, place, unwritten: false, placeless }
}

/// An access to a device itself: its bytes lie where they lie.
fn whole_device(device: u64) -> Found {
    let extents = Extents { list: vec![extent(u64::MAX, Some(0), None)], end: u64::MAX };
    let snapshot = Snapshot { time_ns: u64::MAX, born_ns: None, extents: Arc::new(extents) };
    Found { file: (device, 0), snapshot }
}
