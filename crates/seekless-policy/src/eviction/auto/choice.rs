//! Which of several policies the cache should follow, from the hits of their shadows.

/// A change has to bring this share of the requests, at least.
const WORTH: f64 = 0.005;
/// So much may be lost against the best single policy, as a share of all requests, before only what
/// was best in the long run is followed.
const REGRET_MAX: f64 = 0.003;
/// In fewer windows nothing is lost in the long run.
const LONG_RUN: u32 = 8;
/// So much a past window counts in the next.
const FADING: f64 = 0.5;

/// Follows the policy that was best lately, while that does not lose against the best single one.
///
/// A policy is judged by a window of requests, and has to hold in the next what it promised in the
/// last: so a change is made for what was held out. A trace that alternates in the rhythm of the
/// changes would always find the wrong policy, and a change itself costs hits: what the cache loses
/// against the best single policy is added up, and from a limit on only the leader over all
/// requests so far is followed. Each such change doubles the lead that the next one needs.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    current: usize,
    /// Requests and hits of the last windows, faded.
    recent_asked: f64,
    recent: Vec<f64>,
    /// Over all windows since the first choice.
    windows: u32,
    asked: f64,
    total: Vec<f64>,
    /// The cache's own hits in them.
    own: f64,
    /// In how many windows in turn each was worth a change.
    streak: Vec<u32>,
    /// The lead that a change to the leader needs, as a share of all requests.
    lead: f64,
    /// Whether no change was made yet.
    is_new: bool,
}

impl Choice {
    pub(super) fn new(policies: usize) -> Self {
        Self {
            current: 0,
            recent_asked: 0.0,
            recent: vec![0.0; policies],
            windows: 0,
            asked: 0.0,
            total: vec![0.0; policies],
            own: 0.0,
            streak: vec![0; policies],
            lead: WORTH,
            is_new: true,
        }
    }

    #[cfg(test)]
    pub(super) fn current(&self) -> usize {
        self.current
    }

    /// A window has ended in which the cache itself and the shadows had these hits. Returns the
    /// policy to change to.
    pub(super) fn window(&mut self, asked: u32, own: u32, hits: &[u32]) -> Option<usize> {
        let asked = f64::from(asked);
        let now = f64::from(hits[self.current]);
        let margin = WORTH * asked + noise(asked);
        for (policy, hits) in hits.iter().map(|hits| f64::from(*hits)).enumerate() {
            self.recent[policy] = FADING * self.recent[policy] + hits;
            self.total[policy] += hits;
            let is_worth = hits - now > margin;
            self.streak[policy] = if is_worth { self.streak[policy] + 1 } else { 0 };
        }
        self.recent_asked = FADING * self.recent_asked + asked;
        self.windows += 1;
        self.asked += asked;
        self.own += f64::from(own);
        let loses = self.regret() > REGRET_MAX * self.asked;
        let next = match loses && self.windows >= LONG_RUN && !self.is_new {
            true => self.leader(),
            false => self.best_lately(),
        }?;
        self.current = next;
        self.streak.fill(0);
        if std::mem::take(&mut self.is_new) {
            // What was lost before could not be known.
            (self.windows, self.asked, self.own) = (0, 0.0, 0.0);
            self.total.fill(0.0);
        }
        Some(next)
    }

    /// Hits that were lost against the best single policy.
    fn regret(&self) -> f64 {
        self.total.iter().fold(0.0, |most, total| f64::max(most, *total)) - self.own
    }

    /// The best of the last windows, if it has held what it promised.
    fn best_lately(&self) -> Option<usize> {
        let best = best(&self.recent);
        let gain = self.recent[best] - self.recent[self.current];
        // While the first choice is open, nothing is lost by a change.
        let windows = if self.is_new { 1 } else { 2 };
        let margin = WORTH * self.recent_asked + noise(self.recent_asked);
        (gain > margin && self.streak[best] >= windows).then_some(best)
    }

    /// The best over all requests, if its lead is large enough.
    fn leader(&mut self) -> Option<usize> {
        let best = best(&self.total);
        let gain = self.total[best] - self.total[self.current];
        if gain <= self.lead * self.asked {
            return None;
        }
        self.lead *= 2.0;
        Some(best)
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

    const ASKED: u32 = 10_000;

    #[test]
    fn the_better_one_is_followed_once_it_has_held_what_it_promised() {
        let mut choice = Choice::new(3);
        let mut window = |own, hits: [u32; 3]| choice.window(ASKED, own, &hits);
        assert_eq!(window(5000, [5000, 5010, 4000]), None, "too little to change for");
        assert_eq!(window(5000, [5000, 6000, 4000]), Some(1), "the first choice is free");
        assert_eq!(window(6000, [5000, 6000, 6020]), None);
        for _ in 0..20 {
            assert_eq!(window(6000, [5000, 6000, 4000]), None);
        }
        assert_eq!(window(6000, [5000, 6000, 7000]), None);
        assert_eq!(window(6000, [5000, 6000, 7000]), Some(2));
        assert_eq!(choice.current(), 2);
    }

    #[test]
    fn a_single_good_window_is_not_followed() {
        let mut choice = Choice::new(2);
        choice.window(ASKED, 4000, &[4000, 5000]);
        assert_eq!(choice.current(), 1);
        for _ in 0..3 {
            assert_eq!(choice.window(ASKED, 5000, &[6000, 5000]), None);
            assert_eq!(choice.window(ASKED, 5000, &[3000, 5000]), None);
        }
    }

    /// Two windows of one kind and two of the other: each change comes just too late.
    #[test]
    fn an_alternation_in_the_rhythm_of_the_changes_costs_little() {
        let mut choice = Choice::new(2);
        let (mut own, mut single) = (0, [0, 0]);
        let windows = 4000;
        for window in 0..windows {
            let hits = if window / 2 % 2 == 0 { [6000, 4000] } else { [4000, 6000] };
            let now = hits[choice.current()];
            own += now;
            single = [single[0] + hits[0], single[1] + hits[1]];
            choice.window(ASKED, now, &hits);
        }
        let best = *single.iter().max().unwrap();
        let lost = f64::from(best.saturating_sub(own)) / f64::from(windows * ASKED);
        assert!(lost < 0.01, "{lost}");
    }
}
