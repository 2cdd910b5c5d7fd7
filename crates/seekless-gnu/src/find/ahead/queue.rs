//! The queue of tasks, in the order in which the walk needs them, and the threads that wait on it.

use super::{Found, State, Task, Waste};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The most files that are looked at ahead of the walk. It bounds memory, and how old the results
/// can be.
const AHEAD_MAX: usize = 8 << 10;

/// The most pieces of waste that wait for a helper; beyond it, the walk frees them itself.
const WASTE_MAX: usize = 4 << 10;
/// How often the walk polls a task before it sleeps: some tens of microseconds in all.
const LOOKS_BEFORE_SLEEP: u32 = 32;
const PAUSES_BETWEEN_LOOKS: u32 = 32;

/// With fewer tasks than this, the walk has done them before a helper is awake.
const WORTH_WAKING: usize = 3;

/// The result of an attempt to claim a task.
pub(super) enum Claim {
    Mine,
    Done(Found),
    /// Another thread is working on it.
    Elsewhere,
    Gone,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    inner: Mutex<Inner>,
    /// Signals helpers that there is work.
    work: Condvar,
    /// Signals the walk that a task is done.
    done: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    /// Tasks that are waiting or being performed.
    tasks: VecDeque<Arc<Task>>,
    /// The number of files that were looked at and that the walk has not used yet.
    ahead: usize,
    /// The bound was reached. Helpers rest until the walk has used half of it, since waking a
    /// thread costs more than looking at a file.
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

    /// Claims a task, or takes its result. With `only_found`, a task that no thread has started is
    /// dropped instead.
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

    /// Drops a task that the walk will not need.
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

    /// Replaces a task that the walk performed itself by the tasks that come from it.
    pub(super) fn replace(&self, task: &Arc<Task>, next: Vec<Arc<Task>>) {
        let mut inner = self.lock();
        *lock(&task.state) = State::Gone;
        if inner.replace(task, next) {
            self.call_helpers(inner);
        }
    }

    /// As [`Queue::replace`], for a task whose result the walk will take later, unless it has
    /// skipped the task.
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

    /// Claims the first task that no thread has started, if there is one.
    pub(super) fn next_now(&self) -> Option<Arc<Task>> {
        let mut inner = self.lock();
        if inner.ahead >= 2 * AHEAD_MAX { None } else { inner.take() }
    }

    /// Hands waste to a helper. If too much is waiting already, the walk frees it itself.
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

    /// As [`Queue::next_now`], for a helper, which rests until there is a task. Returns `None` when
    /// the walk is over.
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

    /// Waits for a change if a thread is working on this task. It polls first, since most tasks end
    /// sooner than a thread falls asleep and wakes.
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

    /// Wakes resting helpers if there is work for them. It releases the lock first.
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

    /// Counts files that the walk has used. Returns whether helpers that rested because of the
    /// bound may continue.
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

    /// Replaces a task by others. Returns whether there is more to do than before.
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
    /// The number of files that were looked at for it.
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

/// Ignores poisoning: each change under the lock is complete, even if the thread panics later.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
