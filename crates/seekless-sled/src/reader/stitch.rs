//! Whole records out of pieces that come in any order: what a piece's edges cut apart is kept until its neighbour comes.
//!
//! The paper pulls the edges of a cached range in to record boundaries and lets the neighbour read the fragments again (Fig. 4).
//! Keeping the fragments instead costs no read at all, and memory only for one record an edge.

use crate::Records;
use std::collections::BTreeMap;
use std::ops::Range;

/// What has come of one file so far: islands of bytes, of which only the edges are kept.
#[derive(Debug)]
pub(super) struct Stitch {
    records: Records,
    /// Size of the file; its end ends the last record.
    end: u64,
    /// By first byte.
    islands: BTreeMap<u64, Island>,
}

/// A range of bytes that have come, without gaps.
#[derive(Debug)]
struct Island {
    end: u64,
    /// Bytes before the first cut, where the island does not start with a record.
    head: Vec<u8>,
    /// No cut yet: all bytes are in `head`.
    solid: bool,
    /// Bytes after the last cut.
    tail: Vec<u8>,
}

/// The records that a piece completes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Completed {
    /// Those that lie in the piece.
    pub(super) inside: Range<usize>,
    /// Those that lie across its edges: their offset and bytes.
    pub(super) across: Vec<(u64, Vec<u8>)>,
}

impl Stitch {
    pub(super) fn new(records: Records, end: u64) -> Self {
        Stitch { records, end, islands: BTreeMap::new() }
    }

    /// Takes the piece at `offset`, not empty and not taken before.
    pub(super) fn add(&mut self, offset: u64, piece: &[u8]) -> Completed {
        if self.records == Records::None {
            return Completed { inside: 0..piece.len(), across: Vec::new() };
        }
        let mut completed = Completed::default();
        let start = self.append(offset, piece, &mut completed);
        self.join_right(start, &mut completed);
        self.finish(start, &mut completed);
        completed
    }

    /// Adds the piece to the island on its left, or makes one of it; returns where that island starts.
    fn append(&mut self, offset: u64, piece: &[u8], completed: &mut Completed) -> u64 {
        let starts_record = self.records.starts_at(offset);
        let end = offset + piece.len() as u64;
        let first = if starts_record { Some(0) } else { self.records.first_cut(piece, offset) };
        let last = if end == self.end { Some(piece.len()) } else { self.records.last_cut(piece, offset) };
        let left = self.islands.range_mut(..offset).next_back().filter(|(_, island)| island.end == offset);
        let (start, island) = match left {
            Some((&start, island)) => (start, island),
            None => {
                let island =
                    Island { end: offset, head: Vec::new(), solid: !starts_record, tail: Vec::new() };
                (offset, self.islands.entry(offset).or_insert(island))
            }
        };
        island.end = end;
        let Some(first) = first else {
            if island.solid { &mut island.head } else { &mut island.tail }.extend_from_slice(piece);
            return start;
        };
        if island.solid {
            island.head.extend_from_slice(&piece[..first]);
            island.solid = false;
        } else {
            island.tail.extend_from_slice(&piece[..first]);
            completed.across.extend(take(&mut island.tail, offset + first as u64));
        }
        let last = last.map_or(first, |last| last.max(first));
        completed.inside = first..last;
        island.tail.extend_from_slice(&piece[last..]);
        start
    }

    /// Joins the island that starts where this one ends.
    fn join_right(&mut self, start: u64, completed: &mut Completed) {
        let Some(end) = self.islands.get(&start).map(|island| island.end) else { return };
        let Some(right) = self.islands.remove(&end) else { return };
        let Some(island) = self.islands.get_mut(&start) else { return };
        island.end = right.end;
        if island.solid {
            island.head.extend(right.head);
            island.solid = right.solid;
            island.tail = right.tail;
        } else {
            let cut = end + right.head.len() as u64;
            island.tail.extend(right.head);
            if !right.solid {
                completed.across.extend(take(&mut island.tail, cut));
                island.tail = right.tail;
            }
        }
    }

    /// What reaches the end of the file is a record, delimiter or not.
    fn finish(&mut self, start: u64, completed: &mut Completed) {
        let Some(island) = self.islands.get_mut(&start) else { return };
        if island.end == self.end && !island.solid {
            completed.across.extend(take(&mut island.tail, self.end));
        }
    }
}

/// Empties `bytes`, which end at `end`.
fn take(bytes: &mut Vec<u8>, end: u64) -> Option<(u64, Vec<u8>)> {
    let bytes = std::mem::take(bytes);
    (!bytes.is_empty()).then(|| (end - bytes.len() as u64, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Feeds `file` in pieces cut at `cuts`, in the order of `keys`, and returns what was completed.
    fn fed(file: &[u8], records: Records, cuts: &[usize], keys: &[u32]) -> Vec<(u64, Vec<u8>)> {
        let mut edges: Vec<usize> = cuts.iter().map(|cut| cut % (file.len() + 1)).collect();
        edges.extend([0, file.len()]);
        edges.sort_unstable();
        edges.dedup();
        let mut pieces: Vec<_> = edges.windows(2).map(|pair| pair[0]..pair[1]).collect();
        let mut numbered: Vec<_> =
            pieces.drain(..).enumerate().map(|(at, piece)| (keys[at % keys.len()], piece)).collect();
        numbered.sort_by_key(|(key, piece)| (*key, piece.start % 7));
        let mut stitch = Stitch::new(records, file.len() as u64);
        let mut all = Vec::new();
        for (_, piece) in numbered {
            let bytes = &file[piece.clone()];
            let completed = stitch.add(piece.start as u64, bytes);
            if !completed.inside.is_empty() {
                all.push((
                    (piece.start + completed.inside.start) as u64,
                    bytes[completed.inside.clone()].to_vec(),
                ));
            }
            all.extend(completed.across);
        }
        all.sort();
        all
    }

    fn any_records() -> impl Strategy<Value = Records> {
        prop_oneof![
            Just(Records::None),
            Just(Records::Delimiter(b'\n')),
            (0..20_u64, 1..9_u64).prop_map(|(origin, bytes)| Records::Fixed { origin, bytes }),
        ]
    }

    proptest! {
        #[test]
        fn every_byte_comes_once_in_whole_records(
            file in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'a'), Just(b'b')], 1..80),
            records in any_records(),
            cuts in prop::collection::vec(any::<usize>(), 0..12),
            keys in prop::collection::vec(any::<u32>(), 1..12),
        ) {
            let all = fed(&file, records, &cuts, &keys);
            let mut at = 0;
            for (offset, bytes) in &all {
                prop_assert_eq!(*offset, at);
                prop_assert!(!bytes.is_empty());
                at += bytes.len() as u64;
                let whole = at == file.len() as u64 || match records {
                    Records::None => true,
                    Records::Delimiter(delimiter) => bytes.last() == Some(&delimiter),
                    Records::Fixed { .. } => records.starts_at(at),
                };
                prop_assert!(whole, "{} {:?}", at, all);
            }
            prop_assert_eq!(all.into_iter().flat_map(|(_, bytes)| bytes).collect::<Vec<_>>(), file);
        }
    }

    #[test]
    fn a_record_over_three_pieces_waits_for_the_middle() {
        let mut stitch = Stitch::new(Records::Delimiter(b'\n'), 12);
        assert_eq!(stitch.add(8, b"d\ne\n").inside, 2..4);
        assert_eq!(stitch.add(0, b"a\nbb").inside, 0..2);
        let completed = stitch.add(4, b"cccc");
        assert_eq!(completed, Completed { inside: 0..0, across: vec![(2, b"bbccccd\n".to_vec())] });
    }
}
