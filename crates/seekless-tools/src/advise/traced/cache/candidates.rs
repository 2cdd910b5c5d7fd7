//! Policies at several sizes, in all requests and in each half of them.

use super::advice::Outcome;
use seekless_sim::curve::Miniature;
use seekless_sim::{Case, Figures, Options, Requests, Result, Unit, each_case, simulate_with};
use std::borrow::Cow;
use std::num::NonZeroU64;

/// Policies that are compared, the simplest first. Among all policies that know no future, one of
/// these was within 1.5 points of the best on loops, scans, Zipf and the public traces, each at
/// several sizes.
const POLICIES: [&str; 11] = [
    "lru",
    "sieve",
    "s3-fifo",
    "2q",
    "arc",
    "lirs",
    "clock-pro",
    "clock2q+",
    "mq",
    "lru-2@history",
    "w-tinylfu",
];

/// Policies that know sizes.
const WITH_SIZES: [&str; 2] = ["landlord", "gdsf"];

/// A longer trace is simulated by a sample of the ids with about so many requests.
const REQUESTS_MAX: usize = 3_000_000;

/// The outcomes of all policies at all sizes.
pub(super) struct Simulated {
    outcomes: Vec<Outcome>,
    figures: Vec<Figures>,
    /// The share of the ids that were simulated.
    pub(super) share: f64,
}

impl Simulated {
    pub(super) fn new(all: &Requests, sizes: &[u64], present: &str) -> Result<Self> {
        let sample = match all.len() > REQUESTS_MAX && all.unit() != Unit::File {
            true => Some(Miniature::draw(all, REQUESTS_MAX as f64 / all.len() as f64, 0)?),
            false => None,
        };
        let requests = sample.as_ref().map_or(Cow::Borrowed(all), |it| Cow::Borrowed(&it.requests));
        let with_sizes = if all.equal_weights() { &[][..] } else { &WITH_SIZES[..] };
        let mut policies: Vec<&str> = POLICIES.iter().chain(with_sizes).copied().collect();
        if !policies.contains(&present) {
            policies.insert(0, present);
        }
        let of_size = |&capacity: &u64| {
            let case = move |policy: &&str| Case { policy: (*policy).to_owned(), capacity };
            policies.iter().map(case).collect::<Vec<_>>()
        };
        let cases: Vec<Case> = sizes.iter().flat_map(of_size).collect();
        let half = NonZeroU64::new((requests.len() as u64).div_ceil(2));
        let options = Options { every: half, ..Options::default() };
        let figures = each_case(&cases, &mut |_, _| {}, |case| {
            let capacity = sample.as_ref().map_or(case.capacity, |it| it.capacity(case.capacity));
            simulate_with(&requests, &Case { capacity, ..case.clone() }, &options)
        })?;
        let outcome =
            |(case, figures): (&Case, &Figures)| outcome(case, figures, all, sample.as_ref());
        let outcomes = cases.iter().zip(&figures).map(outcome).collect();
        let share = match &sample {
            Some(sample) => f64::from(sample.requests.distinct()) / f64::from(all.distinct()),
            None => 1.0,
        };
        Ok(Self { outcomes, figures, share })
    }

    /// A policy that was simulated, at a size that was.
    pub(super) fn of(&self, policy: &str, capacity: u64) -> Outcome {
        self.outcomes[self.place(policy, capacity)].clone()
    }

    /// All figures of that case.
    pub(super) fn figures(&self, policy: &str, capacity: u64) -> &Figures {
        &self.figures[self.place(policy, capacity)]
    }

    /// The policy that misses least at this size; of equals, the simplest.
    pub(super) fn chosen(&self, capacity: u64) -> Outcome {
        self.least(capacity, |outcome| outcome.miss_ratio)
    }

    /// The policy that misses least in the first half at this size, and so was not chosen by what
    /// it misses in the second; of equals, the simplest.
    pub(super) fn held_out(&self, capacity: u64) -> Outcome {
        self.least(capacity, |outcome| outcome.first_miss_ratio)
    }

    fn least(&self, capacity: u64, misses: impl Fn(&Outcome) -> f64) -> Outcome {
        let here = self.outcomes.iter().filter(|outcome| outcome.capacity == capacity);
        let least = here.min_by(|one, other| misses(one).total_cmp(&misses(other)));
        least.cloned().unwrap_or_else(|| self.outcomes[0].clone())
    }

    fn place(&self, policy: &str, capacity: u64) -> usize {
        let is_it = |it: &Outcome| it.policy == policy && it.capacity == capacity;
        self.outcomes.iter().position(is_it).expect("this case was simulated")
    }
}

fn outcome(case: &Case, figures: &Figures, all: &Requests, sample: Option<&Miniature>) -> Outcome {
    let half = figures.over_time.first().copied();
    let first_requests = half.map_or(0, |point| point.requests);
    let first = first_requests - half.map_or(0, |point| point.hits);
    let second = figures.misses - first;
    // The share of the trace for which each part stands.
    let parts = match sample {
        Some(_) => [0.5, 0.5, 1.0].map(|share| share * all.len() as f64),
        None => {
            let rest = figures.requests - first_requests;
            [first_requests, rest, figures.requests].map(|requests| requests as f64)
        }
    };
    let misses = [first, second, figures.misses];
    let scaled = misses.map(|misses| sample.map_or(misses as f64, |it| it.scaled(misses)));
    let ratio = |part: usize| (scaled[part] / parts[part].max(1.0)).min(1.0);
    Outcome {
        policy: case.policy.clone(),
        capacity: case.capacity,
        first_miss_ratio: ratio(0),
        second_miss_ratio: ratio(1),
        miss_ratio: ratio(2),
    }
}
