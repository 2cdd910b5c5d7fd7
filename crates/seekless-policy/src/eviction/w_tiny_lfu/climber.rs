//! The size of the window: climbs uphill by the hit ratio, as Caffeine does.

/// The first step, as a share of the capacity.
const STEP: f64 = 0.0625;
/// The factor from one step to the next.
const DECAY: f64 = 0.98;
/// A change of the hit ratio from which on the requests have changed.
const RESTART: f64 = 0.05;

/// Hill climbing on the window's share (Einziger, Eytan, Friedman and Manes, "Adaptive software
/// cache management", Middleware 2018).
#[derive(Clone, Debug)]
pub(super) struct Climber {
    hits: u64,
    requests: u64,
    last_ratio: f64,
    /// Next change of the window, as a share of the capacity; negative shrinks it.
    step: f64,
}

impl Climber {
    pub(super) fn new() -> Self {
        Self { hits: 0, requests: 0, last_ratio: 0.0, step: STEP }
    }

    /// Counts a request. At the end of a sample returns the share of the capacity by which the
    /// window changes.
    #[inline]
    pub(super) fn request(&mut self, hit: bool, sample: u64) -> Option<f64> {
        self.requests += 1;
        self.hits += u64::from(hit);
        (self.requests >= sample).then(|| self.climb())
    }

    fn climb(&mut self) -> f64 {
        let ratio = self.hits as f64 / self.requests as f64;
        let change = ratio - self.last_ratio;
        let amount = if change >= 0.0 { self.step } else { -self.step };
        self.step = if change.abs() >= RESTART { STEP.copysign(amount) } else { DECAY * amount };
        self.last_ratio = ratio;
        (self.hits, self.requests) = (0, 0);
        amount
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten requests, `hits` of them hits.
    fn sample(climber: &mut Climber, hits: usize) -> f64 {
        let changes: Vec<f64> =
            (0..10).filter_map(|number| climber.request(number < hits, 10)).collect();
        assert_eq!(changes.len(), 1);
        changes[0]
    }

    #[test]
    fn it_goes_on_while_it_helps_and_turns_when_it_does_not() {
        let mut climber = Climber::new();
        assert_eq!(sample(&mut climber, 5), STEP);
        assert_eq!(sample(&mut climber, 5), STEP, "a large change starts afresh");
        assert_eq!(sample(&mut climber, 5), STEP * DECAY);
        assert_eq!(sample(&mut climber, 4), -STEP * DECAY * DECAY);
        assert_eq!(
            sample(&mut climber, 4),
            -STEP,
            "a large change starts afresh, in the new direction"
        );
    }
}
