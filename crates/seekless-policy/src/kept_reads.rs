//! Which reads a store keeps because they hold archive entries that have not been requested yet.
//!
//! A read brings more entries than the program asked for ([`ahead`](crate::ahead)). Its bytes stay
//! in memory until the last of those entries is requested or until newer reads need the room. This
//! is the archive block cache of Wassenberg 2006, section 4.3; here are its decisions, without the
//! bytes.

use crate::id::Id;
use crate::list::Lists;
use crate::queues::Queues;

/// Most reads that are kept, however small they are. Bounds the columns by slot.
pub const READS_MAX: u32 = 1024;

/// The only list of [`KeptReads::order`].
const ALL: usize = 0;

/// Names a kept read: a number below [`READS_MAX`]. A slot is used again after its read is dropped.
pub type Slot = u32;

/// Where an entry was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// In this read, which holds further entries and stays.
    Kept(Slot),
    /// In this read, which held no further entry and is dropped by this request.
    Last(Slot),
}

/// The most recently used reads, bounded by bytes and by number.
///
/// - **Idea:** a read is worth keeping for the entries in it that have not been requested. A
///   request for one of them makes the read the most recently used. From then on the file cache
///   decides about the entry, so a read without further entries is dropped at once.
/// - **Cost per request:** O(1). An insert is O(1) for each entry and for each read that it pushes
///   out.
/// - **Memory:** 12 bytes an entry of the archive and at most 28 a slot.
#[derive(Clone, Debug)]
pub struct KeptReads {
    capacity_bytes: u64,
    bytes: u64,
    /// Slots in use, most recently used first.
    order: Lists<1>,
    /// The entries of each slot that have not been requested.
    unused: Queues,
    /// Size of the read in each slot.
    slot_bytes: Vec<u64>,
    /// Slots that hold no read.
    free: Vec<Slot>,
}

impl KeptReads {
    /// Keeps no read yet, and later reads of at most `capacity_bytes` together.
    #[must_use]
    pub fn new(capacity_bytes: u64) -> Self {
        let (order, unused) = (Lists::new(), Queues::new());
        Self { capacity_bytes, bytes: 0, order, unused, slot_bytes: Vec::new(), free: Vec::new() }
    }

    /// Makes room for entries below `entries`; never shrinks.
    pub fn grow(&mut self, entries: u32) {
        self.unused.grow(entries);
    }

    /// A read of `bytes` bytes has ended. It holds `unused`: distinct entries that have not been
    /// requested. Returns the slot of the read, or `None` if it is not kept: it has no such
    /// entries, or is larger than the capacity.
    ///
    /// An entry that an older read holds too is served from the newer read. `dropped` is called
    /// with the slot of each read that is no longer kept; the returned slot may be one of these.
    /// `wasted` is called with each entry of such a read that nothing has requested.
    pub fn insert(
        &mut self,
        bytes: u64,
        unused: &[Id],
        mut wasted: impl FnMut(Id),
        mut dropped: impl FnMut(Slot),
    ) -> Option<Slot> {
        if unused.is_empty() || bytes > self.capacity_bytes {
            return None;
        }
        for &entry in unused {
            if let Some(Found::Last(slot)) = self.take(entry) {
                dropped(slot);
            }
        }
        let room = self.capacity_bytes - bytes;
        while self.bytes > room || self.is_full() {
            let Some(oldest) = self.order.back(ALL) else { break };
            self.unused.iter(oldest).for_each(&mut wasted);
            self.drop_read(oldest);
            dropped(oldest);
        }
        let slot = self.free_slot();
        self.bytes += bytes;
        self.slot_bytes[slot as usize] = bytes;
        self.order.push_front(ALL, slot);
        unused.iter().for_each(|&entry| self.unused.push(slot, entry));
        Some(slot)
    }

    /// Changes the capacity. Reads that no longer fit go at the next insertion.
    pub fn set_capacity(&mut self, capacity_bytes: u64) {
        self.capacity_bytes = capacity_bytes;
    }

    /// The most bytes of all kept reads.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.capacity_bytes
    }

    /// Whether a kept read holds `entry`, which has not been requested since.
    #[must_use]
    pub fn has(&self, entry: Id) -> bool {
        self.unused.queue_of(entry).is_some()
    }

    /// `entry` is requested. Returns the kept read that holds it, if any. A second request finds
    /// nothing.
    pub fn take(&mut self, entry: Id) -> Option<Found> {
        let slot = self.unused.queue_of(entry)?;
        self.unused.unlink(entry);
        if self.unused.is_empty(slot) {
            self.drop_read(slot);
            return Some(Found::Last(slot));
        }
        self.order.move_to_front(ALL, slot);
        Some(Found::Kept(slot))
    }

    /// Bytes of all kept reads.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn is_full(&self) -> bool {
        self.free.is_empty() && self.slot_bytes.len() == READS_MAX as usize
    }

    fn free_slot(&mut self) -> Slot {
        self.free.pop().unwrap_or_else(|| {
            let slot = self.slot_bytes.len() as Slot;
            self.slot_bytes.push(0);
            self.order.grow(slot + 1);
            self.unused.grow_queues(slot + 1);
            slot
        })
    }

    fn drop_read(&mut self, slot: Slot) {
        while let Some(entry) = self.unused.oldest(slot) {
            self.unused.unlink(entry);
        }
        self.order.unlink(slot);
        self.bytes -= self.slot_bytes[slot as usize];
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    const ENTRIES: u32 = 40;

    /// A read as the model knows it.
    struct Held {
        bytes: u64,
        unused: Vec<Id>,
        used_last: u64,
    }

    /// The former code of the store: hash maps, and a search through all reads for the oldest.
    #[derive(Default)]
    struct Naive {
        capacity: u64,
        reads_max: usize,
        bytes: u64,
        clock: u64,
        held: HashMap<u64, Held>,
        holders: HashMap<Id, u64>,
    }

    impl Naive {
        /// Returns the number of the new read, and the numbers of the reads that are dropped.
        fn insert(&mut self, bytes: u64, unused: Vec<Id>) -> (Option<u64>, Vec<u64>) {
            let mut dropped = Vec::new();
            if unused.is_empty() || bytes > self.capacity {
                return (None, dropped);
            }
            for id in &unused {
                if let Some((number, true)) = self.take(*id) {
                    dropped.push(number);
                }
            }
            while self.bytes + bytes > self.capacity || self.held.len() >= self.reads_max {
                let oldest = self
                    .held
                    .iter()
                    .min_by_key(|(_, held)| held.used_last)
                    .map(|(&number, _)| number);
                let Some(oldest) = oldest else { break };
                self.remove(oldest);
                dropped.push(oldest);
            }
            self.clock += 1;
            self.bytes += bytes;
            self.holders.extend(unused.iter().map(|&id| (id, self.clock)));
            self.held.insert(self.clock, Held { bytes, unused, used_last: self.clock });
            (Some(self.clock), dropped)
        }

        fn remove(&mut self, number: u64) {
            let held = self.held.remove(&number).unwrap();
            self.bytes -= held.bytes;
            held.unused.iter().for_each(|id| {
                self.holders.remove(id);
            });
        }

        /// Returns the number of the read that holds `id`, and whether the read is dropped.
        fn take(&mut self, id: Id) -> Option<(u64, bool)> {
            let number = self.holders.remove(&id)?;
            let held = self.held.get_mut(&number).unwrap();
            held.unused.retain(|&other| other != id);
            self.clock += 1;
            held.used_last = self.clock;
            let last = held.unused.is_empty();
            if last {
                self.remove(number);
            }
            Some((number, last))
        }
    }

    /// Both implementations, and the model's number of the read in each slot.
    struct Pair {
        kept: KeptReads,
        naive: Naive,
        numbers: HashMap<Slot, u64>,
    }

    impl Pair {
        fn new(capacity: u64) -> Self {
            let mut kept = KeptReads::new(capacity);
            kept.grow(ENTRIES);
            let naive = Naive { capacity, reads_max: READS_MAX as usize, ..Naive::default() };
            Self { kept, naive, numbers: HashMap::new() }
        }

        fn insert(&mut self, bytes: u64, unused: Vec<Id>) {
            let mut dropped = Vec::new();
            let slot = self.kept.insert(bytes, &unused, |_| (), |slot| dropped.push(slot));
            let dropped: Vec<u64> =
                dropped.iter().map(|slot| self.numbers.remove(slot).unwrap()).collect();
            let (number, expected) = self.naive.insert(bytes, unused);
            assert_eq!(dropped, expected);
            assert_eq!(slot.is_some(), number.is_some());
            self.numbers.extend(slot.zip(number));
        }

        fn take(&mut self, entry: Id) {
            let found = self.kept.take(entry).map(|found| match found {
                Found::Kept(slot) => (self.numbers[&slot], false),
                Found::Last(slot) => (self.numbers.remove(&slot).unwrap(), true),
            });
            assert_eq!(found, self.naive.take(entry));
        }

        fn check(&self) {
            assert_eq!(self.kept.bytes(), self.naive.bytes);
            for entry in 0..ENTRIES {
                assert_eq!(
                    self.kept.has(entry),
                    self.naive.holders.contains_key(&entry),
                    "entry {entry}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn keeps_what_the_stores_former_code_kept(
            capacity in 0u64..300,
            steps in prop::collection::vec(
                (0u64..120, prop::collection::btree_set(0..ENTRIES, 0..8), 0..ENTRIES, any::<bool>()),
                0..200,
            ),
        ) {
            let mut pair = Pair::new(capacity);
            for (bytes, unused, entry, insert) in steps {
                match insert {
                    true => pair.insert(bytes, unused.into_iter().collect()),
                    false => pair.take(entry),
                }
                pair.check();
            }
        }
    }

    #[test]
    fn what_was_never_requested_is_named_when_it_goes() {
        let mut kept = KeptReads::new(10);
        kept.grow(4);
        kept.insert(6, &[0, 1], |_| (), |_| ());
        kept.take(0);
        let (mut wasted, mut dropped) = (Vec::new(), Vec::new());
        kept.insert(6, &[2, 3], |entry| wasted.push(entry), |slot| dropped.push(slot));
        assert_eq!((wasted, dropped), (vec![1], vec![0]));
    }

    #[test]
    fn the_number_of_reads_is_bounded_too() {
        let mut kept = KeptReads::new(u64::MAX);
        kept.grow(READS_MAX + 2);
        let mut dropped = Vec::new();
        let slots: Vec<_> = (0..READS_MAX + 2)
            .map(|entry| kept.insert(1, &[entry], |_| (), |slot| dropped.push(slot)).unwrap())
            .collect();
        assert_eq!(dropped, slots[..2]);
        assert!(slots.iter().all(|&slot| slot < READS_MAX));
        assert!(!kept.has(1) && kept.has(2));
        assert_eq!(kept.bytes(), u64::from(READS_MAX));
    }
}
