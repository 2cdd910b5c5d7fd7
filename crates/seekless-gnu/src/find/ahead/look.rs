//! Performs tasks: lists folders and looks at files ahead of the walk.

use super::{Aims, Found, Job, Listed, Part, Seen, Shared, State, Task};
use crate::find::entry::Entry;
use crate::find::expression::{Follow, Plan};
use crate::find::folder::{Folder, List};
use crate::find::foresee::foresee;
use crate::find::latency::Prices;
use rustix::fs::{CWD, Mode, OFlags, Stat, fstat, openat};
use std::collections::VecDeque;
use std::ffi::CStr;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// Children per task. Smaller tasks finish the last entries of a large folder sooner; larger ones
/// take fewer locks.
const PART: usize = 128;
/// The largest folder whose entries are looked at by the thread that lists it.
const AT_ONCE_MAX: usize = 512;

/// The tasks to look at a whole folder.
pub(super) fn parts(folder: &Arc<Folder>, by_helper: bool) -> VecDeque<Arc<Task>> {
    let all = folder.list.len();
    let part =
        |first| Job::Look { folder: folder.clone(), children: first..(first + PART).min(all) };
    (0..all).step_by(PART).map(part).map(|job| task(job, State::Waiting, by_helper)).collect()
}

fn task(job: Job, state: State, by_helper: bool) -> Arc<Task> {
    Arc::new(Task { job, state: Mutex::new(state), by_helper })
}

/// A thread's state for performing tasks.
pub(super) struct Looker<'a> {
    shared: &'a Shared,
    plan: &'a Plan,
    aims: Aims,
    prices: &'a mut Prices,
    helper: bool,
    path: Vec<u8>,
    order: Vec<usize>,
    buffer: Vec<u8>,
}

impl<'a> Looker<'a> {
    pub(super) fn new(
        shared: &'a Shared,
        plan: &'a Plan,
        aims: Aims,
        prices: &'a mut Prices,
        helper: bool,
    ) -> Self {
        Looker {
            shared,
            plan,
            aims,
            prices,
            helper,
            path: Vec::new(),
            order: Vec::new(),
            buffer: Vec::new(),
        }
    }

    /// Performs a task that this thread has claimed, and stores the result in it.
    pub(super) fn work(&mut self, task: &Arc<Task>) {
        let unfinished = Unfinished(self.shared, task);
        let (found, next) = self.perform(&task.job, None);
        std::mem::forget(unfinished);
        self.shared.queue.finish(task, found, next);
    }

    /// Performs a job. Returns the result and the tasks that come from it.
    pub(super) fn perform(
        &mut self,
        job: &Job,
        open: Option<&Rc<OwnedFd>>,
    ) -> (Found, Vec<Arc<Task>>) {
        match job {
            Job::List { above, child } => match self.list(above, *child) {
                Some((listed, next)) => (Found::Listed(listed), next),
                None => (Found::Nothing, Vec::new()),
            },
            Job::Look { folder, children } => {
                let opened = match open {
                    Some(open) => Some(open.clone()),
                    None => self.open_again(folder),
                };
                let Some(open) = opened else { return (Found::Nothing, Vec::new()) };
                let part = self.look(folder, children.clone(), &open);
                let next = part.folders.iter().map(|(_, task)| task.clone()).collect();
                (Found::Looked(part), next)
            }
        }
    }

    fn list(&mut self, above: &Arc<Folder>, child: usize) -> Option<(Listed, Vec<Arc<Task>>)> {
        let epoch = self.shared.now();
        above.path_of(child, &mut self.path);
        let path = CStr::from_bytes_with_nul(&self.path).ok()?;
        let flags = OFlags::RDONLY
            | OFlags::DIRECTORY
            | OFlags::CLOEXEC
            | OFlags::NONBLOCK
            | OFlags::NOFOLLOW;
        let open = Rc::new(openat(CWD, path, flags, Mode::empty()).ok()?);
        let stat = fstat(&open).ok()?;
        if self.plan.one_file_system && stat.st_dev != above.device {
            return None;
        }
        let folder = Arc::new(Folder {
            path: path.to_bytes().to_vec(),
            root_bytes: above.root_bytes,
            depth: above.depth + 1,
            by_helper: self.helper,
            device: stat.st_dev,
            inode: stat.st_ino,
            list: List::read(open.as_fd(), &mut self.buffer).ok()?,
        });
        let mut parts = parts(&folder, self.helper);
        if folder.list.len() > AT_ONCE_MAX {
            let next = parts.iter().cloned().collect();
            return Some((Listed { folder, parts, epoch }, next));
        }
        let mut next = Vec::new();
        for part in &mut parts {
            let Job::Look { children, .. } = &part.job else { continue };
            let seen = self.look(&folder, children.clone(), &open);
            next.extend(seen.folders.iter().map(|(_, task)| task.clone()));
            let job = Job::Look { folder: folder.clone(), children: children.clone() };
            *part = task(job, State::Done(Found::Looked(seen)), self.helper);
        }
        Some((Listed { folder, parts, epoch }, next))
    }

    /// Opens a listed folder again, if its path still leads to it.
    fn open_again(&self, folder: &Folder) -> Option<Rc<OwnedFd>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let open = openat(CWD, &folder.path[..], flags, Mode::empty()).ok()?;
        let stat = fstat(&open).ok()?;
        let same = (stat.st_dev, stat.st_ino) == (folder.device, folder.inode);
        same.then(|| Rc::new(open))
    }

    /// Reads of each child what the expression will read. The children are visited by inode, which
    /// is their order in memory and on disks.
    fn look(&mut self, folder: &Arc<Folder>, children: Range<usize>, open: &Rc<OwnedFd>) -> Part {
        let epoch = self.shared.now();
        let first = children.start;
        let mut seen = vec![Seen::Nothing; children.len()];
        let (mut stats, mut entered) = (Vec::new(), Vec::new());
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(children);
        order.sort_unstable_by_key(|&child| folder.list.inode(child));
        for &child in &order {
            let name_at = folder.path_of(child, &mut self.path);
            let Ok(path) = CStr::from_bytes_with_nul(&self.path) else { continue };
            let mut entry = Entry::new(path, name_at, folder.root_bytes, folder.depth + 1);
            entry.folder = Some(open.clone());
            entry.listed = folder.list.kind(child);
            entry.follow = self.plan.follow == Follow::Always;
            let foreseen = foresee(self.plan, self.aims.turns_back, &entry, self.prices);
            if foreseen.entered {
                entered.push(child);
            }
            seen[child - first] = self.seen(&entry, foreseen.passed, &mut stats);
        }
        self.order = order;
        entered.sort_unstable();
        let job =
            |child| task(Job::List { above: folder.clone(), child }, State::Waiting, self.helper);
        let folders = entered.into_iter().map(|child| (child, job(child))).collect();
        Part { first, seen, stats, folders, epoch, by_helper: self.helper }
    }

    fn seen(&self, entry: &Entry<'_>, passed: bool, stats: &mut Vec<Stat>) -> Seen {
        // A file that its size decided has no cost. In its turn the size decides again.
        let keeps_stat = self.aims.asks_stat || entry.cost.get().is_none();
        let stat = entry.known().filter(|_| keeps_stat);
        match (stat, entry.cost.get()) {
            _ if passed => Seen::Passed,
            (Some(stat), cost) => {
                stats.push(*stat);
                Seen::Stat(stats.len() - 1, cost.copied())
            }
            (None, Some(cost)) => Seen::Cost(*cost),
            (None, None) => Seen::Nothing,
        }
    }
}

/// Finishes a task whose thread panicked, so that the walk does not wait for it.
struct Unfinished<'a>(&'a Shared, &'a Arc<Task>);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.queue.finish(self.1, Found::Nothing, Vec::new());
    }
}
