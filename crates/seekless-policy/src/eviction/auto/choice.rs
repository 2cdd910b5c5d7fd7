//! Which of several policies the cache may follow, from the hits of each.

use super::shadows::Window;

/// The lead that the first change to the leader over all requests needs, as a share of them.
const LEAD: f64 = 0.005;
/// So much may be lost against the best single policy, as a share of all requests, before only what
/// was best in the long run is followed.
const REGRET_MAX: f64 = 0.003;
/// In fewer windows nothing is lost in the long run.
const LONG_RUN: u32 = 8;
/// So much a past window counts in the next.
const FADING: f64 = 0.5;

/// What the policies had of late and over all requests.
///
/// A trace that alternates in the rhythm of the changes would always find the wrong policy, and a
/// change itself costs hits: what the cache loses against the best single policy is added up, and
/// from a limit on only the leader over all requests so far is followed.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// Requests and hits of the last windows, faded.
    recent_asked: f64,
    recent: Vec<f64>,
    /// Over all windows.
    windows: u32,
    asked: f64,
    total: Vec<f64>,
    /// The cache's own hits in them.
    own: f64,
    /// The lead that a change to the leader needs, as a share of all requests.
    lead: f64,
    /// Whether no change was made yet.
    is_new: bool,
}

impl Choice {
    pub(super) fn new(policies: usize) -> Self {
        Self {
            recent_asked: 0.0,
            recent: vec![0.0; policies],
            windows: 0,
            asked: 0.0,
            total: vec![0.0; policies],
            own: 0.0,
            lead: LEAD,
            is_new: true,
        }
    }

    /// The cache has changed over. What was lost before the first change could not be known.
    pub(super) fn changed(&mut self) {
        if std::mem::take(&mut self.is_new) {
            (self.windows, self.asked, self.own) = (0, 0.0, 0.0);
            self.total.fill(0.0);
        }
    }

    /// A window has ended.
    pub(super) fn window(&mut self, window: &Window) {
        let asked = f64::from(window.asked);
        for (policy, hits) in window.hits.iter().map(|hits| f64::from(*hits)).enumerate() {
            self.recent[policy] = FADING * self.recent[policy] + hits;
            self.total[policy] += hits;
        }
        self.recent_asked = FADING * self.recent_asked + asked;
        self.windows += 1;
        self.asked += asked;
        self.own += f64::from(window.own);
    }

    /// Whether so much was lost that only the leader is followed.
    pub(super) fn loses(&self) -> bool {
        let most = self.total[best(&self.total)];
        !self.is_new && self.windows >= LONG_RUN && most - self.own > REGRET_MAX * self.asked
    }

    /// The best over all requests, if its lead over the one that is followed is large enough.
    pub(super) fn leader(&self, followed: usize) -> Option<usize> {
        let best = best(&self.total);
        let lead = self.total[best] - self.total[followed];
        (lead > self.lead * self.asked).then_some(best)
    }

    /// The leader is followed. Each such change doubles the lead that the next one needs.
    pub(super) fn follow(&mut self, leader: usize) -> usize {
        self.lead *= 2.0;
        leader
    }

    /// A policy that was better lately than the two that are there in full size.
    pub(super) fn nominee(&self, followed: usize, other: usize) -> Option<usize> {
        let best = best(&self.recent);
        let gain = self.recent[best] - self.recent[other];
        (best != followed && best != other && gain > noise(self.recent_asked)).then_some(best)
    }

    /// The best of late beside this one.
    pub(super) fn second(&self, followed: usize) -> usize {
        let mut others = self.recent.clone();
        others[followed] = -1.0;
        best(&others)
    }
}

/// What two equal policies may differ by in so many requests, where chance decides.
fn noise(asked: f64) -> f64 {
    asked.sqrt() / 2.0
}

fn best(hits: &[f64]) -> usize {
    let better = |best: usize, other: usize| if hits[other] > hits[best] { other } else { best };
    (0..hits.len()).fold(0, better)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(own: u32, hits: [u32; 3]) -> Window {
        Window { asked: 10_000, own, hits: hits.to_vec() }
    }

    #[test]
    fn what_is_lost_in_the_long_run_leaves_only_the_leader() {
        let mut choice = Choice::new(3);
        (0..50).for_each(|_| choice.window(&window(0, [0, 6000, 0])));
        assert!(!choice.loses(), "no change was made");
        choice.changed();
        for _ in 0..LONG_RUN - 1 {
            choice.window(&window(5000, [5000, 6000, 4000]));
            assert!(!choice.loses(), "too early to say");
        }
        choice.window(&window(5000, [5000, 6000, 4000]));
        assert!(choice.loses());
        assert_eq!(choice.leader(1), None, "it is followed");
        assert_eq!(choice.leader(0), Some(1));
        for _ in 0..400 {
            choice.window(&window(6000, [6000, 6000, 4000]));
        }
        assert!(!choice.loses(), "little of all requests");
    }

    #[test]
    fn each_change_to_the_leader_needs_twice_the_lead() {
        let mut choice = Choice::new(3);
        choice.window(&window(5000, [5000, 5080, 4000]));
        assert_eq!(choice.leader(0), Some(1), "0.8 % are more than 0.5 %");
        choice.follow(1);
        assert_eq!(choice.leader(0), None, "and less than 1 %");
        choice.window(&window(5000, [5000, 5180, 4000]));
        assert_eq!(choice.leader(0), Some(1));
    }

    #[test]
    fn a_shadow_that_was_better_by_more_than_chance_is_nominated() {
        let mut choice = Choice::new(3);
        choice.window(&window(5000, [5000, 4000, 4040]));
        assert_eq!((choice.nominee(0, 1), choice.second(0)), (None, 2));
        choice.window(&window(5000, [5000, 4000, 6000]));
        assert_eq!((choice.nominee(0, 1), choice.nominee(0, 2)), (Some(2), None));
    }
}
