//! Which reads fetch a set of archive entries at least cost. Neighbours are joined where reading
//! the gap between them is cheaper than one more request.

use seekless_device::Costs;

/// A contiguous range of the archive, such as that of one entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// First byte.
    pub offset: u64,
    /// Length.
    pub bytes: u64,
}

impl Extent {
    /// The byte after the last.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// This extent, rounded outwards to multiples of `alignment`.
    #[must_use]
    pub fn aligned(&self, alignment: u64) -> Extent {
        let offset = self.offset / alignment * alignment;
        Extent { offset, bytes: self.end().next_multiple_of(alignment) - offset }
    }

    /// Whether `inner` lies wholly in this extent.
    #[must_use]
    pub fn covers(&self, inner: Extent) -> bool {
        self.offset <= inner.offset && inner.end() <= self.end()
    }
}

/// One read of the device, and which of the listed extents it fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// What to read.
    pub extent: Extent,
    /// Index of the first extent that it holds.
    pub first: usize,
    /// How many extents from there on.
    pub count: usize,
}

/// Plans the reads that fetch all of `wanted`, which must be sorted by offset. Joins neighbours
/// when reading the gap between them takes less time than a request ([`Costs::gap_bytes`]). No read
/// is longer than `read_bytes_max`, unless a single extent is.
#[must_use]
pub fn coalesce(wanted: &[Extent], costs: &Costs, read_bytes_max: u64) -> Vec<Read> {
    let mut reads = Vec::new();
    coalesce_into(wanted.iter().copied(), costs, read_bytes_max, &mut reads);
    reads
}

/// As [`coalesce`], into a list that the caller uses again.
pub fn coalesce_into(
    wanted: impl Iterator<Item = Extent>,
    costs: &Costs,
    read_bytes_max: u64,
    reads: &mut Vec<Read>,
) {
    let gap_bytes = costs.gap_bytes();
    reads.clear();
    for (index, extent) in wanted.enumerate() {
        match reads.last_mut() {
            Some(last) if joins(last.extent, extent, gap_bytes, read_bytes_max) => {
                last.extent = cover(last.extent, extent);
                last.count += 1;
            }
            _ => reads.push(Read { extent, first: index, count: 1 }),
        }
    }
}

/// Whether `next`, which does not begin before `last`, may be read together with `last`.
pub(crate) fn joins(last: Extent, next: Extent, gap_bytes: u64, read_bytes_max: u64) -> bool {
    let gap = next.offset.saturating_sub(last.end());
    next.offset >= last.offset && gap <= gap_bytes && cover(last, next).bytes <= read_bytes_max
}

/// The extent from the first byte of `first` to the last byte of both.
pub(crate) fn cover(first: Extent, second: Extent) -> Extent {
    Extent { offset: first.offset, bytes: first.end().max(second.end()) - first.offset }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A request is worth 100 bytes.
    const COSTS: Costs = Costs { request_ns: 100, bytes_per_second: 1_000_000_000, depth: 1 };

    fn extents(list: &[(u64, u64)]) -> Vec<Extent> {
        list.iter().map(|&(offset, bytes)| Extent { offset, bytes }).collect()
    }

    #[test]
    fn an_extent_is_rounded_outwards() {
        let aligned = |offset, bytes, alignment| {
            let Extent { offset, bytes } = Extent { offset, bytes }.aligned(alignment);
            (offset, bytes)
        };
        assert_eq!(aligned(4097, 4095, 4096), (4096, 4096));
        assert_eq!(aligned(4095, 2, 4096), (0, 8192));
        assert_eq!(aligned(7, 2, 1), (7, 2));
    }

    #[test]
    fn a_gap_is_read_up_to_what_a_request_costs() {
        let reads = coalesce(&extents(&[(0, 10), (110, 10), (221, 5)]), &COSTS, 1 << 20);
        assert_eq!(
            reads,
            [
                Read { extent: Extent { offset: 0, bytes: 120 }, first: 0, count: 2 },
                Read { extent: Extent { offset: 221, bytes: 5 }, first: 2, count: 1 },
            ]
        );
    }

    #[test]
    fn a_read_stays_under_the_limit_but_a_large_entry_is_one_read() {
        let reads = coalesce(&extents(&[(0, 500), (500, 60), (560, 50)]), &COSTS, 100);
        let counts: Vec<_> = reads.iter().map(|read| (read.count, read.extent.bytes)).collect();
        assert_eq!(counts, [(1, 500), (1, 60), (1, 50)]);
    }

    proptest! {
        #[test]
        fn every_span_is_in_exactly_one_extent(
            mut list in prop::collection::vec((0u64..5000, 1u64..300), 0..60),
            read_bytes_max in 1u64..2000,
        ) {
            list.sort_unstable();
            let wanted = extents(&list);
            let reads = coalesce(&wanted, &COSTS, read_bytes_max);
            let mut next = 0;
            for read in &reads {
                prop_assert_eq!(read.first, next);
                next += read.count;
                for extent in &wanted[read.first..next] {
                    prop_assert!(extent.offset >= read.extent.offset && extent.end() <= read.extent.end());
                }
                prop_assert!(read.extent.bytes <= read_bytes_max || read.count == 1);
            }
            prop_assert_eq!(next, wanted.len());
        }
    }
}
