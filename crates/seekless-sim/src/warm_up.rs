//! The warm-up: the first requests fill the caches, and are counted apart from the others.

use crate::ratio::ratio;
use crate::requests::{Requests, Totals};
use crate::{Error, ErrorKind, Result};
use seekless_device::units::parse_duration;
use serde::Serialize;
use std::str::FromStr;

/// How many of the first requests are counted apart, parsed from `20%`, `100000` or `30s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarmUp {
    /// A share of all requests, 0 to 1.
    Share(f64),
    /// This many requests.
    Requests(u64),
    /// The requests of the first nanoseconds, by the clock of the trace.
    Time(u64),
}

impl FromStr for WarmUp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            let message = format!(
                "`{text}`: expected a share below 100% (20%), requests (5000) or a time (30s)"
            );
            Error::new(ErrorKind::Usage, message)
        };
        if let Some(percent) = text.strip_suffix('%') {
            let share = percent.parse::<f64>().map_err(|_| wrong())? / 100.0;
            return if (0.0..1.0).contains(&share) { Ok(Self::Share(share)) } else { Err(wrong()) };
        }
        if let Ok(requests) = text.parse() {
            return Ok(Self::Requests(requests));
        }
        parse_duration(text).map(Self::Time).map_err(|_| wrong())
    }
}

impl WarmUp {
    /// Whether it needs the time of each request.
    #[must_use]
    pub fn needs_times(self) -> bool {
        matches!(self, Self::Time(_))
    }

    /// How many of these requests it has.
    ///
    /// # Errors
    /// The requests have no times, or none is left to be counted.
    pub(crate) fn requests(self, requests: &Requests) -> Result<usize> {
        let total = requests.len();
        let count = match self {
            Self::Share(share) => (total as f64 * share) as usize,
            Self::Requests(count) => usize::try_from(count).unwrap_or(usize::MAX),
            Self::Time(_) if !requests.has_times() && total > 0 => {
                let message = "a warm-up by time needs requests with times, which whole files do \
                               not have: give a share or a number of requests, or --unit object";
                return Err(Error::new(ErrorKind::Usage, message));
            }
            Self::Time(time) => {
                let end = requests.time(0).saturating_add(time);
                (0..total).position(|at| requests.time(at) >= end).unwrap_or(total)
            }
        };
        if count >= total && total > 0 {
            let message = format!("the warm-up takes all {total} requests; give a shorter one");
            return Err(Error::new(ErrorKind::Usage, message));
        }
        Ok(count)
    }
}

/// The counts of the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct WarmedUp {
    /// Its requests.
    pub requests: u64,
    /// Those that hit.
    pub hits: u64,
    /// Those that missed.
    pub misses: u64,
    /// Weight of the hits, in bytes.
    pub hit_bytes: u64,
    /// Weight of the misses, in bytes.
    pub miss_bytes: u64,
    /// Misses of its requests, 0 to 1.
    pub miss_ratio: f64,
}

impl WarmedUp {
    /// Weights are in units of `unit_bytes`.
    pub(crate) fn new(requests: u64, hits: u64, weights: (u64, u64), unit_bytes: u64) -> Self {
        let misses = requests - hits;
        let (hit_bytes, miss_bytes) = (weights.0 * unit_bytes, weights.1 * unit_bytes);
        Self { requests, hits, misses, hit_bytes, miss_bytes, miss_ratio: ratio(misses, requests) }
    }
}

impl Requests {
    /// The sums of the requests from `start` on. An id that was requested before is not new.
    pub(crate) fn totals_from(&self, start: usize) -> Totals {
        let mut totals = self.totals();
        if start == 0 {
            return totals;
        }
        let mut seen = vec![false; self.id_limit() as usize];
        let (mut distinct, mut weight) = (0, 0);
        for (position, &id) in self.ids().iter().enumerate() {
            let known = std::mem::replace(&mut seen[id as usize], true);
            if !known && position >= start {
                distinct += 1;
                weight += self.weight(id);
            }
        }
        let writes = (start..self.len()).filter(|&position| self.is_write(position)).count();
        totals.requests = (self.len() - start) as u64;
        totals.writes = writes as u64;
        (totals.distinct, totals.distinct_weight) = (distinct, weight);
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Case, Options, simulate_cases, simulate_with};
    use std::num::NonZeroU64;

    fn warm(text: &str) -> Options {
        Options { warm_up: Some(text.parse().unwrap()), ..Options::default() }
    }

    fn requests() -> Requests {
        Requests::from_files(&[0, 1, 0, 2, 0, 1, 3, 3], &[10, 20, 30, 40])
            .with_times((0..8).map(|at| 5 + at * 1_000_000_000).collect())
    }

    fn case(policy: &str) -> Case {
        Case { policy: policy.to_owned(), capacity: 100 }
    }

    #[test]
    fn the_warm_up_and_the_rest_are_the_whole_for_both_loops() {
        let plain = requests();
        let writing = requests().with_writes([1, 5]);
        for requests in [plain, writing] {
            for policy in ["lru", "arc", "opt"] {
                if policy == "opt" && !requests.equal_weights() {
                    continue;
                }
                let case = case(policy);
                let whole = simulate_with(&requests, &case, &Options::default()).unwrap();
                for text in ["3", "37.5%", "3s"] {
                    let figures = simulate_with(&requests, &case, &warm(text)).unwrap();
                    let first = figures.warm_up.unwrap();
                    assert_eq!((first.requests, figures.requests), (3, 5), "{policy} {text}");
                    assert_eq!(first.hits + figures.hits, whole.hits);
                    assert_eq!(first.hit_bytes + figures.hit_bytes, whole.hit_bytes);
                    assert_eq!(first.miss_bytes + figures.miss_bytes, whole.miss_bytes);
                    assert_eq!((first.hits, figures.compulsory_misses), (1, 2));
                    assert_eq!((figures.compulsory_bytes, figures.reads + figures.writes), (70, 5));
                    assert!((figures.miss_ratio - figures.misses as f64 / 5.0).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn one_pass_for_many_sizes_is_not_taken() {
        let requests = Requests::from_pages((0..40).map(|at| at % 7).collect());
        let sized = |pages: u64| Case { policy: "lru".into(), capacity: pages * 4096 };
        let cases: Vec<Case> = (1..=12).map(sized).collect();
        let rows = simulate_cases(&requests, &cases, &warm("50%"), &mut |_, _| ()).unwrap();
        assert_eq!(rows[11].0.miss_ratio, 0.0, "all pages came in the warm-up");
        assert_eq!(rows[11].0.warm_up.unwrap().misses, 7);
    }

    #[test]
    fn what_leaves_nothing_or_has_no_meaning_is_refused() {
        for wrong in ["100%", "-1%", "x", "", "5 apples"] {
            assert!(wrong.parse::<WarmUp>().is_err(), "{wrong}");
        }
        let said = |requests: &Requests, options: &Options| {
            simulate_with(requests, &case("lru"), options).unwrap_err().to_string()
        };
        assert!(said(&requests(), &warm("8")).contains("all 8 requests"));
        assert!(
            said(&Requests::from_pages(vec![1, 2]), &warm("1s")).contains("needs requests with")
        );
        let every = Options { every: NonZeroU64::new(2), ..warm("3") };
        assert!(said(&requests(), &every).contains("--every"));
    }
}
