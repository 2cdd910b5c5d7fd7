//! What the planner reads because it is likely to be loaded soon, though nothing has asked for it.
//!
//! A demand's read is extended to guessed entries beside it. Where the device serves several
//! requests at once, other guesses get reads of their own, which take along all guesses that lie
//! near, so that they are as large as reads of a list. Where it serves one at a time, such a read
//! would delay the next demand by more than it saves. What is guessed is kept as other reads around
//! demands are: its bytes are dropped as soon as newer reads need the room.
//!
//! With a prediction three things differ for what is read around a demand, too. Large files that
//! only some recorded runs have, and that nothing announces, do not widen it. A request is worth
//! fewer bytes while bytes are scarcer than requests (`balance`). And more of the memory is for
//! reads that are kept ([`Memory`](super::Memory)).
//!
//! The constants were chosen on five starts of 0 A.D., each from an order and a model made of the
//! other four, on volumes of 500 and 120 requests/s, `s3`, `nvme` and `t7k250`.

use super::balance::Balance;
use super::{Planner, READ_BYTES_MAX, Start, asked, within};
use crate::foresight::prediction::{CERTAIN, Guess, Prediction, Score};
use crate::id::Id;
use crate::layout::extents::{Extent, cover, joins};
use crate::planner::ahead::requests_are_dear;
use crate::planner::wide::LARGE_BYTES_MAX;

/// What a guess must be like to be read.
#[derive(Debug)]
struct Bars {
    /// The share of the kept reads that may hold what was guessed and not loaded yet, in percent.
    kept_percent: u64,
    /// Reads of guesses in flight, at most, and at most as many as the device serves at once.
    in_flight_max: u32,
    /// Guesses under this confidence get no reads of their own.
    confidence: u32,
    /// The share of a read of guesses that must be likely to be used, of [`CERTAIN`].
    used_min: u32,
}

/// The confidence was chosen on starts of Python, node, g++ and perl: a start on flash takes 3 %
/// less than with nine tenths.
const USUAL: Bars = Bars {
    kept_percent: 25,
    in_flight_max: 16,
    confidence: CERTAIN * 4 / 5,
    used_min: CERTAIN * 17 / 20,
};

/// Where a guess costs no time (`planner/wide.rs`).
const WIDE: Bars =
    Bars { kept_percent: 50, in_flight_max: 64, confidence: CERTAIN / 16, used_min: CERTAIN / 8 };

/// There a request is worth this many times what it costs.
const WORTH_WIDE: u64 = 4;

/// A read of guesses joins them over gaps of this share of what a request costs: over longer ones
/// too little of it would be likely to be used.
const GAP_SHARE: u64 = 4;

impl Planner {
    /// From now on the planner reads ahead what this expects.
    pub fn set_prediction(&mut self, prediction: Option<Prediction>) {
        self.balance = Balance::new();
        self.prediction = prediction;
        let kept = self.memory.kept_now(&self.costs, self.prediction.is_some());
        self.kept.set_capacity(kept);
    }

    fn bars(&self) -> &'static Bars {
        if self.reads_widely() { &WIDE } else { &USUAL }
    }

    /// What is left of bytes that a request is worth by the device's costs, if loads are predicted.
    pub(super) fn balanced(&self, bytes: u64) -> u64 {
        if self.prediction.is_some() { self.balance.of(bytes) } else { bytes }
    }

    /// What is expected, and why.
    #[must_use]
    pub fn prediction(&self) -> Option<&Prediction> {
        self.prediction.as_ref()
    }

    /// What became of the guesses so far.
    #[must_use]
    pub fn score(&self) -> Score {
        self.prediction.as_ref().map(Prediction::score).unwrap_or_default()
    }

    /// The program loads `id`, from wherever it comes; to be called before [`Planner::demand`].
    #[inline]
    pub fn loaded(&mut self, id: Id) {
        if let Some(prediction) = &mut self.prediction {
            prediction.loaded(id);
        }
    }

    /// The cache of files has released `id`.
    pub fn evicted(&mut self, id: Id) {
        if let Some(prediction) = &mut self.prediction {
            prediction.evicted(id);
        }
    }

    /// Adds the reads for what is likely to be loaded soon to `starts`, to be submitted now. To be
    /// called after each [`Planner::demand`] and after each [`Planner::ended`], with the same
    /// `cached`. There are none while entries come from a list ([`Planner::plan`]).
    ///
    /// Such reads have at most 1 MiB, and at most 16 are in flight; where they cost no time, 4 MiB
    /// and 64. There are none on a device that serves one request at a time: there a demand would
    /// wait for them.
    pub fn foresee(&mut self, cached: impl Fn(Id) -> bool, starts: &mut Vec<Start>) {
        self.read_around(&cached, starts);
        self.read_guesses(&cached, starts);
    }

    /// Adds the reads for guesses of what comes next.
    fn read_guesses(&mut self, cached: &impl Fn(Id) -> bool, starts: &mut Vec<Start>) {
        let (costs, bars, is_wide) = (self.costs, self.bars(), self.reads_widely());
        let Some(prediction) = self.prediction.as_ref().filter(|_| !self.is_listed) else { return };
        let reads = u64::from(costs.depth.min(bars.in_flight_max));
        let budget = *prediction.budget();
        let bounded = |bytes| if is_wide { bytes } else { budget.of(bytes) };
        let in_flight_max = bounded(if reads > 1 { reads * READ_BYTES_MAX } else { 0 });
        let unused_max = bounded(self.kept.capacity() * bars.kept_percent / 100);
        // A list takes tens of microseconds: none is made where nothing would be read for it.
        if self.under_way.guessed_bytes() >= in_flight_max {
            return;
        }
        self.guess_anew();
        while self.under_way.guessed_bytes() < in_flight_max
            && let Some(guess) = self.next_guess(cached)
        {
            let asked = asked(self.read_of(guess.id, cached), self.alignment);
            let extent = asked.extent;
            if !self.is_sure(extent, cached) {
                self.prediction.iter_mut().for_each(Prediction::skip);
                continue;
            }
            let unused = self.prediction.as_ref().map_or(0, |found| found.budget().unused_bytes());
            if unused + extent.bytes > unused_max {
                return;
            }
            self.guessed_within(extent, cached);
            self.balance.read(asked.extent.bytes, &costs);
            starts.push(self.under_way.guess(asked));
        }
    }

    /// Makes the list of guesses anew, if it is old.
    pub(super) fn guess_anew(&mut self) {
        let is_wide = self.reads_widely();
        let request_bytes = match is_wide {
            true => self.costs.gap_bytes().saturating_mul(WORTH_WIDE),
            false => self.balanced(self.costs.gap_bytes()),
        };
        // Long before its turn a file takes memory, and time from what is needed sooner: that pays
        // where it saves a dear request.
        let is_far = requests_are_dear(&self.costs);
        if let Some(prediction) = &mut self.prediction {
            prediction.refresh(is_far, |guess, bytes| {
                let is_likely = is_wide || !guess.is_named() || guess.confidence * 2 >= CERTAIN;
                is_likely && is_worth((guess.confidence, CERTAIN), bytes, request_bytes)
            });
        }
    }

    /// Whether most of what a read brings is likely to be used.
    fn is_sure(&self, extent: Extent, cached: &impl Fn(Id) -> bool) -> bool {
        let Some(prediction) = &self.prediction else { return false };
        let likely = |number: usize| match self.is_guessed(number as Id, 1, cached) {
            true => self.entries[number].bytes * u64::from(prediction.confidence(number as Id)),
            false => 0,
        };
        let used: u64 = within(&self.entries, extent).map(likely).sum();
        used >= extent.bytes * u64::from(self.bars().used_min)
    }

    /// The guess that gets the next read of its own. One of a file that is larger than a read gets
    /// none, unless many dear requests run at once. Where requests are dear and do not, a named
    /// file that no run has gets none either: it is read with the next demand beside it, whose
    /// window also brings what nothing names.
    fn next_guess(&mut self, cached: &impl Fn(Id) -> bool) -> Option<Guess> {
        let (bars, is_wide) = (self.bars(), self.reads_widely());
        let most = if is_wide { LARGE_BYTES_MAX } else { READ_BYTES_MAX };
        let Self { entries, alignment, costs, under_way, kept, prediction, near, .. } = self;
        let is_dear = requests_are_dear(costs) && !is_wide;
        let may_be_read = |guess: &Guess| !is_dear || !guess.is_of_new();
        prediction.as_mut()?.next(|guess, confidence| {
            let id = guess.id;
            confidence >= bars.confidence
                && may_be_read(guess)
                && entries[id as usize].aligned(*alignment).bytes <= most
                && !cached(id)
                && !near.get(id as usize).is_some_and(|&near| near)
                && !kept.has(id)
                && !under_way.covers(entries[id as usize])
        })
    }

    /// Whether `id` is guessed with this confidence at `least`, and neither at hand nor on its way.
    fn is_guessed(&self, id: Id, least: u32, cached: &impl Fn(Id) -> bool) -> bool {
        let prediction = self.prediction.as_ref();
        prediction.is_some_and(|prediction| prediction.confidence(id) >= least)
            && !self.is_near(id)
            && self.is_missing(id, cached)
    }

    /// The read for a guess, with all guesses that lie near it.
    fn read_of(&self, id: Id, cached: &impl Fn(Id) -> bool) -> Extent {
        let gap_bytes = self.costs.gap_bytes() / GAP_SHARE;
        self.grown(self.entries[id as usize], self.bars().confidence, gap_bytes, cached)
    }

    /// A demand's read, with the guesses beside it.
    pub(super) fn with_guesses(&self, extent: Extent, cached: &impl Fn(Id) -> bool) -> Extent {
        match self.prediction.is_some() {
            true => self.grown(extent, 1, self.costs.gap_bytes(), cached),
            false => extent,
        }
    }

    /// `extent`, with the guesses after and before it of this confidence at `least`, as one read
    /// over gaps of at most `gap_bytes`.
    fn grown(
        &self,
        mut extent: Extent,
        least: u32,
        gap_bytes: u64,
        cached: &impl Fn(Id) -> bool,
    ) -> Extent {
        // What there is no room to keep comes in vain.
        let most = self.unrounded(READ_BYTES_MAX).min(self.kept.capacity());
        let held = within(&self.entries, extent);
        let mut guessed_bytes = 0;
        for number in held.end..self.entries.len() {
            let next = self.entries[number];
            if !joins(extent, next, gap_bytes, most) {
                break;
            }
            if self.is_guessed(number as Id, least, cached) {
                let wider = cover(extent, next);
                guessed_bytes += next.bytes;
                if self.pays(number as Id, wider.bytes - extent.bytes, guessed_bytes) {
                    (extent, guessed_bytes) = (wider, 0);
                }
            }
        }
        guessed_bytes = 0;
        for number in (0..held.start).rev() {
            let previous = self.entries[number];
            if !joins(previous, extent, gap_bytes, most) {
                break;
            }
            if self.is_guessed(number as Id, least, cached) {
                let wider = cover(previous, extent);
                guessed_bytes += previous.bytes;
                if self.pays(number as Id, wider.bytes - extent.bytes, guessed_bytes) {
                    (extent, guessed_bytes) = (wider, 0);
                }
            }
        }
        extent
    }

    /// Whether a read is to grow by `added_bytes` up to a guess; `guessed_bytes` of them are
    /// guesses themselves. A file whose turn is near saves a request. One that is only likely to
    /// come some day would come with a large read then: it saves this read's share of that request.
    fn pays(&self, id: Id, added_bytes: u64, guessed_bytes: u64) -> bool {
        let vain_bytes = u128::from(added_bytes.saturating_sub(guessed_bytes));
        let saved = u128::from(added_bytes) * u128::from(self.costs.gap_bytes());
        self.prediction.as_ref().is_some_and(|prediction| prediction.is_near(id))
            || saved >= vain_bytes * u128::from(READ_BYTES_MAX)
    }

    /// Notes the guesses in a read that is about to start.
    pub(super) fn guessed_within(&mut self, extent: Extent, cached: &impl Fn(Id) -> bool) {
        for number in within(&self.entries, extent) {
            if self.is_guessed(number as Id, 1, cached)
                && let Some(prediction) = &mut self.prediction
            {
                prediction.reads(number as Id);
            }
        }
    }

    /// A read brought less than it should.
    pub(super) fn not_brought(&mut self, asked: Extent, read: Extent) {
        let missing = within(&self.entries, read).end..within(&self.entries, asked).end;
        if let Some(prediction) = &mut self.prediction {
            missing.for_each(|number| prediction.gone_unused(number as Id));
        }
    }

    /// A read was not kept, with all that nothing has asked for.
    pub(super) fn not_kept(&mut self, unused: &[Id]) {
        if let Some(prediction) = &mut self.prediction {
            unused.iter().for_each(|&id| prediction.gone_unused(id));
        }
    }
}

/// Whether a guess is worth its bytes: the requests that such guesses save, in bytes of equal cost,
/// come to more than the bytes of wrong guesses.
///
/// Of `all` such guesses `right` come true.
pub(super) fn is_worth((right, all): (u32, u32), bytes: u64, request_bytes: u64) -> bool {
    let saved = u128::from(right) * u128::from(request_bytes);
    right > 0 && saved >= u128::from(all - right) * u128::from(bytes)
}
