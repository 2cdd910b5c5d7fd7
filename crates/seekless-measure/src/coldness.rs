//! Drops files from the page cache before a trial, and reports how much was cached, how much still
//! is, and for which files the kernel does not say.

use crate::Error;
use seekless_device::units::{format_bytes, format_count};
use seekless_sys::residency::{drop_all_caches, drop_cached, resident_bytes};
use serde::Serialize;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Names that are kept of the files that could not be dropped.
const EXAMPLES: usize = 10;

/// How to drop what is cached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dropping {
    /// Each file by itself (DONTNEED). Needs no root; directories and inodes stay cached, and so do
    /// pages in use elsewhere.
    #[default]
    Files,
    /// Everything on this machine, directories and inodes too. Needs root; without it, as `Files`.
    Machine,
}

/// How cold a workload's files were made. The default is that of no files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coldness {
    /// Files examined.
    pub files: u64,
    /// Their length in all.
    pub bytes: u64,
    /// Bytes that were in the page cache before the drop, of the files for which this is known.
    pub resident_bytes_before: u64,
    /// Bytes that are still there after it.
    pub resident_bytes_after_drop: u64,
    /// Files with a part still cached.
    pub could_not_drop: u64,
    /// The first ten of them.
    pub could_not_drop_examples: Vec<String>,
    /// Files whose cached pages the kernel hides: neither cold nor warm.
    pub unknown: u64,
    /// Whether directories and inodes were dropped too.
    pub metadata_dropped: bool,
}

impl Coldness {
    /// Known to start from the device alone.
    #[must_use]
    pub fn is_cold(&self) -> bool {
        self.resident_bytes_after_drop == 0 && self.unknown == 0
    }

    /// Adds another set of files.
    pub fn merge(&mut self, other: Coldness) {
        self.metadata_dropped =
            other.metadata_dropped && (self.metadata_dropped || self.files == 0);
        self.files += other.files;
        self.bytes += other.bytes;
        self.resident_bytes_before += other.resident_bytes_before;
        self.resident_bytes_after_drop += other.resident_bytes_after_drop;
        self.could_not_drop += other.could_not_drop;
        self.could_not_drop_examples.extend(other.could_not_drop_examples);
        self.could_not_drop_examples.truncate(EXAMPLES);
        self.unknown += other.unknown;
    }
}

/// Drops these files from the page cache. Written data that has not reached the device is flushed
/// first, since only clean pages can be dropped. Opens no file for writing.
///
/// # Errors
/// When a file cannot be opened or examined; the message names it. A file that cannot be dropped is
/// no error: it is counted.
pub fn make_cold<P: AsRef<Path>>(
    paths: impl IntoIterator<Item = P>,
    dropping: Dropping,
) -> Result<Coldness, Error> {
    let paths: Vec<PathBuf> = paths.into_iter().map(|path| path.as_ref().to_owned()).collect();
    let mut coldness = Coldness::default();
    for path in &paths {
        before(path, &mut coldness)?;
    }
    coldness.metadata_dropped = dropping == Dropping::Machine && drop_all_caches().is_ok();
    for path in &paths {
        after(path, &mut coldness)?;
    }
    // To look at a file brings its folders and inode back in.
    coldness.metadata_dropped = coldness.metadata_dropped && drop_all_caches().is_ok();
    Ok(coldness)
}

/// Examines a file and drops it.
fn before(path: &Path, coldness: &mut Coldness) -> Result<(), Error> {
    let file = open(path)?;
    coldness.files += 1;
    coldness.bytes +=
        file.metadata().map_err(|error| Error::io(path, "cannot be examined", error))?.len();
    match resident(path, &file)? {
        Some(bytes) => coldness.resident_bytes_before += bytes,
        None => coldness.unknown += 1,
    }
    // What this achieves is seen afterwards.
    let _ = drop_file(&file);
    Ok(())
}

/// Counts what is left of a file, after another try: between the two passes it may have been read
/// again.
fn after(path: &Path, coldness: &mut Coldness) -> Result<(), Error> {
    let file = open(path)?;
    let mut left = resident(path, &file)?;
    if left.is_some_and(|bytes| bytes > 0) {
        let _ = drop_file(&file);
        left = resident(path, &file)?;
    }
    let left = left.unwrap_or(0);
    if left > 0 {
        coldness.resident_bytes_after_drop += left;
        coldness.could_not_drop += 1;
        if coldness.could_not_drop_examples.len() < EXAMPLES {
            coldness.could_not_drop_examples.push(path.display().to_string());
        }
    }
    Ok(())
}

fn open(path: &Path) -> Result<File, Error> {
    File::open(path).map_err(|error| Error::io(path, "cannot be opened to make it cold", error))
}

fn resident(path: &Path, file: &File) -> Result<Option<u64>, Error> {
    resident_bytes(file.as_fd())
        .map_err(|error| Error::io(path, "cannot ask what is cached", error))
}

fn drop_file(file: &File) -> io::Result<()> {
    drop_cached(file.as_fd())?;
    if resident_bytes(file.as_fd())? != Some(0) {
        file.sync_data()?;
        drop_cached(file.as_fd())?;
    }
    Ok(())
}

impl fmt::Display for Coldness {
    /// `"2,936 files of 141.2 MB; 3.1 MB were cached; 0 B of 0 files could not be dropped"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = if self.files == 1 { "file" } else { "files" };
        write!(f, "{} {files} of {}", format_count(self.files), format_bytes(self.bytes))?;
        write!(f, "; {} were cached", format_bytes(self.resident_bytes_before))?;
        match self.could_not_drop {
            0 => write!(f, ", all dropped")?,
            count => {
                let left = format_bytes(self.resident_bytes_after_drop);
                write!(f, ", {left} in {} could not be dropped", format_count(count))?;
            }
        }
        if self.unknown > 0 {
            write!(f, "; of {} the kernel does not say", format_count(self.unknown))?;
        }
        if !self.metadata_dropped {
            write!(f, "; directories and inodes may be cached")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
