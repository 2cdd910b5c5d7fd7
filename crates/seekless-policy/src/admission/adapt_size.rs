//! AdaptSize (Berger, Sitaraman and Harchol-Balter, NSDI 2017): small objects come in with a higher
//! chance, e^(-size/c). From how often each object was asked for, a model of the cache predicts
//! the hits at any c; now and then the best c is searched for. The intervals, the forgetting and
//! the search are those of the authors' program, as libCacheSim has them.
//!
//! Memory: 32 bytes an id. A request takes O(1), a search O(objects × 20) for each of 20 steps.

use crate::arrays::column;
use crate::eviction::Id;

/// Requests between two searches.
const INTERVAL: u64 = 30_000;
/// Requests until the next look, if too few objects were seen.
const AGAIN: u64 = 1000;
/// The objects seen must weigh this many times the capacity before a search.
const SEEN_CAPACITIES: u64 = 3;
/// What remains of earlier counts after a search.
const KEPT: f64 = 0.3;
/// Objects with lower counts are forgotten.
const COUNT_MIN: f64 = 0.1;
/// The golden section, in the digits of the authors.
const GOLDEN: f64 = 0.618_033_99;
const TOLERANCE: f64 = 3.0e-8;
const STEPS_MAX: u32 = 15;
/// Steps of the fixed point that finds how long an object stays.
const STAY_STEPS: u32 = 20;
/// Above this the chance that an object is in the cache is 1.
const SURELY: f64 = 150.0;
/// No stay is longer.
const STAY_MAX: f64 = 1e70;

/// What is known of an object.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Requests since the last search.
    lately: f64,
    /// Requests before it, earlier ones counting less.
    before: f64,
    bytes: u64,
    is_known: bool,
}

/// An object for the model.
#[derive(Clone, Copy, Debug)]
struct Asked {
    count: f64,
    bytes: f64,
}

/// The learned scale `c`, and what it is learned from.
#[derive(Clone, Debug)]
pub(super) struct AdaptSize {
    capacity: u64,
    objects: Vec<Seen>,
    /// Bytes of all objects that are known.
    known_bytes: u64,
    until_search: u64,
    scale: f64,
}

impl AdaptSize {
    pub(super) fn new(capacity: u64) -> Self {
        let scale = f64::from(1_u32 << 15);
        Self { capacity, objects: Vec::new(), known_bytes: 0, until_search: INTERVAL, scale }
    }

    pub(super) fn grow(&mut self, ids: u32) {
        column::grow(&mut self.objects, ids, Seen::default());
    }

    /// The bytes at which an object comes in with the chance 1/e.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// Counts a request; searches for a better scale at the end of an interval.
    pub(super) fn requested(&mut self, id: Id, bytes: u64) {
        self.until_search -= 1;
        if self.until_search == 0 {
            self.end_interval();
        }
        let seen = &mut self.objects[id as usize];
        let known = if seen.is_known { seen.bytes } else { 0 };
        self.known_bytes = self.known_bytes - known + bytes;
        seen.lately += 1.0;
        (seen.bytes, seen.is_known) = (bytes, true);
    }

    fn end_interval(&mut self) {
        if self.known_bytes <= SEEN_CAPACITIES.saturating_mul(self.capacity) {
            self.until_search = AGAIN;
            return;
        }
        self.until_search = INTERVAL;
        let mut asked = Vec::new();
        for seen in self.objects.iter_mut().filter(|seen| seen.is_known) {
            seen.before = match (seen.before > 0.0, seen.lately > 0.0) {
                (false, _) => seen.lately,
                (true, false) => KEPT * seen.before,
                (true, true) => KEPT * seen.before + (1.0 - KEPT) * seen.lately,
            };
            seen.lately = 0.0;
            if seen.before < COUNT_MIN {
                self.known_bytes -= seen.bytes;
                *seen = Seen::default();
            } else {
                asked.push(Asked { count: seen.before, bytes: seen.bytes as f64 });
            }
        }
        let capacity = self.capacity as f64;
        if let Some(found) = best(capacity, |log2| hits(&asked, capacity, log2)) {
            self.scale = found.exp2();
        }
    }
}

/// The exponent of 2 with the most hits, by coarse steps and then by the golden section. `None` if
/// the model fails.
fn best(capacity: f64, hits: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut low, mut high) = (0.0, capacity.log2());
    let (mut one, mut one_hits) = (high, 0.0);
    let coarse = (0..).map(|step| f64::from(2 + 4 * step)).take_while(|&at| at < high);
    for at in coarse {
        let found = hits(at);
        if found > one_hits {
            (one, one_hits) = (at, found);
        }
    }
    let rest = 1.0 - GOLDEN;
    let (mut other, mut other_hits);
    if high - one > one - low {
        other = one + rest * (high - one);
        other_hits = hits(other);
    } else {
        (other, other_hits) = (one, one_hits);
        one = low + rest * (one - low);
        one_hits = hits(one);
    }
    for _ in 0..STEPS_MAX {
        let is_found = f64::abs(high - low) <= TOLERANCE * (f64::abs(one) + f64::abs(other));
        if is_found || one_hits.is_nan() || other_hits.is_nan() {
            break;
        }
        if other_hits > one_hits {
            low = one;
            (one, one_hits) = (other, other_hits);
            other = GOLDEN * one + rest * high;
            other_hits = hits(other);
        } else {
            high = other;
            (other, other_hits) = (one, one_hits);
            one = GOLDEN * other + rest * low;
            one_hits = hits(one);
        }
    }
    let found = if one_hits > other_hits { one } else { other };
    (!one_hits.is_nan() && !other_hits.is_nan()).then_some(found)
}

/// The model of section 4 of the paper: hits at the scale 2^`log2`. First how long an object stays
/// without being asked for, so that the objects fill the capacity; then the chance that each is
/// there, by a Padé approximation.
fn hits(asked: &[Asked], capacity: f64, log2: f64) -> f64 {
    let scale = log2.exp2();
    let chances: Vec<f64> = asked.iter().map(|one| (-one.bytes / scale).exp()).collect();
    let objects = || asked.iter().zip(&chances);
    let admitted: f64 = objects().map(|(one, chance)| one.count * chance * one.bytes).sum();
    if admitted <= 0.0 {
        return 0.0;
    }
    let mut stay = capacity / admitted;
    for _ in 0..STAY_STEPS {
        if stay > STAY_MAX {
            break;
        }
        let held = |(one, chance): (&Asked, &f64)| {
            let requests = one.count * stay;
            if requests > SURELY {
                return one.bytes;
            }
            let odds = chance * (requests.exp() - 1.0);
            one.bytes * (odds / (1.0 + odds))
        };
        stay = capacity * stay / objects().map(held).sum::<f64>();
    }
    objects().map(|(one, chance)| one.count * chance_of_hit(stay, one.count, *chance)).sum()
}

/// The chance of a hit on an object that is asked for at this rate.
fn chance_of_hit(stay: f64, rate: f64, chance: f64) -> f64 {
    let x = rate * stay;
    let above = x * chance * (840.0 + 60.0 * x + 20.0 * x * x + x * x * x);
    let below = 840.0
        + 120.0 * (-3.0 + 7.0 * chance) * x
        + 60.0 * (1.0 + chance) * x * x
        + 4.0 * (-1.0 + 5.0 * chance) * x * x * x
        + chance * x * x * x * x;
    if above != 0.0 && below == 0.0 { 0.0 } else { (above / below).clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_objects_that_come_once_lower_the_scale() {
        let mut state = AdaptSize::new(1 << 20);
        state.grow(200_000);
        let before = state.scale();
        for turn in 0..4 * INTERVAL {
            if turn % 2 == 0 {
                state.requested((turn / 2 % 2000) as Id, 500);
            } else {
                state.requested((2000 + turn) as Id, 1 << 17);
            }
        }
        let chance = |bytes: f64| (-bytes / state.scale()).exp();
        assert!(state.scale() != before, "a search took place");
        assert!(chance(500.0) > 0.01 && chance(131_072.0) < 1e-6, "{}", state.scale());
    }

    #[test]
    fn the_search_finds_the_top_of_a_hill() {
        let found = best(f64::from(1 << 30), |at| 100.0 - (at - 17.3).powi(2)).unwrap();
        assert!((found - 17.3).abs() < 0.02, "{found}");
        assert_eq!(best(1e9, |_| f64::NAN), None);
    }
}
