//! Opens and reads the next files of a list before the program asks for them, on a thread of its
//! own: opening a file waits for the device too.

use super::shared::Shared;
use super::source::Source;
use super::state::pages;
use crate::lock;
use seekless_policy::readahead::Handle;
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Files that may be open ahead of the program.
const FILES_MAX: usize = 64;

/// A file that is open ahead of the program, and held open by a handle of its own.
pub(super) struct Announced {
    path: PathBuf,
    source: Arc<Source>,
    handle: Handle,
    pages: u64,
    shared: Arc<Shared>,
}

impl Announced {
    /// Opens the file and starts to read it.
    fn open(shared: &Arc<Shared>, path: PathBuf) -> io::Result<Self> {
        let source = Arc::new(Source::open(&path, shared.direct)?);
        let version = source.version()?;
        let pages = pages(version.bytes);
        let mut starts = Vec::new();
        let mut state = lock(&shared.state);
        let (handle, source) = state.open(source, version);
        state.will_need(handle, 0..pages, &mut starts);
        state.take_off(&starts);
        drop(state);
        shared.start(starts);
        Ok(Self { path, source, handle, pages, shared: Arc::clone(shared) })
    }

    pub(super) fn source(&self) -> Arc<Source> {
        Arc::clone(&self.source)
    }

    /// Whether its name still is this file's.
    fn is_true(&self) -> bool {
        Source::names(&self.path, self.source.key())
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        lock(&self.shared.state).close(self.handle);
    }
}

#[derive(Default)]
struct Ahead {
    /// Not yet opened, in their order.
    next: VecDeque<PathBuf>,
    /// Open, in their order.
    open: VecDeque<Announced>,
    /// The list that these belong to.
    list: u64,
    closing: bool,
}

#[derive(Default)]
struct Desk {
    ahead: Mutex<Ahead>,
    changed: Condvar,
}

/// The thread, and what it shares with those who announce and open.
pub(super) struct Announcer {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
}

impl Announcer {
    pub(super) fn start(shared: Arc<Shared>) -> io::Result<Self> {
        let desk = Arc::new(Desk::default());
        let own = Arc::clone(&desk);
        let thread =
            Builder::new().name("seekless-next".to_owned()).spawn(move || own.run(&shared))?;
        Ok(Self { desk, thread: Some(thread) })
    }

    pub(super) fn announce(&self, paths: VecDeque<PathBuf>) {
        let mut ahead = lock(&self.desk.ahead);
        ahead.next = paths;
        ahead.list += 1;
        let old = std::mem::take(&mut ahead.open);
        drop(ahead);
        self.desk.changed.notify_all();
        drop(old);
    }

    /// The file of this name, if it is open ahead. Those before it were skipped: the program is
    /// not expected to open them any more.
    pub(super) fn take(&self, path: &Path) -> Option<Announced> {
        let mut ahead = lock(&self.desk.ahead);
        let place = ahead.open.iter().position(|open| open.path == path)?;
        let skipped: Vec<Announced> = ahead.open.drain(..place).collect();
        let found = ahead.open.pop_front();
        drop(ahead);
        self.desk.changed.notify_all();
        drop(skipped);
        found.filter(Announced::is_true)
    }
}

impl Drop for Announcer {
    fn drop(&mut self) {
        lock(&self.desk.ahead).closing = true;
        self.desk.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        lock(&self.desk.ahead).open.clear();
    }
}

impl Desk {
    fn run(&self, shared: &Arc<Shared>) {
        let pages_max = u64::from(lock(&shared.state).cache.limits().budget) / 2;
        let mut ahead = lock(&self.ahead);
        loop {
            let has_room = ahead.open.len() < FILES_MAX
                && (ahead.open.is_empty()
                    || ahead.open.iter().map(|open| open.pages).sum::<u64>() < pages_max);
            let next = if has_room { ahead.next.pop_front() } else { None };
            if ahead.closing {
                return;
            }
            let Some(path) = next else {
                ahead = self.changed.wait(ahead).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let list = ahead.list;
            drop(ahead);
            // A file that cannot be opened is left for the program to find out.
            let opened = Announced::open(shared, path).ok();
            ahead = lock(&self.ahead);
            if ahead.list == list {
                ahead.open.extend(opened);
            } else {
                // Closing it takes the lock of the state, never before this one is released.
                drop(ahead);
                drop(opened);
                ahead = lock(&self.ahead);
            }
        }
    }
}
