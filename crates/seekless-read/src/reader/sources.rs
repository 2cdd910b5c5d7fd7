//! The files of a reader, numbered in the order they were added. Those that ended first are forgotten, so that a program may add
//! files as long as it likes.

use super::source::{Planned, Source, State};
use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

#[derive(Debug, Default)]
pub(super) struct Sources {
    /// The number of the first that is remembered.
    first: usize,
    sources: VecDeque<Source>,
}

impl Sources {
    /// Adds a file; returns its number.
    pub(super) fn push(&mut self, source: Source) -> usize {
        self.sources.push_back(source);
        self.len() - 1
    }

    /// How many were added.
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

    /// A file that is read in the order of cost, not one that has ended.
    pub(super) fn planned(&mut self, file: usize) -> Option<&mut Planned> {
        self.sources.get_mut(file.checked_sub(self.first)?)?.planned_mut()
    }

    /// The first file that has not ended.
    pub(super) fn first_unended(&self) -> Option<usize> {
        let at = self.sources.iter().position(|source| !matches!(source.state, State::Ended))?;
        Some(self.first + at)
    }

    /// Forgets files before `limit` that have ended, up to the first that has not.
    pub(super) fn forget_ended(&mut self, limit: usize) {
        while self.first < limit
            && self.sources.front().is_some_and(|source| matches!(source.state, State::Ended))
        {
            self.sources.pop_front();
            self.first += 1;
        }
    }
}

impl Index<usize> for Sources {
    type Output = Source;

    fn index(&self, file: usize) -> &Source {
        &self.sources[file - self.first]
    }
}

impl IndexMut<usize> for Sources {
    fn index_mut(&mut self, file: usize) -> &mut Source {
        &mut self.sources[file - self.first]
    }
}
