//! Opens and reads the next files of a list before the program asks for them, on a thread of its
//! own: opening a file waits for the device too.

use super::shared::Shared;
use super::source::Source;
use super::state::pages;
use crate::lock;
use seekless_policy::cache::paged::Limits;
use seekless_policy::readahead::{Handle, Lead, NextFiles, Options};
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// At most this many files are opened before their reads are handed to the engine together: handing
/// over a read takes longer than opening a file that the kernel knows.
const BATCH_FILES: usize = 8;

/// A program that opens a file before its turn is followed over at most this many files.
const FOLLOWED_FILES: usize = 1024;

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
    /// How many files the list has.
    files: usize,
    /// Not yet opened, in their order: the last ones of the list.
    next: VecDeque<PathBuf>,
    /// Open, in their order.
    open: VecDeque<Announced>,
    /// Which file of the list is opened next, and when.
    rule: NextFiles,
    /// The list that these belong to.
    list: u64,
    closing: bool,
}

/// A file that was opened ahead, and how many of its pages to read now.
struct Opened {
    file: Announced,
    pages: u32,
}

/// Starts to read the first pages of files.
fn fetch(shared: &Shared, files: &[Opened]) {
    let mut starts = Vec::new();
    let mut state = lock(&shared.state);
    for Opened { file, pages } in files {
        if *pages > 0 {
            state.will_need(file.handle, 0..u64::from(*pages), &mut starts);
        }
    }
    shared.go(state, starts);
}

impl Ahead {
    /// The next file to open, and its place in the list.
    fn next(&mut self, limits: Limits) -> Option<(usize, PathBuf)> {
        let place = self.rule.next(limits.costs, limits.budget)?;
        Some((place, self.next.pop_front()?))
    }

    /// The program opens a file that is not open yet. Those before it were skipped, or the program
    /// has opened them itself: none of them is opened ahead any more.
    fn pass(&mut self, path: &Path) {
        let mut near = self.next.iter().take(FOLLOWED_FILES);
        if let Some(passed) = near.position(|next| next.as_os_str() == path.as_os_str()) {
            let place = self.files - self.next.len() + passed;
            self.next.drain(..=passed);
            self.rule.on_open(place);
        }
    }
}

impl Default for Ahead {
    fn default() -> Self {
        let rule = NextFiles::new(0, WHOLE);
        let (next, open) = (VecDeque::new(), VecDeque::new());
        Self { files: 0, next, open, rule, list: 0, closing: false }
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
        ahead.files = paths.len();
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
        let found = ahead.open.iter().position(|open| open.path.as_os_str() == path.as_os_str());
        let Some(place) = found else {
            ahead.pass(path);
            return None;
        };
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
        let (mut batch, mut batch_list) = (Vec::new(), 0);
        loop {
            // The lock of the state is never taken while the one of the list is held.
            let limits = lock(&shared.state).cache.limits();
            let mut ahead = lock(&self.ahead);
            if ahead.closing {
                return;
            }
            // The fewer files the program finds open, the sooner it needs the next.
            let is_full = batch.len() > ahead.open.len().min(BATCH_FILES - 1);
            let is_old = batch_list != ahead.list;
            let next = if is_full || is_old { None } else { ahead.next(limits) };
            let Some((place, path)) = next else {
                if batch.is_empty() && !is_old {
                    drop(self.changed.wait(ahead).unwrap_or_else(PoisonError::into_inner));
                    continue;
                }
                batch_list = ahead.list;
                drop(ahead);
                let ended = std::mem::take(&mut batch);
                if !is_old {
                    self.put(shared, ended, batch_list);
                }
                continue;
            };
            drop(ahead);
            // A file that cannot be opened is left for the program to find out.
            let file = Announced::open(shared, path, place).ok();
            let mut ahead = lock(&self.ahead);
            // The program may have passed it meanwhile.
            let is_next = ahead.rule.next(limits.costs, limits.budget) == Some(place);
            if ahead.list != batch_list || !is_next {
                continue;
            }
            let pages = file.as_ref().map_or(0, |file| file.pages);
            let window = ahead.rule.fetch(pages, limits.budget);
            drop(ahead);
            let pages = window.map_or(0, |window| window.pages);
            batch.extend(file.map(|file| Opened { file, pages }));
        }
    }

    /// Files of a list are open: reads them, and lets the program find them.
    fn put(&self, shared: &Shared, batch: Vec<Opened>, list: u64) {
        fetch(shared, &batch);
        let mut ahead = lock(&self.ahead);
        if ahead.list == list {
            ahead.open.extend(batch.into_iter().map(|opened| opened.file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_device::Costs;

    #[test]
    fn a_program_that_opens_a_file_before_its_turn_is_followed() {
        let paths: Vec<PathBuf> = ["a", "b", "c", "d"].map(PathBuf::from).into();
        let rule = NextFiles::new(4, WHOLE);
        let mut ahead = Ahead { files: 4, next: paths.into(), rule, ..Ahead::default() };
        let limits = Limits::pages(1000, Costs::ASSUMED);
        assert_eq!(ahead.next(limits), Some((0, PathBuf::from("a"))));
        ahead.rule.fetch(10, limits.budget);
        ahead.pass(Path::new("absent"));
        ahead.pass(Path::new("c"));
        assert_eq!(ahead.next(limits), Some((3, PathBuf::from("d"))));
        assert_eq!(ahead.next(limits), None);
    }
}
