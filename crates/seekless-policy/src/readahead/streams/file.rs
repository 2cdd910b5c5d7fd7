//! What is known of an open file as a whole: what one stream in it shows about the next.

use super::deltas::Deltas;
use super::doubt::Recent;
use super::limits::Limits;
use super::span::Span;
use super::stream::Seen;
use crate::id::Id;
use crate::readahead::PageNo;
use crate::readahead::options::PAGE_BYTES;
use std::ops::Range;

/// Runs are compared from this length on.
const RUN_BYTES_MIN: u64 = 16 * PAGE_BYTES;
/// After the first, this many runs in a row that are one or several units long make the unit the
/// usual one.
const RUNS_AGREEING: u8 = 2;
/// Runs of different lengths have a unit if it is at least as long: with a page's tolerance, a
/// shorter one would divide many lengths by chance.
const UNIT_BYTES_MIN: u64 = 64 * PAGE_BYTES;
/// A run of this many units is no run of units: it may go on for ever.
const UNITS_MAX: u64 = 8;
/// The counts of streams are halved at this number, so that the last ones count most.
const STREAMS_COUNTED: u32 = 64;
/// A stream has gone on for this many reads before others learn from it.
pub(super) const PROVEN_READS: u32 = 4;
/// The first window of a stream beside proven ones is a quarter of theirs; 64 KiB at least. It is
/// at most 512 KiB or what a request costs, since not every stream goes on for long.
const SIBLING_PAGES_MIN: u64 = 16;
const SIBLING_PAGES_MAX: u64 = 128;

/// An open file.
#[derive(Debug, Default)]
pub(super) struct File {
    /// The number of this opening, counted over all files from 1.
    pub(super) opening: u64,
    /// The stream of the last read.
    pub(super) current: Option<Id>,
    /// How many reads were of no known stream.
    pub(super) stray_reads: u32,
    /// Of the last streams: how many began, were discovered, and went on.
    recent: Counts,
    runs: RunLength,
    /// The window of the last proven stream.
    sibling: u64,
    /// The last streams that began far from all others.
    pub(super) strays: Strays,
    /// The pages that were fetched only when the last read asked for them: its waiting for them
    /// means nothing.
    pub(super) fetched_now: Range<PageNo>,
    /// By how many halvings the read-around of faults is smaller, since it was wasted.
    pub(super) around_halved: u8,
}

#[derive(Debug, Default)]
struct Counts {
    begun: u32,
    /// How many reads adjoined one that had begun and was not known.
    adjoined: u32,
    discovered: u32,
    proven: u32,
    /// The pages between which they began, since the counts were last halved, and before.
    began: [Option<(PageNo, PageNo)>; 2],
}

/// The usual length of a run: the unit that the last runs are one or several of. So are the runs of
/// a file by columns, whose chunks adjoin where a reader needs neighbouring columns.
#[derive(Debug, Default)]
struct RunLength {
    bytes: u64,
    agreeing: u8,
}

impl RunLength {
    fn learn(&mut self, bytes: u64) {
        let unit = unit_of(self.bytes, bytes);
        let agrees = unit.is_some_and(|unit| unit.abs_diff(self.bytes) <= PAGE_BYTES);
        self.agreeing = if agrees { self.agreeing.saturating_add(1) } else { 0 };
        self.bytes = unit.unwrap_or(bytes);
    }
}

/// The length that divides two others (Euclid), give or take a page each time that it fits, if it
/// is long enough. Equal lengths always have one.
fn unit_of(one: u64, other: u64) -> Option<u64> {
    let (mut long, mut short) = (one.max(other), one.min(other));
    let bytes_min = if long - short <= PAGE_BYTES { 1 } else { UNIT_BYTES_MIN };
    while short >= bytes_min {
        let (times, rest) = (long / short, long % short);
        if rest.min(short - rest) <= PAGE_BYTES * (times + 1) {
            return Some(short);
        }
        (long, short) = (short, rest);
    }
    None
}

/// Single reads far from all streams: they may be a stride that is larger than what counts as near.
#[derive(Debug, Default)]
pub(super) struct Strays {
    last: Option<(Seen, Span)>,
    deltas: Deltas,
}

impl Strays {
    /// Takes a stream that began with one read. `alone` says whether the one before is still a
    /// single read.
    pub(super) fn push(&mut self, seen: Seen, read: Span, alone: impl Fn(Seen) -> bool) {
        match self.last {
            Some((last, place)) if alone(last) => {
                self.deltas.push(read.start.wrapping_sub(place.start) as i64);
            }
            _ => self.deltas = Deltas::default(),
        }
        self.last = Some((seen, read));
    }

    /// The distance that they keep, if `votes` of them do.
    pub(super) fn delta(&self, votes: usize) -> Option<i64> {
        self.deltas.majority(votes)
    }
}

impl File {
    pub(super) fn stream_began(&mut self, page: PageNo) {
        let [now, before] = &mut self.recent.began;
        let (first, last) = now.unwrap_or((page, page));
        *now = Some((first.min(page), last.max(page)));
        self.recent.begun += 1;
        if self.recent.begun >= STREAMS_COUNTED {
            self.recent.begun /= 2;
            self.recent.adjoined /= 2;
            *before = now.take();
            self.recent.discovered /= 2;
            self.recent.proven /= 2;
        }
    }

    pub(super) fn read_adjoined(&mut self) {
        self.recent.adjoined = self.recent.adjoined.saturating_add(1);
    }

    pub(super) fn recent(&self) -> Recent {
        let Counts { begun, adjoined, began, .. } = self.recent;
        let first = began.iter().flatten().map(|began| began.0).min();
        let last = began.iter().flatten().map(|began| began.1).max();
        let pages = first.zip(last).map_or(0, |(first, last)| last - first + 1);
        Recent { begun, adjoined, pages }
    }

    pub(super) fn stream_discovered(&mut self) {
        self.recent.discovered = self.recent.discovered.saturating_add(1);
    }

    pub(super) fn stream_proven(&mut self) {
        self.recent.proven = self.recent.proven.saturating_add(1);
    }

    /// A proven stream has this window.
    pub(super) fn learn_window(&mut self, pages: u64) {
        self.sibling = pages;
    }

    /// A run ended after this many bytes and reads.
    pub(super) fn learn_run(&mut self, bytes: u64, reads: u32) {
        if bytes < RUN_BYTES_MIN || reads < PROVEN_READS {
            return;
        }
        self.runs.learn(bytes);
    }

    /// A run of this many bytes went on where runs usually end. Gives by how many pages it is
    /// likely to go on, if that is known. A run that had been left was taken for ended too early,
    /// and so were the others.
    pub(super) fn run_went_on(&mut self, bytes: u64, had_been_left: bool) -> Option<u64> {
        if had_been_left || bytes > UNITS_MAX * self.runs.bytes {
            self.runs.agreeing = 0;
        }
        self.run_pages()
    }

    /// How long runs are, if the last ones were all as long, or several times as long.
    pub(super) fn run_pages(&self) -> Option<u64> {
        (self.runs.agreeing >= RUNS_AGREEING).then(|| self.runs.bytes.div_ceil(PAGE_BYTES))
    }

    /// How many streams were discovered that did not go on.
    pub(super) fn wrong(&self) -> u32 {
        self.recent.discovered.saturating_sub(self.recent.proven)
    }

    /// The first window of a stream: `pages`, as its reads show. More if requests are dear, and
    /// more if the other streams of the file went on.
    pub(super) fn first_window(&self, pages: u64, limits: &Limits) -> u64 {
        let pages = pages.max(limits.first());
        let is_proven = self.recent.proven >= 2 && self.recent.proven * 2 > self.recent.discovered;
        let largest = SIBLING_PAGES_MAX.max(limits.gap);
        let sibling = (self.sibling / 4).clamp(SIBLING_PAGES_MIN, largest);
        let sibling = if is_proven { sibling } else { 0 };
        self.run_pages().unwrap_or(pages.max(sibling)).min(limits.window)
    }

    /// Whether a single read is enough to fetch a run of the usual length: the runs that begin are
    /// so often gone through that the requests saved cost more than the bytes read in vain.
    pub(super) fn trusts_a_single_read(&self, limits: &Limits) -> bool {
        let Some(pages) = self.run_pages() else { return false };
        let (good, bad) =
            (self.recent.proven, self.recent.begun.saturating_sub(self.recent.proven));
        let saved = u128::from(good) * u128::from(limits.gap_bytes);
        good > 3 * bad && saved > u128::from(bad) * u128::from(pages * PAGE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readahead::Lead;
    use seekless_device::Costs;

    fn limits() -> Limits {
        let costs = Costs { request_ns: 100_000, bytes_per_second: 1_250_000_000, depth: 32 };
        Limits::of(Lead::Auto, 2048, costs)
    }

    #[test]
    fn three_equal_runs_are_the_usual_length_until_one_goes_on() {
        let mut file = File::default();
        for bytes in [1 << 20, 1_500_000, 1 << 20, 1 << 20, 1 << 20] {
            assert_eq!(file.run_pages(), None);
            file.learn_run(bytes, 9);
        }
        assert_eq!(file.run_pages(), Some(256));
        file.learn_run(5000, 9);
        assert_eq!(file.first_window(4, &limits()), 256, "short runs do not count");
        assert_eq!(file.run_went_on(2 << 20, false), Some(256), "it is a run of several");
        assert_eq!(file.run_went_on(9 << 20, false), None);
        assert_eq!(file.run_pages(), None);
        (0..3).for_each(|_| file.learn_run(1 << 20, 9));
        assert_eq!(file.run_went_on(2 << 20, true), None);
    }

    #[test]
    fn runs_that_adjoin_are_several_of_the_usual_length() {
        let mut file = File::default();
        for bytes in [3 << 20, 2 << 20, 1 << 20, (4 << 20) + 4096] {
            assert_eq!(file.run_pages(), None);
            file.learn_run(bytes, 9);
        }
        assert_eq!(file.run_pages(), Some(256), "the second showed the unit, two more agreed");
        file.learn_run((1 << 20) + 300_000, 9);
        assert_eq!(file.run_pages(), None);
    }

    #[test]
    fn a_stream_learns_from_proven_siblings() {
        let mut file = File::default();
        assert_eq!(file.first_window(4, &limits()), 7, "as dear as a quarter of a request");
        (0..3).for_each(|_| (file.stream_discovered(), file.stream_proven()).0);
        file.learn_window(20);
        assert_eq!(file.first_window(4, &limits()), 16);
        file.learn_window(400);
        assert_eq!(file.first_window(4, &limits()), 100);
        file.learn_window(2048);
        assert_eq!(file.first_window(4, &limits()), 128);
    }

    #[test]
    fn a_single_read_is_trusted_only_where_single_reads_went_on() {
        let mut file = File::default();
        (0..3).for_each(|_| file.learn_run(1 << 20, 9));
        assert!(!file.trusts_a_single_read(&limits()));
        (0..4).for_each(|_| (file.stream_began(0), file.stream_proven()).0);
        assert!(file.trusts_a_single_read(&limits()));
        (0..2).for_each(|_| file.stream_began(0));
        assert!(!file.trusts_a_single_read(&limits()));
    }
}
