//! What a stream of which only a few reads are known turns out to be.
//!
//! The more streams begin on a file between two reads, the likelier it is that the two fit each
//! other by chance. Then more reads have to agree before anything is fetched for them.

use super::deltas::DELTAS_MAX;
use super::run;
use super::span::{BOTH, Facing, Span};
use super::stream::Stream;
use super::strided::Stride;

/// So many places of the file to each stream that began since: then a read that adjoins is no
/// accident.
const PLACES_TO_A_STREAM: u64 = 64;
/// Distances that must be equal.
const VOTES: u32 = 2;
/// Reads that must each lie a little after the one before, for a sparse run.
const RISES: u32 = 4;

/// How likely it is that reads fit each other by chance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubt {
    /// Streams of the file that began since the last read of the stream.
    pub(super) begun_since: u32,
    /// How many reads of this size the file has room for.
    pub(super) places: u64,
    /// How many streams of the file were discovered and did not go on.
    pub(super) wrong: u32,
}

impl Doubt {
    /// Further reads that must adjoin.
    fn adjoining(self) -> u32 {
        let is_rare = u64::from(self.begun_since) * PLACES_TO_A_STREAM <= self.places;
        if is_rare { 0 } else { 1 + (1 + self.wrong).ilog2().min(6) }
    }

    /// Further distances that must agree.
    fn agreeing(self) -> u32 {
        (1 + self.wrong / 4).ilog2().min(DELTAS_MAX as u32 - RISES)
    }

    /// How many equal distances make a stride.
    pub(super) fn votes(self) -> usize {
        (VOTES + self.agreeing()) as usize
    }
}

/// What a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Run { facing: Facing, gap_bytes: u64 },
    Strided { facing: Facing, stride: Stride },
}

/// Takes a read into a stream that is not known yet. The read lies near its last one.
pub(super) fn take(stream: &mut Stream, read: Span, doubt: Doubt) -> Option<Found> {
    for facing in BOTH {
        let last = stream.last.facing(stream.facing);
        if run::continues(last.facing(facing), read.facing(facing)) {
            return adjoin(stream, read, facing, doubt);
        }
    }
    distant(stream, read, doubt)
}

/// A read that adjoins the last one: a run, if enough did before it.
fn adjoin(stream: &mut Stream, read: Span, facing: Facing, doubt: Doubt) -> Option<Found> {
    if stream.facing != facing {
        stream.turn(facing);
        stream.chain = 0;
    }
    stream.last = read.facing(facing);
    stream.chain += 1;
    (stream.chain > doubt.adjoining()).then_some(Found::Run { facing, gap_bytes: 0 })
}

/// A read at a distance: a stride if the distance is the usual one; a sparse run if the last reads
/// all went the same way.
fn distant(stream: &mut Stream, read: Span, doubt: Doubt) -> Option<Found> {
    stream.turn(Facing::Forward);
    if read.start >= stream.last.start && read.end <= stream.last.end {
        return None;
    }
    stream.deltas.push(read.start.wrapping_sub(stream.last.start) as i64);
    (stream.last, stream.run_start, stream.chain) = (read, read.start, 0);
    if let Some(delta) = stream.deltas.majority(doubt.votes()) {
        return Some(strided(delta, read));
    }
    let rises = (RISES + doubt.agreeing()) as usize;
    let sparse = |facing, mean: i64| Found::Run {
        facing,
        gap_bytes: mean.unsigned_abs().saturating_sub(read.bytes()),
    };
    let upward = stream.deltas.ascending(rises).map(|mean| sparse(Facing::Forward, mean));
    let downward = || stream.deltas.mirrored().ascending(rises);
    upward.or_else(|| downward().map(|mean| sparse(Facing::Backward, mean)))
}

/// A stride of this distance between the starts of the elements; the last one was just read.
pub(super) fn strided(delta: i64, read: Span) -> Found {
    let facing = if delta > 0 { Facing::Forward } else { Facing::Backward };
    let delta = delta.unsigned_abs();
    Found::Strided { facing, stride: Stride { delta, element: read.bytes().min(delta) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 4096;

    fn found(doubt: Doubt, pages: &[u64]) -> Vec<bool> {
        let mut stream = Stream::begin(1, Span::of_page(pages[0]), None);
        let mut take = |page: &u64| take(&mut stream, Span::of_page(*page), doubt).is_some();
        pages[1..].iter().map(&mut take).collect()
    }

    fn last(pages: &[u64]) -> Option<Found> {
        let mut stream = Stream::begin(1, Span::of_page(pages[0]), None);
        let take = |page: &u64| take(&mut stream, Span::of_page(*page), Doubt::default());
        pages[1..].iter().map(take).last().flatten()
    }

    #[test]
    fn each_pattern_is_found_after_as_many_reads_as_it_takes_to_see_it() {
        use Facing::{Backward, Forward};
        let run = |facing, gap_bytes| Some(Found::Run { facing, gap_bytes });
        let strided = |facing, delta| {
            Some(Found::Strided { facing, stride: Stride { delta, element: PAGE } })
        };
        assert_eq!(last(&[9, 10]), run(Forward, 0));
        assert_eq!(last(&[9, 8]), run(Backward, 0));
        assert_eq!(last(&[9, 25]), None);
        assert_eq!(last(&[9, 25, 41]), strided(Forward, 16 * PAGE));
        assert_eq!(last(&[90, 74, 58]), strided(Backward, 16 * PAGE));
        assert_eq!(last(&[9, 12, 19, 21, 26]), run(Forward, 13 * PAGE / 4));
        assert_eq!(last(&[26, 21, 19, 12, 9]), run(Backward, 13 * PAGE / 4));
        assert_eq!(last(&[9, 12, 19, 17, 26]), None);
        assert_eq!(last(&[9, 9, 9]), None);
    }

    #[test]
    fn where_accidents_are_likely_more_reads_must_agree() {
        let crowded = Doubt { begun_since: 10, places: 100, wrong: 0 };
        assert_eq!(found(crowded, &[9, 10, 11]), [false, true]);
        let wrong = Doubt { wrong: 7, ..crowded };
        assert_eq!(found(wrong, &[9, 10, 11, 12, 13, 14]), [false, false, false, false, true]);
        let wrong = Doubt { wrong: 12, ..Doubt::default() };
        assert_eq!(found(wrong, &[0, 16, 32, 48, 64]), [false, false, false, true]);
    }
}
