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
        let largest = self.largest();
        let fate = changed.fate(&mut self.policy, largest, request);
        match fate {
            Fate::Bypassed => return Outcome::Bypassed,
            Fate::Leaves => self.discard(request.id, sink),
            Fate::Unchanged | Fate::Resized => {}
        }
        let outcome = self.decide_as_is(request, sink);
        if fate == Fate::Resized && self.policy.resident_weight() > self.config.capacity {
            self.set_config(self.config, sink); // evicts until the rest fits
        }
        outcome
    }

    /// The largest weight that may be kept.
    fn largest(&self) -> u64 {
        self.config.bypass_above.unwrap_or(u64::MAX).min(self.config.capacity)
    }
}

/// What becomes of a resident id for which there is a request.
#[derive(PartialEq, Eq)]
enum Fate {
    Unchanged,
    /// It has the new weight now, and the rest may not fit any more.
    Resized,
    /// The request is for a new version, and so a miss. The owner must remove the old one.
    Leaves,
    /// It stays as it is: the request asks for too much.
    Bypassed,
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
        let fate = self.fate(policy, capacity, request);
        match fate {
            Fate::Bypassed => return Outcome::Bypassed,
            Fate::Leaves => policy.remove(request.id),
            Fate::Unchanged | Fate::Resized => {}
        }
        let outcome = policy.request(request, pool);
        if fate == Fate::Resized && policy.resident_weight() > capacity {
            policy.set_capacity(capacity, pool);
        }
        outcome
    }

    /// Reports to the policy what the request means for its resident id, before the request itself.
    #[inline]
    fn fate<E: Eviction>(self, policy: &mut E, largest: u64, request: &Request) -> Fate {
        match policy.weight_of(request.id) {
            Some(weight) if weight != request.weight => {}
            _ => return Fate::Unchanged,
        }
        match self {
            Changed::Miss => Fate::Leaves,
            Changed::Hit if request.weight <= largest => {
                policy.reweigh(request);
                Fate::Resized
            }
            Changed::Hit => {
                policy.foresee(request.id, request.next_use);
                Fate::Bypassed
            }
        }
    }
}
