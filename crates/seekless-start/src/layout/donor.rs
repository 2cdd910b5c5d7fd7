//! A donor: a nameless file whose blocks lie where others shall lie. Its blocks are reserved in as
//! few pieces as the file system has, and what it holds in the end is freed when it is closed.

use rustix::fs::{FallocateFlags, fallocate, fstatvfs};
use seekless_sys::extents::{Extent, extents};
use std::fs::File;
use std::io;
use std::path::Path;

const EXTENTS_MAX: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Donor {
    pub(super) file: File,
    /// Where it lies, by offset.
    extents: Vec<Extent>,
}

impl Donor {
    /// Reserves `bytes` on the file system of a folder.
    pub(super) fn reserve(folder: &Path, bytes: u64) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder)?;
        fallocate(&file, FallocateFlags::empty(), 0, bytes)?;
        let found = extents(&file, 0..bytes, EXTENTS_MAX)?.ok_or(io::ErrorKind::Unsupported)?;
        Ok(Self { file, extents: found.list })
    }

    /// Where `bytes` from an offset on lie, as the extents of a file that takes them.
    pub(super) fn part(&self, offset: u64, bytes: u64) -> Vec<Extent> {
        let end = offset + bytes;
        let within = self.extents.iter().filter_map(|extent| {
            let first = offset.max(extent.offset);
            let bytes = end.min(extent.offset + extent.bytes).checked_sub(first)?;
            let place = extent.place? + (first - extent.offset);
            (bytes > 0).then_some(Extent {
                offset: first - offset,
                bytes,
                place: Some(place),
                unwritten: false,
                placeless: None,
            })
        });
        within.collect()
    }
}

/// Free bytes of the file system of a folder, without those that are kept for root.
pub(super) fn free_bytes(folder: &Path) -> io::Result<u64> {
    let about = fstatvfs(File::open(folder)?)?;
    Ok(about.f_bavail.saturating_mul(about.f_frsize))
}
