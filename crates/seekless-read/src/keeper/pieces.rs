//! The last few pieces that were read past the cache to find a record's end. The program asks for
//! the same bytes next, and they would be read from the device twice otherwise.

use std::collections::VecDeque;
use std::sync::Arc;

/// The most pieces kept. A search reads 64 KiB at a time.
const PIECES_MAX: usize = 8;

/// A file's state: its size and its time of change (seconds, nanoseconds). A piece counts only for
/// the state in which it was read.
pub(super) type Stamp = (u64, i64, i64);

#[derive(Debug)]
struct Piece {
    offset: u64,
    stamp: Stamp,
    bytes: Arc<Vec<u8>>,
}

/// The pieces, the newest last.
#[derive(Debug, Default)]
pub(super) struct Pieces(VecDeque<Piece>);

impl Pieces {
    pub(super) fn add(&mut self, offset: u64, stamp: Stamp, bytes: Arc<Vec<u8>>) {
        if self.0.len() == PIECES_MAX {
            self.0.pop_front();
        }
        self.0.push_back(Piece { offset, stamp, bytes });
    }

    /// The piece that holds the byte at `offset`, and where in the piece it is.
    pub(super) fn at(&self, offset: u64, stamp: Stamp) -> Option<(Arc<Vec<u8>>, usize)> {
        self.0.iter().rev().filter(|piece| piece.stamp == stamp).find_map(|piece| {
            let start = usize::try_from(offset.checked_sub(piece.offset)?).ok()?;
            (start < piece.bytes.len()).then(|| (Arc::clone(&piece.bytes), start))
        })
    }

    /// The offset of the next piece after `offset`.
    pub(super) fn next_after(&self, offset: u64, stamp: Stamp) -> Option<u64> {
        let held = self.0.iter().filter(|piece| piece.stamp == stamp && piece.offset > offset);
        held.map(|piece| piece.offset).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_pieces_of_the_files_state_are_shown() {
        let (now, other) = ((100, 1, 2), (100, 1, 3));
        let mut pieces = Pieces::default();
        pieces.add(10, now, Arc::new(vec![1; 5]));
        pieces.add(12, now, Arc::new(vec![2; 5]));
        let start = |pieces: &Pieces, offset, stamp| {
            pieces.at(offset, stamp).map(|(held, at)| (held[0], at))
        };
        assert_eq!(start(&pieces, 11, now), Some((1, 1)));
        assert_eq!(start(&pieces, 14, now), Some((2, 2)));
        assert_eq!(start(&pieces, 17, now), None);
        assert_eq!(start(&pieces, 11, other), None);
        assert_eq!((pieces.next_after(9, now), pieces.next_after(10, now)), (Some(10), Some(12)));
        assert_eq!((pieces.next_after(12, now), pieces.next_after(9, other)), (None, None));
        (0..PIECES_MAX as u64).for_each(|at| pieces.add(100 + at, other, Arc::new(vec![3])));
        assert_eq!(start(&pieces, 14, now), None);
    }
}
