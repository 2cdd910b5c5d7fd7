//! The tasks that are to come, in the order in which the walk will want them, and those who wait for one.

use super::{Found, State, Task};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Files that may have been looked at before the walk comes to them: a bound on memory, and on how far what was seen may be behind.
const AHEAD_MAX: usize = 8 << 10;

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
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    /// Tasks that wait or are being performed.
    tasks: VecDeque<Arc<Task>>,
    /// Files in what was found and not yet wanted.
    ahead: usize,
    helpers: usize,
    sleepers: usize,
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
        self.wake(&inner);
    }

    /// The walk wants this task: takes it up, or what it found. With `only_found`, a task that nobody has begun is dropped.
    pub(super) fn claim(&self, task: &Arc<Task>, only_found: bool) -> Claim {
        let mut inner = self.lock();
        let mut state = lock(&task.state);
        match std::mem::replace(&mut *state, State::Gone) {
            State::Done(found) => {
                if let Found::Looked(part) = &found {
                    inner.wanted(part.seen.len());
                    self.wake(&inner);
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
            State::Done(Found::Looked(part)) => inner.wanted(part.seen.len()),
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
        inner.replace(task, next);
        self.wake(&inner);
    }

    /// The same of a task whose result the walk will want later.
    pub(super) fn finish(&self, task: &Arc<Task>, found: Found, next: Vec<Arc<Task>>) {
        let mut inner = self.lock();
        let mut state = lock(&task.state);
        match *state {
            State::Gone => {
                inner.remove(task);
            }
            _ => {
                inner.ahead += found.weight();
                *state = State::Done(found);
                inner.replace(task, next);
            }
        }
        self.wake(&inner);
    }

    /// The first task that nobody has begun, if there is one.
    pub(super) fn next_now(&self) -> Option<Arc<Task>> {
        self.lock().take(2 * AHEAD_MAX)
    }

    /// The same, waiting for one; `None` when the walk is over.
    pub(super) fn next(&self) -> Option<Arc<Task>> {
        let mut inner = self.lock();
        loop {
            if inner.closed {
                return None;
            }
            if let Some(task) = inner.take(AHEAD_MAX) {
                return Some(task);
            }
            inner = self.sleep(inner);
        }
    }

    /// Waits until something has changed, if somebody is at this task.
    pub(super) fn wait_for(&self, task: &Task) {
        let inner = self.lock();
        let taken = matches!(*lock(&task.state), State::Taken);
        if taken {
            drop(self.sleep(inner));
        }
    }

    pub(super) fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        self.wake(&inner);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        lock(&self.inner)
    }

    fn sleep<'a>(&self, mut inner: MutexGuard<'a, Inner>) -> MutexGuard<'a, Inner> {
        inner.sleepers += 1;
        let mut inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        inner.sleepers -= 1;
        inner
    }

    fn wake(&self, inner: &Inner) {
        if inner.sleepers > 0 {
            self.changed.notify_all();
        }
    }
}

impl Inner {
    fn wanted(&mut self, files: usize) {
        self.ahead = self.ahead.saturating_sub(files);
    }

    fn take(&mut self, ahead_max: usize) -> Option<Arc<Task>> {
        if self.ahead >= ahead_max {
            return None;
        }
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

    fn replace(&mut self, task: &Arc<Task>, next: Vec<Arc<Task>>) {
        let Some(at) = self.remove(task) else { return };
        for (index, task) in next.into_iter().enumerate() {
            self.tasks.insert(at + index, task);
        }
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
