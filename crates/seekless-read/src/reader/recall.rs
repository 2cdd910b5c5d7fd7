//! Recalls archived files: opens them on threads of their own, since that takes as long as the
//! recall.

use super::Reader;
use super::kernel::Kernel;
use super::source::{Source, State};
use super::survey::Survey;
use crate::Error;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

/// The most recalls under way.
const RECALLS_MAX: usize = 8;

/// A file whose recall has ended, by its number; it stays open until it is looked at.
#[derive(Debug)]
pub(super) struct Recalled {
    pub(super) file: usize,
    pub(super) opened: io::Result<File>,
}

/// The recalls of a reader.
#[derive(Debug)]
pub(super) struct Recalls {
    kernel: Arc<dyn Kernel>,
    under_way: usize,
    sender: Sender<Recalled>,
    done: Receiver<Recalled>,
}

impl Recalls {
    pub(super) fn new(kernel: Arc<dyn Kernel>) -> Self {
        let (sender, done) = mpsc::channel();
        Recalls { kernel, under_way: 0, sender, done }
    }

    /// Begins a recall.
    pub(super) fn start(&mut self, file: usize, path: &Path) {
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
        self.under_way -= 1;
        Some(done)
    }

    /// The next recall that ends; `None` if none is under way.
    pub(super) fn wait(&mut self) -> Option<Recalled> {
        if self.under_way == 0 {
            return None;
        }
        let done = self.done.recv().ok()?; // the sender is ours and lives
        self.under_way -= 1;
        Some(done)
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
        while self.recalls.under_way < most {
            let Some(file) = self.schedule.pop_archived() else { return };
            if let Some(source) = self.archived(file) {
                let path = source.path.clone();
                self.recalls.start(file, &path);
            }
        }
    }

    /// Looks at a file that was recalled.
    fn recalled(&mut self, recalled: Recalled) {
        let Recalled { file, opened } = recalled;
        let Some(source) = self.archived(file) else { return };
        let survey = Survey { kernel: &*self.kernel, options: &self.options };
        // It is open, so that it is not archived again meanwhile.
        let state = opened.map_err(Error::open).and_then(|_open| survey.opened(source));
        self.enter(file, state);
    }

    /// A file that is still to be recalled: the program may have left it out meanwhile.
    fn archived(&self, file: usize) -> Option<&Source> {
        self.files.get(file).filter(|source| matches!(source.state, State::Archived(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::kernel::Linux;

    #[test]
    fn recalls_end_in_any_order_and_a_failed_one_says_why() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        std::fs::write(folder.path().join("0"), "here").unwrap();
        let mut recalls = Recalls::new(Arc::new(Linux::default()));
        assert!(recalls.ready().is_none() && recalls.wait().is_none());
        for file in 0..2 {
            recalls.start(file, &folder.path().join(file.to_string()));
        }
        let mut ended: Vec<_> = std::iter::from_fn(|| recalls.wait()).collect();
        ended.sort_by_key(|recalled| recalled.file);
        let opened: Vec<_> = ended.iter().map(|recalled| recalled.opened.is_ok()).collect();
        assert_eq!((opened, recalls.under_way), (vec![true, false], 0));
    }
}
