//! The files of a reader, numbered in the order in which they were added.
//!
//! Those at the front that have ended are forgotten, so that a program may add files without end.
//! Those that were opened longest ago are closed when too many are open.

use super::opened::{Opened, Stamp};
use super::planned::Planned;
use super::source::{Source, State};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::{Index, IndexMut};

/// The most files held open, beside those being read.
const OPEN_MAX: usize = 128;

#[derive(Debug, Default)]
pub(super) struct Files {
    /// The number of the first file that is remembered.
    first: usize,
    sources: VecDeque<Source>,
    /// The number of the first file that was not looked at.
    surveyed: usize,
    /// The open files; the one opened longest ago comes first.
    open: VecDeque<usize>,
}

/// Why a file that had to be closed cannot be read on.
#[derive(Debug)]
pub(super) enum Gone {
    /// It is another file, or was cut short.
    Changed,
    Failed(io::Error),
}

impl Files {
    /// Adds a file; returns its number.
    pub(super) fn push(&mut self, source: Source) -> usize {
        self.sources.push_back(source);
        self.len() - 1
    }

    /// How many files were added.
    pub(super) fn len(&self) -> usize {
        self.first + self.sources.len()
    }

    /// How many are remembered.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.sources.len()
    }

    pub(super) fn get(&self, file: usize) -> Option<&Source> {
        self.sources.get(file.checked_sub(self.first)?)
    }

    fn get_mut(&mut self, file: usize) -> Option<&mut Source> {
        self.sources.get_mut(file.checked_sub(self.first)?)
    }

    /// The plan of a file that is read in the order of cost and has not ended.
    pub(super) fn planned(&mut self, file: usize) -> Option<&mut Planned> {
        self.get_mut(file)?.planned_mut()
    }

    /// The next file to be looked at. It counts as looked at from now on.
    pub(super) fn next_unsurveyed(&mut self) -> Option<usize> {
        let file = self.surveyed;
        self.get(file)?;
        self.surveyed += 1;
        Some(file)
    }

    pub(super) fn all_surveyed(&self) -> bool {
        self.surveyed == self.len()
    }

    /// The first file that has not ended.
    pub(super) fn first_unended(&self) -> Option<usize> {
        let at = self.sources.iter().position(|source| !matches!(source.state, State::Ended))?;
        Some(self.first + at)
    }

    /// Ends a file. Reads in flight belong to an earlier life of it from now on.
    pub(super) fn end(&mut self, file: usize) {
        let source = &mut self[file];
        source.life += 1;
        source.state = State::Ended;
    }

    /// Forgets the files that were looked at and have ended, up to the first that has not.
    pub(super) fn forget_ended(&mut self) {
        while self.first < self.surveyed
            && self.sources.front().is_some_and(|source| matches!(source.state, State::Ended))
        {
            self.sources.pop_front();
            self.first += 1;
        }
    }

    /// Notes that a file was opened, and closes those opened longest ago. Files that were handed in
    /// open stay open, and reads in flight keep their own descriptors.
    pub(super) fn note_open(&mut self, file: usize) {
        self.open.push_back(file);
        while self.open.len() > OPEN_MAX {
            let oldest = self.open.pop_front().and_then(|file| self.get_mut(file));
            if let Some(source) = oldest.filter(|source| source.given.is_none())
                && let Some(planned) = source.planned_mut()
            {
                planned.opened = None;
            }
        }
    }

    /// The descriptors of a file that is read in the order of cost, opened again if they had to be
    /// closed.
    pub(super) fn opened(&mut self, file: usize) -> Option<Result<Opened, Gone>> {
        let source = self.get_mut(file)?;
        let State::Planned(planned) = &mut source.state else { return None };
        if let Some(opened) = &planned.opened {
            return Some(Ok(opened.clone()));
        }
        let again = File::open(&source.path).and_then(|again| Ok((Stamp::of(&again)?, again)));
        Some(match again {
            Ok((now, again)) if planned.stamp.is_kept_by(&now) => {
                let again = Opened::new(again);
                again.advise_random();
                planned.opened = Some(again.clone());
                self.note_open(file);
                Ok(again)
            }
            Ok(_) => Err(Gone::Changed),
            Err(error) => Err(Gone::Failed(error)),
        })
    }
}

impl Index<usize> for Files {
    type Output = Source;

    fn index(&self, file: usize) -> &Source {
        &self.sources[file - self.first]
    }
}

impl IndexMut<usize> for Files {
    fn index_mut(&mut self, file: usize) -> &mut Source {
        &mut self.sources[file - self.first]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Records;
    use std::path::Path;

    fn added(files: &mut Files, path: &Path) -> usize {
        let number = files.push(Source::new(path, None));
        let open = File::open(path).unwrap();
        let stamp = Stamp::of(&open).unwrap();
        let planned = Planned::new(stamp, 0, Opened::new(open), Records::None);
        files[number].state = State::Planned(Box::new(planned));
        assert_eq!(files.next_unsurveyed(), Some(number));
        files.note_open(number);
        number
    }

    #[test]
    fn files_that_have_ended_are_forgotten_and_numbers_go_on() {
        let mut files = Files::default();
        for number in 0..3 {
            assert_eq!(files.push(Source::new(Path::new("x"), None)), number);
        }
        files.end(0);
        files.forget_ended();
        assert_eq!(files.remembered(), 3, "not before it was looked at");
        assert_eq!((files.next_unsurveyed(), files.next_unsurveyed()), (Some(0), Some(1)));
        files.end(2);
        files.forget_ended();
        assert_eq!((files.remembered(), files.first_unended(), files.len()), (2, Some(1), 3));
        assert!(files.get(0).is_none() && files.get(1).is_some() && !files.all_surveyed());
        assert_eq!(files[2].life, 1);
    }

    #[test]
    fn the_oldest_are_closed_and_known_again_unless_they_changed() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = |number: usize| folder.path().join(number.to_string());
        let mut files = Files::default();
        for number in 0..OPEN_MAX + 3 {
            std::fs::write(path(number), [1; 10]).unwrap();
            added(&mut files, &path(number));
        }
        let closed = (0..files.len()).filter(|&file| files[file].opened().is_none());
        assert_eq!(closed.collect::<Vec<_>>(), [0, 1, 2]);
        assert!(matches!(files.opened(0), Some(Ok(_))));
        assert!(files[3].opened().is_none(), "another had to be closed for it");
        std::fs::write(path(1), [1; 9]).unwrap();
        assert!(matches!(files.opened(1), Some(Err(Gone::Changed))));
        std::fs::remove_file(path(2)).unwrap();
        assert!(matches!(files.opened(2), Some(Err(Gone::Failed(_)))));
        files.end(2);
        assert!(files.opened(2).is_none());
    }
}
