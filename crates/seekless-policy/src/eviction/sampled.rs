//! Sampled LRU and LFU: a few random pages are looked at for each victim, as in Redis.

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::sample::{Draws, Rows};
use std::marker::PhantomData;

/// Pages drawn for one victim: Redis' `maxmemory-samples`.
const SAMPLE: u32 = 5;
/// Candidates that are kept from one eviction to the next, as in Redis since 3.0.
const POOL: usize = 16;
const SEED: u64 = 1;

/// What a page is judged by: the least leaves.
pub trait Judged {
    /// The rank of a page used `uses` times, the last time at `last_use`.
    fn rank(uses: u32, last_use: u64) -> (u32, u64);
}

/// Judges by the last use.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByLastUse;

/// Judges by the number of uses, and of equal numbers by the last use.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByUses;

impl Judged for ByLastUse {
    #[inline]
    fn rank(_uses: u32, last_use: u64) -> (u32, u64) {
        (0, last_use)
    }
}

impl Judged for ByUses {
    #[inline]
    fn rank(uses: u32, last_use: u64) -> (u32, u64) {
        (uses, last_use)
    }
}

/// Sampled LRU (Redis, "Using Redis as an LRU cache", since 3.0).
///
/// - **Idea:** no list: each page only has the time of its last use. Of 5 random pages and the best
///   candidates of earlier samples the one that was used longest ago leaves.
/// - **Ties:** none: each use has a time of its own.
/// - **Cost per request:** a hit O(1) and one cache line; a miss 5 looks, and a place among 16
///   candidates.
/// - **Memory:** 4 bytes an id and 20 a resident page; 8 more an id once a weight other than 1 was
///   seen. No ghosts.
/// - **Shines** where LRU does, and where a hit may not write to other pages. **Fails** where LRU
///   does. A sample of 5 has no page of the oldest tenth in 6 of 10 cases, which the candidates of
///   earlier samples make up for.
///
/// Redis judges a candidate by the time at which it was drawn. Here one that was used since is
/// dropped. Same seed, same victims. [`Use::FirstUse`](super::Use::FirstUse) is no use. Cost is
/// ignored. A hit keeps the weight that was admitted.
pub type SampledLru = Resident<SampledRule<ByLastUse>>;

/// Sampled LFU (Redis, "Using Redis as an LRU cache", since 4.0).
///
/// - **Idea:** as [`SampledLru`], but the page that was used least often leaves.
/// - **Ties:** the least recently used leaves first.
/// - **Cost per request**, **memory:** those of [`SampledLru`].
/// - **Shines** and **fails** as [`Lfu`](super::Lfu) does; chance lets some formerly popular pages
///   go.
///
/// Redis counts in 8 bits, by chance and on a logarithmic scale, and takes one off for each minute
/// without use. A trace without true times has no minutes: here uses are counted one by one, and
/// stay.
pub type SampledLfu = Resident<SampledRule<ByUses>>;

/// The data of a resident page, in halves so that it takes 12 bytes.
#[derive(Clone, Copy, Debug)]
struct Page {
    last_use: [u32; 2],
    uses: u32,
}

impl Page {
    #[inline]
    fn last_use(&self) -> u64 {
        u64::from(self.last_use[0]) << 32 | u64::from(self.last_use[1])
    }

    #[inline]
    fn at(turn: u64, uses: u32) -> Self {
        Self { last_use: [(turn >> 32) as u32, turn as u32], uses }
    }
}

/// The rule of [`SampledLru`] and [`SampledLfu`].
#[derive(Clone, Debug)]
pub struct SampledRule<J> {
    judged: PhantomData<J>,
    sample: u32,
    turn: u64,
    pages: Rows<Page>,
    draws: Draws,
    /// Candidates and their ranks when they were drawn, the best victim last.
    candidates: Vec<((u32, u64), Id)>,
}

impl<J: Judged> Default for SampledRule<J> {
    fn default() -> Self {
        Self::with_sample(SAMPLE)
    }
}

impl<J: Judged> SampledRule<J> {
    fn with_sample(sample: u32) -> Self {
        Self {
            judged: PhantomData,
            sample: sample.max(1),
            turn: 0,
            pages: Rows::new(),
            draws: Draws::new(SEED),
            candidates: Vec::with_capacity(POOL),
        }
    }

    #[inline]
    fn rank(&self, page: &Page) -> (u32, u64) {
        J::rank(page.uses, page.last_use())
    }

    #[inline]
    fn is_current(&self, (rank, id): ((u32, u64), Id)) -> bool {
        self.pages.get(id).is_some_and(|page| self.rank(page) == rank)
    }

    /// Keeps a page as a candidate if there is room, or if it is a better victim than another.
    fn consider(&mut self, candidate: ((u32, u64), Id)) {
        if self.candidates.contains(&candidate) {
            return;
        }
        let place = self.candidates.partition_point(|other| other.0 > candidate.0);
        if self.candidates.len() == POOL {
            if place == 0 {
                return;
            }
            self.candidates.remove(0);
            self.candidates.insert(place - 1, candidate);
        } else {
            self.candidates.insert(place, candidate);
        }
    }
}

impl<J: Judged> Resident<SampledRule<J>> {
    /// An empty cache of `capacity` units of weight that draws `sample` pages for each victim, at
    /// least 1.
    #[must_use]
    pub fn drawing(capacity: u64, sample: u32) -> Self {
        Self::with_rule(capacity, SampledRule::with_sample(sample))
    }
}

impl<J: Judged> Rule for SampledRule<J> {
    fn grow(&mut self, ids: u32) {
        self.pages.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.pages.contains(id)
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.turn += 1;
        let turn = self.turn;
        if let Some(page) = self.pages.get_mut(request.id) {
            *page = Page::at(turn, page.uses.saturating_add(1));
        }
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.turn += 1;
        self.pages.insert(request.id, Page::at(self.turn, 1));
    }

    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let resident = self.pages.all().len();
        if resident == 0 {
            return None;
        }
        loop {
            for _ in 0..self.sample {
                let at = self.draws.below(resident);
                let rank = self.rank(&self.pages.all()[at]);
                self.consider((rank, self.pages.ids()[at]));
            }
            while let Some(candidate) = self.candidates.pop() {
                if self.is_current(candidate) {
                    return Some(candidate.1);
                }
            }
        }
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.pages.remove(id);
    }
}
