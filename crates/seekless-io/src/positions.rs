//! Places in large coded entries from which decoding goes on: so a part of such an entry is decoded
//! without memory for all of it, and without beginning at its start for each part.
//!
//! Of each entry two kinds are kept: where the last part ended, for the next part; and points on
//! the way, for parts elsewhere. Together they take a bounded part of the memory that the store
//! keeps, and the entries that were read last have them.

use crate::lock;
use seekless_pack::Position;
use seekless_policy::eviction::Id;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

/// Of the memory that the store keeps, so small a part.
const SHARE: u64 = 8;

/// Room in any store: for the end of the last part, and a point.
const ROOM_BYTES_MIN: u64 = 2 * Position::DEFLATE_BYTES as u64;

/// Content between two points of an entry, at least: it is decoded in some milliseconds.
const SPACING_BYTES_MIN: u64 = 1 << 20;

/// Where decoding may go on.
pub(crate) struct Positions {
    room_bytes: u64,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: HashMap<Id, Places>,
    bytes: u64,
    /// Grows with each use.
    clock: u64,
}

/// The places of one entry.
#[derive(Default)]
struct Places {
    last: Option<Position>,
    /// By the bytes of content before them.
    points: BTreeMap<u64, Arc<Position>>,
    used: u64,
}

impl Positions {
    /// For a store that keeps `kept_bytes` bytes.
    pub(crate) fn of(kept_bytes: u64) -> Self {
        Self { room_bytes: (kept_bytes / SHARE).max(ROOM_BYTES_MIN), kept: Mutex::default() }
    }

    /// What they take now, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        lock(&self.kept).bytes
    }

    /// Bytes of content between two points of an entry of `bytes` bytes: all its points together
    /// take at most half of the room.
    pub(crate) fn spacing(&self, bytes: u64) -> u64 {
        let most = (self.room_bytes / 2 / Position::DEFLATE_BYTES as u64).max(1);
        (bytes / most).max(SPACING_BYTES_MIN)
    }

    /// The place nearest before byte `at` of the content.
    pub(crate) fn nearest(&self, id: Id, at: u64) -> Option<Position> {
        let mut kept = lock(&self.kept);
        kept.clock += 1;
        let (clock, Kept { entries, bytes, .. }) = (kept.clock, &mut *kept);
        let places = entries.get_mut(&id)?;
        places.used = clock;
        let point = places.points.range(..=at).next_back().map(|(_, point)| point.clone());
        let after = point.as_ref().map_or(0, |point| point.content());
        let is_nearest = |last: &mut Position| (after..=at).contains(&last.content());
        if let Some(last) = places.last.take_if(is_nearest) {
            *bytes -= last.memory_bytes() as u64;
            return Some(last);
        }
        drop(kept);
        point?.copy()
    }

    /// Keeps where a part of an entry ended.
    pub(crate) fn set_last(&self, id: Id, position: Position) {
        let taken = position.memory_bytes() as u64;
        self.keep(id, taken, |places| places.last.replace(position));
    }

    /// Keeps a point, if it can be copied and the entry has none there.
    pub(crate) fn add_point(&self, id: Id, position: &Position) {
        let at = position.content();
        let has_it = |kept: &Kept| Some(kept.entries.get(&id)?.points.contains_key(&at));
        if has_it(&lock(&self.kept)) == Some(true) {
            return;
        }
        let Some(copy) = position.copy() else { return };
        let taken = copy.memory_bytes() as u64;
        self.keep(id, taken, |places| {
            let before = places.points.insert(at, Arc::new(copy));
            before.and_then(Arc::into_inner)
        });
    }

    /// Keeps a place, in exchange for another one of the entry or of none. Those of the entries
    /// that were used least recently go.
    fn keep(&self, id: Id, bytes: u64, put: impl FnOnce(&mut Places) -> Option<Position>) {
        let mut gone = Vec::new();
        let mut kept = lock(&self.kept);
        kept.clock += 1;
        let clock = kept.clock;
        let places = kept.entries.entry(id).or_default();
        places.used = clock;
        let before = put(places);
        kept.bytes += bytes;
        kept.bytes -= before.as_ref().map_or(0, |before| before.memory_bytes() as u64);
        while kept.bytes > self.room_bytes
            && let Some(oldest) = kept.oldest_but(id)
            && let Some(places) = kept.entries.remove(&oldest)
        {
            kept.bytes -= places.bytes();
            gone.push(places);
        }
        drop(kept);
    }
}

impl Kept {
    /// The entry that was used least recently, of all but one.
    fn oldest_but(&self, id: Id) -> Option<Id> {
        let others = self.entries.iter().filter(|(other, _)| **other != id);
        others.min_by_key(|(_, places)| places.used).map(|(id, _)| *id)
    }
}

impl Places {
    fn bytes(&self) -> u64 {
        let all = self.points.values().map(|point| point.memory_bytes());
        all.chain(self.last.as_ref().map(Position::memory_bytes)).sum::<usize>() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_pack::{About, Codec, Entry, Index, PackWriter, data_range, prepare};

    const MIB: u64 = 1 << 20;
    const ONE: u64 = Position::DEFLATE_BYTES as u64;

    /// A deflated entry of 8 MiB, and its data.
    fn entry() -> (Entry, Vec<u8>) {
        let mut pack = PackWriter::new(Vec::new());
        let prepared = prepare(About::named("a"), vec![7; 8 << 20], Codec::Deflate).unwrap();
        pack.add(prepared).unwrap();
        let archive = pack.finish().unwrap().0;
        let entry = Index::open(archive.as_slice(), archive.len() as u64).unwrap().entry(0);
        let extent = &archive[entry.header_offset as usize..][..entry.extent_bytes as usize];
        (entry, extent[data_range(&entry, "a", extent).unwrap()].to_vec())
    }

    fn position(content: u64) -> Position {
        let (entry, data) = entry();
        let mut position = Position::start(&entry, "a").unwrap();
        let mut out = vec![0; 1 << 16];
        while position.content() < content {
            let room = out.len().min((content - position.content()) as usize);
            position
                .step(&entry, "a", &data[position.data() as usize..], &mut out[..room])
                .unwrap();
        }
        position
    }

    fn at(positions: &Positions, id: Id, at: u64) -> Option<u64> {
        positions.nearest(id, at).map(|position| position.content())
    }

    #[test]
    fn the_nearest_place_before_a_part_is_found() {
        let positions = Positions::of(64 * MIB);
        assert_eq!(at(&positions, 3, MIB), None);
        for content in [MIB, 2 * MIB, 4 * MIB, 2 * MIB] {
            positions.add_point(3, &position(content));
        }
        assert_eq!(positions.bytes(), 3 * ONE);
        positions.set_last(3, position(3 * MIB));
        assert_eq!(at(&positions, 3, MIB - 1), None);
        assert_eq!(at(&positions, 3, 3 * MIB - 1), Some(2 * MIB));
        assert_eq!(at(&positions, 3, 3 * MIB + 5), Some(3 * MIB), "the last one, which is taken");
        assert_eq!(at(&positions, 3, 3 * MIB + 5), Some(2 * MIB));
        assert_eq!(at(&positions, 3, 8 * MIB), Some(4 * MIB));
        assert_eq!(positions.bytes(), 3 * ONE);
        positions.set_last(3, position(MIB));
        positions.set_last(3, position(2 * MIB));
        assert_eq!((at(&positions, 4, MIB), positions.bytes()), (None, 4 * ONE));
    }

    #[test]
    fn places_are_bounded_and_the_least_recently_used_go() {
        let positions = Positions::of(8 * 4 * ONE);
        for id in 0..3 {
            positions.set_last(id, position(5));
            positions.add_point(id, &position(6));
        }
        assert_eq!(positions.bytes(), 4 * ONE);
        assert_eq!([0, 1, 2].map(|id| at(&positions, id, 6)), [None, Some(6), Some(6)]);
        assert!(positions.nearest(1, 6).is_some());
        positions.set_last(7, position(5));
        assert_eq!([1, 2, 7].map(|id| at(&positions, id, 5)), [Some(5), None, Some(5)]);
    }

    #[test]
    fn points_of_larger_entries_lie_farther_apart() {
        let positions = Positions::of(64 * MIB);
        assert_eq!(positions.spacing(5 * MIB), MIB);
        for bytes in [MIB << 10, MIB << 20, u64::MAX] {
            let spacing = positions.spacing(bytes);
            assert!(bytes / spacing * ONE <= 4 * MIB + ONE, "{bytes}: {spacing}");
        }
        assert!(Positions::of(0).spacing(u64::MAX) >= u64::MAX / 2);
    }
}
