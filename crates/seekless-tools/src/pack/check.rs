//! Checks that a pack is whole.

use crate::remote::open_file;
use seekless_job::{Error, ErrorKind, Result};
use seekless_pack::{
    ErrorKind as Fault, Index, NameEncoding, ReadAt, Reading, Verified, damaged, verify_entries,
};
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Reads a pack, or any other Zip, from the front and checks every entry. Calls `progress` with the
/// bytes read of the archive.
///
/// # Errors
/// The first fault found, naming the archive and the entry.
pub fn check(path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<Verified> {
    check_named(path, NameEncoding::default(), progress)
}

/// As [`check`], of an archive whose names are in this encoding.
///
/// # Errors
/// As [`check`].
pub fn check_named(
    path: &Path,
    names: NameEncoding,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Verified> {
    let file = open_file(path)?;
    check_file(&file, path, names, &AtomicBool::new(false), progress)
}

/// As [`check`], of a file that is open already; an error once `cancel` is set.
pub(super) fn check_file(
    file: &File,
    path: &Path,
    names: NameEncoding,
    cancel: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Verified> {
    let metadata = file.metadata().map_err(|error| Error::unreadable(path, error))?;
    if metadata.is_dir() {
        let why = format!("{} is a folder: name the pack to check", path.display());
        return Err(Error::new(ErrorKind::Invalid, why));
    }
    let (source, bytes) = (Stoppable { source: file, cancel }, metadata.len());
    let index = Index::open_as(&source, bytes, Reading { strict: true, names });
    let verified = index.and_then(|index| verify_entries(&source, bytes, &index, progress));
    verified.map_err(|error| {
        let what = match error.kind() {
            Fault::NotAZip
            | Fault::Encrypted
            | Fault::Method
            | Fault::MultiDisk
            | Fault::Limit
            | Fault::Io => "cannot be checked",
            _ => "is not whole",
        };
        Error::because(ErrorKind::Pack, format!("{} {what}", path.display()), error)
    })
}

/// The entries of a pack that cannot be kept as they lie there: they are damaged, or cannot be
/// read. Once `cancel` is set, it names entries that are whole, too.
pub(super) fn damaged_entries(
    source: &impl ReadAt,
    index: &Index,
    cancel: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Vec<u32> {
    damaged(&Stoppable { source, cancel }, index, progress)
}

/// A pack that is being read back, until the caller asks to stop.
struct Stoppable<'a, R: ReadAt> {
    source: &'a R,
    cancel: &'a AtomicBool,
}

impl<R: ReadAt> ReadAt for Stoppable<'_, R> {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(std::io::Error::other("interrupted"));
        }
        self.source.read_exact_at(buffer, offset)
    }
}
