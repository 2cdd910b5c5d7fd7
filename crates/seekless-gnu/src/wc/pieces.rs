//! The counted pieces of one file. Pieces that touch are joined at once, so few are kept.

use super::charset::Charset;
use super::tally::Tally;
use super::{Counts, Wanted};
use std::collections::BTreeMap;

/// Pieces by their first offset.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    pieces: BTreeMap<u64, Piece>,
}

#[derive(Debug)]
struct Piece {
    end: u64,
    tally: Tally,
}

impl Pieces {
    /// Counts `bytes`, which lie at `offset`.
    pub(crate) fn add(&mut self, offset: u64, bytes: &[u8], wanted: Wanted, charset: &mut Charset) {
        let tally = Tally::of(bytes, wanted, charset);
        self.join(offset, Piece { end: offset + bytes.len() as u64, tally }, wanted, charset);
    }

    /// Counts `bytes` zeros that lie at `offset`.
    pub(crate) fn add_zeros(
        &mut self,
        offset: u64,
        bytes: u64,
        wanted: Wanted,
        charset: &mut Charset,
    ) {
        let tally = Tally::of(&[0], wanted, charset).repeated(bytes, wanted, charset);
        self.join(offset, Piece { end: offset + bytes, tally }, wanted, charset);
    }

    fn join(&mut self, offset: u64, mut piece: Piece, wanted: Wanted, charset: &mut Charset) {
        if let Some(next) = self.pieces.remove(&piece.end) {
            piece = Piece { end: next.end, tally: piece.tally.join(next.tally, wanted, charset) };
        }
        match self.pieces.range_mut(..offset).next_back() {
            Some((_, before)) if before.end == offset => {
                before.tally = before.tally.join(piece.tally, wanted, charset);
                before.end = piece.end;
            }
            _ => {
                self.pieces.insert(offset, piece);
            }
        }
    }

    /// Whether there is no gap between the first byte and the last.
    pub(crate) fn whole(&self) -> bool {
        self.pieces.len() <= 1
    }

    /// The counts of all pieces; a gap ends a word and a line.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for piece in self.pieces.values() {
            let _ = counts.add(&piece.tally.counts()); // no file has more than 2^63 bytes
        }
        counts
    }
}
