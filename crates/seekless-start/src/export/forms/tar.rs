//! A tar (POSIX.1-1988 headers, with GNU's entries for long names) of files in the order of the
//! list. The same files give the same bytes: entries carry what the file system says of a file, and
//! nothing of the machine or the moment.
//!
//! `mkfs.erofs --tar=f --sort=none` lays data out in the order of such a tar (erofs-utils, issue
//! 27), so for EROFS the tar holds the whole root: folders, then the listed files, then the rest.

use super::super::Listed;
use super::super::job::Job;
use seekless_job::ranges::total;
use seekless_job::{Error, ErrorKind, Result};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use tar::{Builder, EntryType, Header};

type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// The listed files alone.
pub(in super::super) fn shard<'a>(
    job: &Job<'a>,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<Vec<&'a Listed>> {
    let mut tar = Tar::new(job, out, progress);
    let unread = tar.listed()?;
    tar.finish()?;
    Ok(unread)
}

/// The whole root.
pub(in super::super) fn root<'a>(
    job: &Job<'a>,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<Vec<&'a Listed>> {
    let folder = Path::new(&job.options.root.new);
    let mut tar = Tar::new(job, out, progress);
    let tree = Tree::of(folder)?;
    for (name, found) in &tree.folders {
        tar.small(name, found, EntryType::Directory, None)?;
    }
    let unread = tar.listed()?;
    for (name, found) in &tree.others {
        tar.other(folder, name, found)?;
    }
    tar.finish()?;
    Ok(unread)
}

/// What a folder holds, by name: folders before what they hold.
#[derive(Default)]
struct Tree {
    folders: Vec<(PathBuf, Metadata)>,
    others: Vec<(PathBuf, Metadata)>,
}

impl Tree {
    fn of(folder: &Path) -> Result<Self> {
        let mut tree = Self::default();
        let mut waiting = vec![PathBuf::new()];
        while let Some(name) = waiting.pop() {
            let below = tree.list(folder, &name)?;
            waiting.extend(below.into_iter().rev());
        }
        Ok(tree)
    }

    /// Takes in what a folder holds; returns the folders below it.
    fn list(&mut self, root: &Path, name: &Path) -> Result<Vec<PathBuf>> {
        let path = root.join(name);
        let unreadable = |error| Error::unreadable(&path, error);
        let mut entries = std::fs::read_dir(&path)
            .and_then(Iterator::collect::<io::Result<Vec<_>>>)
            .map_err(unreadable)?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        let mut folders = Vec::new();
        for entry in entries {
            let name = name.join(entry.file_name());
            let found =
                entry.metadata().map_err(|error| Error::unreadable(&entry.path(), error))?;
            if found.is_dir() {
                folders.push(name.clone());
                self.folders.push((name, found));
            } else {
                self.others.push((name, found));
            }
        }
        Ok(folders)
    }
}

/// A tar that is being written.
struct Tar<'a, 'o> {
    job: &'o Job<'a>,
    tar: Builder<&'o mut dyn Write>,
    progress: Progress<'o>,
    done: u64,
    total: u64,
    /// Names that are in it.
    names: HashSet<PathBuf>,
    /// The first name of each file that has several.
    links: HashMap<(u64, u64), PathBuf>,
}

impl<'a, 'o> Tar<'a, 'o> {
    fn new(job: &'o Job<'a>, out: &'o mut dyn Write, progress: Progress<'o>) -> Self {
        let total = total(job.listed.iter().map(|file| file.file_bytes));
        let (names, links) = (HashSet::new(), HashMap::new());
        Self { job, tar: Builder::new(out), progress, done: 0, total, names, links }
    }

    /// Adds the listed files. Returns those that cannot be opened.
    fn listed(&mut self) -> Result<Vec<&'a Listed>> {
        let mut unread = Vec::new();
        for file in self.job.listed {
            let name = Path::new(OsStr::from_bytes(&file.name));
            match File::open(&file.path).and_then(|open| Ok((open.metadata()?, open))) {
                Ok((found, open)) => self.regular(name, &file.path, &found, open)?,
                Err(_) => unread.push(file),
            }
        }
        Ok(unread)
    }

    /// Adds a file of the root, if it is not there yet.
    fn other(&mut self, root: &Path, name: &Path, found: &Metadata) -> Result<()> {
        let (path, kind) = (root.join(name), found.file_type());
        if self.names.contains(name) {
            return Ok(());
        }
        let unreadable = |error| Error::unreadable(&path, error);
        match () {
            () if kind.is_file() => {
                let open = File::open(&path).map_err(unreadable)?;
                self.regular(name, &path, found, open)
            }
            () if kind.is_symlink() => {
                let target = std::fs::read_link(&path).map_err(unreadable)?;
                self.small(name, found, EntryType::Symlink, Some(&target))
            }
            () if kind.is_char_device() => self.small(name, found, EntryType::Char, None),
            () if kind.is_block_device() => self.small(name, found, EntryType::Block, None),
            () if kind.is_fifo() => self.small(name, found, EntryType::Fifo, None),
            () => Ok(()), // a socket, which no image keeps
        }
    }

    fn regular(&mut self, name: &Path, path: &Path, found: &Metadata, file: File) -> Result<()> {
        if self.job.options.cancel.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Interrupted, "writing the tar was interrupted"));
        }
        if found.nlink() > 1 {
            let first = self.links.entry((found.dev(), found.ino()));
            let first = first.or_insert_with(|| name.to_owned()).clone();
            if first != name {
                return self.small(name, found, EntryType::Link, Some(&first));
            }
        }
        self.names.insert(name.to_owned());
        let mut header = header(found, EntryType::Regular);
        header.set_size(found.len());
        let mut content = Whole { file, left: found.len(), failed: false };
        let added = self.tar.append_data(&mut header, name, &mut content);
        added.map_err(|error| match content.failed {
            false => self.job.failed(error),
            true => Error::unreadable(path, error),
        })?;
        self.done += found.len();
        (self.progress)(self.done.min(self.total), self.total);
        Ok(())
    }

    /// Adds an entry without content.
    fn small(
        &mut self,
        name: &Path,
        found: &Metadata,
        kind: EntryType,
        target: Option<&Path>,
    ) -> Result<()> {
        self.names.insert(name.to_owned());
        let mut header = header(found, kind);
        header.set_size(0);
        if matches!(kind, EntryType::Char | EntryType::Block) {
            let device = found.rdev();
            let numbers = (rustix::fs::major(device), rustix::fs::minor(device));
            let set = header.set_device_major(numbers.0);
            set.and_then(|()| header.set_device_minor(numbers.1))
                .map_err(|e| self.job.failed(e))?;
        }
        let added = match target {
            Some(target) => self.tar.append_link(&mut header, name, target),
            None => self.tar.append_data(&mut header, name, io::empty()),
        };
        added.map_err(|error| self.job.failed(error))
    }

    fn finish(mut self) -> Result<()> {
        let end = self.tar.finish().and_then(|()| self.tar.get_mut().flush());
        end.map_err(|error| self.job.failed(error))
    }
}

fn header(found: &Metadata, kind: EntryType) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(found.mode() & 0o7777);
    header.set_uid(found.uid().into());
    header.set_gid(found.gid().into());
    header.set_mtime(found.mtime().try_into().unwrap_or(0));
    header
}

/// A file up to the size that its header says. It is an error if it has become shorter.
struct Whole {
    file: File,
    left: u64,
    /// Whether reading failed, and not writing.
    failed: bool,
}

impl Read for Whole {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = match self.file.read(&mut buffer[..most]) {
            Ok(0) if most > 0 => Err(io::Error::other("it became shorter while it was being read")),
            read => read,
        };
        self.failed = read.as_ref().is_err_and(|e| e.kind() != io::ErrorKind::Interrupted);
        let read = read?;
        self.left -= read as u64;
        Ok(read)
    }
}
