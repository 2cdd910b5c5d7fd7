//! Ids whose weight changes: every policy against the trait's promises, LRU against a list, and the
//! live cache against the policy alone.

use super::{Checker, IDS, named};
use crate::cache::{Cache, Changed, Config};
use crate::eviction::{Eviction, Id, Lru, NAMES, Outcome, Request, needs_of};
use proptest::prelude::*;
use std::collections::VecDeque;

/// Policies that take weights and nothing but requests.
fn weighing() -> Vec<&'static str> {
    let weighs = |name: &&&str| {
        let needs = needs_of(name).unwrap();
        !needs.unit_weights && !needs.equal_weights && !needs.state && !needs.neighbours
    };
    NAMES.iter().filter(weighs).copied().collect()
}

fn requests() -> impl Strategy<Value = Vec<(Id, u64, u32)>> {
    prop::collection::vec((0..IDS, 0..30_u64, 0..4_u32), 1..300)
}

fn any_change() -> impl Strategy<Value = Changed> {
    prop::sample::select(vec![Changed::Hit, Changed::Miss])
}

/// An LRU list of ids and weights, the most recent in front.
struct List {
    capacity: u64,
    files: VecDeque<(Id, u64)>,
}

impl List {
    fn request(&mut self, changed: Changed, id: Id, weight: u64) -> (Outcome, Vec<Id>) {
        let found = self.files.iter().position(|file| file.0 == id);
        if weight > self.capacity && changed == Changed::Hit {
            return (Outcome::Bypassed, Vec::new());
        }
        let known = found.and_then(|at| self.files.remove(at));
        let is_hit = known.is_some_and(|(_, before)| before == weight || changed == Changed::Hit);
        if weight > self.capacity {
            return (Outcome::Bypassed, Vec::new());
        }
        let mut victims = Vec::new();
        while self.files.iter().map(|file| file.1).sum::<u64>() + weight > self.capacity {
            victims.extend(self.files.pop_back().map(|file| file.0));
        }
        self.files.push_front((id, weight));
        (if is_hit { Outcome::Hit } else { Outcome::Admitted }, victims)
    }
}

/// Makes a request to a policy alone, and keeps the owner's books.
fn requested<E: Eviction>(
    policy: &mut E,
    owner: &mut Checker,
    changed: Changed,
    capacity: u64,
    request: &Request,
) -> Outcome {
    let before = owner.resident.get(&request.id).copied();
    let other = before.is_some_and(|before| before != request.weight);
    if other && changed == Changed::Miss {
        owner.resident.remove(&request.id);
        owner.known.remove(&request.id);
    } else if other && request.weight <= capacity {
        owner.resident.insert(request.id, request.weight);
    }
    let outcome = changed.request(policy, capacity, request, owner);
    if outcome == Outcome::Admitted {
        owner.resident.insert(request.id, request.weight);
        owner.known.insert(request.id);
    }
    let is_hit = match changed {
        Changed::Hit => before.is_some() && request.weight <= capacity,
        Changed::Miss => before.is_some() && !other,
    };
    assert_eq!(outcome == Outcome::Hit, is_hit);
    outcome
}

proptest! {
    #[test]
    fn every_policy_keeps_the_traits_promises(
        name in prop::sample::select(weighing()),
        changed in any_change(),
        capacity in 1..60_u64,
        requests in requests(),
    ) {
        let mut policy = named(name, capacity).unwrap();
        policy.grow(IDS);
        let mut owner = Checker::default();
        for (id, weight, cost) in requests {
            let request = Request { cost, ..Request::file(id, weight) };
            let outcome = requested(&mut policy, &mut owner, changed, capacity, &request);
            prop_assert!(weight <= capacity || outcome == Outcome::Bypassed, "{}", name);
            prop_assert_eq!(policy.resident_weight(), owner.resident_weight(), "{}", name);
            prop_assert!(owner.resident_weight() <= capacity, "{}", name);
            for id in 0..IDS {
                let weight = owner.resident.get(&id).copied();
                prop_assert_eq!(policy.weight_of(id), weight, "{} {}", name, id);
            }
        }
        while policy.evict_one(&mut owner) {}
        prop_assert!(owner.resident.is_empty() && policy.resident_weight() == 0, "{}", name);
    }

    #[test]
    fn lru_equals_a_list_of_weights(
        changed in any_change(),
        capacity in 1..60_u64,
        requests in requests(),
    ) {
        let mut policy = Lru::new(capacity);
        policy.grow(IDS);
        let (mut owner, mut list) = (Checker::default(), List { capacity, files: VecDeque::new() });
        for (id, weight, _) in requests {
            let request = Request::file(id, weight);
            let outcome = requested(&mut policy, &mut owner, changed, capacity, &request);
            let victims = std::mem::take(&mut owner.evicted);
            prop_assert_eq!((outcome, victims), list.request(changed, id, weight));
        }
    }

    #[test]
    fn a_cache_decides_as_the_policy_alone(
        name in prop::sample::select(weighing()),
        changed in any_change(),
        capacity in 1..60_u64,
        requests in requests(),
    ) {
        prop_assume!(!needs_of(name).unwrap().next_use);
        let (mut alone, mut owner) = (named(name, capacity).unwrap(), Checker::default());
        let policy = named(name, capacity).unwrap();
        let mut cache = Cache::new(policy, Config::pages(capacity)).unwrap().when_changed(changed);
        alone.grow(IDS);
        cache.grow(IDS);
        for (id, weight, cost) in requests {
            let request = Request { cost, ..Request::file(id, weight) };
            let outcome = requested(&mut alone, &mut owner, changed, capacity, &request);
            prop_assert_eq!(cache.access(&request), outcome, "{}", name);
            for id in 0..IDS {
                let is_resident = owner.resident.contains_key(&id);
                prop_assert_eq!(cache.resident(id), is_resident, "{} {}", name, id);
            }
        }
    }
}

#[test]
fn what_is_above_the_bypass_limit_bypasses_once() {
    for (changed, after) in [(Changed::Hit, Outcome::Hit), (Changed::Miss, Outcome::Admitted)] {
        let policy = named("lru", 100).unwrap();
        let mut cache = Cache::new(policy, Config::files(100)).unwrap().when_changed(changed);
        cache.grow(1);
        let outcomes = [50, 51, 40].map(|bytes| cache.access(&Request::file(0, bytes)));
        assert_eq!(outcomes, [Outcome::Admitted, Outcome::Bypassed, after]);
        assert_eq!(cache.resident_weight(), 40);
    }
}

#[test]
fn a_file_that_grows_keeps_its_credit_and_one_that_shrinks_is_not_dearer() {
    let mut policy = named("landlord", 100).unwrap();
    policy.grow(4);
    let mut owner = Checker::default();
    for (id, weight) in [(0, 10), (1, 30), (0, 40), (2, 60)] {
        requested(&mut policy, &mut owner, Changed::Hit, 100, &Request::file(id, weight));
    }
    assert_eq!(owner.evicted, [0], "its credit is that of 40 bytes");
}
