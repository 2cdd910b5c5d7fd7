//! What to read around an archive entry that was requested.
//!
//! An ordered archive holds files near each other that are read near each other in time. The next
//! request may be for a file before this one or after it, since no two runs of a program load in
//! exactly the same order.

use crate::layout::extents::{Extent, Read, cover, joins};
use seekless_device::Costs;

/// Bounds of a demand read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes around the entry are at least this many, however cheap a request is.
    pub around_bytes_min: u64,
    /// The bytes around the entry are at most this many, however dear a request is.
    pub around_bytes_max: u64,
    /// Most bytes of one read, unless a single entry is larger.
    pub read_bytes_max: u64,
}

impl Default for Limits {
    /// 64 KiB to 1 MiB around the entry, and reads of at most 4 MiB.
    fn default() -> Self {
        Self { around_bytes_min: 64 << 10, around_bytes_max: 1 << 20, read_bytes_max: 4 << 20 }
    }
}

/// How many bytes around an entry are worth reading: as many as one request costs
/// ([`Costs::gap_bytes`]), within the limits.
#[must_use]
pub fn around_bytes(costs: &Costs, limits: &Limits) -> u64 {
    costs.gap_bytes().max(limits.around_bytes_min).min(limits.around_bytes_max)
}

/// The bytes before and after an entry, of `around_bytes` in all: one third and two thirds.
#[must_use]
pub fn sides(around_bytes: u64) -> (u64, u64) {
    let before = around_bytes / 3;
    (before, around_bytes - before)
}

/// A request counts as dear if the device reads more than this in the time of one: a quarter of the
/// largest read that devices take as one (1 MiB).
const DEAR_GAP_BYTES: u64 = 256 << 10;

/// Whether a request takes as long as reading a good part of the largest single read. Then it pays
/// to look further ahead for neighbours, to make reads fewer and larger, and to keep their bytes
/// longer.
#[must_use]
pub fn requests_are_dear(costs: &Costs) -> bool {
    costs.gap_bytes() > DEAR_GAP_BYTES
}

/// Requests at once from which on one more costs no time.
const MANY: u32 = 8;

/// Whether requests are dear, and the device serves many at once, as object storage does: then it
/// is waiting that is dear, and asking is cheap.
#[must_use]
pub fn many_are_dear(costs: &Costs) -> bool {
    costs.depth >= MANY && requests_are_dear(costs)
}

/// The read for entry `index`, requested alone. It holds the entry and whole entries around it,
/// within `before` and `after` bytes of it. On either side it ends with an entry for which `needed`
/// is true, one that is neither cached nor being read. `entries` are all entries, in archive order.
/// `None` if there is no entry `index`.
///
/// The two shares of [`sides`] were chosen on five runs of 0 A.D. on modelled volumes of 120, 500
/// and 10,000 requests a second. Each run was loaded from an order made of the other four. No other
/// program's runs have been tried. Two alternatives were within some 3 % there: further reads in
/// the background, and more bytes while loads are sequential. What a held-out run reads in sequence
/// is short.
#[must_use]
pub fn demand(
    entries: &[Extent],
    index: usize,
    costs: &Costs,
    (before, after): (u64, u64),
    read_bytes_max: u64,
    needed: impl Fn(usize) -> bool,
) -> Option<Read> {
    let entry = *entries.get(index)?;
    let gap_bytes = costs.gap_bytes();
    let joins = |first, second| joins(first, second, gap_bytes, read_bytes_max);

    let (mut extent, mut reach, mut end) = (entry, entry, index + 1);
    let last_byte = entry.end().saturating_add(after);
    for (number, &next) in entries.iter().enumerate().skip(index + 1) {
        if next.end() > last_byte || !joins(reach, next) {
            break;
        }
        reach = cover(reach, next);
        if needed(number) {
            (extent, end) = (reach, number + 1);
        }
    }
    let (mut reach, mut first) = (extent, index);
    let first_byte = entry.offset.saturating_sub(before);
    for (number, &previous) in entries[..index].iter().enumerate().rev() {
        if previous.offset < first_byte || !joins(previous, reach) {
            break;
        }
        reach = cover(previous, reach);
        if needed(number) {
            (extent, first) = (reach, number);
        }
    }
    Some(Read { extent, first, count: end - first })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A request is worth 90 bytes.
    const COSTS: Costs = Costs { request_ns: 90, bytes_per_second: 1_000_000_000, depth: 1 };
    const LIMITS: Limits =
        Limits { around_bytes_min: 30, around_bytes_max: 600, read_bytes_max: 1000 };

    fn extents(sizes: &[u64]) -> Vec<Extent> {
        let mut offset = 0;
        let place = |&bytes: &u64| {
            let extent = Extent { offset, bytes };
            offset += bytes;
            extent
        };
        sizes.iter().map(place).collect()
    }

    fn demand(
        entries: &[Extent],
        index: usize,
        limits: &Limits,
        needed: impl Fn(usize) -> bool,
    ) -> Option<Read> {
        let around = around_bytes(&COSTS, limits);
        super::demand(entries, index, &COSTS, sides(around), limits.read_bytes_max, needed)
    }

    fn range(
        entries: &[Extent],
        index: usize,
        needed: impl Fn(usize) -> bool,
    ) -> std::ops::Range<usize> {
        let read = demand(entries, index, &LIMITS, needed).unwrap();
        read.first..read.first + read.count
    }

    #[test]
    fn the_window_is_what_one_request_costs_and_lies_mostly_after_the_entry() {
        // 60 bytes after the entry and 30 before it.
        let entries = extents(&[10; 30]);
        assert_eq!(range(&entries, 10, |_| true), 7..17);
        assert_eq!(range(&entries, 1, |_| true), 0..8);
        assert_eq!(range(&entries, 29, |_| true), 26..30);
        assert_eq!(demand(&entries, 30, &LIMITS, |_| true), None);
    }

    #[test]
    fn only_whole_entries_are_taken() {
        let entries = extents(&[31, 10, 40, 21]);
        assert_eq!(range(&entries, 1, |_| true), 1..3);
        let read = demand(&entries, 1, &LIMITS, |_| true).unwrap();
        assert_eq!(read.extent, Extent { offset: 31, bytes: 50 });
    }

    #[test]
    fn what_is_at_hand_is_read_only_between_others() {
        let entries = extents(&[10; 30]);
        assert_eq!(range(&entries, 10, |_| false), 10..11);
        assert_eq!(range(&entries, 10, |number| number == 8 || number == 14), 8..15);
        assert_eq!(range(&entries, 10, |number| number > 10), 10..17);
    }

    #[test]
    fn a_large_entry_is_read_alone() {
        let entries = extents(&[10, 995, 10]);
        assert_eq!(range(&entries, 1, |_| true), 1..2);
    }

    #[test]
    fn a_gap_dearer_than_a_request_ends_the_window() {
        let far = [Extent { offset: 0, bytes: 5 }, Extent { offset: 96, bytes: 5 }];
        let limits = Limits { around_bytes_min: 600, ..LIMITS };
        assert_eq!(demand(&far, 0, &limits, |_| true).unwrap().count, 1);
        assert_eq!(demand(&far, 1, &limits, |_| true).unwrap().count, 1);
    }

    #[test]
    fn dear_is_a_cloud_volume_and_not_a_flash_drive() {
        let dear = |request_ns, bytes_per_second| {
            requests_are_dear(&Costs { request_ns, bytes_per_second, depth: 1 })
        };
        assert!(dear(2_000_000, 150_000_000));
        assert!(!dear(100_000, 1_250_000_000));
    }

    proptest! {
        #[test]
        fn a_demand_read_holds_the_entry_and_keeps_to_its_bounds(
            sizes in prop::collection::vec(0u64..200, 1..60),
            index in 0usize..60,
            at_hand in prop::collection::vec(any::<bool>(), 60),
        ) {
            let entries = extents(&sizes);
            let index = index % sizes.len();
            let read = demand(&entries, index, &LIMITS, |number| !at_hand[number]).unwrap();
            let last = read.first + read.count - 1;
            prop_assert!((read.first..=last).contains(&index));
            prop_assert_eq!(read.extent.offset, entries[read.first].offset);
            prop_assert_eq!(read.extent.end(), entries[last].end());
            prop_assert!(read.extent.bytes <= entries[index].bytes + 90);
            for edge in [read.first, last] {
                prop_assert!(edge == index || !at_hand[edge]);
            }
        }
    }
}
