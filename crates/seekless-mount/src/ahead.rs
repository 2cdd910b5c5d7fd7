//! Brings the files that recorded runs load into the kernel's page cache, before the program asks
//! for them: they are read in a few large requests and decoded while the program does its own work,
//! and the program finds their names and contents in the kernel's memory.
//!
//! The thread that does so stays at most [`AHEAD_BYTES`] ahead of what the program has opened of
//! the list. So a program that does something else costs no more than that, and one that starts
//! late finds the beginning.

use crate::lock;
use crate::tree::{Kind, Tree, inode};
use fuser::Notifier;
use rustix::fs::{AtFlags, CWD, statat};
use seekless_io::Store;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// So far ahead of the last file of the list that the program has opened.
const AHEAD_BYTES: u64 = 64 << 20;

/// So far before it has opened any: it may be another program.
const UNPROVEN_BYTES: u64 = 32 << 20;

/// Content is handed to the kernel in pieces of this, so that the program waits for no more.
const PIECE_BYTES: usize = 1 << 20;

/// A file of which the kernel asks for all at once, when it is first read.
const ONE_READ_BYTES: u64 = 128 << 10;

/// How long to wait for the program to open more of the list, where the mount cannot end before.
const PATIENCE: Duration = Duration::from_secs(2);

/// The files to bring in, in the order of first need, and how far the program is.
pub(crate) struct Expected {
    files: Vec<File>,
    /// Places in `files`, by the number of the node.
    places: HashMap<usize, usize>,
    progress: Mutex<Progress>,
    changed: Condvar,
}

struct File {
    number: usize,
    name: String,
    bytes: u64,
    /// Bytes of the list up to here, this file included.
    end: u64,
}

#[derive(Default)]
struct Progress {
    /// By place: the program has opened it.
    opened: Vec<bool>,
    /// The end of the last file of the list that was opened.
    reached: u64,
    stop: bool,
}

impl Expected {
    /// The first of the usual files that hold `budget` bytes together. Those over `whole_bytes` are
    /// not among them.
    pub(crate) fn new(store: &Store, tree: &Tree, budget: u64, whole_bytes: u64) -> Self {
        let (mut files, mut places, mut end) = (Vec::new(), HashMap::new(), 0);
        let usual = if budget > 0 { store.usual() } else { Vec::new() };
        for name in usual {
            let Some(number) = tree.find(name) else { continue };
            let Some(Kind::File { bytes, .. }) = tree.get(number).map(|node| &node.kind) else {
                continue;
            };
            // Of a larger file parts are read.
            if !(1..=whole_bytes).contains(bytes) || places.contains_key(&number) {
                continue;
            }
            if end + bytes > budget {
                break;
            }
            end += bytes;
            places.insert(number, files.len());
            files.push(File { number, name: name.to_owned(), bytes: *bytes, end });
        }
        let progress = Progress { opened: vec![false; files.len()], ..Progress::default() };
        Self { files, places, progress: Mutex::new(progress), changed: Condvar::new() }
    }

    /// The program opens the file of this node.
    pub(crate) fn opened(&self, number: usize) {
        let Some(&place) = self.places.get(&number) else { return };
        let mut progress = lock(&self.progress);
        progress.opened[place] = true;
        if self.files[place].end > progress.reached {
            progress.reached = self.files[place].end;
            self.changed.notify_one();
        }
    }

    fn stop(&self) {
        lock(&self.progress).stop = true;
        self.changed.notify_one();
    }

    /// Waits until more may be brought in, if that may ever be.
    fn may_go_on(&self, brought: u64, patience: Option<Duration>) -> bool {
        let progress = lock(&self.progress);
        let waits =
            |progress: &mut Progress| !progress.stop && brought >= allowed(progress.reached);
        let progress = match patience {
            None => {
                let waited = self.changed.wait_while(progress, waits);
                waited.unwrap_or_else(PoisonError::into_inner)
            }
            Some(patience) => {
                let waited = self.changed.wait_timeout_while(progress, patience, waits);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        !progress.stop && brought < allowed(progress.reached)
    }

    /// Whether the kernel has asked for all of the file itself, or is about to.
    fn is_read(&self, place: usize) -> bool {
        self.files[place].bytes <= ONE_READ_BYTES && lock(&self.progress).opened[place]
    }
}

/// Bytes of the list that may be brought in while the program has reached this one.
fn allowed(reached: u64) -> u64 {
    match reached {
        0 => UNPROVEN_BYTES,
        reached => reached + AHEAD_BYTES,
    }
}

/// Where the files are found, to make the kernel know them.
pub(crate) enum Root {
    /// By its path: so nothing keeps others from unmounting it.
    Path(PathBuf),
    /// A folder that has no path for this process.
    Held(OwnedFd),
}

impl Root {
    /// Has the kernel look up a file; false if it finds another.
    fn look_up(&self, file: &File) -> bool {
        // As the tree takes names: one that begins with a slash lies in the folder all the same.
        let name: PathBuf = file.name.split('/').filter(|part| !part.is_empty()).collect();
        let found = match self {
            Self::Path(folder) => statat(CWD, folder.join(name), AtFlags::SYMLINK_NOFOLLOW),
            Self::Held(folder) => statat(folder, name, AtFlags::SYMLINK_NOFOLLOW),
        };
        found.is_ok_and(|found| found.st_ino == inode(file.number).0)
    }
}

/// The thread that brings them in. It ends when this is dropped.
pub(crate) struct Ahead {
    expected: Arc<Expected>,
    thread: Option<JoinHandle<()>>,
}

impl Ahead {
    /// Begins, if there is anything to bring in.
    pub(crate) fn begin(
        expected: Arc<Expected>,
        store: Store,
        notifier: Notifier,
        root: Root,
    ) -> io::Result<Self> {
        let is_empty = expected.files.is_empty();
        let bring = {
            let expected = expected.clone();
            move || bring(&expected, &store, &notifier, &root)
        };
        let thread = match is_empty {
            true => None,
            false => Some(Builder::new().name("seekless-ahead".to_owned()).spawn(bring)?),
        };
        Ok(Self { expected, thread })
    }
}

impl fmt::Debug for Ahead {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Ahead")
            .field("files", &self.expected.files.len())
            .field("thread", &self.thread)
            .finish_non_exhaustive()
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.expected.stop();
        if let Some(thread) = self.thread.take() {
            // It has nothing to report.
            let _ = thread.join();
        }
    }
}

/// A file that cannot be read is left to the program, which gets the error.
fn bring(expected: &Expected, store: &Store, notifier: &Notifier, root: &Root) {
    let patience = matches!(root, Root::Held(_)).then_some(PATIENCE);
    let mut loads = store.load_many(expected.files.iter().map(|file| file.name.as_str()));
    let mut brought = 0;
    while expected.may_go_on(brought, patience)
        && let Some((place, content)) = loads.next()
    {
        let file = &expected.files[place];
        brought += file.bytes;
        let Ok(content) = content else { continue };
        if expected.is_read(place) || !root.look_up(file) {
            continue;
        }
        hand_over(notifier, file.number, &content);
    }
}

/// Gives the kernel the content of a file. It may have forgotten the file, or not be there.
fn hand_over(notifier: &Notifier, number: usize, content: &[u8]) {
    for (piece, offset) in content.chunks(PIECE_BYTES).zip((0..).step_by(PIECE_BYTES)) {
        if notifier.store(inode(number), offset, piece).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of this many MiB, in this order; a node's number is its place plus 10.
    fn expected(mib: &[u64]) -> Expected {
        let mut end = 0;
        let file = |(place, mib): (usize, &u64)| {
            let bytes = mib << 20;
            end += bytes;
            File { number: place + 10, name: format!("{place}"), bytes, end }
        };
        let files: Vec<File> = mib.iter().enumerate().map(file).collect();
        let places = (0..files.len()).map(|place| (place + 10, place)).collect();
        let progress = Progress { opened: vec![false; files.len()], ..Progress::default() };
        Expected { files, places, progress: Mutex::new(progress), changed: Condvar::new() }
    }

    fn may_go_on(expected: &Expected, brought_mib: u64) -> bool {
        expected.may_go_on(brought_mib << 20, Some(Duration::ZERO))
    }

    #[test]
    fn it_stays_a_bounded_way_ahead_of_what_is_opened() {
        let expected = expected(&[10, 20, 30, 40, 50]);
        assert!(may_go_on(&expected, 31) && !may_go_on(&expected, 32), "nothing is opened");
        expected.opened(3); // no file of the list
        assert!(!may_go_on(&expected, 32));
        expected.opened(10);
        assert!(may_go_on(&expected, 10 + 63) && !may_go_on(&expected, 10 + 64));
        expected.opened(12);
        expected.opened(11); // late, and no step back
        assert!(may_go_on(&expected, 60 + 63) && !may_go_on(&expected, 60 + 64));
    }

    #[test]
    fn who_waits_goes_on_when_more_is_opened_and_ends_when_told() {
        let expected = expected(&[40, 40, 40]);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| expected.may_go_on(80 << 20, None));
            expected.opened(10);
            assert!(waits.join().unwrap());
            let waits = scope.spawn(|| expected.may_go_on(120 << 20, None));
            expected.stop();
            assert!(!waits.join().unwrap());
        });
        assert!(!may_go_on(&expected, 0), "it stays stopped");
    }

    #[test]
    fn a_small_file_that_was_opened_is_left_to_the_kernel() {
        let mut expected = expected(&[1, 1]);
        expected.files[1].bytes = ONE_READ_BYTES;
        assert!(!expected.is_read(0) && !expected.is_read(1));
        expected.opened(10);
        expected.opened(11);
        assert!(!expected.is_read(0) && expected.is_read(1));
    }
}
