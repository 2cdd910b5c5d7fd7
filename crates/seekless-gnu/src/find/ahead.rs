//! Looks at files before the walk reaches them. Helper threads do it, and so does the walk's own
//! thread while it would otherwise wait.
//!
//! Only looking runs ahead. The walk evaluates the files one after the other as without helpers,
//! and looks at a file itself if no helper has.
//!
//! A queue holds the coming tasks in the order of the walk: folders to list, and parts of lists to
//! look at. A free thread takes the first task. The tasks that come from it (more folders, more
//! parts) take its place in the queue.

mod look;
mod queue;

use super::cost::Cost;
use super::entry::Entry;
use super::expression::Plan;
use super::folder::{Folder, List};
use super::foresee;
use super::latency::Prices;
use crate::deep::with_stack;
use queue::{Claim, Queue};
use rustix::fs::Stat;
use rustix::io::Errno;
use seekless_sys::files::start_with_own_files;
use std::collections::VecDeque;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, Scope};

/// The most helper threads. With more, the locks of a folder slow them down.
const HELPERS_MAX: usize = 3;
/// A walk of fewer entries is over before a thread has started.
const STARTED_AT: usize = 256;

/// How many pieces of waste are handed over at a time.
const WASTE_AT_ONCE: usize = 64;

/// A task that can be done ahead of the walk.
#[derive(Debug)]
pub(super) struct Task {
    job: Job,
    state: Mutex<State>,
    by_helper: bool,
}

#[derive(Debug)]
enum Job {
    /// List a child of a folder, and look at its entries if they are few.
    List { above: Arc<Folder>, child: usize },
    /// Look at some children of a folder.
    Look { folder: Arc<Folder>, children: Range<usize> },
}

#[derive(Debug)]
enum State {
    Waiting,
    /// A thread is working on it.
    Taken,
    Done(Found),
    /// The walk has taken its result, or has skipped it.
    Gone,
}

#[derive(Debug)]
enum Found {
    Listed(Listed),
    Looked(Part),
    /// It failed; the walk will find and report the error.
    Nothing,
}

/// A folder's list, and the tasks to look at its parts.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) folder: Arc<Folder>,
    pub(super) parts: VecDeque<Arc<Task>>,
    /// The epoch in which the folder was read.
    epoch: u64,
}

/// What was seen of some children of a folder.
#[derive(Debug)]
pub(super) struct Part {
    first: usize,
    seen: Vec<Seen>,
    stats: Vec<Stat>,
    /// The children that the walk will enter.
    folders: VecDeque<(usize, Arc<Task>)>,
    epoch: u64,
    by_helper: bool,
}

/// What was seen of a file.
#[derive(Clone, Debug, Default)]
enum Seen {
    #[default]
    Nothing,
    /// The expression is false for it and does not act on it: the walk may skip it.
    Passed,
    Cost(Cost),
    /// Its attributes are at this index in the part's list.
    Stat(usize, Option<Cost>),
}

impl Part {
    /// A part in which no child was looked at.
    fn blank(children: Range<usize>) -> Part {
        Part {
            first: children.start,
            seen: vec![Seen::Nothing; children.len()],
            stats: Vec::new(),
            folders: VecDeque::new(),
            epoch: 0,
            by_helper: false,
        }
    }

    /// Whether the part includes this child.
    pub(super) fn holds(&self, child: usize) -> bool {
        (self.first..self.first + self.seen.len()).contains(&child)
    }

    /// Stores in the entry what was seen of the child.
    pub(super) fn tell(&self, child: usize, entry: &Entry<'_>) {
        let seen = child.checked_sub(self.first).and_then(|place| self.seen.get(place));
        let cost = match seen {
            None | Some(Seen::Nothing | Seen::Passed) => None,
            Some(Seen::Cost(cost)) => Some(cost),
            Some(Seen::Stat(stat, cost)) => {
                self.stats.get(*stat).into_iter().for_each(|stat| entry.know(*stat));
                cost.as_ref()
            }
        };
        if let Some(cost) = cost {
            let _ = entry.cost.set(*cost);
        }
    }

    /// The first child, from this one on, that the walk must visit. Returns the end of the part if
    /// there is none in it.
    pub(super) fn skip_passed(&self, child: usize) -> usize {
        let Some(rest) = child.checked_sub(self.first).and_then(|place| self.seen.get(place..))
        else {
            return child;
        };
        child + rest.iter().take_while(|seen| matches!(seen, Seen::Passed)).count()
    }

    /// Takes the task to list a child, if there is one.
    pub(super) fn take_folder(&mut self, child: usize) -> Option<Arc<Task>> {
        let at_front = self.folders.front().is_some_and(|(front, _)| *front == child);
        if at_front { self.folders.pop_front().map(|(_, task)| task) } else { None }
    }
}

/// Memory that the walk no longer needs. In the C library, threads that free what other threads
/// allocated wait for each other. So memory that a helper allocated goes back to a helper.
#[derive(Debug)]
pub(super) enum Waste {
    Folder(Arc<Folder>),
    Part(Part),
    Task(Arc<Task>),
}

impl Waste {
    /// Whether a helper allocated it.
    fn is_helpers(&self) -> bool {
        match self {
            Waste::Folder(folder) => folder.by_helper,
            Waste::Part(part) => part.by_helper,
            Waste::Task(task) => task.by_helper,
        }
    }

    fn free(self) {
        match self {
            Waste::Folder(folder) => drop(folder),
            Waste::Part(part) => drop(part),
            Waste::Task(task) => drop(task),
        }
    }
}

/// Facts about the expression that guide looking ahead.
#[derive(Clone, Copy, Debug)]
struct Aims {
    turns_back: bool,
    asks_stat: bool,
}

impl Aims {
    fn of(plan: &Plan) -> Self {
        Aims { turns_back: foresee::turns_back(plan), asks_stat: foresee::asks_stat(plan) }
    }
}

/// What the walk and its helpers share.
#[derive(Debug)]
pub(super) struct Shared {
    queue: Queue,
    /// How often the walk's own commands may have changed files. What was seen in an earlier epoch
    /// is invalid.
    epoch: Arc<AtomicU64>,
}

impl Shared {
    pub(super) fn new(epoch: Arc<AtomicU64>) -> Self {
        Shared { queue: Queue::default(), epoch }
    }

    fn now(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }
}

/// The walk's handle.
#[derive(Debug)]
pub(super) struct Ahead<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env Shared,
    plan: &'env Plan,
    aims: Aims,
    /// How many threads may still be started.
    helpers: usize,
    /// The levels of the expression, for which each thread needs a stack.
    levels: usize,
    listed: usize,
    buffer: Vec<u8>,
    waste: Vec<Waste>,
}

impl<'scope, 'env> Ahead<'scope, 'env> {
    /// Starts no thread yet. It never starts any if there is only one core or nothing to save.
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        shared: &'env Shared,
        plan: &'env Plan,
        levels: usize,
    ) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let helpers = if foresee::is_worthwhile(plan) { (cores - 1).min(HELPERS_MAX) } else { 0 };
        Ahead {
            scope,
            shared,
            plan,
            aims: Aims::of(plan),
            helpers,
            levels,
            listed: 0,
            buffer: Vec::new(),
            waste: Vec::new(),
        }
    }

    /// The list of a folder that the walk enters, and the tasks to look at its parts.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub(super) fn enter(
        &mut self,
        task: Option<&Arc<Task>>,
        open: &Rc<OwnedFd>,
        as_is: Folder,
        prices: &mut Prices,
    ) -> Result<Listed, Errno> {
        let found = task.and_then(|task| self.obtain(task, false, None, prices));
        if let Some(Found::Listed(listed)) = found {
            let same = (listed.folder.device, listed.folder.inode) == (as_is.device, as_is.inode);
            if same && listed.epoch == self.shared.now() {
                return Ok(listed);
            }
            listed.parts.iter().for_each(|part| self.pass(part));
        }
        let epoch = self.shared.now();
        let list = List::read(open.as_fd(), &mut self.buffer)?;
        self.listed += list.len();
        let folder = Arc::new(Folder { list, ..as_is });
        let parts = if self.helpers > 0 { look::parts(&folder, false) } else { VecDeque::new() };
        self.start_helpers(prices);
        self.shared.queue.put_first(&parts);
        Ok(Listed { folder, parts, epoch })
    }

    /// What was seen of a part of the current folder's list.
    pub(super) fn part(
        &mut self,
        task: &Arc<Task>,
        open: Option<&Rc<OwnedFd>>,
        prices: &mut Prices,
    ) -> Part {
        match (self.obtain(task, true, open, prices), &task.job) {
            (Some(Found::Looked(part)), _) => part,
            (_, Job::Look { children, .. }) => Part::blank(children.clone()),
            (_, Job::List { child, .. }) => Part::blank(*child..*child + 1),
        }
    }

    /// Frees memory that the walk no longer needs, or hands it to a helper.
    pub(super) fn discard(&mut self, waste: Waste) {
        if !waste.is_helpers() {
            return waste.free();
        }
        self.waste.push(waste);
        if self.waste.len() >= WASTE_AT_ONCE {
            self.shared.queue.hand_over(&mut self.waste);
        }
    }

    /// Whether what was seen is still valid.
    pub(super) fn is_fresh(&self, part: &Part) -> bool {
        part.epoch == self.shared.now()
    }

    /// Notes in the queue that the walk skips a task.
    pub(super) fn pass(&self, task: &Arc<Task>) {
        self.shared.queue.pass(task);
    }

    /// The result of a task. If no thread has started it, performs it if `own` is set. While
    /// another thread is working on it, performs the next tasks of the queue.
    fn obtain(
        &self,
        task: &Arc<Task>,
        own: bool,
        open: Option<&Rc<OwnedFd>>,
        prices: &mut Prices,
    ) -> Option<Found> {
        let mut looker = look::Looker::new(self.shared, self.plan, self.aims, prices, false);
        loop {
            match self.shared.queue.claim(task, !own) {
                Claim::Done(found) => return Some(found),
                Claim::Gone => return None,
                Claim::Mine => {
                    let (found, next) = looker.perform(&task.job, open);
                    self.shared.queue.replace(task, next);
                    return Some(found);
                }
                Claim::Elsewhere => match self.shared.queue.next_now() {
                    Some(other) => looker.work(&other),
                    None => self.shared.queue.wait_for(task),
                },
            }
        }
    }

    fn start_helpers(&mut self, prices: &Prices) {
        if self.listed < STARTED_AT || self.helpers == 0 || self.shared.queue.has_helpers() {
            return;
        }
        for _ in 0..self.helpers {
            let (shared, plan, aims, levels) = (self.shared, self.plan, self.aims, self.levels);
            let mut prices = prices.clone();
            let help = move || {
                let mut looker = look::Looker::new(shared, plan, aims, &mut prices, true);
                with_stack(levels, || {
                    while let Some(task) = shared.queue.next() {
                        looker.work(&task);
                    }
                });
            };
            let thread = Builder::new().name("seekless-look".to_owned());
            if start_with_own_files(thread, self.scope, help).is_err() {
                break;
            }
            self.shared.queue.count_helper();
        }
        if !self.shared.queue.has_helpers() {
            self.helpers = 0; // no thread can start: the walk does without
        }
    }
}

impl Drop for Ahead<'_, '_> {
    fn drop(&mut self) {
        self.shared.queue.close();
    }
}
