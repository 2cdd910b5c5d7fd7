//! How likely it is that reads fit each other by chance, and what they must do then.

use super::deltas::DELTAS_MAX;

/// If the file has this many places to each stray read between, a read that adjoins is no accident.
const PLACES_TO_A_READ: u64 = 256;
/// Distances that must be equal.
const VOTES: u32 = 2;
/// Reads that must each lie a little after the one before, for a sparse run.
pub(super) const RISES: u32 = 4;
const NEAR_PARTS: u128 = 16;
/// If reads adjoin this many times as often as by chance, five of six do so on purpose.
const ADJOIN_TIMES: u64 = 6;
/// At least this many of the last reads must have adjoined, or that may be an accident itself.
const ADJOINED_MIN: u32 = 8;

/// How likely it is that reads fit each other by chance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubt {
    /// Reads of the file since the last one of the stream that were of no known stream.
    pub(super) reads_between: u32,
    /// How many reads of this size the file has room for.
    pub(super) places: u64,
    /// The bytes of the file.
    pub(super) file_bytes: u64,
    /// How many streams of the file were discovered and did not go on.
    pub(super) wrong: u32,
    /// What became of the last reads of no known stream.
    pub(super) recent: Recent,
    /// Streams that a read may adjoin by chance.
    pub(super) unknown: usize,
}

/// Of the last reads of no known stream of a file: how many began one, how many adjoined one that
/// had begun, and how many pages lie from the first to the last of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recent {
    pub(super) begun: u32,
    pub(super) adjoined: u32,
    pub(super) pages: u64,
}

impl Doubt {
    /// Further reads that must adjoin: none where this hardly happens by chance, and none where it
    /// happens far more often.
    pub(super) fn adjoining(self) -> u32 {
        let is_rare = u64::from(self.reads_between) * PLACES_TO_A_READ <= self.places;
        if is_rare || self.adjoin_often() { 0 } else { 1 + (1 + self.wrong).ilog2().min(6) }
    }

    /// Whether the last reads adjoined others far more often than by chance. By chance a read
    /// adjoins one of the unknown streams, on either side; all lie in the same part of the file.
    fn adjoin_often(self) -> bool {
        let Recent { begun, adjoined, pages } = self.recent;
        let by_chance = 2 * self.unknown as u64 * u64::from(begun + adjoined);
        adjoined >= ADJOINED_MIN
            && u64::from(adjoined).saturating_mul(pages.min(self.places))
                >= ADJOIN_TIMES * by_chance
    }

    /// Whether a read is so near to the last one by accident: the places that are as near are more
    /// than the sixteenth part of the file, taken once for each read between.
    pub(super) fn is_near_by_chance(self, distance: u64) -> bool {
        let near = u128::from(distance) * 2 * u128::from(self.reads_between);
        near * NEAR_PARTS > u128::from(self.file_bytes)
    }

    /// Further distances that must agree.
    pub(super) fn agreeing(self) -> u32 {
        (1 + self.wrong / 4).ilog2().min(DELTAS_MAX as u32 - RISES)
    }

    /// How many equal distances make a stride.
    pub(super) fn votes(self) -> usize {
        (VOTES + self.agreeing()) as usize
    }
}
