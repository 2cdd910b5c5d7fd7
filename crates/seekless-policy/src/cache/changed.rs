//! Ids whose weight changes: a file that was written anew, a page of the web with new content.

use super::{Cache, Sink};
use crate::eviction::{Eviction, Outcome, Pool, Request};
use crate::{Error, ErrorKind, Result};
use std::str::FromStr;

/// What a request for a resident id is that says another weight than the id has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Changed {
    /// A hit. The id gets the new weight, and if it grew, others leave.
    #[default]
    Hit,
    /// A miss: the weight shows a new version, and the old one is worth nothing.
    Miss,
}

impl FromStr for Changed {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "hit" => Ok(Self::Hit),
            "miss" => Ok(Self::Miss),
            _ => {
                let message = format!("an object that changed is a hit or a miss, not `{name}`");
                Err(Error::new(ErrorKind::UnknownName, message))
            }
        }
    }
}

impl<E: Eviction> Cache<E> {
    /// From now on the weight of an id may change with each request for it. A request for more than
    /// the cache may keep bypasses it this once, and a resident id stays as it is. Without it a
    /// resident id keeps the weight with which it was admitted, and the owner must not ask for it
    /// with another.
    ///
    /// Policies for pages ([`Needs::unit_weights`](crate::eviction::Needs::unit_weights)) are not
    /// concerned.
    #[must_use]
    pub fn when_changed(mut self, changed: Changed) -> Self {
        self.changed = Some(changed);
        self
    }

    pub(super) fn decide_changed<S: Sink>(
        &mut self,
        changed: Changed,
        request: &Request,
        sink: &mut S,
    ) -> Outcome {
        match changed.fate(&self.policy, self.largest(), request) {
            Fate::Unchanged => self.decide_as_is(request, sink),
            Fate::Leaves => {
                self.discard(request.id, sink);
                self.decide_as_is(request, sink)
            }
            Fate::Stays => {
                self.policy.foresee(request.id, request.next_use);
                Outcome::Bypassed
            }
            Fate::Resized => {
                self.policy.reweigh(request);
                let outcome = self.decide_as_is(request, sink);
                if self.policy.resident_weight() > self.config.capacity {
                    self.set_config(self.config, sink); // evicts until the rest fits
                }
                outcome
            }
        }
    }

    /// The largest weight that may be kept.
    fn largest(&self) -> u64 {
        self.config.bypass_above.unwrap_or(u64::MAX).min(self.config.capacity)
    }
}

/// What becomes of a resident id for which there is a request.
enum Fate {
    Unchanged,
    Resized,
    /// The request is for a new version, and so a miss.
    Leaves,
    /// As it is. The request asks for too much, and bypasses it.
    Stays,
}

impl Changed {
    /// A request to a policy by itself, of this capacity, as [`Cache::when_changed`] makes it; for
    /// the owner of [`Cache::policy_alone`].
    #[inline]
    pub fn request<E: Eviction, P: Pool + ?Sized>(
        self,
        policy: &mut E,
        capacity: u64,
        request: &Request,
        pool: &mut P,
    ) -> Outcome {
        match self.fate(policy, capacity, request) {
            Fate::Unchanged => policy.request(request, pool),
            Fate::Leaves => {
                policy.remove(request.id);
                policy.request(request, pool)
            }
            Fate::Stays => {
                policy.foresee(request.id, request.next_use);
                Outcome::Bypassed
            }
            Fate::Resized => {
                policy.reweigh(request);
                let outcome = policy.request(request, pool);
                if policy.resident_weight() > capacity {
                    policy.set_capacity(capacity, pool);
                }
                outcome
            }
        }
    }

    #[inline]
    fn fate<E: Eviction>(self, policy: &E, largest: u64, request: &Request) -> Fate {
        match policy.weight_of(request.id) {
            Some(weight) if weight != request.weight => match self {
                Changed::Miss => Fate::Leaves,
                Changed::Hit if request.weight <= largest => Fate::Resized,
                Changed::Hit => Fate::Stays,
            },
            _ => Fate::Unchanged,
        }
    }
}
