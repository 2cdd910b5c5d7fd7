//! The files that the sources need, where each lies, and which of them may be moved.

use super::{Options, OrReason, Progress, stopped};
use crate::warm::bring::{self, Recorded};
use crate::warm::plan::{self, Wanted};
use crate::warm::{self};
use rustix::fs::{Stat, fstat, fstatfs, ioctl_getflags};
use seekless_device::Costs;
use seekless_job::Result;
use seekless_policy::layout::extents::Extent;
use seekless_sys::exchange::is_open_for_writing;
use seekless_sys::extents::{self, Placeless};
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// `EXT4_SUPER_MAGIC` of linux/magic.h; also that of ext2 and ext3, whose files have no extents.
const EXT4: u64 = 0xEF53;
/// `FS_IOC_GETFLAGS`: the flags of linux/fs.h that decide whether a file may be moved.
const IMMUTABLE: u32 = 0x10 | 0x20;
const ENCODED: u32 = 0x4 | 0x800 | 0x10_0000;
const JOURNALED: u32 = 0x4000;
const HAS_EXTENTS: u32 = 0x8_0000;
const PAGE_BYTES: u64 = 4096;
/// A file with more pieces is not one that a start waits for.
const EXTENTS_MAX: usize = 1 << 16;
/// Of a larger file, a run that needs little has gaps between its reads wherever the file lies.
const LARGE_BYTES: u64 = 4 << 20;
const LITTLE_SHARE: u64 = 4;

/// A file that the sources need.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) looks: Looks,
    /// The size of a block of its file system.
    pub(super) block_bytes: u64,
    /// What a start reads of it, by offset.
    pub(super) reads: Vec<Extent>,
    /// Where it lies, by offset.
    pub(super) extents: Vec<extents::Extent>,
    /// Why it is not moved, if so.
    pub(super) stays: Option<&'static str>,
}

/// What shows that a file is another, or was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Looks {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) bytes: u64,
    pub(super) modified: (i64, u64),
    pub(super) changed: (i64, u64),
}

impl Looks {
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            bytes: stat.st_size.unsigned_abs(),
            modified: (stat.st_mtime, stat.st_mtime_nsec),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// The file, whatever it holds.
    pub(super) fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }
}

impl Found {
    pub(super) fn needed_bytes(&self) -> u64 {
        self.reads.iter().map(|read| read.bytes).sum()
    }

    /// How many bytes its blocks take.
    pub(super) fn laid_bytes(&self) -> u64 {
        self.looks.bytes.next_multiple_of(self.block_bytes)
    }

    /// How much it takes of a donor: exchanged ranges begin at the same place within a page.
    pub(super) fn taken_bytes(&self) -> u64 {
        self.laid_bytes().next_multiple_of(PAGE_BYTES)
    }

    /// Asks again where it lies.
    pub(super) fn look_again(&mut self, file: &File) {
        self.extents = extents_of(file, self.laid_bytes()).unwrap_or_default();
    }
}

/// All of them, in the order of need, and what is not here, by reason.
pub(super) fn files(
    sources: &[PathBuf],
    options: &Options,
    progress: Progress<'_>,
) -> Result<(Vec<Found>, BTreeMap<&'static str, u64>)> {
    let asked = warm::Options {
        roots: options.roots.clone(),
        within: options.within.clone(),
        cancel: options.cancel.clone(),
        ..warm::Options::default()
    };
    let plan = plan::plan(sources, &asked)?;
    let (mut found, mut left_out, mut known) = (Vec::new(), plan.left_out, HashSet::new());
    let all = plan.files.len() as u64;
    let costs = options.costs.unwrap_or_default();
    for (done, wanted) in (0..).zip(&plan.files) {
        stopped(options)?;
        progress("Looking", done, all);
        match look(wanted, &options.within, &costs) {
            // Of a file with several names, the first counts.
            Ok(file) if known.insert(file.looks.identity()) => found.push(file),
            Ok(_) => {}
            Err(why) => *left_out.entry(why).or_default() += 1,
        }
    }
    Ok((found, left_out))
}

fn look(wanted: &Wanted, within: &[PathBuf], costs: &Costs) -> OrReason<Found> {
    // What changed since it was recorded is needed all the same.
    let opened = bring::open(&wanted.path, &Recorded::default(), within)?;
    let reads = wanted.joined(opened.bytes, costs);
    let needed = wanted.needed_bytes(opened.bytes);
    let mut found = examined(&wanted.path, &opened.file, reads)?;
    let is_large = opened.bytes > LARGE_BYTES && needed.saturating_mul(LITTLE_SHARE) < opened.bytes;
    if is_large {
        found.stays = found.stays.or(Some("large, and little of it is needed"));
    }
    Ok(found)
}

/// Looks at the file of that name, of which `reads` are needed.
pub(super) fn at(path: &Path, reads: Vec<Extent>) -> OrReason<Found> {
    let opened = bring::open(path, &Recorded::default(), &[])?;
    examined(path, &opened.file, reads)
}

fn examined(path: &Path, file: &File, reads: Vec<Extent>) -> OrReason<Found> {
    let stat = fstat(file).map_err(|_| "cannot be examined")?;
    let about = fstatfs(file).map_err(|_| "cannot be examined")?;
    let looks = Looks::of(&stat);
    let block_bytes = about.f_bsize.unsigned_abs().max(1);
    let extents = extents_of(file, looks.bytes.next_multiple_of(block_bytes));
    let stays = match about.f_type as u64 == EXT4 {
        true => stays(file, &stat, extents.as_deref()),
        false => Some(ELSEWHERE),
    };
    Ok(Found {
        path: path.to_owned(),
        looks,
        block_bytes,
        reads,
        extents: extents.unwrap_or_default(),
        stays,
    })
}

/// The reason that a fresh copy of the folder overcomes.
pub(super) const ELSEWHERE: &str = "on a file system that cannot exchange blocks";

/// Where the first `bytes` of a file lie. What is only in memory is written first, so that it has a
/// place.
fn extents_of(file: &File, bytes: u64) -> Option<Vec<extents::Extent>> {
    let ask = || {
        let mut list = extents::extents(file, 0..bytes, EXTENTS_MAX).ok()??.list;
        if let Some(last) = list.last_mut() {
            last.bytes = last.bytes.min(bytes.saturating_sub(last.offset)); // reserved beyond the end
        }
        Some(list)
    };
    let found = ask()?;
    if found.iter().all(|extent| extent.placeless != Some(Placeless::Delayed)) {
        return Some(found);
    }
    file.sync_data().ok()?;
    ask()
}

fn stays(file: &File, stat: &Stat, extents: Option<&[extents::Extent]>) -> Option<&'static str> {
    let user = rustix::process::geteuid();
    let Ok(flags) = ioctl_getflags(file) else { return Some(ELSEWHERE) };
    let has = |bits: u32| flags.bits() & bits != 0;
    match extents {
        _ if !user.is_root() && stat.st_uid != user.as_raw() => Some("of another user"),
        _ if stat.st_size == 0 => Some("empty"),
        _ if has(IMMUTABLE) => Some("immutable"),
        _ if has(ENCODED) => Some("encrypted, compressed or sealed"),
        _ if has(JOURNALED) => Some("with journaled data"),
        None => Some(ELSEWHERE),
        Some(list) if list.iter().any(|extent| extent.placeless == Some(Placeless::Inline)) => {
            Some("in its inode")
        }
        _ if !has(HAS_EXTENTS) => Some(ELSEWHERE),
        Some(list) => has_gaps(list, stat.st_size.unsigned_abs()).or_else(|| is_written(file)),
    }
}

/// Whether a part of the file has no place, or was never written.
fn has_gaps(extents: &[extents::Extent], bytes: u64) -> Option<&'static str> {
    let mut end = 0;
    for extent in extents {
        if extent.offset > end || extent.place.is_none() {
            break;
        }
        if extent.unwritten {
            return Some("with reserved ranges");
        }
        end = extent.offset + extent.bytes;
    }
    (end < bytes).then_some("with holes")
}

/// Whether it is open for writing, as a reason.
pub(super) fn is_written(file: &File) -> Option<&'static str> {
    match is_open_for_writing(file) {
        Ok(true) => Some("open for writing"),
        Ok(false) => None,
        Err(_) => Some("of another user"),
    }
}
