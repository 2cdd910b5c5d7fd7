//! Expiry: objects leave a cache when their lifetimes end by the trace's clock, whatever the
//! policy. What expires costs a miss that no policy could have avoided, so it is counted apart.

use crate::requests::Requests;
use crate::{Error, ErrorKind, Result};
use seekless_policy::cache::{Cache, Sink};
use seekless_policy::eviction::{Eviction, Id, Outcome};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::str::FromStr;

/// When expired objects leave the cache, and when a lifetime begins. Parsed from `lazy`, `active`,
/// `lazy,fixed` or `active,fixed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// At once, instead of at the next request for them. Until then they take room.
    pub active: bool,
    /// A lifetime begins only when the object comes in. Otherwise each request that has one begins
    /// it anew, as storing an object again does.
    pub fixed: bool,
}

impl FromStr for Expiry {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        let (when, fixed) = match word.split_once(',') {
            Some((when, "fixed")) => (when, true),
            _ => (word, false),
        };
        let active = match when {
            "lazy" => false,
            "active" => true,
            _ => {
                let message =
                    format!("`{word}`: expected lazy or active, perhaps with `,fixed` behind it");
                return Err(Error::new(ErrorKind::Usage, message));
            }
        };
        Ok(Self { active, fixed })
    }
}

/// What expiry took out of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Expired {
    /// Requests for an object that had expired: misses, though the policy had kept it.
    pub requests: u64,
    /// Objects that left because they had expired.
    pub objects: u64,
}

/// No end.
const NEVER_NS: u64 = u64::MAX;

/// The ends of the lifetimes of objects in one cache.
pub(crate) struct Lifetimes<'a> {
    requests: &'a Requests,
    rule: Expiry,
    /// By id: when it expires, if it is in the cache.
    ends_ns: Vec<u64>,
    /// By id: whether it expired since its last request.
    has_expired: Vec<bool>,
    /// For active expiry: ends that are to come. Those that are not the id's own any more are
    /// skipped.
    coming: BinaryHeap<Reverse<(u64, Id)>>,
    counts: Expired,
}

impl<'a> Lifetimes<'a> {
    pub(crate) fn new(requests: &'a Requests, rule: Expiry) -> Self {
        let ids = requests.id_limit() as usize;
        Self {
            requests,
            rule,
            ends_ns: vec![NEVER_NS; ids],
            has_expired: vec![false; ids],
            coming: BinaryHeap::new(),
            counts: Expired::default(),
        }
    }

    /// Before the request at `position`, for `id`. Calls `lost` for each object that leaves.
    pub(crate) fn before<E: Eviction, S: Sink>(
        &mut self,
        position: usize,
        id: Id,
        cache: &mut Cache<E>,
        sink: &mut S,
        lost: impl Fn(&mut S, Id, bool),
    ) {
        let now_ns = self.requests.time(position);
        let mut leave = |this: &mut Self, id: Id| {
            this.ends_ns[id as usize] = NEVER_NS;
            if cache.resident(id) {
                this.counts.objects += 1;
                this.has_expired[id as usize] = true;
                lost(sink, id, cache.is_dirty(id));
                cache.discard(id, sink);
            }
        };
        while let Some(&Reverse((end_ns, other))) = self.coming.peek()
            && end_ns <= now_ns
        {
            self.coming.pop();
            if self.ends_ns[other as usize] == end_ns {
                leave(self, other);
            }
        }
        if self.ends_ns[id as usize] <= now_ns {
            leave(self, id);
        }
        self.counts.requests += u64::from(std::mem::take(&mut self.has_expired[id as usize]));
    }

    /// After the request at `position`.
    pub(crate) fn after(&mut self, position: usize, id: Id, outcome: Outcome) {
        let ttl_ns = self.requests.ttl_ns(position);
        let begins = match outcome {
            Outcome::Admitted => true,
            Outcome::Hit => ttl_ns > 0 && !self.rule.fixed,
            Outcome::Bypassed => false,
        };
        if !begins {
            return;
        }
        let end_ns = match ttl_ns {
            0 => NEVER_NS,
            ttl_ns => self.requests.time(position).saturating_add(ttl_ns),
        };
        self.ends_ns[id as usize] = end_ns;
        if self.rule.active && end_ns != NEVER_NS {
            self.coming.push(Reverse((end_ns, id)));
        }
    }

    /// The counts so far, which begin anew.
    pub(crate) fn take(&mut self) -> Expired {
        std::mem::take(&mut self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Case, Options, simulate_with};
    use seekless_policy::eviction::{NAMES, needs_of};

    const SECOND_NS: u64 = 1_000_000_000;

    /// Requests at whole seconds: (second, object, lifetime in seconds).
    fn requests(rows: &[(u64, Id, u64)]) -> Requests {
        let ids: Vec<Id> = rows.iter().map(|row| row.1).collect();
        Requests::from_sized(&ids, &vec![1; ids.len()])
            .with_times(rows.iter().map(|row| row.0 * SECOND_NS).collect())
            .with_lifetimes(rows.iter().map(|row| row.2 * SECOND_NS).collect())
    }

    fn counts(rows: &[(u64, Id, u64)], rule: &str, policy: &str, capacity: u64) -> (u64, Expired) {
        let options = Options { expiry: Some(rule.parse().unwrap()), ..Options::default() };
        let case = Case { policy: policy.into(), capacity };
        let figures = simulate_with(&requests(rows), &case, &options).unwrap();
        (figures.hits, figures.expired.unwrap())
    }

    #[test]
    fn an_object_expires_when_its_time_is_over() {
        let rows = [(0, 0, 5), (4, 0, 0), (5, 0, 5), (9, 0, 0), (10, 0, 0), (99, 0, 0)];
        let found = counts(&rows, "lazy", "lru", 9);
        assert_eq!(found, (3, Expired { requests: 2, objects: 2 }), "the last has no end");
        assert_eq!(counts(&rows, "active", "lru", 9), found);
    }

    #[test]
    fn a_request_with_a_lifetime_begins_it_anew_unless_fixed() {
        let rows = [(0, 0, 5), (4, 0, 5), (8, 0, 5), (12, 0, 5)];
        assert_eq!(counts(&rows, "lazy", "lru", 9).0, 3);
        assert_eq!(counts(&rows, "lazy,fixed", "lru", 9).0, 2);
    }

    #[test]
    fn active_expiry_gives_room_back() {
        let rows = [(0, 0, 50), (1, 1, 1), (3, 2, 50), (4, 0, 0), (5, 1, 1)];
        let (hits, expired) = counts(&rows, "lazy", "lru", 2);
        assert_eq!((hits, expired.requests), (0, 0), "1 held its place, and 0 was evicted");
        let (hits, expired) = counts(&rows, "active", "lru", 2);
        assert_eq!((hits, expired), (1, Expired { requests: 1, objects: 1 }));
    }

    /// A model: with room for all, an object is there until its end.
    #[test]
    fn in_a_large_cache_every_policy_agrees_with_a_model() {
        let mut state = 7_u64;
        let rows: Vec<(u64, Id, u64)> = (0..4000)
            .map(|at| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let (id, ttl) = ((state >> 33) % 60, (state >> 40) % 9 * 7);
                (at / 3, id as Id, ttl)
            })
            .collect();
        let mut ends = [0_u64; 60];
        let mut hits = 0;
        for &(now, id, ttl) in &rows {
            let end = &mut ends[id as usize];
            let hit = *end > now;
            hits += u64::from(hit);
            *end = match (hit, ttl) {
                (true, 0) => *end,
                (false, 0) => u64::MAX,
                (_, ttl) => now + ttl,
            };
        }
        for policy in NAMES {
            let needs = needs_of(policy).unwrap();
            if needs.next_use || needs.neighbours || needs.state || policy.starts_with("fwf") {
                continue;
            }
            for rule in ["lazy", "active"] {
                let found = counts(&rows, rule, policy, 100_000);
                assert_eq!(found.0, hits, "{policy} {rule}");
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for wrong in ["", "soon", "lazy,", "lazy,fixed,fixed", "fixed"] {
            assert!(wrong.parse::<Expiry>().is_err(), "{wrong}");
        }
        let options = Options { expiry: "lazy".parse().ok(), ..Options::default() };
        let said = |requests: &Requests, policy: &str| {
            let case = Case { policy: policy.into(), capacity: 5 };
            simulate_with(requests, &case, &options).unwrap_err().to_string()
        };
        assert!(said(&requests(&[(0, 0, 1)]), "opt").contains("lifetimes"));
        let bare = Requests::from_sized(&[0], &[1]);
        assert!(said(&bare, "lru").contains("no lifetimes"));
    }
}
