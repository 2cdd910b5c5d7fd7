//! Random2 as Ozen's program has it: of the two draws, the page used more recently leaves.

use crate::arrays::column;
use crate::eviction::resident::{Resident, Rule};
use crate::eviction::{Id, Needs, Pool, Request};
use crate::lehmer::Lehmer;

/// Not resident.
const ABSENT: u64 = u64::MAX;

/// Random2 as published by Ozen 2018 (`blockcacheperf`); kept to reproduce his tables.
///
/// It evicts the *younger* of its two picks, which reverses the policy. On a repeated scan it is
/// right to evict the newest page, and his Random2 wins there for that reason alone.
/// [`Random2`](super::Random2) is the algorithm.
///
/// The draws index pages in the order in which they were loaded, so a miss is O(n) here. Pages
/// only. No ghosts. The generator is his: Lehmer's, with the default seed of the C++ library.
pub type Random2Ozen = Resident<Random2OzenRule>;

/// The rule of [`Random2Ozen`].
#[derive(Clone, Debug, Default)]
pub struct Random2OzenRule {
    uses: u64,
    /// The number of the last use of each id; [`ABSENT`] if it is not resident.
    last_uses: Vec<u64>,
    pages: Vec<Id>,
    draws: Lehmer,
}

impl Rule for Random2OzenRule {
    const NEEDS: Needs = Needs { unit_weights: true, ..Needs::NONE };
    const FIRST_USE_COUNTS: bool = true;

    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.last_uses, ids, ABSENT);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.last_uses[id as usize] != ABSENT
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.uses += 1;
        self.last_uses[request.id as usize] = self.uses;
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.hit(request);
        self.pages.push(request.id);
    }

    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let count = self.pages.len() as u32;
        if count < 2 {
            return self.pages.first().copied();
        }
        let first = self.draws.below(count);
        let second = loop {
            let drawn = self.draws.below(count);
            if drawn != first {
                break drawn;
            }
        };
        let [first, second] = [first, second].map(|at| self.pages[at as usize]);
        let younger = self.last_uses[first as usize] > self.last_uses[second as usize];
        Some(if younger { first } else { second })
    }

    fn leave(&mut self, id: Id) {
        self.last_uses[id as usize] = ABSENT;
        if let Some(at) = self.pages.iter().position(|&page| page == id) {
            self.pages.remove(at);
        }
    }
}
