//! The tasks that are to come, in the order in which the walk will want them, and those who wait for one.

use super::{Found, State, Task, Waste};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Files that may have been looked at before the walk comes to them: a bound on memory, and on how far what was seen may be behind.
const AHEAD_MAX: usize = 8 << 10;

/// What may lie about before the walk frees it itself.
const WASTE_MAX: usize = 4 << 10;
/// How long the walk watches a task before it sleeps: some tens of microseconds.
const LOOKS_BEFORE_SLEEP: u32 = 32;
const PAUSES_BETWEEN_LOOKS: u32 = 32;

/// Fewer tasks than these the walk has done before a helper is awake.
const WORTH_WAKING: usize = 3;

/// What became of an attempt to take a task.
pub(super) enum Claim {
    Mine,
    Done(Found),
    /// Another thread is at it.
    Elsewhere,
    Gone,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    inner: Mutex<Inner>,
    /// There is something to do, for helpers.
    work: Condvar,
    /// A task is done, for the walk.
    done: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    /// Tasks that wait or are being performed.
    tasks: VecDeque<Arc<Task>>,
    /// Files in what was found and not yet wanted.
    ahead: usize,
    /// So many that helpers rest until half of them are wanted: waking somebody costs more than looking at a file.
    full: bool,
    helpers: usize,
    resting: usize,
    walk_waits: bool,
    waste: Vec<Waste>,
    closed: bool,
}

impl Queue {
    pub(super) fn count_helper(&self) {
        self.lock().helpers += 1;
    }

    pub(super) fn has_helpers(&self) -> bool {
        self.lock().helpers > 0
    }

    /// Puts tasks before all others.
    pub(super) fn put_first(&self, tasks: &VecDeque<Arc<Task>>) {
        if tasks.is_empty() {
            return;
        }
        let mut inner = self.lock();
        for task in tasks.iter().rev() {
            inner.tasks.push_front(task.clone());
        }
        self.call_helpers(inner);
    }

    /// The walk wants this task: takes it up, or what it found. With `only_found`, a task that nobody has begun is dropped.
    pub(super) fn claim(&self, task: &Arc<Task>, only_found: bool) -> Claim {
        let mut inner = self.lock();
        let mut state = lock(&task.state);
        match std::mem::replace(&mut *state, State::Gone) {
            State::Done(found) => {
                if let Found::Looked(part) = &found
                    && inner.wanted(part.seen.len())
                {
                    self.call_helpers(inner);
                }
                Claim::Done(found)
            }
            State::Waiting if only_found => {
                inner.remove(task);
                Claim::Gone
            }
            State::Waiting => {
                *state = State::Taken;
                Claim::Mine
            }
            State::Taken => {
                *state = State::Taken;
                Claim::Elsewhere
            }
            State::Gone => Claim::Gone,
        }
    }

    /// The walk will never want this task.
    pub(super) fn pass(&self, task: &Arc<Task>) {
        let mut inner = self.lock();
        let before = std::mem::replace(&mut *lock(&task.state), State::Gone);
        match before {
            State::Waiting => {
                inner.remove(task);
            }
            State::Done(Found::Looked(part)) => {
                if inner.wanted(part.seen.len()) {
                    self.call_helpers(inner);
                }
            }
            State::Done(Found::Listed(listed)) => {
                drop(inner);
                listed.parts.iter().for_each(|part| self.pass(part));
            }
            State::Done(Found::Nothing) | State::Taken | State::Gone => {}
        }
    }

    /// A task that the walk performed itself leaves its place to those that came of it.
    pub(super) fn replace(&self, task: &Arc<Task>, next: Vec<Arc<Task>>) {
        let mut inner = self.lock();
        *lock(&task.state) = State::Gone;
        if inner.replace(task, next) {
            self.call_helpers(inner);
        }
    }

    /// The same of a task whose result the walk will want later, if it has not passed it by.
    pub(super) fn finish(&self, task: &Arc<Task>, found: Found, next: Vec<Arc<Task>>) {
        let mut inner = self.lock();
        let mut state = lock(&task.state);
        if matches!(*state, State::Gone) {
            inner.remove(task);
            return;
        }
        inner.found(found.weight());
        *state = State::Done(found);
        drop(state);
        let walk_waits = std::mem::take(&mut inner.walk_waits);
        match inner.replace(task, next) {
            true => self.call_helpers(inner),
            false => drop(inner),
        }
        if walk_waits {
            self.done.notify_all();
        }
    }

    /// The first task that nobody has begun, if there is one.
    pub(super) fn next_now(&self) -> Option<Arc<Task>> {
        let mut inner = self.lock();
        if inner.ahead >= 2 * AHEAD_MAX { None } else { inner.take() }
    }

    /// Gives a helper to free what the walk is done with; if none has come for it, nobody has time.
    pub(super) fn hand_over(&self, waste: &mut Vec<Waste>) {
        let mut inner = self.lock();
        match inner.waste.len() < WASTE_MAX {
            true => inner.waste.append(waste),
            false => {
                drop(inner);
                waste.drain(..).for_each(Waste::free);
            }
        }
    }

    /// The same for a helper, who rests until there is one; `None` when the walk is over.
    pub(super) fn next(&self) -> Option<Arc<Task>> {
        let mut inner = self.lock();
        loop {
            if inner.closed {
                return None;
            }
            let task = if inner.full { None } else { inner.take() };
            if task.is_some() || !inner.waste.is_empty() {
                let waste = std::mem::take(&mut inner.waste);
                drop(inner);
                waste.into_iter().for_each(Waste::free);
                if task.is_some() {
                    return task;
                }
                inner = self.lock();
                continue;
            }
            inner.resting += 1;
            inner = self.work.wait(inner).unwrap_or_else(PoisonError::into_inner);
            inner.resting -= 1;
        }
    }

    /// Waits until something has changed, if somebody is at this task. Most are done sooner than a thread falls asleep and wakes.
    pub(super) fn wait_for(&self, task: &Task) {
        let taken = || matches!(*lock(&task.state), State::Taken);
        for _ in 0..LOOKS_BEFORE_SLEEP {
            if !taken() {
                return;
            }
            (0..PAUSES_BETWEEN_LOOKS).for_each(|_| std::hint::spin_loop());
        }
        let mut inner = self.lock();
        if taken() {
            inner.walk_waits = true;
            drop(self.done.wait(inner));
        }
    }

    pub(super) fn close(&self) {
        let mut inner = self.lock();
        (inner.closed, inner.full) = (true, false);
        self.call_helpers(inner);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    /// Wakes those who rest, if they may work, once they can have the lock.
    fn call_helpers(&self, inner: MutexGuard<'_, Inner>) {
        let worthwhile = inner.tasks.len() >= WORTH_WAKING || inner.closed;
        let call = inner.resting > 0 && !inner.full && worthwhile;
        drop(inner);
        if call {
            self.work.notify_all();
        }
    }
}

impl Inner {
    fn found(&mut self, files: usize) {
        self.ahead += files;
        self.full |= self.ahead >= AHEAD_MAX;
    }

    /// Whether helpers who rested because of the bound may go on.
    fn wanted(&mut self, files: usize) -> bool {
        self.ahead = self.ahead.saturating_sub(files);
        let room = self.full && self.ahead <= AHEAD_MAX / 2;
        self.full &= !room;
        room
    }

    fn take(&mut self) -> Option<Arc<Task>> {
        for task in &self.tasks {
            let mut state = lock(&task.state);
            if matches!(*state, State::Waiting) {
                *state = State::Taken;
                return Some(task.clone());
            }
        }
        None
    }

    fn remove(&mut self, task: &Arc<Task>) -> Option<usize> {
        let at = self.tasks.iter().position(|other| Arc::ptr_eq(other, task))?;
        self.tasks.remove(at);
        Some(at)
    }

    /// Whether there is more to do than before.
    fn replace(&mut self, task: &Arc<Task>, next: Vec<Arc<Task>>) -> bool {
        let Some(at) = self.remove(task) else { return false };
        let more = !next.is_empty();
        for (index, task) in next.into_iter().enumerate() {
            self.tasks.insert(at + index, task);
        }
        more
    }
}

impl Found {
    /// Files that were looked at for it.
    fn weight(&self) -> usize {
        match self {
            Found::Listed(listed) => listed.parts.iter().map(|part| looked_at(part)).sum(),
            Found::Looked(part) => part.seen.len(),
            Found::Nothing => 0,
        }
    }
}

fn looked_at(part: &Task) -> usize {
    match &*lock(&part.state) {
        State::Done(found) => found.weight(),
        _ => 0,
    }
}

/// A thread that died left what it held as it was: each change is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
