//! Recalls archived files in the order of [`Archive`]: opens them on threads of their own, since
//! that takes as long as the recall.

use super::Reader;
use super::archive::{Archive, Next, Stub};
use super::files::Files;
use super::kernel::Kernel;
use super::source::{Source, State};
use super::survey::Survey;
use crate::Error;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

/// The most recalls under way.
pub(super) const RECALLS_MAX: usize = 8;

/// A file whose recall has ended, by its number; it stays open until it is looked at.
#[derive(Debug)]
pub(super) struct Recalled {
    pub(super) file: usize,
    pub(super) opened: io::Result<File>,
}

/// Files to be recalled, and recalls under way.
#[derive(Debug)]
pub(super) struct Recalls {
    kernel: Arc<dyn Kernel>,
    waiting: Archive,
    under_way: usize,
    /// The one of them that has a position on a volume. A second would take the head away from it.
    on_volume: Option<usize>,
    sender: Sender<Recalled>,
    done: Receiver<Recalled>,
}

impl Recalls {
    pub(super) fn new(kernel: Arc<dyn Kernel>) -> Self {
        let (sender, done) = mpsc::channel();
        Recalls { kernel, waiting: Archive::default(), under_way: 0, on_volume: None, sender, done }
    }

    /// A file to be recalled.
    pub(super) fn push(&mut self, file: usize, stub: Stub) {
        self.waiting.push(file, stub);
    }

    /// Begins recalls until this many are under way. `path_of` says where a file is; `None` for one
    /// that need not be recalled any more.
    pub(super) fn begin(&mut self, most: usize, path_of: impl Fn(usize) -> Option<PathBuf>) {
        while self.under_way < most {
            let next = self.waiting.pop(self.on_volume.is_some());
            let Some(Next { file, on_volume }) = next else { return };
            if let Some(path) = path_of(file) {
                self.on_volume = if on_volume { Some(file) } else { self.on_volume };
                self.start(file, &path);
            }
        }
    }

    fn start(&mut self, file: usize, path: &Path) {
        let (kernel, path, sender) =
            (Arc::clone(&self.kernel), path.to_owned(), self.sender.clone());
        self.under_way += 1;
        let recall = move || {
            let _ = sender.send(Recalled { file, opened: kernel.recall(&path) }); // the reader may be gone
        };
        let thread = std::thread::Builder::new().name("seekless-recall".to_owned());
        if let Err(error) = thread.stack_size(64 << 10).spawn(recall) {
            let _ = self.sender.send(Recalled { file, opened: Err(error) }); // the receiver is ours
        }
    }

    /// A recall that has ended.
    pub(super) fn ready(&mut self) -> Option<Recalled> {
        let done = self.done.try_recv().ok()?;
        self.note_end(&done);
        Some(done)
    }

    /// The next recall that ends; `None` if none is under way.
    pub(super) fn wait(&mut self) -> Option<Recalled> {
        if self.under_way == 0 {
            return None;
        }
        let done = self.done.recv().ok()?; // the sender is ours and lives
        self.note_end(&done);
        Some(done)
    }

    fn note_end(&mut self, done: &Recalled) {
        self.under_way -= 1;
        self.on_volume = self.on_volume.filter(|&file| file != done.file);
    }
}

impl Reader {
    /// Takes in a file whose recall has ended, and under [`Reach::recall`](crate::Reach::recall)
    /// begins others. True if there was one.
    pub(super) fn take_recalled(&mut self) -> bool {
        if self.options.reach.recall {
            self.start_recalls(RECALLS_MAX);
        }
        let recalled = self.recalls.ready();
        recalled.map(|recalled| self.recalled(recalled)).is_some()
    }

    /// All else has been read: recalls the rest, one file after the other for one that may stop
    /// early. False if nothing is left.
    pub(super) fn await_recall(&mut self) -> bool {
        self.start_recalls(if self.options.overlap { RECALLS_MAX } else { 1 });
        let recalled = self.recalls.wait();
        recalled.map(|recalled| self.recalled(recalled)).is_some()
    }

    fn start_recalls(&mut self, most: usize) {
        let files = &self.files;
        self.recalls.begin(most, |file| archived(files, file).map(|source| source.path.clone()));
    }

    /// Looks at a file that was recalled.
    fn recalled(&mut self, recalled: Recalled) {
        let Recalled { file, opened } = recalled;
        let Some(source) = archived(&self.files, file) else { return };
        let survey = Survey { kernel: &*self.kernel, options: &self.options };
        // It is open, so that it is not archived again meanwhile.
        let state = opened.map_err(Error::open).and_then(|_open| survey.opened(source));
        self.enter(file, state);
    }
}

/// A file that is still to be recalled: the program may have left it out meanwhile.
fn archived(files: &Files, file: usize) -> Option<&Source> {
    files.get(file).filter(|source| matches!(source.state, State::Archived(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::kernel::Linux;
    use crate::reader::price::Price;
    use std::time::Duration;

    #[test]
    fn recalls_end_in_any_order_and_a_failed_one_says_why() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        std::fs::write(folder.path().join("0"), "here").unwrap();
        let mut recalls = Recalls::new(Arc::new(Linux::default()));
        assert!(recalls.ready().is_none() && recalls.wait().is_none());
        for file in 0..2 {
            recalls.push(file, Stub { price: Price::default(), position: None });
        }
        recalls.begin(RECALLS_MAX, |file| Some(folder.path().join(file.to_string())));
        let mut ended: Vec<_> = std::iter::from_fn(|| recalls.wait()).collect();
        ended.sort_by_key(|recalled| recalled.file);
        let opened: Vec<_> = ended.iter().map(|recalled| recalled.opened.is_ok()).collect();
        assert_eq!((opened, recalls.under_way), (vec![true, false], 0));
    }
    #[test]
    fn recalls_come_by_their_price() {
        let mut recalls = Recalls::new(Arc::new(Linux::default()));
        for (file, ns) in [(0, 900), (1, 100), (2, 900)] {
            let price = Price::of(Duration::from_nanos(ns), 1 << 20);
            recalls.push(file, Stub { price, position: None });
        }
        let nowhere = Path::new("/nowhere");
        let next = |recalls: &mut Recalls| {
            recalls.begin(1, |file| Some(nowhere.join(file.to_string())));
            recalls.wait().map(|recalled| recalled.file)
        };
        let order = std::iter::from_fn(|| next(&mut recalls));
        assert_eq!(order.collect::<Vec<_>>(), [1, 0, 2]);
    }
}
