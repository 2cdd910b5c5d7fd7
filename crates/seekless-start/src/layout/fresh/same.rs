//! Whether a copy is as good as its tree: the same names, bytes, owners, modes, attributes, times
//! and links. The bytes of the copy are read from the device.

use super::tree::{Entry, Tree};
use super::write::attributes;
use crate::layout::sum::{sum, sum_on_device};
use crate::layout::{Options, Progress, stopped};
use rustix::fs::Stat;
use seekless_job::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// Checks the copy, and gives its tree.
///
/// # Errors
/// Something of it differs, or cannot be read.
pub(super) fn check(
    tree: &Tree,
    copy: &Path,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Tree> {
    let unreadable = |error| Error::unreadable(copy, error);
    let folder = File::open(copy).map_err(unreadable)?;
    seekless_sys::residency::write_back_file_system(folder.as_fd()).map_err(unreadable)?;
    let copied = Tree::read(copy, options)?;
    let names = |tree: &Tree| tree.entries.iter().map(|it| it.below.clone()).collect::<Vec<_>>();
    if names(tree) != names(&copied) {
        return Err(differs(copy, "has other names"));
    }
    let (mut links, all) = (HashMap::new(), tree.entries.len() as u64);
    for (done, (entry, copied_entry)) in (0..).zip(tree.entries.iter().zip(&copied.entries)) {
        stopped(options)?;
        progress("Checking", done, all);
        let (one, other) = (tree.path(&entry.below), copied.path(&copied_entry.below));
        let inode = *links.entry(entry.looks().inode).or_insert(copied_entry.looks().inode);
        if described(entry) != described(copied_entry) || inode != copied_entry.looks().inode {
            return Err(differs(&other, "has another owner, mode, size, time or link"));
        }
        let same =
            is_same(entry, &one, &other).map_err(|error| Error::unreadable(&other, error))?;
        if !same {
            return Err(differs(&other, "has other bytes or attributes"));
        }
    }
    Ok(copied)
}

fn is_same(entry: &Entry, one: &Path, other: &Path) -> io::Result<bool> {
    if attributes(one)? != attributes(other)? {
        return Ok(false);
    }
    if entry.kind().is_symlink() {
        return Ok(fs::read_link(one)? == fs::read_link(other)?);
    }
    if !entry.kind().is_file() {
        return Ok(true);
    }
    Ok(sum(&File::open(one)?)? == sum_on_device(&File::open(other)?)?)
}

/// What a copy has as its source has it; of a folder not the size.
fn described(entry: &Entry) -> (u32, u32, u32, i64, (i64, u64), u64) {
    let Stat { st_mode, st_uid, st_gid, st_size, st_mtime, st_mtime_nsec, st_rdev, .. } =
        entry.stat;
    let bytes = if entry.kind().is_dir() { 0 } else { st_size };
    (st_mode, st_uid, st_gid, bytes, (st_mtime, st_mtime_nsec), st_rdev)
}

fn differs(path: &Path, how: &str) -> Error {
    let message = format!(
        "{} of the copy {how} than its source: something changes it; nothing was replaced",
        path.display()
    );
    Error::new(ErrorKind::Differs, message)
}
