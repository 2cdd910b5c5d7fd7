//! What is read around a demand where the device serves many dear requests at once, as object
//! storage does.
//!
//! A wait for such a device costs as much as megabytes, and requests that run beside it cost no
//! time. So a demand itself is read with little around it, to come soon; what lies further around
//! comes with requests of its own, beside it. Guesses are read that are likelier than not to be
//! wrong. What this costs is memory, requests and bytes, so it needs room: without it what comes
//! would push out what is needed.
//!
//! The constants were chosen on five starts of 0 A.D., each from an order and a model made of the
//! other four, on 20 ms a request and 50 MB/s a stream, with 256 MiB of memory: they take 2.5 s
//! there, and 6.4 s without all this. With 64 MiB they would take as long as without it.

use super::ahead::{demand, many_are_dear, sides};
use super::{Planner, READ_BYTES_MAX, Start, asked};
use crate::id::Id;
use crate::layout::extents::Extent;

/// Room for kept reads from which on it is done.
const KEPT_BYTES_MIN: u64 = 96 << 20;

/// The window around a demand has this share of the room for kept reads, and this many bytes at
/// most.
const WINDOW_SHARE: u64 = 48;
const WINDOW_BYTES_MAX: u64 = 8 << 20;

/// What comes with the demand itself adds at most this share of what its request costs.
const NEAR_SHARE: u64 = 5;

/// The neighbours are joined over gaps of this share of what a request costs.
const GAP_SHARE: u64 = 4;

impl Planner {
    /// Whether more requests cost no time, and there is room for what they bring.
    pub(super) fn reads_widely(&self) -> bool {
        many_are_dear(&self.costs) && self.kept.capacity() >= KEPT_BYTES_MIN
    }

    /// The read for a demand: with what lies close to it.
    pub(super) fn near(&self, id: Id, cached: &impl Fn(Id) -> bool) -> Extent {
        let around = sides(self.costs.gap_bytes() / NEAR_SHARE);
        let most = self.unrounded(READ_BYTES_MAX);
        let needed = |number: usize| self.is_missing(number as Id, cached);
        let read = demand(&self.entries, id as usize, &self.costs, around, most, needed);
        read.map_or(self.entries[id as usize], |read| read.extent)
    }

    /// Adds the reads for what lies around the last demand, if they were not begun yet.
    pub(super) fn read_around(&mut self, cached: &impl Fn(Id) -> bool, starts: &mut Vec<Start>) {
        let Some(id) = self.lone.take().filter(|_| self.reads_widely() && !self.fills()) else {
            return;
        };
        for extent in self.pieces_around(id, cached) {
            let asked = asked(extent, self.alignment);
            self.guessed_within(asked.offered, cached);
            starts.push(self.under_way.guess(asked));
        }
    }

    /// What is missing of the window around an entry, in reads.
    fn pieces_around(&self, id: Id, cached: &impl Fn(Id) -> bool) -> Vec<Extent> {
        let Self { entries, costs, .. } = self;
        let window = (self.kept.capacity() / WINDOW_SHARE).min(WINDOW_BYTES_MAX);
        let entry = entries[id as usize];
        let begin = entry.offset.saturating_sub(window / 2);
        let end = entry.end().saturating_add(window / 2);
        let first = entries.partition_point(|entry| entry.offset < begin);
        let last = entries.partition_point(|entry| entry.end() <= end);
        let (most, gap) = (self.unrounded(READ_BYTES_MAX), costs.gap_bytes() / GAP_SHARE);
        let mut pieces: Vec<Extent> = Vec::new();
        // What is on its way is not read again between two others.
        let mut is_apart = true;
        for number in first..last {
            let next = entries[number];
            let id = number as Id;
            if next.bytes > most || self.is_near(id) || !self.is_missing(id, cached) {
                is_apart |= self.under_way.covers(next);
                continue;
            }
            let is_apart = std::mem::take(&mut is_apart);
            match pieces.last_mut() {
                Some(piece)
                    if !is_apart
                        && next.end() - piece.offset <= most
                        && next.offset.saturating_sub(piece.end()) <= gap =>
                {
                    piece.bytes = next.end() - piece.offset;
                }
                _ => pieces.push(next),
            }
        }
        pieces
    }

    /// Whether an entry is neither at hand nor on its way.
    pub(super) fn is_missing(&self, id: Id, cached: &impl Fn(Id) -> bool) -> bool {
        !cached(id) && !self.kept.has(id) && !self.under_way.covers(self.entries[id as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::{Answer, Memory};
    use seekless_device::Costs;

    /// A stream brings 1 MB in the time of a request.
    const OBJECTS: Costs =
        Costs { request_ns: 20_000_000, bytes_per_second: 50_000_000, depth: 128 };

    fn planner(cache_bytes: u64, costs: Costs) -> Planner {
        let extent = |number: u64| Extent { offset: number * 20_000, bytes: 20_000 };
        let memory = Memory { cache_bytes, read_ahead_bytes: None, window_bytes: None };
        Planner::new((0..4000).map(extent).collect(), 1, memory, costs)
    }

    /// What a demand for the file in the middle reads, and what is read beside it.
    fn reads(mut planner: Planner) -> (Extent, Vec<Extent>) {
        planner.loaded(2000);
        let Answer::Read(start) = planner.demand(2000, |_| false) else { panic!("no read") };
        let mut beside = Vec::new();
        planner.foresee(|_| false, &mut beside);
        planner.foresee(|_| false, &mut beside);
        (start.extent, beside.into_iter().map(|start| start.extent).collect())
    }

    #[test]
    fn a_demand_comes_with_little_and_what_lies_further_around_beside_it() {
        let (own, beside) = reads(planner(256 << 20, OBJECTS));
        assert!((20_000..=220_000).contains(&own.bytes), "{own:?}");
        let bytes: u64 = beside.iter().map(|extent| extent.bytes).sum();
        let window = (128 << 20) / WINDOW_SHARE;
        assert!((window - 400_000..=window).contains(&bytes), "{bytes} of {window}");
        assert!(beside.iter().all(|extent| extent.bytes <= READ_BYTES_MAX));
        let apart = |one: &Extent| one.end() <= own.offset || own.end() <= one.offset;
        assert!(beside.iter().all(apart), "{own:?} {beside:?}");
        assert!(beside.iter().any(|extent| extent.end() <= own.offset));
        assert!(beside.iter().any(|extent| own.end() <= extent.offset));
    }

    #[test]
    fn where_there_is_little_room_or_little_at_once_all_comes_in_one_read() {
        for (cache_bytes, depth) in [(64 << 20, 128), (256 << 20, 1)] {
            let (own, beside) = reads(planner(cache_bytes, Costs { depth, ..OBJECTS }));
            assert!(own.bytes > 500_000, "{own:?}");
            assert_eq!(beside, []);
        }
    }

    #[test]
    fn a_list_has_no_neighbours() {
        let mut planner = planner(256 << 20, OBJECTS);
        let _ = planner.demand(2000, |_| false);
        planner.plan(&mut vec![10, 20], &mut Vec::new(), &mut Vec::new());
        let mut starts = Vec::new();
        planner.foresee(|_| false, &mut starts);
        assert_eq!(starts, []);
    }
}
