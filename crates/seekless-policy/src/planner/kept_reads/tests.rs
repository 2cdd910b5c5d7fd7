//! Kept reads beside a naive model, and at their bounds.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap, HashSet};

/// An owner that expects some entries, and records its notifications.
#[derive(Default)]
struct Heard {
    expected: HashSet<Id>,
    wasted: Vec<Id>,
    freed: Vec<Found>,
    dropped: Vec<Slot>,
}

impl Owner for Heard {
    fn expects(&self, entry: Id) -> bool {
        self.expected.contains(&entry)
    }

    fn wasted(&mut self, entry: Id) {
        self.wasted.push(entry);
    }

    fn freed(&mut self, found: Found) {
        self.freed.push(found);
    }

    fn dropped(&mut self, slot: Slot) {
        self.dropped.push(slot);
    }
}

/// A read as the model knows it.
struct Naively {
    read: Extent,
    unused: Vec<Id>,
    used_last: u64,
    is_spared: bool,
}

/// Hash maps, a search through all reads for the oldest, and the pages of each read byte by
/// byte.
struct Naive {
    entries: Arc<[Extent]>,
    capacity: u64,
    clock: u64,
    held: HashMap<u64, Naively>,
    expected: HashSet<Id>,
}

impl Naive {
    /// Returns the number of the new read, what older reads lose, and the numbers of the reads
    /// that make room.
    fn insert(&mut self, read: Extent, unused: &[Id]) -> (Option<u64>, Vec<Taken>, Vec<u64>) {
        let (mut lost, mut dropped) = (Vec::new(), Vec::new());
        let bytes = self.offsets(read, unused).len() as u64;
        if unused.is_empty() || bytes > self.capacity {
            return (None, lost, dropped);
        }
        lost.extend(unused.iter().filter_map(|&id| self.take(id)));
        while self.bytes() + bytes > self.capacity || self.held.len() >= READS_MAX as usize {
            let oldest = self.held.iter().min_by_key(|(_, held)| held.used_last);
            let oldest = *oldest.unwrap().0;
            if self.spare(oldest, &mut lost) {
                continue;
            }
            self.held.remove(&oldest);
            dropped.push(oldest);
        }
        self.clock += 1;
        let unused = unused.to_vec();
        let held = Naively { read, unused, used_last: self.clock, is_spared: false };
        self.held.insert(self.clock, held);
        (Some(self.clock), lost, dropped)
    }

    fn take(&mut self, id: Id) -> Option<Taken> {
        let number = *self.held.iter().find(|(_, held)| held.unused.contains(&id))?.0;
        let before = self.kept(number);
        let held = self.held.get_mut(&number).unwrap();
        held.unused.retain(|&other| other != id);
        self.clock += 1;
        held.used_last = self.clock;
        let freed = before.difference(&self.kept(number)).copied().collect();
        let is_last = self.held[&number].unused.is_empty();
        if is_last {
            self.held.remove(&number);
        }
        Some(Taken { number, freed, is_last })
    }

    fn spare(&mut self, number: u64, lost: &mut Vec<Taken>) -> bool {
        let Naively { unused, is_spared, .. } = self.held.get_mut(&number).unwrap();
        let is_first = !std::mem::replace(is_spared, true);
        if !is_first || !unused.iter().any(|id| self.expected.contains(id)) {
            return false;
        }
        let others = unused.iter().copied().filter(|id| !self.expected.contains(id));
        let others: Vec<Id> = others.collect();
        self.clock += 1;
        self.held.get_mut(&number).unwrap().used_last = self.clock;
        lost.extend(others.into_iter().map(|id| {
            let before = self.kept(number);
            self.held.get_mut(&number).unwrap().unused.retain(|&other| other != id);
            let freed = before.difference(&self.kept(number)).copied().collect();
            Taken { number, freed, is_last: false }
        }));
        true
    }

    /// The offsets of all bytes in pages of `read` that hold a byte of these entries.
    fn offsets(&self, read: Extent, ids: &[Id]) -> BTreeSet<u64> {
        let page = |offset: u64| (offset - read.offset) / PAGE_BYTES;
        let of = |&id: &Id| {
            let Extent { offset, bytes } = self.entries[id as usize];
            offset..offset + bytes
        };
        let needed: BTreeSet<u64> = ids.iter().flat_map(of).map(page).collect();
        (read.offset..read.end()).filter(|&offset| needed.contains(&page(offset))).collect()
    }

    fn kept(&self, number: u64) -> BTreeSet<u64> {
        let Naively { read, unused, .. } = &self.held[&number];
        self.offsets(*read, unused)
    }

    fn bytes(&self) -> u64 {
        self.held.keys().map(|&number| self.kept(number).len() as u64).sum()
    }
}

/// What the model says of an entry that was found: the number of its read, and each byte that
/// is kept no longer.
#[derive(Debug, PartialEq)]
struct Taken {
    number: u64,
    freed: BTreeSet<u64>,
    is_last: bool,
}

/// Both implementations, and the model's number of the read in each slot.
struct Pair {
    kept: KeptReads,
    naive: Naive,
    numbers: HashMap<Slot, u64>,
}

impl Pair {
    fn new(entries: Arc<[Extent]>, capacity: u64, expected: HashSet<Id>) -> Self {
        let kept = KeptReads::new(entries.clone(), capacity);
        let naive = Naive { entries, capacity, clock: 0, held: HashMap::new(), expected };
        Self { kept, naive, numbers: HashMap::new() }
    }

    fn insert(&mut self, read: Extent, unused: &[Id]) {
        let expected = self.naive.expected.clone();
        let mut heard = Heard { expected, ..Heard::default() };
        let slot = self.kept.insert(read, unused, &mut heard);
        let Heard { freed, dropped, .. } = heard;
        let freed: Vec<Taken> = freed.into_iter().map(|found| self.taken(found)).collect();
        let dropped: Vec<u64> =
            dropped.iter().map(|slot| self.numbers.remove(slot).unwrap()).collect();
        let (number, lost, expected) = self.naive.insert(read, unused);
        assert_eq!((freed, dropped), (lost, expected));
        assert_eq!(slot.is_some(), number.is_some());
        self.numbers.extend(slot.zip(number));
    }

    fn take(&mut self, entry: Id) {
        let taken = self.kept.take(entry).map(|found| self.taken(found));
        assert_eq!(taken, self.naive.take(entry));
    }

    fn begin_round(&mut self) {
        self.kept.begin_round();
        self.naive.held.values_mut().for_each(|held| held.is_spared = false);
    }

    fn taken(&mut self, Found { slot, freed, is_last }: Found) -> Taken {
        let number = self.numbers[&slot];
        if is_last {
            self.numbers.remove(&slot);
        }
        Taken { number, freed: (freed.offset..freed.end()).collect(), is_last }
    }

    fn check(&self) {
        assert_eq!(self.kept.bytes(), self.naive.bytes());
        for (&slot, &number) in &self.numbers {
            let pieces: Vec<Extent> = self.kept.pieces(slot).collect();
            assert!(pieces.windows(2).all(|two| two[0].end() < two[1].offset), "{pieces:?}");
            let offsets = pieces.iter().flat_map(|piece| piece.offset..piece.end());
            assert!(offsets.eq(self.naive.kept(number)));
        }
        for entry in 0..self.naive.entries.len() as Id {
            let held = self.naive.held.values().any(|held| held.unused.contains(&entry));
            assert_eq!(self.kept.has(entry), held, "entry {entry}");
        }
    }
}

/// Entries with gaps of up to 300 bytes between them.
fn placed(sizes: &[(u64, u64)]) -> Arc<[Extent]> {
    let mut end = 0;
    let place = |&(gap, bytes): &(u64, u64)| {
        let extent = Extent { offset: end + gap, bytes };
        end = extent.end();
        extent
    };
    sizes.iter().map(place).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn keeps_the_pages_that_a_naive_model_keeps(
        sizes in prop::collection::vec(
            (0u64..300, prop_oneof![1u64..600, 1u64..6_000]), 30..40),
        capacity in 0u64..40_000,
        steps in prop::collection::vec(
            (0u32..30, 1u32..10, any::<u16>(), 0u64..700, 0u32..21), 0..80),
        expected in prop::collection::hash_set(0u32..40, 0..20),
    ) {
        let entries = placed(&sizes);
        let mut pair = Pair::new(entries.clone(), capacity, expected);
        for (first, count, mask, before, step) in steps {
            let last = (first + count - 1).min(entries.len() as u32 - 1);
            let (offset, end) = (entries[first as usize].offset, entries[last as usize].end());
            let offset = offset.saturating_sub(before);
            let read = Extent { offset, bytes: end - offset + before / 2 };
            let unused: Vec<Id> =
                (first..=last).filter(|id| mask & 1 << (id - first) != 0).collect();
            match step {
                0 => pair.begin_round(),
                1..=10 => pair.insert(read, &unused),
                _ => pair.take(first),
            }
            pair.check();
        }
    }
}

/// Entries of `bytes` bytes, one behind the other.
fn alike(count: u32, bytes: u64) -> Arc<[Extent]> {
    (0..u64::from(count)).map(|number| Extent { offset: number * bytes, bytes }).collect()
}

#[test]
fn a_page_goes_with_the_last_entry_in_it() {
    let mut kept = KeptReads::new(alike(4, 3000), 12_000);
    let read = Extent { offset: 0, bytes: 12_000 };
    kept.insert(read, &[0, 1, 3], &mut Heard::default()).unwrap();
    // Entry 1 lies in pages 0 and 1, entry 3 in page 2, which ends with the read.
    let page = |first: u64, bytes| Extent { offset: first * PAGE_BYTES, bytes };
    assert_eq!((kept.bytes(), kept.pieces(0).collect::<Vec<_>>()), (12_000, vec![page(0, 12_000)]));
    let found = kept.take(1).unwrap();
    assert_eq!((found.freed, found.is_last), (page(1, 4096), false));
    assert_eq!(kept.pieces(0).collect::<Vec<_>>(), [page(0, 4096), page(2, 12_000 - 8192)]);
    assert_eq!(kept.take(3).unwrap().freed, page(2, 12_000 - 8192));
    let last = Found { slot: 0, freed: page(0, 4096), is_last: true };
    assert_eq!((kept.take(0), kept.bytes(), kept.take(0)), (Some(last), 0, None));
}

#[test]
fn empty_entries_are_kept_and_found() {
    let sizes = [(0, 0), (0, 4096), (0, 0), (0, 10), (0, 0)];
    let mut kept = KeptReads::new(placed(&sizes), 1 << 20);
    let read = Extent { offset: 0, bytes: 4106 };
    kept.insert(read, &[0, 1, 2, 3, 4], &mut Heard::default()).unwrap();
    assert_eq!(kept.bytes(), 4106);
    let freed: Vec<u64> = [1, 3, 0, 4, 2].map(|id| kept.take(id).unwrap().freed.bytes).into();
    assert_eq!((freed.iter().sum::<u64>(), kept.bytes()), (4106, 0));
}

#[test]
fn what_was_never_requested_is_named_when_it_goes() {
    let mut kept = KeptReads::new(alike(4, 4096), 3 * 4096);
    let read = |first: u64| Extent { offset: first * 4096, bytes: 2 * 4096 };
    let mut heard = Heard::default();
    kept.insert(read(0), &[0, 1], &mut heard);
    kept.take(0);
    kept.insert(read(2), &[2, 3], &mut heard);
    assert_eq!((&heard.dropped[..], kept.bytes()), (&[][..], 3 * 4096), "what is left of it fits");
    kept.insert(read(0), &[0], &mut heard);
    assert_eq!((heard.wasted, heard.dropped), (vec![1], vec![0]));
}

#[test]
fn what_is_expected_stays_for_a_second_turn() {
    let mut kept = KeptReads::new(alike(8, 4096), 4 * 4096);
    let read = |first: u64| Extent { offset: first * 4096, bytes: 2 * 4096 };
    let mut heard = Heard { expected: [1, 3].into(), ..Heard::default() };
    kept.insert(read(0), &[0, 1], &mut heard);
    kept.insert(read(2), &[2, 3], &mut heard);
    kept.insert(read(4), &[4, 5], &mut heard);
    assert_eq!((&heard.wasted[..], &heard.dropped[..]), (&[0, 2][..], &[][..]));
    assert!(heard.freed.iter().all(|found| !found.is_last && found.freed.bytes == 4096));
    assert!(kept.has(1) && kept.has(3) && kept.bytes() == 4 * 4096);
    // Both were spared once, and are the oldest again.
    let mut spared = kept.clone();
    kept.insert(read(6), &[6, 7], &mut heard);
    assert_eq!((&heard.wasted[..], kept.has(1), kept.has(3)), (&[0, 2, 1, 3][..], false, false));
    // In another round they may be spared again. Of 4 and 5 nothing is expected.
    spared.begin_round();
    spared.insert(read(6), &[6, 7], &mut heard);
    assert!(spared.has(1) && spared.has(3) && !spared.has(4));
}

#[test]
fn the_number_of_reads_is_bounded_too() {
    let mut kept = KeptReads::new(alike(READS_MAX + 2, 1), u64::MAX);
    let mut heard = Heard::default();
    let slots: Vec<_> = (0..READS_MAX + 2)
        .map(|entry| {
            let read = Extent { offset: u64::from(entry), bytes: 1 };
            kept.insert(read, &[entry], &mut heard).unwrap()
        })
        .collect();
    assert_eq!(heard.dropped, slots[..2]);
    assert!(slots.iter().all(|&slot| slot < READS_MAX));
    assert!(!kept.has(1) && kept.has(2));
    assert_eq!(kept.bytes(), u64::from(READS_MAX));
}
