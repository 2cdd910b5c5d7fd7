//! Which candidate the cache follows, from the hits of each.

use super::COUNT;

/// This many hits may be chance.
const CHANCE: f64 = 16.0;
/// The hits by which another must be ahead, for each id that it keeps and the cache lacks. A change
/// costs at most one hit each, but waiting costs hits for certain: the longer a candidate is ahead,
/// the more it has that the cache lacks.
const PRICE: f64 = 0.02;
/// From this loss on, as a share of all requests, only the best over all requests is followed: a
/// trace may change in the rhythm of the changes, and then each of them is made too late.
const LOSS_MAX: f64 = 0.003;
/// In fewer requests nothing is lost in the long run.
const LONG_RUN: u64 = 1 << 15;

/// Hits of the candidates and of the cache.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    requests: u64,
    /// Hits of the cache itself.
    own: u64,
    /// Hits of each candidate.
    total: [u64; COUNT],
    /// By how many hits each is ahead of the leader, since it was not ahead last.
    ahead: [u32; COUNT],
}

impl Choice {
    /// A request, with a bit for each candidate that had a hit.
    #[inline]
    pub(super) fn count(&mut self, leader: usize, hits: u8, was_here: bool) {
        let hit = |candidate: usize| u32::from(hits >> candidate & 1);
        let of_leader = hit(leader);
        self.requests += 1;
        self.own += u64::from(was_here);
        for candidate in 0..COUNT {
            let hit = hit(candidate);
            self.total[candidate] += u64::from(hit);
            self.ahead[candidate] = (self.ahead[candidate] + hit).saturating_sub(of_leader);
        }
    }

    /// The candidate to change over to, if each lacks this many ids, and this many are here.
    pub(super) fn next(&self, leader: usize, lacking: [u32; COUNT], here: u32) -> Option<usize> {
        let price = |ids: u32| CHANCE + PRICE * f64::from(ids);
        let best = largest(self.total);
        let lost = self.total[best].saturating_sub(self.own);
        let is_long = self.requests > LONG_RUN;
        if is_long && lost as f64 > LOSS_MAX * self.requests as f64 {
            let ahead = self.total[best] - self.total[leader];
            return (ahead as f64 > price(here)).then_some(best);
        }
        let best = largest(self.ahead);
        (f64::from(self.ahead[best]) > price(lacking[best])).then_some(best)
    }

    /// The cache follows another candidate.
    pub(super) fn changed(&mut self) {
        self.ahead.fill(0);
    }
}

/// The place of the largest; of equal ones, the first.
fn largest<T: Copy + Ord>(of: [T; COUNT]) -> usize {
    (1..COUNT).fold(0, |best, other| if of[other] > of[best] { other } else { best })
}
