//! Many loads at once: runs ahead of its consumer by a window of files, half of it planned at a
//! time so that neighbours in the archive become one read.

use crate::reply::{Answer, Reply, next_owner};
use crate::state::{Asked, Waiter};
use crate::{Buffer, Result, Store};
use seekless_policy::eviction::Id;
use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender};

/// Files in the window, however small they are.
const WINDOW_FILES_MAX: u64 = 8192;

/// The iterator of [`Store::load_many`]: `(position in the list, result)`, in the order of arrival.
/// Dropping it early cancels what is not yet being read.
pub struct LoadMany {
    store: Store,
    owner: u64,
    names: Vec<String>,
    /// When each was asked for, if the store is recorded.
    began: Vec<Option<u64>>,
    /// Names before this position have been asked for.
    next: usize,
    yielded: usize,
    ahead: Ahead,
    ready: VecDeque<Answer>,
    sender: Sender<Answer>,
    receiver: Receiver<Answer>,
}

/// What has been asked for and not yet been yielded.
#[derive(Default)]
struct Ahead {
    files: u64,
    bytes: u128,
}

impl Ahead {
    fn has_room(&self, window_bytes: u64) -> bool {
        self.files < WINDOW_FILES_MAX && self.bytes < u128::from(window_bytes)
    }
}

impl Store {
    /// Loads many files: yields each name's position and result in the order in which they arrive.
    /// Reading runs ahead of the consumer by at most the window, so a consumer that stops stops the
    /// reading.
    pub fn load_many(&self, names: impl IntoIterator<Item = impl Into<String>>) -> LoadMany {
        LoadMany::new(self.clone(), names.into_iter().map(Into::into).collect())
    }
}

impl LoadMany {
    fn new(store: Store, names: Vec<String>) -> Self {
        let (sender, receiver) = mpsc::channel();
        let owner = next_owner();
        let ahead = Ahead::default();
        Self {
            store,
            owner,
            began: vec![None; names.len()],
            names,
            next: 0,
            yielded: 0,
            ahead,
            ready: VecDeque::new(),
            sender,
            receiver,
        }
    }

    /// Fills the window again once half of it has been used.
    fn refill(&mut self) {
        let window = self.store.shared().window_bytes();
        let half = Ahead { files: self.ahead.files * 2, bytes: self.ahead.bytes * 2 };
        if self.next == self.names.len() || !half.has_room(window) {
            return;
        }
        let mut fetch = Vec::new();
        // At least one, so that a file larger than the window is loaded too.
        while self.next < self.names.len() && (self.ahead.files == 0 || self.ahead.has_room(window))
        {
            self.ask(&mut fetch);
        }
        self.store.shared().fetch(fetch);
    }

    /// Asks for the next name.
    fn ask(&mut self, fetch: &mut Vec<Id>) {
        let position = self.next;
        self.next += 1;
        self.ahead.files += 1;
        let id = match self.store.find_loadable(&self.names[position]) {
            Ok(id) => id,
            Err(error) => return self.ready.push_back((position, Err(error))),
        };
        let shared = self.store.shared();
        self.began[position] = shared.recorder.begin();
        self.ahead.bytes += shared.sources.memory_bytes(id);
        if let Some(buffer) = shared.hit(id) {
            return self.ready.push_back((position, Ok(buffer)));
        }
        let reply = Reply::Channel(self.sender.clone());
        let waiter = Waiter { owner: self.owner, began: None, position, reply };
        match shared.request(id, waiter) {
            Asked::Ready(buffer) => self.ready.push_back((position, Ok(buffer))),
            Asked::Joined => {}
            Asked::Fetch => fetch.push(id),
        }
    }

    fn yielded(&mut self, answer: Answer) -> Answer {
        self.yielded += 1;
        self.ahead.files -= 1;
        if let Ok(id) = self.store.find_loadable(&self.names[answer.0]) {
            let shared = self.store.shared();
            self.ahead.bytes -= shared.sources.memory_bytes(id);
            let began = self.began[answer.0];
            return (answer.0, answer.1.map(|buffer| shared.recorder.loaded(began, id, buffer)));
        }
        answer
    }
}

impl Iterator for LoadMany {
    type Item = (usize, Result<Buffer>);

    fn next(&mut self) -> Option<Self::Item> {
        self.refill();
        if self.ahead.files == 0 {
            return None;
        }
        let answer = match self.ready.pop_front() {
            Some(answer) => answer,
            // Cannot fail while this holds a sender.
            None => self.receiver.recv().ok()?,
        };
        Some(self.yielded(answer))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.names.len() - self.yielded;
        (left, Some(left))
    }
}

impl ExactSizeIterator for LoadMany {}

impl Drop for LoadMany {
    fn drop(&mut self) {
        self.store.shared().cancel(self.owner);
    }
}
