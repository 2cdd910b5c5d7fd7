//! Where the result of a load goes: to a thread, or to a task.

use crate::{Buffer, Result, lock};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::task::Waker;

/// Where a load's result goes: its position in the caller's list, and the bytes.
pub(crate) type Answer = (usize, Result<Buffer>);

/// A number for an iterator or a future; 0 is for loads that a thread waits for.
pub(crate) fn next_owner() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Where a result goes.
pub(crate) enum Reply {
    /// To a thread, with its position in the caller's list.
    Channel(Sender<Answer>),
    Task(Promise),
}

impl Reply {
    pub(crate) fn answer(self, position: usize, result: Result<Buffer>) {
        match self {
            // The receiver may be gone, which is no error: a `load_many` was dropped early.
            Self::Channel(sender) => drop(sender.send((position, result))),
            Self::Task(promise) => promise.0.put(Some(result)),
        }
    }
}

/// The duty to answer a task. If it is dropped, the task learns that there will be no answer.
pub(crate) struct Promise(pub(crate) Arc<Place>);

impl Drop for Promise {
    fn drop(&mut self) {
        self.0.put(None);
    }
}

/// Where the result of one load lies, or who is to be woken for it.
#[derive(Default)]
pub(crate) struct Place(Mutex<Content>);

enum Content {
    Waiting(Option<Waker>),
    /// `None` if there will be no answer.
    Here(Option<Result<Buffer>>),
}

impl Default for Content {
    fn default() -> Self {
        Self::Waiting(None)
    }
}

impl Place {
    /// Whether the result is still to come; then `waker` will be woken for it.
    pub(crate) fn is_pending(&self, waker: &Waker) -> bool {
        match &mut *lock(&self.0) {
            Content::Here(_) => false,
            Content::Waiting(Some(known)) if known.will_wake(waker) => true,
            Content::Waiting(known) => {
                *known = Some(waker.clone());
                true
            }
        }
    }

    pub(crate) fn take(&self) -> Option<Result<Buffer>> {
        match &mut *lock(&self.0) {
            Content::Here(result) => result.take(),
            Content::Waiting(_) => None,
        }
    }

    /// The first result counts. The task is woken without the lock, since it may run at once.
    fn put(&self, result: Option<Result<Buffer>>) {
        let waker = {
            let content = &mut *lock(&self.0);
            match content {
                Content::Here(_) => return,
                Content::Waiting(waker) => {
                    let waker = waker.take();
                    *content = Content::Here(result);
                    waker
                }
            }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
