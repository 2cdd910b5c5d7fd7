//! The number of each name. Of a large archive half of the names are put in by a second thread:
//! each waits for memory at nearly every name.

use super::{Names, no_memory};
use crate::error::{Error, ErrorKind, Result};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Place;
use std::hash::BuildHasher;
use std::thread;

/// Names from which a second thread pays.
const SPLIT_FROM: usize = 100_000;
/// A bit of a hash that the tables do not look at themselves, short of 2^40 names.
const HALF_BIT: u32 = 40;

/// One table, or two halves of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    halves: [HashTable<u32>; 2],
    /// 1 if there are two.
    mask: usize,
    hasher: RandomState,
}

impl Table {
    /// The table of all names, each of which may be there once.
    pub(super) fn of(names: &Names) -> Result<Self> {
        let split = names.len() >= SPLIT_FROM;
        let mut table = Self { mask: usize::from(split), ..Self::default() };
        let Self { halves: [first, second], mask, hasher } = &mut table;
        let job = Job { names, hasher, mask: *mask };
        let is_second_filled = thread::scope(|scope| {
            let fill_second = || job.fill(1, second);
            let other = split.then(|| thread::Builder::new().spawn_scoped(scope, fill_second));
            job.fill(0, first)?;
            match other {
                Some(Ok(other)) => other
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                    .map(|()| true),
                // No second thread could be started, or none is needed.
                Some(Err(_)) => Ok(false),
                None => Ok(true),
            }
        })?;
        if !is_second_filled {
            job.fill(1, second)?;
        }
        Ok(table)
    }

    /// The number of `name`, if it has one.
    #[inline]
    pub(super) fn find(&self, name: &str, names: &Names) -> Option<u32> {
        let hash = self.hasher.hash_one(name.as_bytes());
        let half = &self.halves[half_of(hash, self.mask)];
        half.find(hash, |&number| names.is(number, name)).copied()
    }
}

#[inline]
fn half_of(hash: u64, mask: usize) -> usize {
    (hash >> HALF_BIT) as usize & mask
}

/// What both threads know.
#[derive(Clone, Copy)]
struct Job<'a> {
    names: &'a Names,
    hasher: &'a RandomState,
    mask: usize,
}

impl Job<'_> {
    fn hash_of(&self, number: u32) -> u64 {
        self.hasher.hash_one(self.names.get(number).as_bytes())
    }

    /// Puts the names of this half into `table`.
    fn fill(&self, half: usize, table: &mut HashTable<u32>) -> Result<()> {
        let count = self.names.len();
        // A little more than half: names fall to both sides at random.
        let room = if self.mask == 0 { count } else { count / 2 + count / 64 };
        // The hasher is not asked while the table is empty.
        table.try_reserve(room, |_: &u32| 0).map_err(no_memory)?;
        for number in 0..count as u32 {
            let hash = self.hash_of(number);
            if half_of(hash, self.mask) != half {
                continue;
            }
            let name = self.names.get(number);
            let is_it = |&other: &u32| self.names.is(other, name);
            match table.entry(hash, is_it, |&other| self.hash_of(other)) {
                Place::Vacant(place) => drop(place.insert(number)),
                Place::Occupied(_) => return Err(duplicate(name)),
            }
        }
        Ok(())
    }
}

fn duplicate(name: &str) -> Error {
    Error::new(
        ErrorKind::Duplicate,
        format!(
            "the name {name:?} stands in the archive twice, so that it is unclear which is meant; repack it"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Names {
        let mut names = Names::default();
        (0..count).for_each(|number| names.push(&format!("folder/{number}")));
        names
    }

    #[test]
    fn every_name_is_found_in_one_table_and_in_two() {
        for count in [0, 1, 1000, SPLIT_FROM - 1, SPLIT_FROM, SPLIT_FROM + 1] {
            let names = names(count);
            let table = Table::of(&names).unwrap();
            let [first, second] = &table.halves;
            assert_eq!(first.len() + second.len(), count);
            assert_eq!(second.is_empty(), count < SPLIT_FROM, "{count}");
            for number in (0..count as u32).step_by(97) {
                assert_eq!(table.find(names.get(number), &names), Some(number));
            }
            assert_eq!(table.find("folder/x", &names), None);
        }
    }

    #[test]
    fn a_name_that_stands_twice_is_refused_in_both_halves() {
        for twice in 0..20 {
            let mut names = names(SPLIT_FROM);
            names.push(&format!("folder/{twice}"));
            let error = Table::of(&names).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Duplicate);
            assert!(error.to_string().contains(&format!("\"folder/{twice}\"")), "{error}");
        }
    }
}
