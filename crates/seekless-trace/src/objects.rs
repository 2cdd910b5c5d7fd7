//! Numbers objects densely by first appearance, and remembers the size of each. The table of
//! numbers is what reading a trace of records spends most of its time on, so an object has one slot
//! of 16 bytes with all that a request needs to know: one memory access a request.

use crate::Record;
use crate::records::NO_RECORD;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::hash::BuildHasher;

/// Objects are looked up in groups of this many. The memory of a group is asked for while the group
/// before it is looked up, so the processor seldom waits for it.
const GROUP: usize = 32;
const SLOTS_MIN: usize = 1 << 10;
/// The number of a slot without an object.
const EMPTY: u32 = u32::MAX;
/// A size that does not fit a slot; [`Objects::large`] has it.
const LARGE: u32 = u32::MAX;

/// Objects and their numbers.
#[derive(Debug)]
pub struct Objects {
    /// A power of two. An object is in the first free slot from that on which the top bits of its
    /// hash name.
    slots: Vec<Slot>,
    objects: u32,
    large: HashMap<u64, u64>,
    state: RandomState,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    object: u64,
    number: u32,
    /// The size at its last request.
    bytes: u32,
}

const NONE: Slot = Slot { object: 0, number: EMPTY, bytes: 0 };

/// Records whose slots are being fetched.
struct Group {
    records: [Record; GROUP],
    homes: [usize; GROUP],
    length: usize,
}

const NO_GROUP: Group = Group { records: [NO_RECORD; GROUP], homes: [0; GROUP], length: 0 };

/// What a request showed of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// Nothing: it was known, and has the size of its last request.
    Nothing,
    /// It was not known.
    New,
    /// It has another size than at its last request.
    Changed,
}

impl Default for Objects {
    fn default() -> Self {
        let slots = vec![NONE; SLOTS_MIN];
        Objects { slots, objects: 0, large: HashMap::new(), state: RandomState::default() }
    }
}

impl Objects {
    /// How many objects it knows.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.objects
    }

    /// Whether it knows no object.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects == 0
    }

    /// Bytes in memory.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        (size_of_val(&self.slots[..]) + 40 * self.large.capacity()) as u64
    }

    /// Calls `each` with every record, the number of its object, and what was news of it.
    ///
    /// # Panics
    /// At 2^32 − 1 objects, which would take over 90 GB of memory.
    pub fn number(
        &mut self,
        mut records: impl ExactSizeIterator<Item = Record>,
        mut each: impl FnMut(&Record, u32, News),
    ) {
        // All room at once: what is fetched must not move before it is looked at.
        self.reserve(records.len());
        let (mut one, mut other) = (NO_GROUP, NO_GROUP);
        let (mut group, mut next) = (&mut one, &mut other);
        self.fetch(group, &mut records);
        while group.length > 0 {
            self.fetch(next, &mut records);
            let Group { records, homes, length } = &*group;
            for (record, &home) in records.iter().zip(homes).take(*length) {
                let (number, news) = self.number_at(home, record);
                each(record, number, news);
            }
            std::mem::swap(&mut group, &mut next);
        }
    }

    /// Fills `group` with records, and starts to fetch their slots. It stays a function of its own:
    /// inlined twice into the loop, it took half as much again, for want of registers.
    #[inline(never)]
    fn fetch(&self, group: &mut Group, records: &mut impl Iterator<Item = Record>) {
        let mut length = 0;
        for (place, record) in group.records.iter_mut().zip(records) {
            *place = record;
            length += 1;
        }
        // Also those behind the last record, so that the loop has no end to look for.
        for (home, record) in group.homes.iter_mut().zip(&group.records) {
            *home = self.home(record.object);
            seekless_sys::memory::fetch_value(&self.slots[*home]);
        }
        group.length = length;
    }

    #[inline]
    fn home(&self, object: u64) -> usize {
        let hash = self.state.hash_one(object);
        (hash >> (u64::BITS - self.slots.len().trailing_zeros())) as usize
    }

    #[inline]
    fn number_at(&mut self, home: usize, record: &Record) -> (u32, News) {
        let last = self.slots.len() - 1;
        let mut at = home;
        loop {
            let slot = self.slots[at];
            if slot.object == record.object && slot.number != EMPTY {
                if record.bytes == u64::from(slot.bytes) && slot.bytes != LARGE {
                    return (slot.number, News::Nothing);
                }
                return (slot.number, self.resize(at, record.bytes));
            }
            if slot.number == EMPTY {
                return (self.insert(at, record), News::New);
            }
            at = (at + 1) & last;
        }
    }

    #[cold]
    fn resize(&mut self, at: usize, bytes: u64) -> News {
        let slot = &mut self.slots[at];
        let before = match slot.bytes {
            LARGE => self.large.remove(&slot.object).unwrap_or_default(),
            bytes => u64::from(bytes),
        };
        slot.bytes = small(bytes);
        if slot.bytes == LARGE {
            self.large.insert(slot.object, bytes);
        }
        if before == bytes { News::Nothing } else { News::Changed }
    }

    fn insert(&mut self, at: usize, record: &Record) -> u32 {
        let Record { object, bytes, .. } = *record;
        let number = self.objects;
        assert!(number < EMPTY, "fewer than 2^32 - 1 objects");
        self.slots[at] = Slot { object, number, bytes: small(bytes) };
        if small(bytes) == LARGE {
            self.large.insert(object, bytes);
        }
        self.objects += 1;
        number
    }

    /// Makes room for this many more objects: a quarter of the slots stays free.
    fn reserve(&mut self, more: usize) {
        let needed = self.objects as usize + more;
        while needed > self.slots.len() / 4 * 3 {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = Vec::with_capacity(2 * self.slots.len());
        // At a random access in small pages the processor often waits for the page's address too.
        seekless_sys::memory::prefer_huge_pages(&mut slots);
        slots.resize(2 * self.slots.len(), NONE);
        let old = std::mem::replace(&mut self.slots, slots);
        let last = self.slots.len() - 1;
        // The order of slots is nearly that of hashes, so both tables are passed from start to end.
        for slot in old.into_iter().filter(|slot| slot.number != EMPTY) {
            let mut at = self.home(slot.object);
            while self.slots[at].number != EMPTY {
                at = (at + 1) & last;
            }
            self.slots[at] = slot;
        }
    }
}

fn small(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(LARGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbered(objects: &mut Objects, requests: &[(u64, u64)]) -> Vec<(u32, News)> {
        let mut found = Vec::new();
        let record = |&(object, bytes): &(u64, u64)| Record { seconds: 0, object, bytes };
        objects.number(requests.iter().map(record), |_, number, news| found.push((number, news)));
        found
    }

    #[test]
    fn objects_are_numbered_by_first_appearance_and_change() {
        let large = u64::from(u32::MAX);
        let requests = [
            (7, 5),
            (0, 0),
            (7, 4),
            (7, 6),
            (u64::MAX, large),
            (u64::MAX, large),
            (u64::MAX, large + 1),
        ];
        let expected = [
            (0, News::New),
            (1, News::New),
            (0, News::Changed),
            (0, News::Changed),
            (2, News::New),
            (2, News::Nothing),
            (2, News::Changed),
        ];
        assert_eq!(numbered(&mut Objects::default(), &requests), expected);
    }

    #[test]
    fn a_piece_of_new_objects_finds_room() {
        let requests: Vec<_> = (0..20_000_u64).map(|at| (at << 32, 1)).collect();
        let found = numbered(&mut Objects::default(), &requests);
        assert!(found.iter().zip(0..).all(|(found, at)| *found == (at, News::New)));
    }

    proptest! {
        #[test]
        fn a_map_says_the_same(requests in prop::collection::vec((0..5000_u64, 0..3_u64), 0..9000)) {
            let stretched: Vec<_> =
                requests.iter().map(|&(object, bytes)| (object << 40, bytes << 31)).collect();
            let mut known: HashMap<u64, (u32, u64)> = HashMap::new();
            let expected: Vec<_> = stretched
                .iter()
                .map(|&(object, bytes)| {
                    let next = known.len() as u32;
                    let mut news = News::Nothing;
                    let (number, last) = known.entry(object).or_insert_with(|| {
                        news = News::New;
                        (next, bytes)
                    });
                    if bytes != *last {
                        (*last, news) = (bytes, News::Changed);
                    }
                    (*number, news)
                })
                .collect();
            let mut objects = Objects::default();
            let (first, second) = stretched.split_at(stretched.len() / 2);
            let mut found = numbered(&mut objects, first);
            found.extend(numbered(&mut objects, second));
            prop_assert_eq!(found, expected);
            prop_assert_eq!(objects.len() as usize, known.len());
        }
    }
}
