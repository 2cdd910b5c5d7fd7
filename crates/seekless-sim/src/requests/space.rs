//! The places of pages. The files of a trace lie one after another in one sequence of page numbers.
//! So each page has one key, neighbours have neighbouring keys, and no two files are neighbours.

use crate::{Error, ErrorKind, Result};
use seekless_policy::eviction::Id;
use seekless_trace::FileId;
use std::ops::Range;

/// Files begin at multiples of this, so no group of pages contains two files.
const ALIGNMENT: u64 = 64;

/// The keys of pages, and the file of each key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Space {
    /// The key of each id.
    keys: Vec<u64>,
    /// The key of each file's page 0, ascending, and one more at the end.
    bases: Vec<u64>,
    /// The names of the files; empty unless [`Reading::names`](super::Reading::names) is set.
    pub(crate) names: Vec<String>,
}

impl Space {
    /// `places` has the file and page of each id. With one file the key of a page is its number.
    pub(super) fn new(places: &[(FileId, u64)]) -> Result<Self> {
        let files = places.iter().map(|&(file, _)| file as usize + 1).max().unwrap_or(0);
        let mut sizes = vec![0_u64; files];
        for &(file, page) in places {
            let size = &mut sizes[file as usize];
            *size = page.saturating_add(1).max(*size);
        }
        let mut bases = Vec::with_capacity(files + 1);
        let mut next = 0_u64;
        for size in sizes {
            bases.push(next);
            let padded =
                size.checked_add(1).and_then(|size| size.checked_next_multiple_of(ALIGNMENT));
            next = padded.and_then(|padded| next.checked_add(padded)).ok_or_else(too_far)?;
        }
        bases.push(next);
        let keys = places.iter().map(|&(file, page)| bases[file as usize] + page).collect();
        Ok(Self { keys, bases, names: Vec::new() })
    }

    #[inline]
    pub(crate) fn key(&self, id: Id) -> u64 {
        self.keys[id as usize]
    }

    /// The keys of a file's pages. Empty for a file without pages.
    pub(crate) fn keys_of(&self, file: FileId) -> Range<u64> {
        match self.bases.get(file as usize..file as usize + 2) {
            Some(&[start, end]) => start..end,
            _ => 0..0,
        }
    }

    /// The file and page of a key.
    pub(crate) fn place(&self, key: u64) -> (FileId, u64) {
        let file = self.bases.partition_point(|&base| base <= key).saturating_sub(1);
        (file as FileId, key - self.bases[file])
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        8 * (self.keys.len() + self.bases.len()) as u64
    }
}

fn too_far() -> Error {
    let message =
        "the trace's offsets go beyond what page numbers hold; cut it, or use --unit file";
    Error::new(ErrorKind::Limit, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_apart_and_keys_lead_back() {
        let places = [(1, 0), (0, 63), (1, 1), (2, 7), (0, 0)];
        let space = Space::new(&places).unwrap();
        let keys: Vec<_> = (0..5).map(|id| space.key(id)).collect();
        assert_eq!(keys, [64 + 64, 63, 64 + 64 + 1, 192 + 7, 0]);
        assert!(keys.iter().zip(places).all(|(&key, place)| space.place(key) == place));
        assert_eq!((space.keys_of(1), space.keys_of(9)), (128..192, 0..0));
    }

    #[test]
    fn a_single_files_pages_keep_their_numbers() {
        let space = Space::new(&[(0, 14_286_100), (0, 3)]).unwrap();
        assert_eq!((space.key(0), space.key(1)), (14_286_100, 3));
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        assert_eq!(Space::new(&[(0, u64::MAX)]).unwrap_err().kind(), ErrorKind::Limit);
    }
}
