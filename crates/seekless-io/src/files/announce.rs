//! Opens and reads the next files of a list before the program asks for them, on a thread of its
//! own: opening a file waits for the device too.

use super::shared::Shared;
use super::source::Source;
use super::state::pages;
use crate::lock;
use seekless_policy::readahead::{Handle, Lead, NextFiles, Options};
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Announced files are read whole: no window is too large, if there is room.
const WHOLE: Options = Options { max_pages: u32::MAX, lead: Lead::Auto };

/// A file that is open ahead of the program, and held open by a handle of its own.
pub(super) struct Announced {
    path: PathBuf,
    /// Its place in the list.
    place: usize,
    source: Arc<Source>,
    handle: Handle,
    pages: u64,
    shared: Arc<Shared>,
}

impl Announced {
    fn open(shared: &Arc<Shared>, path: PathBuf, place: usize) -> io::Result<Self> {
        let source = Arc::new(Source::open(&path, shared.direct)?);
        let version = source.version()?;
        let pages = pages(version.bytes);
        let (handle, source) = lock(&shared.state).open(source, version);
        Ok(Self { path, place, source, handle, pages, shared: Arc::clone(shared) })
    }

    /// Starts to read its first pages.
    fn fetch(&self, pages: u64) {
        let mut starts = Vec::new();
        let mut state = lock(&self.shared.state);
        state.will_need(self.handle, 0..pages, &mut starts);
        state.take_off(&starts);
        drop(state);
        self.shared.start(starts);
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

struct Ahead {
    /// Not yet opened, in their order.
    next: VecDeque<PathBuf>,
    /// Open, in their order.
    open: VecDeque<Announced>,
    /// Which file of the list is opened next, and when.
    rule: NextFiles,
    /// The list that these belong to.
    list: u64,
    closing: bool,
}

impl Default for Ahead {
    fn default() -> Self {
        let rule = NextFiles::new(0, WHOLE);
        Self { next: VecDeque::new(), open: VecDeque::new(), rule, list: 0, closing: false }
    }
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
        ahead.rule = NextFiles::new(paths.len(), WHOLE);
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
        if let Some(found) = &found {
            ahead.rule.on_open(found.place);
        }
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
        loop {
            // The lock of the state is never taken while the one of the list is held.
            let limits = lock(&shared.state).cache.limits();
            let mut ahead = lock(&self.ahead);
            if ahead.closing {
                return;
            }
            let place = ahead.rule.next(limits.costs, limits.budget);
            let next = place.and_then(|place| Some((place, ahead.next.pop_front()?)));
            let Some((place, path)) = next else {
                drop(self.changed.wait(ahead).unwrap_or_else(PoisonError::into_inner));
                continue;
            };
            let list = ahead.list;
            drop(ahead);
            // A file that cannot be opened is left for the program to find out.
            let opened = Announced::open(shared, path, place).ok();
            let mut ahead = lock(&self.ahead);
            if ahead.list != list {
                continue;
            }
            let pages = opened.as_ref().map_or(0, |opened| opened.pages);
            let window = ahead.rule.fetch(pages, limits.budget);
            drop(ahead);
            let Some(opened) = opened else { continue };
            if let Some(window) = window {
                opened.fetch(window.pages.into());
            }
            let mut ahead = lock(&self.ahead);
            if ahead.list == list {
                ahead.open.push_back(opened);
            }
        }
    }
}
