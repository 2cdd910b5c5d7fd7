//! Makes whole records out of pieces that come in any order. What a piece's edges cut apart is kept
//! until the neighbour comes.
//!
//! The paper moves the edges of a cached range inwards to record boundaries, and the neighbour
//! reads the fragments again (Fig. 4). Keeping the fragments instead costs no read, and memory only
//! for one record an edge.

use crate::Records;
use std::collections::BTreeMap;
use std::ops::Range;

/// The parts of one file that have come so far: islands of bytes; only their edges are kept.
#[derive(Debug)]
pub(super) struct Stitch {
    records: Records,
    /// By first byte.
    islands: BTreeMap<u64, Island>,
    /// The bytes of all heads and tails.
    kept: usize,
}

/// A range of bytes that have come, without gaps.
#[derive(Debug)]
struct Island {
    end: u64,
    /// The bytes before the first cut, if the island does not start with a record.
    head: Vec<u8>,
    /// Whether there is no cut yet, so that all bytes are in `head`.
    solid: bool,
    /// The bytes after the last cut.
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
    pub(super) fn new(records: Records) -> Self {
        Stitch { records, islands: BTreeMap::new(), kept: 0 }
    }

    /// The bytes kept of records that were cut apart.
    pub(super) fn kept(&self) -> usize {
        self.kept
    }

    /// The record that follows all whole ones from the file's first byte on, as far as it has come:
    /// its offset and length.
    pub(super) fn open_record(&self) -> (u64, usize) {
        self.islands
            .get(&0)
            .map_or((0, 0), |island| (island.end - island.tail.len() as u64, island.tail.len()))
    }

    /// The last record, which ends at the end of the file, with or without a delimiter: its offset
    /// and bytes.
    pub(super) fn take_last(&mut self, end: u64) -> Option<(u64, Vec<u8>)> {
        let (_, island) = self.islands.last_key_value().filter(|(_, island)| island.end == end)?;
        if island.solid {
            return None;
        }
        let mut last = self.islands.last_entry()?;
        let record = take(&mut last.get_mut().tail, end)?;
        self.kept -= record.1.len();
        Some(record)
    }

    /// Drops all that is kept except the open record; returns the ranges that must come again.
    pub(super) fn let_go(&mut self) -> Vec<Range<u64>> {
        let mut again = Vec::new();
        for (start, island) in std::mem::take(&mut self.islands) {
            if start == 0 {
                self.kept = island.tail.len();
                self.islands.insert(0, island);
                continue;
            }
            let (head, tail) = (island.head.len() as u64, island.tail.len() as u64);
            let (whole_from, whole_to) = (start + head, island.end - tail);
            again.extend([start..whole_from, whole_to..island.end]);
            if whole_from < whole_to {
                let bare =
                    Island { end: whole_to, head: Vec::new(), solid: false, tail: Vec::new() };
                self.islands.insert(whole_from, bare);
            }
        }
        if !self.islands.contains_key(&0) {
            self.kept = 0;
        }
        again.retain(|range| !range.is_empty());
        again
    }

    /// Leaves out `bytes` of whole records from `offset` on. Only before any piece is added, and
    /// never two ranges side by side.
    pub(super) fn pass_over(&mut self, offset: u64, bytes: u64) {
        if self.records != Records::None {
            let island =
                Island { end: offset + bytes, head: Vec::new(), solid: false, tail: Vec::new() };
            self.islands.insert(offset, island);
        }
    }

    /// Adds the piece at `offset`, which is not empty and was not added before.
    pub(super) fn add(&mut self, offset: u64, piece: &[u8]) -> Completed {
        if self.records == Records::None {
            return Completed { inside: 0..piece.len(), across: Vec::new() };
        }
        let mut completed = Completed::default();
        let start = self.append(offset, piece, &mut completed);
        self.join_right(start, &mut completed);
        let gone = completed.across.iter().map(|(_, record)| record.len()).sum::<usize>();
        self.kept = (self.kept + piece.len()) - completed.inside.len() - gone;
        completed
    }

    /// Adds the piece to the island on its left, or makes an island of it; returns where that
    /// island starts.
    fn append(&mut self, offset: u64, piece: &[u8], completed: &mut Completed) -> u64 {
        let starts_record = self.records.starts_at(offset);
        let end = offset + piece.len() as u64;
        let first = if starts_record { Some(0) } else { self.records.first_cut(piece, offset) };
        let last = self.records.last_cut(piece, offset);
        let left =
            self.islands.range_mut(..offset).next_back().filter(|(_, island)| island.end == offset);
        let (start, island) = match left {
            Some((&start, island)) => (start, island),
            None => {
                let island = Island {
                    end: offset,
                    head: Vec::new(),
                    solid: !starts_record,
                    tail: Vec::new(),
                };
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

    /// Joins the island with the one that starts where it ends.
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
    use std::collections::VecDeque;

    /// Feeds `file` in pieces cut at `cuts`, in the order of `keys`, and returns what was
    /// completed. With over `most` bytes kept, all but the open record is dropped, and the rest
    /// comes in order.
    fn fed(
        file: &[u8],
        records: Records,
        cuts: &[usize],
        keys: &[u32],
        most: usize,
    ) -> Vec<(u64, Vec<u8>)> {
        let mut edges: Vec<usize> = cuts.iter().map(|cut| cut % (file.len() + 1)).collect();
        edges.extend([0, file.len()]);
        edges.sort_unstable();
        edges.dedup();
        let mut pieces: Vec<_> = edges.windows(2).map(|pair| pair[0]..pair[1]).collect();
        let mut numbered: Vec<_> = pieces
            .drain(..)
            .enumerate()
            .map(|(at, piece)| (keys[at % keys.len()], piece))
            .collect();
        numbered.sort_by_key(|(key, piece)| (*key, piece.start % 7));
        let mut stitch = Stitch::new(records);
        let mut all = Vec::new();
        let mut queue: VecDeque<_> = numbered.into_iter().map(|(_, piece)| piece).collect();
        let mut in_order = false;
        while let Some(piece) = queue.pop_front() {
            let bytes = &file[piece.clone()];
            let completed = stitch.add(piece.start as u64, bytes);
            if !completed.inside.is_empty() {
                all.push((
                    (piece.start + completed.inside.start) as u64,
                    bytes[completed.inside.clone()].to_vec(),
                ));
            }
            all.extend(completed.across);
            let kept: usize =
                stitch.islands.values().map(|island| island.head.len() + island.tail.len()).sum();
            assert!(records == Records::None || stitch.kept() == kept);
            if stitch.kept() > most {
                queue.extend(
                    stitch
                        .let_go()
                        .into_iter()
                        .map(|range| range.start as usize..range.end as usize),
                );
                in_order = true;
            }
            if in_order {
                queue.make_contiguous().sort_by_key(|piece| piece.start);
                assert!(stitch.kept() <= most || stitch.open_record().1 == stitch.kept());
            }
        }
        all.extend(stitch.take_last(file.len() as u64));
        all.sort();
        all
    }

    fn any_records() -> impl Strategy<Value = Records> {
        prop_oneof![
            Just(Records::None),
            Just(Records::Delimiter(b'\n')),
            Just(Records::Either(b'\n', b'a')),
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
            most in prop_oneof![Just(usize::MAX), 0..12_usize],
        ) {
            let all = fed(&file, records, &cuts, &keys, most);
            let mut at = 0;
            for (offset, bytes) in &all {
                prop_assert_eq!(*offset, at);
                prop_assert!(!bytes.is_empty());
                at += bytes.len() as u64;
                let whole = at == file.len() as u64 || match records {
                    Records::None => true,
                    Records::Delimiter(delimiter) => bytes.last() == Some(&delimiter),
                    Records::Either(one, other) => bytes.last().is_some_and(|last| [one, other].contains(last)),
                    Records::Fixed { .. } => records.starts_at(at),
                };
                prop_assert!(whole, "{} {:?}", at, all);
            }
            prop_assert_eq!(all.into_iter().flat_map(|(_, bytes)| bytes).collect::<Vec<_>>(), file);
        }
    }

    #[test]
    fn a_record_over_three_pieces_waits_for_the_middle() {
        let mut stitch = Stitch::new(Records::Delimiter(b'\n'));
        assert_eq!(stitch.add(8, b"d\ne\n").inside, 2..4);
        assert_eq!(stitch.add(0, b"a\nbb").inside, 0..2);
        let completed = stitch.add(4, b"cccc");
        assert_eq!(completed, Completed { inside: 0..0, across: vec![(2, b"bbccccd\n".to_vec())] });
    }
}
