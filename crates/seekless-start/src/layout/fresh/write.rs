//! Writes the copy: what is needed first comes first, then the rest as it is named.

use super::tree::{Entry, Tree};
use crate::layout::{Options, Progress, stopped};
use rustix::fs::{
    AtFlags, CWD, Gid, Mode, SeekFrom, Timespec, Timestamps, Uid, XattrFlags, chmodat, chownat,
    lgetxattr, lgetxattr_query, llistxattr, llistxattr_query, lsetxattr, mknodat, seek, utimensat,
};
use rustix::io::Errno;
use seekless_job::{Error, ErrorKind, Result};
use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const BUFFER_BYTES: usize = 1 << 20;

/// Copies the tree into the folder `copy`, which is there and empty; the entries `first` in this
/// order before the others.
pub(super) fn copy(
    tree: &Tree,
    first: &[usize],
    copy: &Path,
    options: &Options,
    progress: Progress<'_>,
) -> Result<()> {
    let mut writing = Writing { tree, copy, made: HashSet::new(), files: HashMap::new() };
    writing.made.insert(PathBuf::new());
    let all = tree.entries.len() as u64;
    let first = first.iter().map(|number| (*number, true));
    let rest = (0..tree.entries.len()).map(|number| (number, false));
    for (done, (number, in_turn)) in (0..).zip(first.chain(rest)) {
        stopped(options)?;
        progress("Copying", u64::min(done, all), all);
        let entry = &tree.entries[number];
        writing.entry(entry, in_turn).map_err(|error| failed(&tree.path(&entry.below), error))?;
    }
    // A folder's times are set when nothing is made in it any more.
    for entry in tree.entries.iter().rev().filter(|entry| entry.kind().is_dir()) {
        let place = writing.place(&entry.below);
        let set = describe(&tree.path(&entry.below), &place, entry);
        set.map_err(|error| failed(&place, error))?;
    }
    Ok(())
}

fn failed(path: &Path, error: io::Error) -> Error {
    let message = format!("{} cannot be copied with all it has", path.display());
    Error::because(ErrorKind::Io, message, error)
}

struct Writing<'a> {
    tree: &'a Tree,
    copy: &'a Path,
    /// What has been made, by name.
    made: HashSet<PathBuf>,
    /// The first name of each file in the copy.
    files: HashMap<(u64, u64), PathBuf>,
}

impl Writing<'_> {
    fn place(&self, below: &Path) -> PathBuf {
        match below.as_os_str().is_empty() {
            true => self.copy.to_owned(),
            false => self.copy.join(below),
        }
    }

    /// Makes an entry, and the folders on its way, unless it is there. A file that is written
    /// `in_turn` has its place on the device before the next is made.
    fn entry(&mut self, entry: &Entry, in_turn: bool) -> io::Result<()> {
        if self.made.contains(&entry.below) {
            return Ok(());
        }
        let ways: Vec<&Path> = entry.below.ancestors().skip(1).collect();
        for way in ways.into_iter().rev() {
            if self.made.insert(way.to_owned()) {
                fs::create_dir(self.place(way))?;
            }
        }
        self.made.insert(entry.below.clone());
        let place = self.place(&entry.below);
        if entry.kind().is_dir() {
            return fs::create_dir(place);
        }
        if let Some(other) = self.files.get(&entry.looks().identity()) {
            return fs::hard_link(other, place);
        }
        self.make(entry, &place, in_turn)?;
        self.files.insert(entry.looks().identity(), place);
        Ok(())
    }

    fn make(&self, entry: &Entry, place: &Path, in_turn: bool) -> io::Result<()> {
        let source = self.tree.path(&entry.below);
        let kind = entry.kind();
        if kind.is_file() {
            let written = write(&source, place)?;
            describe(&source, place, entry)?;
            return if in_turn { written.sync_all() } else { Ok(()) };
        }
        if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, place)?;
        } else {
            mknodat(CWD, place, kind, Mode::from_raw_mode(0o600), entry.stat.st_rdev)?;
        }
        describe(&source, place, entry)
    }
}

/// Writes the bytes, with holes where the source has them. Not by the calls that share blocks
/// between files: the copy is to lie elsewhere.
fn write(source: &Path, place: &Path) -> io::Result<File> {
    let from = File::open(source)?;
    let to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(place)?;
    let bytes = from.metadata()?.len();
    let mut buffer = vec![0; BUFFER_BYTES.min(usize::try_from(bytes).unwrap_or(usize::MAX))];
    let mut offset = 0;
    while offset < bytes {
        let data = match seek(&from, SeekFrom::Data(offset)) {
            Err(Errno::NXIO) => break,
            Err(_) => offset, // a file system without holes
            Ok(data) => data,
        };
        let end = seek(&from, SeekFrom::Hole(data)).unwrap_or(bytes).min(bytes);
        offset = data;
        while offset < end {
            let room = buffer.len().min(usize::try_from(end - offset).unwrap_or(usize::MAX));
            let read = from.read_at(&mut buffer[..room], offset)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            to.write_all_at(&buffer[..read], offset)?;
            offset += read as u64;
        }
    }
    to.set_len(bytes)?;
    Ok(to)
}

/// Gives a copy the owner, the mode, the attributes and the times of its source.
fn describe(source: &Path, place: &Path, entry: &Entry) -> io::Result<()> {
    let stat = &entry.stat;
    let (user, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
    chownat(CWD, place, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?;
    if !entry.kind().is_symlink() {
        chmodat(CWD, place, Mode::from_raw_mode(stat.st_mode), AtFlags::empty())?;
    }
    for (name, value) in attributes(source)? {
        let name = CStr::from_bytes_with_nul(&name).map_err(io::Error::other)?;
        lsetxattr(place, name, &value, XattrFlags::empty())?;
    }
    let time = |s, ns| Timespec { tv_sec: s, tv_nsec: i64::try_from(ns).unwrap_or(0) };
    let times = Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    };
    Ok(utimensat(CWD, place, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// The extended attributes of a file, with the names as the kernel ends them.
pub(super) fn attributes(path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let length = match llistxattr_query(path) {
        Err(Errno::OPNOTSUPP) => 0,
        length => length?,
    };
    let mut names = vec![0; length];
    if length > 0 {
        let found = llistxattr(path, names.as_mut_slice())?;
        names.truncate(found);
    }
    let mut all = Vec::new();
    for name in names.split_inclusive(|byte| *byte == 0) {
        let ended = CStr::from_bytes_with_nul(name).map_err(io::Error::other)?;
        let mut value = vec![0; lgetxattr_query(path, ended)?];
        if !value.is_empty() {
            let found = lgetxattr(path, ended, value.as_mut_slice())?;
            value.truncate(found);
        }
        all.push((name.to_vec(), value));
    }
    all.sort_unstable();
    Ok(all)
}
