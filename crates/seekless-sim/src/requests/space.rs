//! The places of pages: of each id its key, the file and page of each key, and where a page lies if
//! the files of a trace lie one after another in one sequence of page numbers.

use crate::{Error, ErrorKind, Result};
use seekless_policy::cache::page_keys::{self, FILES_MAX, PAGES_MAX};
use seekless_policy::eviction::Id;
use seekless_trace::FileId;

/// In the sequence files begin at multiples of this, so no group of pages contains two files.
const ALIGNMENT: u64 = 64;

/// The keys of pages, and the file of each key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Space {
    /// The key of each id.
    keys: Vec<u64>,
    /// The place of each file's page 0 in the sequence, ascending.
    bases: Vec<u64>,
    /// The names of the files; empty unless [`Reading::names`](super::Reading::names) is set.
    pub(crate) names: Vec<String>,
}

impl Space {
    /// `places` has the file and page of each id.
    pub(super) fn new(places: &[(FileId, u64)]) -> Result<Self> {
        let files = places.iter().map(|&(file, _)| u64::from(file) + 1).max().unwrap_or(0);
        if files > FILES_MAX || places.iter().any(|&(_, page)| page >= PAGES_MAX) {
            return Err(too_far());
        }
        let mut sizes = vec![0_u64; files as usize];
        for &(file, page) in places {
            let size = &mut sizes[file as usize];
            *size = (page + 1).max(*size);
        }
        let mut bases = Vec::with_capacity(sizes.len());
        let mut next = 0_u64;
        for size in sizes {
            bases.push(next);
            let padded = (size + 1).next_multiple_of(ALIGNMENT);
            next = next.checked_add(padded).ok_or_else(too_far)?;
        }
        let keys = places.iter().map(|&(file, page)| page_keys::key(file, page)).collect();
        Ok(Self { keys, bases, names: Vec::new() })
    }

    #[inline]
    pub(crate) fn key(&self, id: Id) -> u64 {
        self.keys[id as usize]
    }

    /// The number of an id's page in the sequence of all files. With one file it is the page's own.
    pub(crate) fn in_sequence(&self, id: Id) -> u64 {
        let (file, page) = page_keys::place(self.key(id));
        self.bases[file as usize] + page
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        8 * (self.keys.len() + self.bases.len()) as u64
    }
}

fn too_far() -> Error {
    let message = "the trace has offsets from 1 PiB on, or more than 67 million files: more than pages are numbered \
                   for; cut it, or use --unit file";
    Error::new(ErrorKind::Limit, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_apart_and_keys_lead_back() {
        let places = [(1, 0), (0, 63), (1, 1), (2, 7), (0, 0)];
        let space = Space::new(&places).unwrap();
        let sequence: Vec<_> = (0..5).map(|id| space.in_sequence(id)).collect();
        assert_eq!(sequence, [64 + 64, 63, 64 + 64 + 1, 192 + 7, 0]);
        let found: Vec<_> = (0..5).map(|id| page_keys::place(space.key(id))).collect();
        assert_eq!(found, places);
    }

    #[test]
    fn a_single_files_pages_keep_their_numbers() {
        let space = Space::new(&[(0, 14_286_100), (0, 3)]).unwrap();
        assert_eq!((space.key(0), space.key(1)), (14_286_100, 3));
        assert_eq!((space.in_sequence(0), space.in_sequence(1)), (14_286_100, 3));
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        for page in [PAGES_MAX, u64::MAX] {
            assert_eq!(Space::new(&[(0, page)]).unwrap_err().kind(), ErrorKind::Limit);
        }
        assert!(Space::new(&[(0, PAGES_MAX - 1), (1, PAGES_MAX - 1)]).is_ok());
    }
}
