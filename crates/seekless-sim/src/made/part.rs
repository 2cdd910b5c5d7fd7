//! The parts of a made trace, and their requests one after another.

use super::ranks::{RANK_BYTES, Ranks};
use seekless_device::SplitMix64;
use seekless_policy::eviction::Id;

/// What a trace takes of memory for each object, at most: its draws and its number.
pub(super) const OBJECT_BYTES: u64 = RANK_BYTES + (size_of::<Id>() + size_of::<u64>()) as u64;

/// A part of a trace.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) kind: Kind,
    pub(super) objects: u64,
    pub(super) requests: u64,
}

/// How the objects of a part are asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Independently, the object of rank r in proportion to r^-alpha.
    Zipf { alpha: f64 },
    /// One after another, again and again.
    Loop,
    /// As by Zipf; after each `every` such requests come `length` for ever new objects.
    Scan { alpha: f64, every: u64, length: u64 },
    /// As by Zipf; after each `every` requests the ranks move on by `by` objects.
    Shift { alpha: f64, every: u64, by: u64 },
}

impl Part {
    /// The part's objects have numbers below this, from 0.
    pub(super) fn objects_max(&self) -> u64 {
        match self.kind {
            Kind::Scan { every, length, .. } => {
                let rounds = self.requests / (every + length) + 1;
                self.objects.saturating_add(rounds.saturating_mul(length).min(self.requests))
            }
            _ => self.objects,
        }
    }
}

/// A part at work.
#[derive(Debug)]
pub(super) struct Running {
    part: Part,
    /// Requests that are still to come.
    pub(super) left: u64,
    /// The number of its first object among all.
    first: u64,
    ranks: Option<Ranks>,
    draws: SplitMix64,
    done: u64,
    /// The next object of a scan.
    fresh: u64,
}

impl Running {
    pub(super) fn new(part: &Part, first: u64, seed: u64) -> Self {
        let ranks = match part.kind {
            Kind::Loop => None,
            Kind::Zipf { alpha } | Kind::Scan { alpha, .. } | Kind::Shift { alpha, .. } => {
                Some(Ranks::new(part.objects, alpha))
            }
        };
        let draws = SplitMix64::new(SplitMix64::mix(seed));
        let part = part.clone();
        Self { left: part.requests, fresh: part.objects, part, first, ranks, draws, done: 0 }
    }

    /// The object of the next request, of which there must be one left.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        let at = self.done;
        self.done += 1;
        self.left -= 1;
        let rank = |this: &mut Self| match &this.ranks {
            Some(ranks) => ranks.draw(&mut this.draws),
            None => at % this.part.objects,
        };
        self.first
            + match self.part.kind {
                Kind::Zipf { .. } | Kind::Loop => rank(self),
                Kind::Scan { every, length, .. } if at % (every + length) >= every => {
                    self.fresh += 1;
                    self.fresh - 1
                }
                Kind::Scan { .. } => rank(self),
                Kind::Shift { every, by, .. } => {
                    let moved = u128::from(at / every) * u128::from(by);
                    let place = u128::from(rank(self)) + moved;
                    (place % u128::from(self.part.objects)) as u64
                }
            }
    }
}
