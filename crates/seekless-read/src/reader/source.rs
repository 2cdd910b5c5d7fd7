//! One file or stream of a reader: how it is opened, and how far it has come.

use super::archive::Stub;
use super::linear::Start;
use super::planned::Planned;
use rustix::fs::SeekFrom;
use seekless_sys::descriptor::by_descriptor;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    /// The file or stream that was handed in open.
    pub(super) given: Option<File>,
    /// Goes up when the file begins again or is given up: reads in flight then belong to an earlier
    /// life.
    pub(super) life: u32,
    pub(super) state: State,
}

#[derive(Debug)]
pub(super) enum State {
    /// Not yet looked at.
    New,
    /// Not opened, since that would recall it from an archive.
    Archived(Stub),
    /// Not to be opened, since it is too far away; its size.
    LeftOut(u64),
    /// In the order of cost.
    Planned(Box<Planned>),
    /// From the first byte to the last, when its turn comes.
    Linear(Option<Start>),
    Ended,
}

impl Source {
    pub(super) fn new(path: &Path, given: Option<File>) -> Self {
        Source { path: path.to_owned(), given, life: 0, state: State::New }
    }

    /// A descriptor of the reader's own, and the offset at which reading starts.
    pub(super) fn open(&self) -> io::Result<(File, u64)> {
        let Some(given) = &self.given else { return Ok((File::open(&self.path)?, 0)) };
        let start = rustix::fs::seek(given, SeekFrom::Current(0)).unwrap_or(0);
        let regular = given.metadata()?.is_file();
        let own = if regular { File::open(by_descriptor(given)).ok() } else { None };
        Ok((own.map_or_else(|| given.try_clone(), Ok)?, start))
    }

    /// Opens it to be read in the plain order, from where reading starts.
    pub(super) fn open_linear(&self) -> io::Result<Start> {
        let (stream, base) = self.open()?;
        rustix::fs::seek(&stream, SeekFrom::Start(base))?;
        Ok(Start { stream, offset: 0, begun: Vec::new() })
    }

    pub(super) fn planned(&self) -> Option<&Planned> {
        match &self.state {
            State::Planned(planned) => Some(planned),
            _ => None,
        }
    }

    pub(super) fn planned_mut(&mut self) -> Option<&mut Planned> {
        match &mut self.state {
            State::Planned(planned) => Some(planned),
            _ => None,
        }
    }

    /// The descriptor through which it is read, if it is open.
    pub(super) fn opened(&self) -> Option<&File> {
        self.planned()?.opened.as_ref().map(|opened| &*opened.buffered)
    }

    /// Sets the position of a file that was handed in open, as a plain reader would leave it.
    pub(super) fn leave_at(&self, offset: u64) {
        if let Some(given) = &self.given {
            let _ = rustix::fs::seek(given, SeekFrom::Start(offset)); // a stream has no position
        }
    }
}
