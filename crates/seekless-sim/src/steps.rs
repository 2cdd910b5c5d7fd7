//! A cache that takes plain reads, window by window. Its loop is compiled for each type of policy,
//! and for nothing else: all other loops call policies through [`Named`], which makes sixty loops
//! one.
//!
//! [`Named`]: seekless_policy::eviction::Named

use crate::figures::Counts;
use crate::requests::Requests;
use crate::{Error, Result, drive};
use seekless_policy::cache::{Cache, Changed, Config};
use seekless_policy::eviction::{Eviction, Needs, Visitor, visit};
use std::ops::Range;
use std::time::{Duration, Instant};

/// A cache of some type of policy.
pub(crate) trait Steps: Send {
    /// Takes a range of a window of requests.
    fn step(&mut self, requests: &Requests, range: Range<usize>);
    /// The requests so far were the warm-up.
    fn warmed_up(&mut self, requests: usize, unit_bytes: u64);
    /// The counts, and the time of all steps.
    fn finish(self: Box<Self>) -> (Counts, Duration);
}

/// How a cache begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin {
    pub(crate) config: Config,
    /// What the requests supply.
    pub(crate) offer: Needs,
    pub(crate) changed: Changed,
    /// An object may have another size in a later request.
    pub(crate) sizes_change: bool,
}

impl Begin {
    /// # Errors
    /// There is no such policy, or the cache cannot be so large.
    pub(crate) fn with(self, policy: &str) -> Result<Box<dyn Steps>> {
        visit(policy, self.config.capacity, self)?
    }

    pub(crate) fn cache<E: Eviction>(&self, policy: E) -> Result<Cache<E>> {
        let cache = Cache::with_offer(policy, self.config, self.offer).map_err(Error::from)?;
        Ok(if self.sizes_change { cache.when_changed(self.changed) } else { cache })
    }
}

impl Visitor for Begin {
    type Output = Result<Box<dyn Steps>>;

    fn visit<E: Eviction + Send + 'static>(self, policy: E) -> Self::Output {
        let (counts, time) = (Counts::default(), Duration::ZERO);
        let cache = self.cache(policy)?;
        Ok(Box::new(Stepping { cache, changed: self.changed, counts, time }))
    }
}

struct Stepping<E> {
    cache: Cache<E>,
    changed: Changed,
    counts: Counts,
    time: Duration,
}

impl<E: Eviction + Send> Steps for Stepping<E> {
    fn step(&mut self, requests: &Requests, range: Range<usize>) {
        let started = Instant::now();
        self.cache.grow(requests.id_limit());
        drive::reads(&mut self.cache, requests, range, self.changed, &mut self.counts);
        self.time += started.elapsed();
    }

    fn warmed_up(&mut self, requests: usize, unit_bytes: u64) {
        self.counts.warmed_up(requests, unit_bytes);
    }

    fn finish(self: Box<Self>) -> (Counts, Duration) {
        (self.counts, self.time)
    }
}
