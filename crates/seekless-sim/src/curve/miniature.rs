//! A sample of a trace for callers that simulate it themselves: the requests for a share of the
//! ids, which in a cache of that share of the size miss as the whole trace does (see
//! [`sampled`](super::sampled())).

use super::hash::{Hash, threshold};
use super::share;
use crate::requests::Requests;
use crate::{Error, ErrorKind, Result};

/// Requests for some of the ids.
#[derive(Clone, Debug)]
pub struct Miniature {
    /// The requests of the sample, in their order.
    pub requests: Requests,
    /// Ids of the sample divided by all ids.
    ids_share: f64,
    /// Weight of the sample divided by the weight of all ids.
    weight_share: f64,
}

impl Miniature {
    /// The requests for this share of the ids. `seed` chooses them.
    ///
    /// # Errors
    /// The sample is empty.
    pub fn draw(all: &Requests, rate: f64, seed: u64) -> Result<Self> {
        let (hash, below) = (Hash::new(seed), threshold(rate));
        let requests = all.of_ids(|id| hash.of(id) < below);
        if requests.is_empty() && !all.is_empty() {
            let message =
                format!("a sample of {rate} of {} ids is empty; raise the rate", all.distinct());
            return Err(Error::new(ErrorKind::Usage, message));
        }
        Ok(Self {
            ids_share: share(f64::from(requests.distinct()), f64::from(all.distinct())),
            weight_share: share(requests.distinct_weight() as f64, all.distinct_weight() as f64),
            requests,
        })
    }

    /// The size of the cache that stands for one of `capacity`.
    #[must_use]
    pub fn capacity(&self, capacity: u64) -> u64 {
        let unit = self.requests.unit_bytes();
        let units = (capacity as f64 / unit as f64 * self.weight_share).round() as u64;
        units.max(capacity.min(1)) * unit
    }

    /// The misses of the whole trace for which these stand.
    #[must_use]
    pub fn scaled(&self, misses: u64) -> f64 {
        share(misses as f64, self.ids_share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::run::simulate;

    #[test]
    fn a_sample_in_a_small_cache_misses_as_all_does() {
        let mut state = 1_u64;
        let mut page = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let draw = (state >> 40) as f64 / f64::from(1 << 24);
            (draw * draw * 40_000.0) as u32
        };
        let all = Requests::from_pages((0..400_000).map(|_| page()).collect());
        let small = Miniature::draw(&all, 0.2, 0).unwrap();
        for (policy, pages) in [("lru", 4000), ("sieve", 4000), ("lru", 20_000)] {
            let misses = |requests: &Requests, capacity| {
                simulate(requests, &Case { policy: policy.into(), capacity }).unwrap().misses
            };
            let whole = misses(&all, pages * 4096) as f64;
            let scaled = small.scaled(misses(&small.requests, small.capacity(pages * 4096)));
            assert!((scaled / whole - 1.0).abs() < 0.03, "{policy} {pages}: {scaled} of {whole}");
        }
        assert!(Miniature::draw(&all, 1e-12, 0).is_err());
    }
}
