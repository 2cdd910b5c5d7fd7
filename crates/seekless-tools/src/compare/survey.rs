//! Finds how the loose files and a pack lie on the device, so that a device model can charge the
//! reads of the file system. On ext4, `stat` and the extent maps show this. Elsewhere the layout is
//! that of a fresh copy on ext4.

use seekless_device::{ColdFiles, Geometry, Layout, Piece};
use seekless_job::{Error, ErrorKind, Result, ext4};
use seekless_sys::extents::extents;
use serde::Serialize;
use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where what is charged for the loose files comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Basis {
    /// Their own inodes, folders and extents on ext4.
    AsTheyLie,
    /// A fresh copy of them on ext4: they lie on another file system.
    FreshCopy,
}

/// Files by number, and how they lie.
#[derive(Clone, Debug)]
pub(crate) struct Survey {
    layout: Layout,
    pub(crate) geometry: Geometry,
    pub(crate) basis: Basis,
}

/// A file to look at: what it is called below the folder, and where it is.
pub(crate) struct Sought<'a> {
    pub(crate) name: &'a str,
    pub(crate) path: &'a Path,
}

impl Survey {
    /// Looks at `files`, which lie below `directory`.
    ///
    /// # Errors
    /// A file cannot be looked at.
    pub(crate) fn of(directory: &Path, files: &[Sought<'_>]) -> Result<Self> {
        if let Some(geometry) = ext4::geometry(directory) {
            let mut looking =
                Looking { directory, layout: Layout::default(), folders: HashMap::new() };
            let found =
                files.iter().try_fold(true, |found, file| Ok(found && looking.file(file.path)?));
            if found.map_err(|(path, error)| unseen(&path, error))? {
                return Ok(Survey { layout: looking.layout, geometry, basis: Basis::AsTheyLie });
            }
        }
        let size = |file: &Sought<'_>| fs::metadata(file.path).map(|found| found.len());
        let sized = files
            .iter()
            .map(|file| Ok((file.name, size(file).map_err(|error| unseen(file.path, error))?)));
        let geometry = Geometry::default();
        let layout = Layout::fresh(&sized.collect::<Result<Vec<_>>>()?, &geometry);
        Ok(Survey { layout, geometry, basis: Basis::FreshCopy })
    }

    /// The same files, nothing of them in memory, as requests are charged by `geometry`.
    pub(crate) fn cold(&self, geometry: Geometry) -> ColdFiles<'_> {
        ColdFiles::new(&self.layout, geometry)
    }
}

fn unseen(path: &Path, error: io::Error) -> Error {
    Error::because(ErrorKind::Io, format!("cannot look at {}", path.display()), error)
}

/// A layout on its way.
struct Looking<'a> {
    /// Canonical.
    directory: &'a Path,
    layout: Layout,
    folders: HashMap<PathBuf, usize>,
}

type Looked<T> = std::result::Result<T, (PathBuf, io::Error)>;

impl Looking<'_> {
    /// Adds a file. True if the file system says where it lies.
    fn file(&mut self, path: &Path) -> Looked<bool> {
        let at = |error| (path.to_owned(), error);
        // A link is charged as what it leads to.
        let path = fs::canonicalize(path).map_err(at)?;
        let file = File::open(&path).map_err(at)?;
        let found = file.metadata().map_err(at)?;
        let Some(pieces) = pieces(&file, &found).map_err(at)? else { return Ok(false) };
        let (folder, name) = (path.parent().unwrap_or(&path), path.file_name().unwrap_or_default());
        let folder = self.folder(folder)?;
        self.layout.add_file(folder, name.as_bytes(), found.ino(), &pieces);
        Ok(true)
    }

    /// The number of a folder. Those above the directory are taken to be known: any program's start
    /// has been there.
    fn folder(&mut self, path: &Path) -> Looked<usize> {
        if let Some(&number) = self.folders.get(path) {
            return Ok(number);
        }
        let found = fs::metadata(path).map_err(|error| (path.to_owned(), error))?;
        let blocks = found.len().div_ceil(found.blksize().max(1)).max(1);
        let number = match (path.parent(), path.file_name()) {
            (Some(above), Some(name))
                if path != self.directory && path.starts_with(self.directory) =>
            {
                let above = self.folder(above)?;
                self.layout.add_folder(above, name.as_bytes(), found.ino(), blocks)
            }
            _ => self.layout.add_root(found.ino(), blocks),
        };
        self.folders.insert(path.to_owned(), number);
        Ok(number)
    }
}

/// The pieces of the device that a file's bytes fill; `None` where the file system does not say.
fn pieces(file: &File, found: &Metadata) -> io::Result<Option<Vec<Piece>>> {
    let end = found.len().next_multiple_of(found.blksize().max(1));
    let Some(known) = extents(file, 0..end, usize::MAX)? else { return Ok(None) };
    let read = known.list.iter().filter(|extent| !extent.unwritten && extent.offset < end);
    let piece = |extent: &seekless_sys::extents::Extent| Piece {
        place: extent.place,
        bytes: extent.bytes.min(end - extent.offset),
    };
    Ok(Some(read.map(piece).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files on the disk that the crate lies on, and what is charged for opening and reading them
    /// all.
    fn charged(directory: &Path, names: &[&str]) -> (Basis, usize, u64) {
        let directory = directory.canonicalize().unwrap();
        let paths: Vec<PathBuf> = names.iter().map(|name| directory.join(name)).collect();
        let sought: Vec<Sought<'_>> =
            names.iter().zip(&paths).map(|(name, path)| Sought { name, path }).collect();
        let survey = Survey::of(&directory, &sought).unwrap();
        let mut files = survey.cold(Geometry { inode_readahead_blocks: 0, ..survey.geometry });
        let (mut requests, mut bytes) = (0, 0);
        for file in 0..names.len() {
            let mut tell = |fetch: seekless_device::Fetch| {
                requests += 1;
                bytes += fetch.bytes;
            };
            files.open(file, &mut tell);
            files.read(file, &mut tell);
        }
        (survey.basis, requests, bytes)
    }

    #[test]
    fn every_file_is_charged_its_bytes_and_the_metadata_on_the_way() {
        for directory in [
            tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap(),
            tempfile::tempdir_in("/dev/shm").unwrap(),
        ] {
            let path = directory.path();
            fs::create_dir_all(path.join("a/b")).unwrap();
            fs::write(path.join("a/b/small"), "x").unwrap();
            fs::write(path.join("a/large"), vec![1; 10_000]).unwrap();
            fs::write(path.join("empty"), "").unwrap();
            for name in ["a/b/small", "a/large"] {
                File::open(path.join(name)).unwrap().sync_all().unwrap();
            }
            let (basis, requests, bytes) = charged(path, &["a/b/small", "a/large", "empty"]);
            // The names of three folders, two files, and the inodes: in one block at best, six
            // blocks apart at worst.
            assert!((3 + 2 + 1..=3 + 2 + 6).contains(&requests), "{basis:?}: {requests}");
            let metadata = (requests as u64 - 2) * 4096;
            assert_eq!(bytes, metadata + 4096 + 3 * 4096, "{basis:?}");
        }
    }

    #[test]
    fn a_file_with_a_hole_is_charged_what_it_has() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let file = File::create(directory.path().join("sparse")).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, b"x", 1 << 30).unwrap();
        file.sync_all().unwrap();
        let (basis, requests, bytes) = charged(directory.path(), &["sparse"]);
        if basis == Basis::FreshCopy {
            return eprintln!(
                "skipped: {} lies on no ext4 that shows its extents",
                directory.path().display()
            );
        }
        assert!(requests <= 4 && bytes <= 4 * 4096, "{requests} requests of {bytes} bytes");
    }
}
