//! Decides what kind of stream a few first reads belong to.
//!
//! The more reads of no known stream lie between two reads, the likelier it is that the two fit
//! each other by chance. Then more reads have to agree before anything is fetched for them.

use super::doubt::{Doubt, RISES};
use super::run;
use super::span::{BOTH, Facing, Span};
use super::stream::Stream;
use super::stride::Stride;

/// What a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Run { facing: Facing, gap_bytes: u64 },
    Strided { facing: Facing, stride: Stride },
}

/// Whether a read belongs to an unknown stream: it adjoins its last one, or is near it and not by
/// chance.
pub(super) fn belongs(stream: &Stream, read: Span, doubt: Doubt) -> bool {
    let last = stream.last.facing(stream.facing);
    let distance = last.start.abs_diff(read.start);
    adjoins(stream, read) || !doubt.is_near_by_chance(distance)
}

/// Whether a read adjoins the last one of an unknown stream, on either side.
pub(super) fn adjoins(stream: &Stream, read: Span) -> bool {
    let last = stream.last.facing(stream.facing);
    BOTH.into_iter().any(|facing| run::continues(last.facing(facing), read.facing(facing)))
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
    let delta = read.start.wrapping_sub(stream.last.start) as i64;
    stream.deltas.push(delta);
    stream.rises = match (doubt.is_near_by_chance(delta.unsigned_abs()), delta > 0) {
        (true, _) => 0,
        (_, true) => stream.rises.max(0).saturating_add(1),
        (_, false) => stream.rises.min(0).saturating_sub(1),
    };
    (stream.last, stream.run_start, stream.chain) = (read, read.start, 0);
    if let Some(delta) = stream.deltas.majority(doubt.votes()) {
        return Some(strided(delta, read));
    }
    let rises = RISES + doubt.agreeing();
    let gap_bytes = stream.deltas.mean(rises as usize).unsigned_abs().saturating_sub(read.bytes());
    let facing = if stream.rises > 0 { Facing::Forward } else { Facing::Backward };
    let is_sparse = u32::from(stream.rises.unsigned_abs()) >= rises;
    is_sparse.then_some(Found::Run { facing, gap_bytes })
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
    use crate::readahead::streams::doubt::Recent;

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
        let crowded =
            Doubt { reads_between: 10, places: 100, file_bytes: 100 * PAGE, ..Doubt::default() };
        assert_eq!(found(crowded, &[9, 10, 11]), [false, true]);
        let adjoining = |adjoined, pages| Doubt {
            recent: Recent { begun: 10, adjoined, pages },
            unknown: 10,
            places: 1000,
            ..crowded
        };
        assert_eq!(found(adjoining(8, 1000), &[9, 10]), [true]);
        assert_eq!(found(adjoining(7, 1000), &[9, 10]), [false], "too few to decide");
        assert_eq!(
            found(adjoining(30, 100), &[9, 10]),
            [false],
            "3.75 times as often as by chance"
        );
        let wrong = Doubt { wrong: 7, ..crowded };
        assert_eq!(found(wrong, &[9, 10, 11, 12, 13, 14]), [false, false, false, false, true]);
        let sparse = [0, 3, 5, 9, 14];
        assert_eq!(found(Doubt::default(), &sparse), [false, false, false, true]);
        assert_eq!(found(crowded, &sparse), [false; 4], "a small file for this many reads");
        let wrong = Doubt { wrong: 12, ..Doubt::default() };
        assert_eq!(found(wrong, &[0, 16, 32, 48, 64]), [false, false, false, true]);
    }
}
