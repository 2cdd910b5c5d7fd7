//! The walk: each argument and all below it, a folder before its contents (or after, with `-depth`), in the order in which
//! GNU find goes. A stack in memory instead of recursion, and a bound on open folders, let it go as deep as the disk does.

use super::entry::Entry;
use super::evaluate::{Evaluator, Verdict};
use super::expression::{Follow, Plan};
use super::quote::quoted;
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, Stat, fstat, fstatfs, openat};
use rustix::io::Errno;
use std::ffi::{CStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

/// Folders on the way down that stay open.
const OPEN_MAX: usize = 128;
/// GNU find sorts a folder of more entries by inode, where that saves seeks, in batches of [`BATCH`].
const SORTED_MIN: usize = 10_000;
const BATCH: usize = 100_000;

/// A walk over a plan's arguments.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    plan: &'a Plan,
    /// The path of the file at hand, with a NUL at its end.
    path: Vec<u8>,
    levels: Vec<Level>,
}

/// A folder whose contents are being visited.
#[derive(Debug)]
struct Level {
    /// `None` while it lies deeper than [`OPEN_MAX`] above the file at hand.
    folder: Option<Rc<OwnedFd>>,
    device: u64,
    inode: u64,
    children: std::vec::IntoIter<Child>,
    /// Length of its path, without the NUL.
    path_bytes: usize,
    name_at: usize,
    listed: Option<FileType>,
}

/// A line of a folder's list.
#[derive(Debug)]
struct Child {
    name: Box<CStr>,
    kind: Option<FileType>,
    inode: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Walk { plan, path: Vec::new(), levels: Vec::new() }
    }

    /// Visits everything; false if something could not be visited.
    pub(super) fn run(mut self, evaluator: &mut Evaluator<'_>) -> io::Result<bool> {
        let mut well = true;
        for root in &self.plan.roots {
            well &= self.root(root, evaluator)?;
            if evaluator.has_quit() {
                break;
            }
        }
        Ok(well)
    }

    fn root(&mut self, root: &OsString, evaluator: &mut Evaluator<'_>) -> io::Result<bool> {
        let bytes = root.as_bytes();
        self.path.clear();
        self.path.extend_from_slice(bytes);
        self.path.push(0);
        self.levels.clear();
        let mut well = true;
        well &= self.visit(root_name_at(bytes), bytes.len(), None, evaluator)?;
        while !evaluator.has_quit() && !self.levels.is_empty() {
            well &= self.step(bytes.len(), evaluator)?;
        }
        Ok(well)
    }

    /// The next child of the innermost folder, or the way out of it.
    fn step(&mut self, root_bytes: usize, evaluator: &mut Evaluator<'_>) -> io::Result<bool> {
        let Some(level) = self.levels.last_mut() else { return Ok(true) };
        self.path.truncate(level.path_bytes);
        match level.children.next() {
            Some(child) => {
                if self.path.last() != Some(&b'/') {
                    self.path.push(b'/');
                }
                let name_at = self.path.len();
                self.path.extend_from_slice(child.name.to_bytes_with_nul());
                self.visit(name_at, root_bytes, child.kind, evaluator)
            }
            None => self.leave(root_bytes, evaluator),
        }
    }

    /// Judges the file that `path` names and goes into it if it is a folder to go into.
    fn visit(
        &mut self,
        name_at: usize,
        root_bytes: usize,
        kind: Option<FileType>,
        evaluator: &mut Evaluator<'_>,
    ) -> io::Result<bool> {
        let plan = self.plan;
        let depth = self.levels.len();
        let path = std::mem::take(&mut self.path);
        let outcome = (|| {
            let entry = self.entry(&path, name_at, root_bytes, depth, kind);
            if depth == 0
                && let Err(error) = entry.stat()
            {
                evaluator.complain(entry.bytes(), error)?;
                return Ok((false, None));
            }
            if entry.follow
                && entry.is_folder()
                && let Ok(stat) = entry.stat()
                && let Err(wrong) = self.check_loop(stat)
            {
                wrong.tell(entry.bytes(), evaluator)?;
                return Ok((false, None));
            }
            let mut inside = true;
            if depth >= plan.depth_min && !(plan.contents_first && entry.is_folder()) {
                inside = evaluator.judge(&entry)? == Verdict::GoOn;
            }
            if !inside || depth >= plan.depth_max || !entry.is_folder() || evaluator.has_quit() {
                let judged_late = plan.contents_first && entry.is_folder() && depth >= plan.depth_min;
                if judged_late && !evaluator.has_quit() {
                    evaluator.judge(&entry)?;
                }
                return Ok((true, None));
            }
            match self.enter(&entry) {
                Ok(Some(level)) => Ok((true, Some(level))),
                Ok(None) => {
                    if plan.contents_first && depth >= plan.depth_min {
                        evaluator.judge(&entry)?;
                    }
                    Ok((true, None))
                }
                Err(wrong) => {
                    wrong.tell(entry.bytes(), evaluator)?;
                    if plan.contents_first && depth >= plan.depth_min {
                        evaluator.judge(&entry)?;
                    }
                    Ok((false, None))
                }
            }
        })();
        self.path = path;
        let (well, level) = outcome.map_err(|error: io::Error| error)?;
        if let Some(level) = level {
            self.levels.push(level);
            self.close_far();
        }
        Ok(well)
    }

    fn entry<'p>(
        &self,
        path: &'p [u8],
        name_at: usize,
        root_bytes: usize,
        depth: usize,
        kind: Option<FileType>,
    ) -> Entry<'p> {
        let mut entry =
            Entry::new(CStr::from_bytes_until_nul(path).unwrap_or(c""), name_at, root_bytes, depth);
        entry.folder = self.levels.last().and_then(|level| level.folder.clone());
        entry.listed = kind;
        entry.follow = match self.plan.follow {
            Follow::Never => false,
            Follow::Arguments => depth == 0,
            Follow::Always => true,
        };
        entry
    }

    /// Opens and lists a folder; `None` if it lies on another file system and that is not wanted.
    fn enter(&self, entry: &Entry<'_>) -> Result<Option<Level>, Wrong> {
        let root_device = self.levels.first().map(|root| root.device);
        let follow = if entry.follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK | follow;
        let folder = openat(entry.base(), entry.below(), flags, Mode::empty()).map_err(Wrong::Unreadable)?;
        let stat = fstat(&folder).map_err(Wrong::Unreadable)?;
        if self.plan.one_file_system && root_device.is_some_and(|device| device != stat.st_dev) {
            return Ok(None);
        }
        self.check_loop(&stat)?;
        let children = list(&folder).map_err(Wrong::Unreadable)?;
        Ok(Some(Level {
            folder: Some(Rc::new(folder)),
            device: stat.st_dev,
            inode: stat.st_ino,
            children: children.into_iter(),
            path_bytes: entry.bytes().len(),
            name_at: entry.name_at,
            listed: entry.listed,
        }))
    }

    /// A link to a folder above would be walked for ever.
    fn check_loop(&self, stat: &Stat) -> Result<(), Wrong> {
        let same = |level: &&Level| level.device == stat.st_dev && level.inode == stat.st_ino;
        match self.levels.iter().find(same) {
            Some(level) => Err(Wrong::Loop { path_bytes: level.path_bytes }),
            None => Ok(()),
        }
    }

    fn close_far(&mut self) {
        if let Some(far) = self.levels.len().checked_sub(OPEN_MAX + 1) {
            self.levels[far].folder = None;
        }
    }

    /// Leaves the innermost folder, whose contents have all been visited.
    fn leave(&mut self, root_bytes: usize, evaluator: &mut Evaluator<'_>) -> io::Result<bool> {
        let Some(left) = self.levels.pop() else { return Ok(true) };
        let mut well = true;
        self.path.push(0);
        if let Err(error) = self.reopen(&left) {
            evaluator.complain(&self.path[..left.path_bytes], error)?;
            self.levels.clear();
            return Ok(false);
        }
        let depth = self.levels.len();
        if self.plan.contents_first && depth >= self.plan.depth_min {
            let path = std::mem::take(&mut self.path);
            let judged = evaluator.judge(&self.entry(&path, left.name_at, root_bytes, depth, left.listed));
            self.path = path;
            well &= judged.map(|_| true)?;
        }
        Ok(well)
    }

    /// Opens the folder above again if it was closed on the way down.
    fn reopen(&mut self, left: &Level) -> Result<(), Errno> {
        let Some(above) = self.levels.last_mut().filter(|above| above.folder.is_none()) else {
            return Ok(());
        };
        let inner = left.folder.as_ref().map_or(CWD, |folder| folder.as_fd());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(inner, c"..", flags, Mode::empty())?;
        let stat = fstat(&folder)?;
        if (stat.st_dev, stat.st_ino) != (above.device, above.inode) {
            return Err(Errno::NOENT); // moved away under the walk
        }
        above.folder = Some(Rc::new(folder));
        Ok(())
    }
}

/// Why a folder was not entered.
enum Wrong {
    Unreadable(Errno),
    Loop { path_bytes: usize },
}

impl Wrong {
    fn tell(&self, path: &[u8], evaluator: &mut Evaluator<'_>) -> io::Result<()> {
        match *self {
            Wrong::Unreadable(error) => evaluator.complain(path, error),
            Wrong::Loop { path_bytes } => {
                let utf8 = evaluator.utf8();
                let (inner, outer) = (quoted(path, utf8), quoted(&path[..path_bytes], utf8));
                evaluator.message(&format!(
                    "File system loop detected; {inner} is part of the same file system loop as {outer}."
                ))
            }
        }
    }
}

/// A folder's entries but `.` and `..`, in the order in which GNU find visits them.
fn list(folder: &OwnedFd) -> Result<Vec<Child>, Errno> {
    let mut children = Vec::new();
    for line in Dir::read_from(folder)? {
        let line = line?;
        let name = line.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = Some(line.file_type()).filter(|kind| *kind != FileType::Unknown);
        children.push(Child { name: name.into(), kind, inode: line.ino() });
    }
    if children.len() > SORTED_MIN && sorting_helps(folder) {
        for batch in children.chunks_mut(BATCH).filter(|batch| batch.len() > SORTED_MIN) {
            batch.sort_by_key(|child| child.inode);
        }
    }
    Ok(children)
}

/// Inode numbers say where inodes lie on a disk, not in memory or across a network.
fn sorting_helps(folder: &OwnedFd) -> bool {
    const TMPFS: i64 = 0x0102_1994;
    const NFS: i64 = 0x6969;
    const CIFS: i64 = 0xFF53_4D42;
    !fstatfs(folder).is_ok_and(|system| [TMPFS, NFS, CIFS].contains(&system.f_type))
}

/// Where an argument's last component starts, slashes at its end left out of the search.
fn root_name_at(root: &[u8]) -> usize {
    let end = root.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    root[..end].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1)
}
