//! What to read beyond the archive entry that was asked for. An ordered archive holds near an entry what is read near it
//! in time, before it as well as after it, since no two runs of a program load in quite the same order.

use crate::extents::{Extent, Span, cover, joins};
use seekless_device::Costs;

/// Bounds of a demand read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Least bytes of window, however cheap a request is.
    pub window_min: u64,
    /// Most bytes of window, however dear a request is.
    pub window_max: u64,
    /// Most bytes of one read, unless a single entry is larger.
    pub max_bytes: u64,
}

impl Default for Limits {
    /// A window of 64 KiB to 1 MiB, reads of at most 4 MiB.
    fn default() -> Self {
        Self { window_min: 64 << 10, window_max: 1 << 20, max_bytes: 4 << 20 }
    }
}

/// Over this many bytes in the time of one request, requests are dear: a quarter of the largest read that devices take
/// as one (1 MiB).
const DEAR_GAP_BYTES: u64 = 256 << 10;

/// Whether a request costs as much as reading a good part of its largest size. Then it pays to look further ahead for
/// neighbours, to fill the last part of a read by making reads fewer and larger, and to keep longer what they brought.
#[must_use]
pub fn requests_are_dear(costs: &Costs) -> bool {
    costs.gap_bytes() > DEAR_GAP_BYTES
}

/// The read for entry `index` when it is asked for alone: the entry, and around it the whole entries that fit in a
/// window of about what one request costs ([`Costs::gap_bytes`]), two thirds of it after the entry and one third before.
/// It ends on either side with an entry that is `needed`: one that is neither cached nor on its way. `entries` are all,
/// in archive order. None if there is no such entry.
///
/// The shares were chosen on five runs of 0 A.D., each loaded from an order made of the other four, on modelled volumes of
/// 120, 500 and 10,000 requests a second; no other program's runs have been tried. Further windows read in the background
/// and windows that grow while loads go on sequentially were within some 3 % of this there: what a held-out run reads in
/// sequence is short.
#[must_use]
pub fn demand(
    entries: &[Span],
    index: usize,
    costs: &Costs,
    limits: &Limits,
    needed: impl Fn(usize) -> bool,
) -> Option<Extent> {
    let entry = *entries.get(index)?;
    let gap_bytes = costs.gap_bytes();
    let window = gap_bytes.max(limits.window_min).min(limits.window_max);
    let before = window / 3;
    let joins = |first, second| joins(first, second, gap_bytes, limits.max_bytes);

    let (mut span, mut reach, mut end) = (entry, entry, index + 1);
    let last_byte = entry.end().saturating_add(window - before);
    for (number, &next) in entries.iter().enumerate().skip(index + 1) {
        if next.end() > last_byte || !joins(reach, next) {
            break;
        }
        reach = cover(reach, next);
        if needed(number) {
            (span, end) = (reach, number + 1);
        }
    }
    let (mut reach, mut first) = (span, index);
    let first_byte = entry.offset.saturating_sub(before);
    for (number, &previous) in entries[..index].iter().enumerate().rev() {
        if previous.offset < first_byte || !joins(previous, reach) {
            break;
        }
        reach = cover(previous, reach);
        if needed(number) {
            (span, first) = (reach, number);
        }
    }
    Some(Extent { span, first, count: end - first })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A request is worth 90 bytes.
    const COSTS: Costs = Costs { request_ns: 90, bytes_per_second: 1_000_000_000, depth: 1 };
    const LIMITS: Limits = Limits { window_min: 30, window_max: 600, max_bytes: 1000 };

    fn spans(sizes: &[u64]) -> Vec<Span> {
        let mut offset = 0;
        let place = |&bytes: &u64| {
            let span = Span { offset, bytes };
            offset += bytes;
            span
        };
        sizes.iter().map(place).collect()
    }

    fn range(entries: &[Span], index: usize, needed: impl Fn(usize) -> bool) -> std::ops::Range<usize> {
        let extent = demand(entries, index, &COSTS, &LIMITS, needed).unwrap();
        extent.first..extent.first + extent.count
    }

    #[test]
    fn the_window_is_what_one_request_costs_and_lies_mostly_after_the_entry() {
        // 60 bytes after the entry and 30 before it.
        let entries = spans(&[10; 30]);
        assert_eq!(range(&entries, 10, |_| true), 7..17);
        assert_eq!(range(&entries, 1, |_| true), 0..8);
        assert_eq!(range(&entries, 29, |_| true), 26..30);
        assert_eq!(demand(&entries, 30, &COSTS, &LIMITS, |_| true), None);
    }

    #[test]
    fn only_whole_entries_are_taken() {
        let entries = spans(&[31, 10, 40, 21]);
        assert_eq!(range(&entries, 1, |_| true), 1..3);
        let extent = demand(&entries, 1, &COSTS, &LIMITS, |_| true).unwrap();
        assert_eq!(extent.span, Span { offset: 31, bytes: 50 });
    }

    #[test]
    fn what_is_at_hand_is_read_only_between_others() {
        let entries = spans(&[10; 30]);
        assert_eq!(range(&entries, 10, |_| false), 10..11);
        assert_eq!(range(&entries, 10, |number| number == 8 || number == 14), 8..15);
        assert_eq!(range(&entries, 10, |number| number > 10), 10..17);
    }

    #[test]
    fn a_large_entry_is_read_alone() {
        let entries = spans(&[10, 995, 10]);
        assert_eq!(range(&entries, 1, |_| true), 1..2);
    }

    #[test]
    fn a_gap_dearer_than_a_request_ends_the_window() {
        let far = [Span { offset: 0, bytes: 5 }, Span { offset: 96, bytes: 5 }];
        let limits = Limits { window_min: 600, ..LIMITS };
        assert_eq!(demand(&far, 0, &COSTS, &limits, |_| true).unwrap().count, 1);
        assert_eq!(demand(&far, 1, &COSTS, &limits, |_| true).unwrap().count, 1);
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
            let entries = spans(&sizes);
            let index = index % sizes.len();
            let extent = demand(&entries, index, &COSTS, &LIMITS, |number| !at_hand[number]).unwrap();
            let last = extent.first + extent.count - 1;
            prop_assert!((extent.first..=last).contains(&index));
            prop_assert_eq!(extent.span.offset, entries[extent.first].offset);
            prop_assert_eq!(extent.span.end(), entries[last].end());
            prop_assert!(extent.span.bytes <= entries[index].bytes + 90);
            for edge in [extent.first, last] {
                prop_assert!(edge == index || !at_hand[edge]);
            }
        }
    }
}
