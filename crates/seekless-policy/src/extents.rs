//! Which reads fetch a set of archive entries at least cost: neighbours are joined where reading the gap between them
//! is cheaper than one more request. Pure planning; the live engine issues the reads, the simulator prices them.

use seekless_device::Costs;

/// A range of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub offset: u64,
    /// Length.
    pub bytes: u64,
}

impl Span {
    /// The byte after the last.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }
}

/// One read, and which spans it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// What to read.
    pub span: Span,
    /// Index of the first span that it holds.
    pub first: usize,
    /// How many spans from there on.
    pub count: usize,
}

/// Reads that fetch all of `wanted`, which must be sorted by offset. Joins neighbours when the gap between them costs
/// less time than a request ([`Costs::gap_bytes`]); no read is over `max_bytes` unless a single span is.
#[must_use]
pub fn coalesce(wanted: &[Span], costs: &Costs, max_bytes: u64) -> Vec<Extent> {
    let gap_bytes = costs.gap_bytes();
    let mut extents: Vec<Extent> = Vec::new();
    for (index, &span) in wanted.iter().enumerate() {
        match extents.last_mut() {
            Some(last) if joins(last.span, span, gap_bytes, max_bytes) => {
                last.span = cover(last.span, span);
                last.count += 1;
            }
            _ => extents.push(Extent { span, first: index, count: 1 }),
        }
    }
    extents
}

/// Whether `next`, which does not begin before `last`, may be read together with it.
pub(crate) fn joins(last: Span, next: Span, gap_bytes: u64, max_bytes: u64) -> bool {
    let gap = next.offset.saturating_sub(last.end());
    next.offset >= last.offset && gap <= gap_bytes && cover(last, next).bytes <= max_bytes
}

/// From the first byte of `first` to the last of either.
pub(crate) fn cover(first: Span, second: Span) -> Span {
    Span { offset: first.offset, bytes: first.end().max(second.end()) - first.offset }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A request is worth 100 bytes.
    const COSTS: Costs = Costs { request_ns: 100, bytes_per_second: 1_000_000_000, depth: 1 };

    fn spans(list: &[(u64, u64)]) -> Vec<Span> {
        list.iter().map(|&(offset, bytes)| Span { offset, bytes }).collect()
    }

    #[test]
    fn a_gap_is_read_up_to_what_a_request_costs() {
        let extents = coalesce(&spans(&[(0, 10), (110, 10), (221, 5)]), &COSTS, 1 << 20);
        assert_eq!(
            extents,
            [
                Extent { span: Span { offset: 0, bytes: 120 }, first: 0, count: 2 },
                Extent { span: Span { offset: 221, bytes: 5 }, first: 2, count: 1 },
            ]
        );
    }

    #[test]
    fn a_read_stays_under_the_limit_but_a_large_entry_is_one_read() {
        let extents = coalesce(&spans(&[(0, 500), (500, 60), (560, 50)]), &COSTS, 100);
        let counts: Vec<_> = extents.iter().map(|extent| (extent.count, extent.span.bytes)).collect();
        assert_eq!(counts, [(1, 500), (1, 60), (1, 50)]);
    }

    proptest! {
        #[test]
        fn every_span_is_in_exactly_one_extent(
            mut list in prop::collection::vec((0u64..5000, 1u64..300), 0..60),
            max_bytes in 1u64..2000,
        ) {
            list.sort_unstable();
            let wanted = spans(&list);
            let extents = coalesce(&wanted, &COSTS, max_bytes);
            let mut next = 0;
            for extent in &extents {
                prop_assert_eq!(extent.first, next);
                next += extent.count;
                for span in &wanted[extent.first..next] {
                    prop_assert!(span.offset >= extent.span.offset && span.end() <= extent.span.end());
                }
                prop_assert!(extent.span.bytes <= max_bytes || extent.count == 1);
            }
            prop_assert_eq!(next, wanted.len());
        }
    }
}
