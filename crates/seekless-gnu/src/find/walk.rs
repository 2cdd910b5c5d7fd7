//! Walks each argument and everything below it, in GNU find's order. A folder comes before its
//! contents, or after them with `-depth`.
//!
//! The walk keeps a stack in memory instead of recursing, and limits the number of open folders. So
//! it can go as deep as the file system does.

use super::ahead::{Ahead, Part, Task, Waste};
use super::entry::Entry;
use super::evaluate::{Evaluator, Verdict};
use super::expression::{Follow, Plan, Roots};
use super::folder::{Folder, List};
use super::latency::Prices;
use super::quote::quoted;
use super::roots::Names;
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, fstat, openat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;
use std::sync::Arc;

/// The most folders that stay open on the way down.
const OPEN_MAX: usize = 128;

/// A walk over a plan's arguments.
#[derive(Debug)]
pub(super) struct Walk<'scope, 'a> {
    plan: &'a Plan,
    ahead: Ahead<'scope, 'a>,
    /// The path of the current file, with a NUL at its end.
    path: Vec<u8>,
    levels: Vec<Level>,
}

/// A folder whose contents are being visited.
#[derive(Debug)]
struct Level {
    /// `None` while it is more than [`OPEN_MAX`] levels above the current file.
    folder: Option<Rc<OwnedFd>>,
    list: Arc<Folder>,
    /// The next child.
    next: usize,
    /// What was seen ahead of some of its children; `parts` holds the tasks for the rest.
    part: Option<Part>,
    parts: VecDeque<Arc<Task>>,
    /// The length of its path, without the NUL.
    path_bytes: usize,
    name_at: usize,
    listed: Option<FileType>,
    /// Its attributes on entry. With `-depth` the folder is evaluated by these, even if its
    /// contents have changed since.
    stat: Stat,
}

/// A child of a folder in its turn, and what was found out ahead.
#[derive(Debug, Default)]
struct Turn {
    kind: Option<FileType>,
    /// The child's number, if the current part has seen it.
    seen: Option<usize>,
    /// The task to list it.
    task: Option<Arc<Task>>,
}

impl<'scope, 'a> Walk<'scope, 'a> {
    pub(super) fn new(plan: &'a Plan, ahead: Ahead<'scope, 'a>) -> Self {
        Walk { plan, ahead, path: Vec::new(), levels: Vec::new() }
    }

    /// Visits everything. Returns false if something could not be visited.
    pub(super) fn run(mut self, evaluator: &mut Evaluator<'_>) -> io::Result<bool> {
        let mut well = true;
        match &self.plan.roots {
            Roots::Given(roots) => {
                for root in roots {
                    well &= self.root(root.as_bytes(), evaluator)?;
                    if evaluator.has_quit() {
                        break;
                    }
                }
            }
            Roots::From(file) => {
                let asks = self.plan.asks();
                let Some(mut names) = Names::open(file, asks, evaluator)? else {
                    return Ok(false);
                };
                while !evaluator.has_quit()
                    && let Some(root) = names.next(evaluator)?
                {
                    well &= self.root(&root, evaluator)?;
                }
            }
        }
        Ok(well)
    }

    fn root(&mut self, bytes: &[u8], evaluator: &mut Evaluator<'_>) -> io::Result<bool> {
        self.path.clear();
        self.path.extend_from_slice(bytes);
        self.path.push(0);
        self.levels.clear();
        evaluator.begin_root();
        let mut well = true;
        well &= self.visit(root_name_at(bytes), bytes.len(), Turn::default(), evaluator)?;
        while !evaluator.has_quit() && !self.levels.is_empty() {
            well &= self.step(bytes.len(), evaluator)?;
        }
        Ok(well)
    }

    /// Visits the next child of the innermost folder, or leaves the folder after the last.
    fn step(&mut self, root_bytes: usize, evaluator: &mut Evaluator<'_>) -> io::Result<bool> {
        let depth = self.levels.len();
        let Some(level) = self.levels.last_mut() else { return Ok(true) };
        let next = level.next;
        let child = level.advance(&mut self.ahead, evaluator.prices());
        if child > next {
            evaluator.turn(depth)?; // skipped files had their turn, too
        }
        if child >= level.list.list.len() {
            self.path.truncate(level.path_bytes);
            return self.leave(root_bytes, evaluator);
        }
        level.next += 1;
        let name_at = level.list.path_of(child, &mut self.path);
        let turn = level.turn(child, &self.ahead);
        self.visit(name_at, root_bytes, turn, evaluator)
    }

    /// Visits the file at `path`, and enters it if it is a folder to enter.
    fn visit(
        &mut self,
        name_at: usize,
        root_bytes: usize,
        turn: Turn,
        evaluator: &mut Evaluator<'_>,
    ) -> io::Result<bool> {
        let path = std::mem::take(&mut self.path);
        let visited = {
            let entry = self.entry(&path, name_at, root_bytes, turn.kind);
            if let (Some(child), Some(level)) = (turn.seen, self.levels.last()) {
                level.part.iter().for_each(|part| part.tell(child, &entry));
            }
            self.judge(&entry, turn.task, evaluator)
        };
        self.path = path;
        let (well, level) = visited?;
        if let Some(level) = level {
            self.levels.push(level);
            self.close_far();
        }
        Ok(well)
    }

    /// Evaluates the expression for a file, and opens the file if it is a folder to enter. Returns
    /// whether all went well, and the folder.
    fn judge(
        &mut self,
        entry: &Entry<'_>,
        task: Option<Arc<Task>>,
        evaluator: &mut Evaluator<'_>,
    ) -> io::Result<(bool, Option<Level>)> {
        let plan = self.plan;
        evaluator.turn(entry.depth)?;
        if (entry.depth == 0 || entry.follow)
            && let Some(error) = entry.lost()
            // A link without a target is an ordinary file.
            && (error != Errno::NOENT || entry.stat().is_err())
        {
            evaluator.complain_once(entry.bytes(), error)?;
            if entry.depth == 0 || error == Errno::LOOP {
                return Ok((false, None));
            }
        }
        if entry.follow
            && entry.is_folder()
            && let Ok(stat) = entry.stat()
            && let Err(wrong) = self.check_loop(stat)
        {
            wrong.tell(entry.bytes(), evaluator)?;
            return Ok((false, None));
        }
        let judged_late = plan.contents_first && entry.is_folder() && entry.depth >= plan.depth_min;
        let mut inside = true;
        if entry.depth >= plan.depth_min && !judged_late {
            inside = evaluator.judge(entry)? == Verdict::GoOn;
        }
        let enters =
            inside && entry.depth < plan.depth_max && entry.is_folder() && !evaluator.has_quit();
        let entered = match enters {
            true => self.enter(entry, task.as_ref(), evaluator.prices()),
            false => Ok(None),
        };
        if let Some(task) = task {
            self.ahead.pass(&task);
            self.ahead.discard(Waste::Task(task));
        }
        if let Ok(Some(level)) = entered {
            return Ok((true, Some(level)));
        }
        let well = match entered {
            Err(wrong) => {
                wrong.tell(entry.bytes(), evaluator)?;
                false
            }
            Ok(_) => true,
        };
        if judged_late && !evaluator.has_quit() {
            evaluator.judge(entry)?;
        }
        Ok((well, None))
    }

    fn entry<'p>(
        &self,
        path: &'p [u8],
        name_at: usize,
        root_bytes: usize,
        kind: Option<FileType>,
    ) -> Entry<'p> {
        let depth = self.levels.len();
        let mut entry =
            Entry::new(CStr::from_bytes_with_nul(path).unwrap_or(c""), name_at, root_bytes, depth);
        entry.folder = self.levels.last().and_then(|level| level.folder.clone());
        entry.listed = kind;
        entry.follow = match self.plan.follow {
            Follow::Never => false,
            Follow::Arguments => depth == 0,
            Follow::Always => true,
        };
        entry
    }

    /// Opens and lists a folder. Returns `None` if it is on another file system and the walk stays
    /// on one.
    fn enter(
        &mut self,
        entry: &Entry<'_>,
        task: Option<&Arc<Task>>,
        prices: &mut Prices,
    ) -> Result<Option<Level>, Wrong> {
        let root_device = self.levels.first().map(|root| root.list.device);
        let follow = if entry.follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        let flags =
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK | follow;
        let folder =
            openat(entry.base(), entry.below(), flags, Mode::empty()).map_err(Wrong::Unreadable)?;
        let stat = fstat(&folder).map_err(Wrong::Unreadable)?;
        if self.plan.one_file_system && root_device.is_some_and(|device| device != stat.st_dev) {
            return Ok(None);
        }
        self.check_loop(&stat)?;
        let folder = Rc::new(folder);
        let as_is = Folder {
            path: entry.bytes().to_vec(),
            root_bytes: entry.root_bytes,
            depth: entry.depth,
            device: stat.st_dev,
            inode: stat.st_ino,
            list: List::default(),
            by_helper: false,
        };
        let listed = self.ahead.enter(task, &folder, as_is, prices).map_err(Wrong::Unreadable)?;
        Ok(Some(Level {
            folder: Some(folder),
            list: listed.folder,
            next: 0,
            part: None,
            parts: listed.parts,
            path_bytes: entry.bytes().len(),
            name_at: entry.name_at,
            listed: entry.listed,
            stat,
        }))
    }

    /// Refuses a link to a folder above, which would be an endless loop.
    fn check_loop(&self, stat: &Stat) -> Result<(), Wrong> {
        let same =
            |level: &&Level| level.list.device == stat.st_dev && level.list.inode == stat.st_ino;
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

    /// Leaves the innermost folder after its last child.
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
        evaluator.turn(depth)?;
        if self.plan.contents_first && depth >= self.plan.depth_min {
            let path = std::mem::take(&mut self.path);
            let entry = self.entry(&path, left.name_at, root_bytes, left.listed);
            entry.know(left.stat);
            let judged = evaluator.judge(&entry);
            self.path = path;
            well &= judged.map(|_| true)?;
        }
        left.part.into_iter().for_each(|part| self.ahead.discard(Waste::Part(part)));
        self.ahead.discard(Waste::Folder(left.list));
        Ok(well)
    }

    /// Opens the parent folder again if it was closed on the way down.
    fn reopen(&mut self, left: &Level) -> Result<(), Errno> {
        let Some(above) = self.levels.last_mut().filter(|above| above.folder.is_none()) else {
            return Ok(());
        };
        let inner = left.folder.as_ref().map_or(CWD, |folder| folder.as_fd());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(inner, c"..", flags, Mode::empty())?;
        let stat = fstat(&folder)?;
        if (stat.st_dev, stat.st_ino) != (above.list.device, above.list.inode) {
            return Err(Errno::NOENT); // moved away under the walk
        }
        above.folder = Some(Rc::new(folder));
        Ok(())
    }
}

impl Level {
    /// The next child that must be visited. Also fetches what was seen of it ahead.
    fn advance(&mut self, ahead: &mut Ahead<'_, '_>, prices: &mut Prices) -> usize {
        while self.next < self.list.list.len() {
            match &self.part {
                Some(part) if part.holds(self.next) => {
                    let next =
                        if ahead.is_fresh(part) { part.skip_passed(self.next) } else { self.next };
                    if next == self.next {
                        break;
                    }
                    self.next = next;
                }
                _ => {
                    let Some(task) = self.parts.pop_front() else { break };
                    let part = ahead.part(&task, self.folder.as_ref(), prices);
                    self.part
                        .replace(part)
                        .into_iter()
                        .for_each(|part| ahead.discard(Waste::Part(part)));
                    ahead.discard(Waste::Task(task));
                }
            }
        }
        self.next
    }

    /// What is known of a child in its turn.
    fn turn(&mut self, child: usize, ahead: &Ahead<'_, '_>) -> Turn {
        let kind = self.list.list.kind(child);
        let Some(part) = &mut self.part else { return Turn { kind, ..Turn::default() } };
        let seen = ahead.is_fresh(part).then_some(child);
        Turn { kind, seen, task: part.take_folder(child) }
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

/// The offset of an argument's last component, ignoring slashes at its end.
fn root_name_at(root: &[u8]) -> usize {
    let end = root.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    root[..end].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1)
}
