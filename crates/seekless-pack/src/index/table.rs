//! The table that finds an entry by its name: 4 bytes a slot, so that a look-up reads one line of
//! it and then the name.
//!
//! A slot holds the number of an entry, counted from 1, in as many bits as the largest number
//! needs, and in the other bits a part of the name's hash. The slots of names that share a place
//! follow one another. Two thirds of all slots are taken at most.

use super::NamesView;
use foldhash::fast::RandomState;
use seekless_sys::memory::{fetch_value, prefer_huge_pages};
use std::collections::TryReserveError;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;

/// Names whose slots are fetched together: this many cache misses are waited for at once.
const TOGETHER: u32 = 32;

#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    /// A power of two of them, or none.
    slots: Vec<u32>,
    number_bits: u32,
    hasher: RandomState,
}

/// What a table cannot be made of.
pub(super) enum Unfit {
    /// This entry has the name of an earlier one.
    Duplicate(u32),
    Memory(TryReserveError),
}

impl Table {
    pub(super) fn of(names: NamesView<'_>) -> Result<Self, Unfit> {
        let count = names.ends.len() as u32;
        let mut table = Self::with_room(count).map_err(Unfit::Memory)?;
        table.add(0..count, names)?;
        Ok(table)
    }

    /// An empty table for `count` names.
    pub(super) fn with_room(count: u32) -> Result<Self, TryReserveError> {
        let mut slots = Vec::new();
        let wanted = (count as usize + count as usize / 2).next_power_of_two().max(2);
        slots.try_reserve_exact(wanted)?;
        prefer_huge_pages(&mut slots);
        slots.resize(wanted, 0);
        let number_bits = u32::BITS - count.leading_zeros();
        Ok(Self { slots, number_bits, hasher: RandomState::default() })
    }

    /// Adds the entries of these numbers, which follow those that were added before.
    pub(super) fn add(&mut self, numbers: Range<u32>, names: NamesView<'_>) -> Result<(), Unfit> {
        let mut hashes = [0; TOGETHER as usize];
        for first in numbers.clone().step_by(TOGETHER as usize) {
            let numbers = first..numbers.end.min(first + TOGETHER);
            for (hash, number) in hashes.iter_mut().zip(numbers.clone()) {
                *hash = self.hash(names.bytes(number));
                fetch_value(&self.slots[self.place(*hash)]);
            }
            for (&hash, number) in hashes.iter().zip(numbers) {
                self.insert(hash, number, names)?;
            }
        }
        Ok(())
    }

    /// The first `moved` entries come behind the `over` that followed them.
    pub(super) fn move_back(&mut self, moved: u32, over: u32) {
        let numbers = self.numbers();
        for slot in self.slots.iter_mut().filter(|slot| **slot != 0) {
            match (*slot & numbers) - 1 {
                number if number < moved => *slot += over,
                number if number < moved + over => *slot -= moved,
                _ => {}
            }
        }
    }

    pub(super) fn find(&self, name: &[u8], names: NamesView<'_>) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let hash = self.hash(name);
        let mut place = self.place(hash);
        loop {
            match self.slots[place] {
                0 => return None,
                slot => match self.number(slot, hash) {
                    Some(number) if names.bytes(number) == name => return Some(number),
                    _ => place = self.next(place),
                },
            }
        }
    }

    fn insert(&mut self, hash: u64, number: u32, names: NamesView<'_>) -> Result<(), Unfit> {
        let mut place = self.place(hash);
        while self.slots[place] != 0 {
            let other = self.number(self.slots[place], hash);
            if other.is_some_and(|other| names.bytes(other) == names.bytes(number)) {
                return Err(Unfit::Duplicate(number));
            }
            place = self.next(place);
        }
        self.slots[place] = self.tag(hash) | (number + 1);
        Ok(())
    }

    fn hash(&self, name: &[u8]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(name);
        hasher.finish()
    }

    fn place(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    fn next(&self, place: usize) -> usize {
        (place + 1) & (self.slots.len() - 1)
    }

    /// The bits of the hash that stand beside a number. They are other bits than the place's.
    fn tag(&self, hash: u64) -> u32 {
        // A directory is too small for numbers of 32 bits.
        ((hash >> 32) as u32) << self.number_bits
    }

    /// The bits of a slot that hold a number.
    fn numbers(&self) -> u32 {
        (1 << self.number_bits) - 1
    }

    /// The entry in a slot that is taken, if its name may have this hash.
    fn number(&self, slot: u32, hash: u64) -> Option<u32> {
        let numbers = self.numbers();
        (slot & !numbers == self.tag(hash)).then(|| (slot & numbers) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Names;
    use super::*;

    fn names(names: impl Iterator<Item = String>) -> Names {
        let mut all = Names::default();
        names.for_each(|name| all.push(&name));
        all
    }

    #[test]
    fn each_name_is_found_and_no_other() {
        for count in [0, 1, 2, 3, 31, 32, 33, 1000, 5462] {
            let all = names((0..count).map(|number| format!("art/{number}")));
            let all = all.view();
            let Ok(table) = Table::of(all) else { panic!("{count} names") };
            for number in 0..count {
                assert_eq!(table.find(format!("art/{number}").as_bytes(), all), Some(number));
            }
            for other in [format!("art/{count}"), "art".to_owned(), String::new()] {
                assert_eq!(table.find(other.as_bytes(), all), None);
            }
        }
        assert_eq!(Table::default().find(b"art/0", Names::default().view()), None);
    }

    #[test]
    fn the_second_of_two_like_names_is_told() {
        let all = names((0..100).map(|number| format!("{}", number % 70)));
        assert!(matches!(Table::of(all.view()), Err(Unfit::Duplicate(70))));
    }

    #[test]
    fn names_that_are_added_piece_by_piece_and_moved_are_found() {
        for (count, moved, over) in [(1000, 0, 0), (1000, 1, 999), (1000, 30, 500), (31, 15, 16)] {
            let name = |number: usize| format!("art/{number}");
            let mut all = names((0..count).map(name));
            let Ok(mut table) = Table::with_room(count as u32) else { panic!("no memory") };
            for first in (0..count as u32).step_by(77) {
                let numbers = first..(count as u32).min(first + 77);
                assert!(table.add(numbers, all.view()).is_ok());
            }
            if moved > 0 {
                all.move_back(moved, over);
                table.move_back(moved as u32, over as u32);
            }
            for number in 0..count {
                let found = table.find(name(number).as_bytes(), all.view()).unwrap();
                assert_eq!(all.get(found), name(number), "{moved} behind {over}");
            }
        }
    }
}
