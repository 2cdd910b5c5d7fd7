//! Which files name which: what a program is likely to load after a file.
//!
//! A page names its pictures, a map its models, a model its textures. Where such names are found in
//! a file's content, they say what will be needed when the file itself is, even if nothing was ever
//! recorded of it. How sure that is was learned elsewhere; this is only where it is kept.

use crate::id::Id;
use std::sync::Arc;

/// References that are kept, at most: 5 bytes each, and 8 for each file that names others.
pub const REFERENCES_MAX: usize = 1 << 20;

/// The files that each file names, and how sure each of them is to be loaded once that file is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// The files that name others.
    files: Arc<[Id]>,
    /// Where the references of each of them begin, and where those of the last end; or nothing.
    starts: Arc<[u32]>,
    to: Arc<[Id]>,
    chances: Arc<[u8]>,
}

impl References {
    /// From `(file, named file, chance)` of `files` files, of 255. Of several references between
    /// two files the surest is kept, and of more than [`REFERENCES_MAX`] the surest.
    #[must_use]
    pub fn new(files: u32, mut all: Vec<(Id, Id, u8)>) -> Self {
        all.retain(|&(from, to, chance)| from < files && to < files && from != to && chance > 0);
        all.sort_unstable_by_key(|&(from, to, chance)| (from, to, u8::MAX - chance));
        all.dedup_by_key(|&mut (from, to, _)| (from, to));
        if all.len() > REFERENCES_MAX {
            all.sort_unstable_by_key(|&(from, to, chance)| (u8::MAX - chance, from, to));
            all.truncate(REFERENCES_MAX);
            all.sort_unstable_by_key(|&(from, to, _)| (from, to));
        }
        if all.is_empty() {
            return Self::default();
        }
        let of_one = |one: &(Id, Id, u8), next: &(Id, Id, u8)| one.0 == next.0;
        let mut starts = vec![0];
        starts.extend(all.chunk_by(of_one).scan(0, |end, chunk| {
            *end += chunk.len() as u32;
            Some(*end)
        }));
        Self {
            files: all.chunk_by(of_one).map(|chunk| chunk[0].0).collect(),
            starts: starts.into(),
            to: all.iter().map(|&(_, to, _)| to).collect(),
            chances: all.iter().map(|&(.., chance)| chance).collect(),
        }
    }

    /// The files that `id` names, by number, each with its chance of 255.
    pub fn of(&self, id: Id) -> impl Iterator<Item = (Id, u8)> + '_ {
        let range = match self.files.binary_search(&id) {
            Ok(at) => self.starts[at] as usize..self.starts[at + 1] as usize,
            Err(_) => 0..0,
        };
        let chances = self.chances[range.clone()].iter().copied();
        self.to[range].iter().copied().zip(chances)
    }

    /// All references: file, named file, chance.
    pub fn all(&self) -> impl Iterator<Item = (Id, Id, u8)> + '_ {
        self.files().flat_map(|from| self.of(from).map(move |(to, chance)| (from, to, chance)))
    }

    /// The files that name others, by number.
    pub fn files(&self) -> impl Iterator<Item = Id> + '_ {
        self.files.iter().copied()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.to.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.to.is_empty()
    }

    /// The same of `files` files, where each has the number that `number` says, if any.
    #[must_use]
    pub fn renumbered(&self, files: u32, number: impl Fn(Id) -> Option<Id>) -> Self {
        let moved = |(from, to, chance)| Some((number(from)?, number(to)?, chance));
        Self::new(files, self.all().filter_map(moved).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_has_its_references_and_the_surest_counts() {
        let all = vec![(2, 0, 9), (0, 1, 5), (0, 1, 7), (0, 0, 9), (0, 9, 9), (2, 1, 0)];
        let references = References::new(3, all);
        assert_eq!(references.all().collect::<Vec<_>>(), [(0, 1, 7), (2, 0, 9)]);
        assert_eq!(references.of(0).collect::<Vec<_>>(), [(1, 7)]);
        assert_eq!((references.of(1).count(), references.of(7).count()), (0, 0));
    }

    #[test]
    fn another_numbering_keeps_what_it_has() {
        let references = References::new(3, vec![(0, 1, 5), (0, 2, 6)]);
        let moved = references.renumbered(2, |id| [Some(1), None, Some(0)][id as usize]);
        assert_eq!(moved.all().collect::<Vec<_>>(), [(1, 0, 6)]);
        assert!(References::new(3, Vec::new()).is_empty());
    }
}
