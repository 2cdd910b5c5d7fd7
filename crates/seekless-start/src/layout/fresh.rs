//! A fresh copy of a folder, in which inodes, directories and data come in the order of need: each
//! file is created, written and synced before the next. It takes the folder's place by one rename,
//! or goes elsewhere. The old folder is removed only after every byte of the copy was read back.

mod same;
mod swap;
mod tree;
mod write;

use super::donor::free_bytes;
use super::figures::wait;
use super::find::{self, ELSEWHERE, Found};
use super::{Options, Progress, Report, order};
use rustix::fs::{major, statfs};
use seekless_device::Costs;
use seekless_device::units::format_bytes;
use seekless_job::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tree::Tree;

/// Local file systems whose files have no block device's number (linux/magic.h; bcachefs, ZFS).
const WITHOUT_NUMBER: [u64; 3] = [0x9123_683E, 0xCA45_1A4E, 0x2FC1_2FC1];
/// Room that stays free: so much, and this share of the copy.
const SPARE_BYTES: u64 = 1 << 20;
const SPARE_SHARE: u64 = 32;
/// A folder is copied unasked if at most this share of the requests is left, and if there are at
/// least so many for each file: where blocks cannot be exchanged, a file system never lays a copy
/// quite as it is thought, and a second copy would gain nothing.
const PAYS_SHARE: f64 = 0.8;
const BAD_SHARE: f64 = 0.125;

/// The folders to copy, none of them below another.
pub(super) fn folders(files: &[Found], options: &Options) -> Result<Vec<PathBuf>> {
    let is_asked = options.copy || options.to.is_some();
    if is_asked && (options.within.is_empty() || options.to.is_some() && options.within.len() > 1) {
        let why = match options.to {
            Some(_) => "a copy elsewhere is of one folder: name it with --within",
            None => "a fresh copy replaces folders: name them with --within",
        };
        return Err(Error::new(ErrorKind::Invalid, why));
    }
    let mut folders = Vec::new();
    for folder in &options.within {
        let folder = folder.canonicalize().map_err(|error| Error::unreadable(folder, error))?;
        if is_asked || is_needed(&folder, files) {
            folders.push(folder);
        }
    }
    folders.sort_unstable();
    folders.dedup_by(|later, folder| later.starts_with(folder));
    Ok(folders)
}

/// Whether files of a folder can be laid only by a copy, and whether that pays.
fn is_needed(folder: &Path, files: &[Found]) -> bool {
    let kind = statfs(folder).map_or(0, |about| about.f_type as u64);
    let is_stuck = files.iter().any(|file| {
        let is_local = major(file.looks.device) != 0 || WITHOUT_NUMBER.contains(&kind);
        file.stays == Some(ELSEWHERE) && is_local && file.path.starts_with(folder)
    });
    let requests = |files: &[Found]| wait(files, &Costs::ASSUMED).requests as f64;
    let now = requests(files);
    is_stuck
        && now >= BAD_SHARE * files.len() as f64
        && requests(&order::laid(files, &[folder.to_owned()])) <= PAYS_SHARE * now
}

/// Makes the copy and puts it into its place.
pub(super) fn lay(
    folder: &Path,
    files: &mut [Found],
    options: &Options,
    report: &mut Report,
    progress: Progress<'_>,
) -> Result<()> {
    let place = options.to.as_deref().unwrap_or(folder);
    let place = std::path::absolute(place).map_err(|error| Error::unreadable(place, error))?;
    let tree = Tree::of(folder, options)?;
    let parent = place.parent().unwrap_or(Path::new("/"));
    has_room(parent, &tree)?;
    let copy = swap::begin(&place, options)?;
    let needed = needed(files, folder, &tree);
    let first: Vec<usize> = needed.iter().map(|(_, entry)| *entry).collect();
    write::copy(&tree, &first, copy.path(), options, progress)?;
    lay_copies(files, &needed, &tree, copy.path(), options, report, progress)?;
    let copied = same::check(&tree, copy.path(), options, progress)?;
    swap::publish(copy, [&tree, &copied], &place, options)?;
    for (number, entry) in needed {
        files[number].path = place.join(&tree.entries[entry].below);
    }
    report.copied += tree.files();
    report.copied_bytes += tree.bytes();
    Ok(())
}

/// The needed files of the tree, in the order of need: their numbers, and those of their entries.
fn needed(files: &[Found], folder: &Path, tree: &Tree) -> Vec<(usize, usize)> {
    let entries = tree.entries.iter().enumerate().rev();
    let known: HashMap<(u64, u64), usize> =
        entries.map(|(number, entry)| (entry.looks().identity(), number)).collect();
    let below = files.iter().enumerate().filter(|(_, file)| file.path.starts_with(folder));
    below.filter_map(|(number, file)| Some((number, *known.get(&file.looks.identity())?))).collect()
}

/// Where blocks can be exchanged, lays the copies as well: they have been written in turn, but each
/// folder's files lie near that folder.
fn lay_copies(
    files: &mut [Found],
    needed: &[(usize, usize)],
    tree: &Tree,
    copy: &Path,
    options: &Options,
    report: &mut Report,
    progress: Progress<'_>,
) -> Result<()> {
    let mut copies = Vec::with_capacity(needed.len());
    for (number, entry) in needed {
        let path = copy.join(&tree.entries[*entry].below);
        let reads = files[*number].reads.clone();
        let found = find::at(&path, reads).map_err(|why| {
            Error::new(ErrorKind::Io, format!("{} of the copy is {why}", path.display()))
        })?;
        copies.push(found);
    }
    // What stays in the copy is copied all the same; only the copies that move are counted.
    let mut about = Report::default();
    order::settle(&mut copies, &[], &mut about);
    super::lay::lay(&mut copies, options, &mut about, progress)?;
    (report.moved, report.moved_bytes) =
        (report.moved + about.moved, report.moved_bytes + about.moved_bytes);
    for ((number, _), copied) in needed.iter().zip(copies) {
        files[*number] = Found { stays: Some(order::IN_ORDER), ..copied };
    }
    Ok(())
}

fn has_room(parent: &Path, tree: &Tree) -> Result<()> {
    let free = free_bytes(parent).map_err(|error| Error::unreadable(parent, error))?;
    let needed = tree.disk_bytes();
    if free >= needed + needed / SPARE_SHARE + SPARE_BYTES {
        return Ok(());
    }
    let message = format!(
        "a copy of {} takes {}, and {} has {} free: free some space",
        tree.folder.display(),
        format_bytes(needed),
        parent.display(),
        format_bytes(free)
    );
    Err(Error::new(ErrorKind::Missing, message))
}
