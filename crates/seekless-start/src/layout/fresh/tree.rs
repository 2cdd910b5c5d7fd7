//! All that lies below a folder, if a copy of it can be as good as the folder itself.

use crate::layout::find::{Looks, is_written};
use crate::layout::{Options, stopped};
use rustix::fs::{FileType, Stat, ioctl_getflags, lstat};
use seekless_job::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Some hundred megabytes of names.
const ENTRIES_MAX: usize = 1_000_000;
/// `FS_IMMUTABLE_FL` and `FS_APPEND_FL`: such a file cannot be removed.
const IMMUTABLE: u32 = 0x10 | 0x20;

/// A folder and what lies below it.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) folder: PathBuf,
    /// The folder itself comes first, each folder before what lies in it, names sorted.
    pub(super) entries: Vec<Entry>,
}

/// A file, a folder, a link or another thing.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Its name below the folder; empty for the folder itself.
    pub(super) below: PathBuf,
    pub(super) stat: Stat,
}

impl Entry {
    pub(super) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }

    pub(super) fn looks(&self) -> Looks {
        Looks::of(&self.stat)
    }

    /// What stays while nobody changes it. A folder's own times change when it is renamed.
    fn unchanged(&self) -> (&Path, u32, u32, u32, Option<Looks>) {
        let looks = (!self.kind().is_dir()).then(|| self.looks());
        (&self.below, self.stat.st_mode, self.stat.st_uid, self.stat.st_gid, looks)
    }
}

impl Tree {
    /// Reads the tree.
    ///
    /// # Errors
    /// It holds what a copy cannot replace: a mount, a file of another user, one that is open for
    /// writing or has a name elsewhere; or it cannot be read.
    pub(super) fn of(folder: &Path, options: &Options) -> Result<Self> {
        let tree = Self::read(folder, options)?;
        tree.entries.iter().try_for_each(|entry| tree.allows(entry, options))?;
        if options.to.is_none() {
            tree.has_all_names()?;
        }
        Ok(tree)
    }

    /// Reads the tree, whatever it holds.
    pub(super) fn read(folder: &Path, options: &Options) -> Result<Self> {
        let mut tree = Self { folder: folder.to_owned(), entries: Vec::new() };
        let mut waiting = vec![PathBuf::new()];
        while let Some(below) = waiting.pop() {
            stopped(options)?;
            let path = tree.path(&below);
            let stat = lstat(&path).map_err(|error| Error::unreadable(&path, error.into()))?;
            let entry = Entry { below, stat };
            if entry.kind().is_dir() {
                waiting.extend(names(&path)?.into_iter().rev().map(|name| entry.below.join(name)));
            }
            tree.entries.push(entry);
            if tree.entries.len() > ENTRIES_MAX {
                return Err(tree.refused(&path, "is one file too many: lay folders inside"));
            }
        }
        Ok(tree)
    }

    /// Whether nothing has changed between two looks at it, wherever it lay.
    pub(super) fn is_as(&self, before: &Self) -> bool {
        self.entries.iter().map(Entry::unchanged).eq(before.entries.iter().map(Entry::unchanged))
    }

    pub(super) fn path(&self, below: &Path) -> PathBuf {
        match below.as_os_str().is_empty() {
            true => self.folder.clone(),
            false => self.folder.join(below),
        }
    }

    fn allows(&self, entry: &Entry, options: &Options) -> Result<()> {
        let path = self.path(&entry.below);
        let refused = |why| Err(self.refused(&path, why));
        let user = rustix::process::geteuid();
        if entry.stat.st_dev != self.entries[0].stat.st_dev {
            return refused("is another file system: unmount it");
        }
        if !user.is_root() && entry.stat.st_uid != user.as_raw() {
            return refused("belongs to another user: do this as root");
        }
        if options.to.is_some() || !entry.kind().is_file() {
            return Ok(());
        }
        let file = File::open(&path).map_err(|error| Error::unreadable(&path, error))?;
        if ioctl_getflags(&file).is_ok_and(|flags| flags.bits() & IMMUTABLE != 0) {
            return refused("is immutable: `chattr -ia` changes that");
        }
        match is_written(&file) {
            Some("open for writing") => refused("is open for writing: end the program that has it"),
            _ => Ok(()),
        }
    }

    /// A file with a name outside of the folder would become two files.
    fn has_all_names(&self) -> Result<()> {
        let mut names: HashMap<(u64, u64), u64> = HashMap::new();
        let files = || self.entries.iter().filter(|entry| !entry.kind().is_dir());
        for entry in files() {
            *names.entry(entry.looks().identity()).or_default() += 1;
        }
        #[expect(clippy::useless_conversion, reason = "the type depends on the machine")]
        let names_of = |entry: &Entry| u64::from(entry.stat.st_nlink);
        match files().find(|entry| names[&entry.looks().identity()] < names_of(entry)) {
            Some(entry) => {
                let why = "has a hard link outside of the folder: a copy would cut it off";
                Err(self.refused(&self.path(&entry.below), why))
            }
            None => Ok(()),
        }
    }

    fn refused(&self, path: &Path, why: &str) -> Error {
        let message =
            format!("{} cannot be laid by a copy: {} {why}", self.folder.display(), path.display());
        Error::new(ErrorKind::Invalid, message)
    }

    /// Each file once, whatever names it has.
    fn sizes(&self) -> impl Iterator<Item = &Stat> {
        let files = self.entries.iter().filter(|entry| entry.kind().is_file());
        let mut seen = std::collections::HashSet::new();
        files.filter(move |entry| seen.insert(entry.looks().identity())).map(|entry| &entry.stat)
    }

    pub(super) fn files(&self) -> u64 {
        self.sizes().count() as u64
    }

    pub(super) fn bytes(&self) -> u64 {
        self.sizes().map(|stat| stat.st_size.unsigned_abs()).sum()
    }

    /// What it takes of its file system.
    pub(super) fn disk_bytes(&self) -> u64 {
        let files: u64 = self.sizes().map(|stat| stat.st_blocks.unsigned_abs() * 512).sum();
        let folders = self.entries.iter().filter(|entry| !entry.kind().is_file());
        files + folders.map(|entry| entry.stat.st_blocks.unsigned_abs() * 512).sum::<u64>()
    }
}

fn names(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error| Error::unreadable(folder, error);
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut names = Vec::new();
    for entry in entries {
        names.push(PathBuf::from(entry.map_err(unreadable)?.file_name()));
    }
    names.sort_unstable();
    Ok(names)
}
