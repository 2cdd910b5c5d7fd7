//! Belady's rule for files: weight times distance. A figure to compare with, not the optimum.

use super::resident::{Resident, Rule};
use super::{Id, NEVER, Needs, Pool, Request};
use crate::sample::{Draws, Members, Rows};

/// Files looked at for one victim.
const SAMPLE: usize = 128;
/// Seed of [`BeladySize::new`].
const SEED: u64 = 1;

/// The data of a resident file.
#[derive(Clone, Copy, Debug)]
struct File {
    next_use: u64,
    weight: u64,
}

impl File {
    /// The room that the file takes, times how long it takes it.
    #[inline]
    fn burden(&self, now: u64) -> u128 {
        u128::from(self.next_use.saturating_sub(now)) * u128::from(self.weight)
    }
}

/// The byte-size heuristic of Belady's rule, libCacheSim's `BeladySize`. The optimum for files of
/// different sizes is NP-hard (Chrobak, Woeginger, Makino and Xu, "Caching is hard", 2012).
///
/// - **Idea:** evict the file that would take the most room for the longest: weight × requests
///   until its next use. A file that is never used again leaves before all others.
/// - **Cost per request:** a hit O(1), a miss 128 looks at random files. While at most 128 are
///   resident, all are looked at.
/// - **Memory:** 8 bytes an id and at most 28 a resident file. No ghosts.
/// - **Shines** as a figure beside those of other policies: what knowing the future is worth when
///   sizes differ. It is a heuristic and no strict bound. With equal weights [`Opt`](super::Opt) is
///   never worse.
///
/// Needs [`Request::next_use`]. The present is the last known position plus the requests since.
/// Same seed, same victims. [`Use`](super::Use) and cost are ignored. A hit keeps the weight that
/// was admitted.
pub type BeladySize = Resident<BeladySizeRule>;

/// The rule of [`BeladySize`].
#[derive(Clone, Debug)]
pub struct BeladySizeRule {
    /// Position of the next request.
    now: u64,
    files: Rows<File>,
    /// Resident files that are never used again.
    done: Members,
    draws: Draws,
}

impl Default for BeladySizeRule {
    fn default() -> Self {
        Self { now: 0, files: Rows::new(), done: Members::new(), draws: Draws::new(SEED) }
    }
}

impl BeladySize {
    /// An empty cache whose samples follow from `seed`.
    #[must_use]
    pub fn with_seed(capacity: u64, seed: u64) -> Self {
        Self::with_rule(
            capacity,
            BeladySizeRule { draws: Draws::new(seed), ..BeladySizeRule::default() },
        )
    }
}

impl BeladySizeRule {
    #[inline]
    fn note_done(&mut self, id: Id, next_use: u64) {
        match (next_use == NEVER, self.done.contains(id)) {
            (true, false) => self.done.insert(id),
            (false, true) => {
                self.done.remove(id);
            }
            _ => {}
        }
    }
}

impl Rule for BeladySizeRule {
    const NEEDS: Needs = Needs { next_use: true, ..Needs::NONE };
    const FIRST_USE_COUNTS: bool = true;

    fn grow(&mut self, ids: u32) {
        self.files.grow(ids);
        self.done.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.files.contains(id)
    }

    #[inline]
    fn tick(&mut self) {
        self.now += 1;
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        if let Some(file) = self.files.get_mut(request.id) {
            if file.next_use != NEVER {
                self.now = file.next_use + 1;
            }
            file.next_use = request.next_use;
        }
        self.note_done(request.id, request.next_use);
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        let Request { id, next_use, weight, .. } = *request;
        self.files.insert(id, File { next_use, weight });
        self.note_done(id, next_use);
    }

    /// A file that is never used again, else the greatest burden of the sample.
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        if let Some(&done) = self.done.ids().last() {
            return Some(done);
        }
        let files = self.files.all();
        let resident = files.len();
        let mut greatest = None;
        for turn in 0..resident.min(SAMPLE) {
            let at = if resident <= SAMPLE { turn } else { self.draws.below(resident) };
            let burden = files[at].burden(self.now);
            if greatest.is_none_or(|(most, _)| burden > most) {
                greatest = Some((burden, at));
            }
        }
        greatest.map(|(_, at)| self.files.ids()[at])
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.files.remove(id);
        self.done.remove(id);
    }

    fn reweigh(&mut self, request: &Request) {
        if let Some(file) = self.files.get_mut(request.id) {
            file.weight = request.weight;
        }
    }

    #[inline]
    fn weight(&self, id: Id) -> Option<u64> {
        Some(self.files.get(id).map_or(0, |file| file.weight))
    }

    fn foresee(&mut self, id: Id, next_use: u64) {
        if let Some(file) = self.files.get_mut(id) {
            file.next_use = next_use;
        }
        self.note_done(id, next_use);
    }
}
