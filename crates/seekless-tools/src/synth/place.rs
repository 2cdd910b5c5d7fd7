//! Decides and checks where each file goes, before anything is written.

use super::source::File;
use rustix::fs::statvfs;
use seekless_job::{Error, ErrorKind, Result};
use seekless_trace::unescape_path;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// The unit in which file systems allocate space.
const BLOCK_BYTES: u64 = 4096;

/// The counts of a synthesis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Files of the trace or list.
    pub files: u64,
    /// Their sizes together.
    pub bytes: u64,
    /// Files made.
    pub made: u64,
    /// Their sizes together.
    pub made_bytes: u64,
    /// Files that existed with the right size and were left as they are.
    pub kept: u64,
    /// Of the files made, those that replaced one of another size.
    pub replaced: u64,
}

/// The folders and files to make.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) dir: PathBuf,
    /// Relative to `dir`, parents before children.
    pub(super) folders: Vec<PathBuf>,
    pub(super) files: Vec<Target<'a>>,
    pub(super) summary: Summary,
}

/// A file to be made.
#[derive(Debug)]
pub(super) struct Target<'a> {
    /// Relative to the plan's `dir`.
    pub(super) path: PathBuf,
    /// The traced name, which is the seed of the content.
    pub(super) name: &'a str,
    pub(super) bytes: u64,
    /// Whether a file of another size exists.
    pub(super) replaces: bool,
}

impl<'a> Plan<'a> {
    pub(super) fn new(dir: &Path, files: &'a [File], force: bool) -> Result<Self> {
        let files = targets(files)?;
        let folders = folders(&files)?;
        // Links in the path of `dir` are followed, since the user gave it; links below `dir` are
        // not.
        let dir = match fs::canonicalize(dir) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => dir.to_owned(),
            Err(error) => return Err(failed(dir, error)),
        };
        for folder in &folders {
            check_folder(&dir.join(folder))?;
        }
        let mut plan = Self {
            dir,
            folders: folders.into_iter().collect(),
            files: Vec::new(),
            summary: Summary::default(),
        };
        for (_, file) in files {
            plan.add(file, force)?;
        }
        Ok(plan)
    }

    fn add(&mut self, mut file: Target<'a>, force: bool) -> Result<()> {
        self.summary.files += 1;
        self.summary.bytes = self.summary.bytes.checked_add(file.bytes).ok_or_else(absurd)?;
        let path = self.dir.join(&file.path);
        if let Some(found) = look(&path)? {
            if !found.is_file() {
                return Err(in_the_way(&path, "is not a plain file"));
            }
            if found.len() == file.bytes {
                self.summary.kept += 1;
                return Ok(());
            }
            if !force {
                let why = format!(
                    "has {} bytes, not {}; give --force to replace it",
                    found.len(),
                    file.bytes
                );
                return Err(in_the_way(&path, &why));
            }
            file.replaces = true;
            self.summary.replaced += 1;
        }
        self.summary.made += 1;
        self.summary.made_bytes += file.bytes;
        self.files.push(file);
        Ok(())
    }

    /// Fails if the disk has too little room for what is to be made.
    pub(super) fn check_room(&self) -> Result<()> {
        let there = self.dir.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("."));
        let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
        let disk = statvfs(there).map_err(|error| failed(there, error.into()))?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        let rounded = |bytes: u64| bytes.div_ceil(BLOCK_BYTES).saturating_mul(BLOCK_BYTES);
        let files =
            self.files.iter().fold(0u64, |sum, file| sum.saturating_add(rounded(file.bytes)));
        let needed = files.saturating_add(self.folders.len() as u64 * BLOCK_BYTES);
        if needed > free {
            let why = format!(
                "the disk of {} has {free} bytes free, and {needed} are needed; free some space or name another folder",
                there.display()
            );
            return Err(Error::new(ErrorKind::Missing, why));
        }
        let inodes = self.files.len() as u64 + self.folders.len() as u64;
        // Some file systems do not count inodes.
        if disk.f_files > 0 && inodes > disk.f_favail {
            let why = format!(
                "the disk of {} takes {} more files, and {inodes} are needed",
                there.display(),
                disk.f_favail
            );
            return Err(Error::new(ErrorKind::Missing, why));
        }
        Ok(())
    }
}

/// The files by path. If a file is given in two spellings, the larger size counts.
fn targets(files: &[File]) -> Result<BTreeMap<PathBuf, Target<'_>>> {
    let mut targets = BTreeMap::<PathBuf, Target<'_>>::new();
    for file in files {
        let path = place(&file.path)?;
        let target =
            Target { path: path.clone(), name: &file.path, bytes: file.bytes, replaces: false };
        match targets.get_mut(&path) {
            Some(other) => other.bytes = other.bytes.max(file.bytes),
            None => drop(targets.insert(path, target)),
        }
    }
    Ok(targets)
}

/// The path of a traced file below the folder.
fn place(traced: &str) -> Result<PathBuf> {
    let refuse =
        |why: &str| Err(Error::new(ErrorKind::Invalid, format!("the path {traced:?} {why}")));
    let bytes = unescape_path(traced);
    if bytes.contains(&0) {
        return refuse("has a NUL byte, which no file name can have");
    }
    if bytes.ends_with(b"/") {
        return refuse("ends in `/`, so it is not the path of a file");
    }
    let mut place = PathBuf::new();
    for part in Path::new(OsStr::from_bytes(&bytes)).components() {
        match part {
            Component::Normal(name) => place.push(name),
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => {
                return refuse("has `..` and could lead out of the folder; write it without");
            }
        }
    }
    if place.as_os_str().is_empty() { refuse("names no file") } else { Ok(place) }
}

/// All folders that the files need, parents first.
fn folders(files: &BTreeMap<PathBuf, Target<'_>>) -> Result<BTreeSet<PathBuf>> {
    let mut folders = BTreeSet::new();
    for path in files.keys() {
        for above in path.ancestors().skip(1).take_while(|above| !above.as_os_str().is_empty()) {
            if let Some(file) = files.get(above) {
                let why = format!(
                    "{:?} cannot be a file, since {:?} needs it to be a folder",
                    file.name,
                    path.display()
                );
                return Err(Error::new(ErrorKind::Invalid, why));
            }
            if !folders.insert(above.to_owned()) {
                break; // the folders above it are in the set too
            }
        }
    }
    Ok(folders)
}

fn check_folder(path: &Path) -> Result<()> {
    match look(path)? {
        Some(found) if !found.is_dir() => {
            Err(in_the_way(path, "is not a folder, and links are not followed"))
        }
        _ => Ok(()),
    }
}

/// What exists at `path`, without following links.
fn look(path: &Path) -> Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(failed(path, error)),
    }
}

fn in_the_way(path: &Path, why: &str) -> Error {
    Error::new(ErrorKind::Invalid, format!("{} is in the way: it {why}", path.display()))
}

fn absurd() -> Error {
    Error::new(ErrorKind::Invalid, "the files together are larger than 2^64 bytes")
}

pub(super) fn failed(path: &Path, error: io::Error) -> Error {
    Error::because(ErrorKind::Io, format!("cannot make files at {}", path.display()), error)
}
