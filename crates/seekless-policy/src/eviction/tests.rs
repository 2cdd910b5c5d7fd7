//! Every policy against what the trait promises, and each against a naive model written from its
//! paper.

mod blocks;
mod changing;
mod classics;
mod landlords;
mod learned;
mod models;
mod modern;

use super::*;
use models::{Model, NaiveArc, NaiveLandlord, NaiveLru};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

const IDS: u32 = 24;

/// An owner that checks each notification.
#[derive(Default)]
struct Checker {
    resident: HashMap<Id, u64>,
    /// Resident or ghost: admitted and not forgotten.
    known: HashSet<Id>,
    evicted: Vec<Id>,
}

impl Pool for Checker {
    fn evict(&mut self, victim: Id) {
        assert!(self.resident.remove(&victim).is_some(), "{victim} was not resident");
        self.evicted.push(victim);
    }

    fn forget(&mut self, id: Id) {
        assert!(!self.resident.contains_key(&id), "{id} is still resident");
        assert!(self.known.remove(&id), "{id} was not known");
    }
}

impl Checker {
    fn resident_weight(&self) -> u64 {
        self.resident.values().sum()
    }

    fn request<E: Eviction>(&mut self, policy: &mut E, request: &Request) -> Outcome {
        let was_resident = self.resident.contains_key(&request.id);
        let outcome = policy.request(request, self);
        assert_eq!(outcome == Outcome::Hit, was_resident);
        if outcome == Outcome::Admitted {
            self.resident.insert(request.id, request.weight);
            self.known.insert(request.id);
        }
        outcome
    }

    fn remove<E: Eviction>(&mut self, policy: &mut E, id: Id) {
        policy.remove(id);
        self.resident.remove(&id);
        self.known.remove(&id);
    }
}

/// What may happen to a policy.
#[derive(Clone, Debug)]
enum Step {
    Request(Request),
    EvictOne,
    SetCapacity(u64),
    Remove(Id),
}

fn weight_of(id: Id) -> u64 {
    u64::from(id) * u64::from(id) % 23
}

fn any_use() -> impl Strategy<Value = Use> {
    prop::sample::select(vec![
        Use::Read,
        Use::Read,
        Use::Read,
        Use::Write,
        Use::Prefetch,
        Use::FirstUse,
    ])
}

fn request(unit: bool) -> impl Strategy<Value = Request> {
    (0..IDS, 0u32..4, any_use()).prop_map(move |(id, cost, kind)| Request {
        cost,
        kind,
        ..Request::file(id, if unit { 1 } else { weight_of(id) })
    })
}

fn step(unit: bool) -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => request(unit).prop_map(Step::Request),
        1 => Just(Step::EvictOne),
        1 => (0u64..60).prop_map(Step::SetCapacity),
        1 => (0..IDS).prop_map(Step::Remove),
    ]
}

/// Requests and everything else, for files.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(false), 1..300)
}

/// The same for pages.
fn page_steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(true), 1..300)
}

/// The bound on ghosts that each policy declares, in units of weight. Policies that are not named
/// keep no ghosts.
fn ghosts_max(name: &str, capacity: u64) -> Option<u64> {
    Some(match name.split('@').next().unwrap() {
        "arc" | "car" => 2 * capacity,
        "2q" if name != "2q@simple" => capacity / 2,
        "clock-pro" => capacity,
        "lru-2" if name.ends_with("@history") => capacity,
        "cacheus" => 2 * capacity,
        "cart" | "sr-lru" | "frd" => capacity,
        "mq" => 4 * capacity,
        "s3-fifo" | "qdlp" | "clock2q+" => capacity * 9 / 10,
        "auto" => 7 * capacity, // what four candidates keep, and the ghosts of two
        "lirs" | "linux" | "lecar" => capacity,
        _ => return None,
    })
}

/// Makes every weight 1 where the policy is for pages only.
fn for_pages(step: &Step) -> Step {
    match step {
        Step::Request(request) => Step::Request(Request { weight: 1, ..*request }),
        other => other.clone(),
    }
}

/// Runs `steps` and holds the policy to the trait's promises after each.
fn check_promises(name: &str, mut capacity: u64, steps: &[Step]) {
    let mut policy = named(name, capacity).unwrap();
    let needs = policy.needs();
    let unit_weights = needs.unit_weights || needs.equal_weights;
    let steps: Vec<Step> = match unit_weights {
        true => steps.iter().map(for_pages).collect(),
        false => steps.to_vec(),
    };
    policy.grow(IDS);
    let mut owner = Checker::default();
    for step in &steps {
        match step {
            Step::Request(request) => {
                let outcome = owner.request(&mut policy, request);
                assert!(request.weight <= capacity || outcome != Outcome::Admitted);
            }
            Step::EvictOne => {
                let any = !owner.resident.is_empty();
                assert_eq!(policy.evict_one(&mut owner), any);
            }
            Step::SetCapacity(new) => {
                capacity = *new;
                policy.set_capacity(capacity, &mut owner);
            }
            Step::Remove(id) => owner.remove(&mut policy, *id),
        }
        assert_eq!(policy.resident_weight(), owner.resident_weight());
        assert!(owner.resident_weight() <= capacity, "{} over {capacity}", owner.resident_weight());
        let weight = |id| if unit_weights { 1 } else { weight_of(id) };
        let ghosts = owner.known.iter().filter(|id| !owner.resident.contains_key(id));
        let (count, weights) =
            ghosts.fold((0, 0), |(count, sum), &id| (count + 1, sum + weight(id)));
        let limit = ghosts_max(name, capacity);
        // A ghost without weight takes no room, but a policy without ghosts has not even that.
        assert!(
            limit.map_or(count == 0, |max| weights <= max),
            "{count} ghosts of weight {weights} over {limit:?}"
        );
    }
}

/// Runs the same steps through policy and model, and compares outcome and victims after each.
fn check_model<E: Eviction, M: Model>(mut policy: E, mut model: M, steps: &[Step]) {
    policy.grow(IDS);
    let mut owner = Checker::default();
    for (turn, step) in steps.iter().enumerate() {
        let wanted = match step {
            Step::Request(request) => {
                let outcome = owner.request(&mut policy, request);
                let (wanted, victims) = model.request(request);
                assert_eq!(outcome, wanted, "turn {turn}: {request:?}");
                victims
            }
            Step::EvictOne => {
                policy.evict_one(&mut owner);
                model.evict_one().into_iter().collect()
            }
            Step::SetCapacity(capacity) => {
                policy.set_capacity(*capacity, &mut owner);
                model.set_capacity(*capacity)
            }
            Step::Remove(id) => {
                owner.remove(&mut policy, *id);
                model.remove(*id);
                Vec::new()
            }
        };
        assert_eq!(std::mem::take(&mut owner.evicted), wanted, "turn {turn}: {step:?}");
    }
}

proptest! {
    #[test]
    fn every_policy_keeps_the_traits_promises(
        capacity in 0u64..60,
        steps in prop::collection::vec(step(false), 1..300),
        name in prop::sample::select(NAMES),
    ) {
        check_promises(name, capacity, &steps);
    }

    #[test]
    fn lru_equals_a_sorted_list(capacity in 0u64..60, steps in prop::collection::vec(step(false), 1..300)) {
        check_model(Lru::new(capacity), NaiveLru::new(capacity), &steps);
    }

    #[test]
    fn landlord_equals_charging_everybody(
        capacity in 0u64..60,
        steps in prop::collection::vec(step(false), 1..300),
        quarters in 0u128..5,
    ) {
        let policy = Landlord::with_restore(capacity, quarters as f64 / 4.0).unwrap();
        check_model(policy, NaiveLandlord::new(capacity, quarters), &steps);
    }

    #[test]
    fn arc_equals_figure_4_on_pages(
        capacity in 1usize..14,
        requests in prop::collection::vec(0..IDS, 1..400),
    ) {
        let steps: Vec<_> = requests.into_iter().map(|id| Step::Request(Request::page(id))).collect();
        check_model(Arc::new(capacity as u64), NaiveArc::new(capacity), &steps);
    }

    #[test]
    fn landlord_with_full_restore_and_equal_sizes_is_lru(
        capacity in 1u64..60,
        ids in prop::collection::vec(0..IDS, 1..300),
        weight in 1u64..20,
    ) {
        let steps: Vec<_> = ids.into_iter().map(|id| Step::Request(Request::file(id, weight))).collect();
        check_model(Landlord::full_restore(capacity), NaiveLru::new(capacity), &steps);
    }
}

#[test]
fn a_small_file_outstays_a_large_one() {
    let mut policy = Landlord::new(100);
    let mut owner = Checker::default();
    policy.grow(4);
    for (id, weight) in [(0, 10), (1, 80), (2, 20)] {
        owner.request(&mut policy, &Request::file(id, weight));
    }
    assert_eq!(owner.evicted, [1]);
}

#[test]
fn a_dear_file_outstays_a_cheap_one() {
    let mut policy = Landlord::new(100);
    let mut owner = Checker::default();
    policy.grow(4);
    owner.request(&mut policy, &Request { cost: 9, ..Request::file(0, 80) });
    owner.request(&mut policy, &Request::file(1, 20));
    owner.request(&mut policy, &Request::file(2, 20));
    assert_eq!(owner.evicted, [1]);
}

#[test]
fn a_fraction_of_credit_outside_0_to_1_is_refused() {
    for fraction in [-0.1, 1.1, f64::NAN] {
        assert_eq!(
            Landlord::with_restore(1, fraction).unwrap_err().kind(),
            crate::ErrorKind::BadParameter
        );
    }
}

#[test]
fn an_unknown_name_is_an_error_that_names_those_near_it() {
    let error = named("lru2", 1).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::UnknownName);
    let said = error.to_string();
    assert!(said.contains("near it are lru-2, ") && !said.contains("landlord"), "{said}");
}

/// A policy that folds hits, used by an owner that reports hits late: once for each id, in the
/// order of their last, before anything else.
struct Late {
    policy: Named,
    checker: Checker,
    hits: Vec<Hits>,
}

impl Late {
    fn hit(&mut self, request: &Request) {
        let known = self.hits.iter().position(|hits| hits.request.id == request.id);
        let before = known.map_or(0, |place| self.hits.remove(place).times);
        self.hits.push(Hits { request: *request, times: before + 1 });
    }

    fn tell(&mut self) {
        self.policy.hit_all(&std::mem::take(&mut self.hits), &mut self.checker);
    }
}

proptest! {
    #[test]
    fn policies_that_fold_hits_evict_the_same(
        name in prop::sample::select(
            NAMES.iter().copied().filter(|name| named(name, 1).unwrap().folds_hits())
                .collect::<Vec<_>>(),
        ),
        capacity in 1_u64..100,
        steps in prop::collection::vec(
            prop_oneof![40 => step(false), 60 => (0..4_u32).prop_map(|id| {
                Step::Request(Request::file(id, weight_of(id)))
            })],
            1..300,
        ),
    ) {
        let (mut policy, mut checker) = (named(name, capacity).unwrap(), Checker::default());
        let mut late =
            Late { policy: named(name, capacity).unwrap(), checker: Checker::default(), hits: vec![] };
        policy.grow(IDS);
        late.policy.grow(IDS);
        // A hint, and so a cost, is reported only after all hits before it.
        let mut told = 0;
        for step in steps {
            match step {
                Step::Request(request) => {
                    let cost = if told % 3 == 0 { 1 } else { (request.id + told) % 4 };
                    let request = Request { cost, kind: Use::Read, ..request };
                    if checker.request(&mut policy, &request) == Outcome::Hit {
                        late.hit(&request);
                        continue;
                    }
                    late.tell();
                    late.checker.request(&mut late.policy, &request);
                }
                Step::EvictOne => {
                    late.tell();
                    policy.evict_one(&mut checker);
                    late.policy.evict_one(&mut late.checker);
                }
                Step::SetCapacity(capacity) => {
                    late.tell();
                    policy.set_capacity(capacity, &mut checker);
                    late.policy.set_capacity(capacity, &mut late.checker);
                }
                Step::Remove(id) => {
                    late.tell();
                    checker.remove(&mut policy, id);
                    late.checker.remove(&mut late.policy, id);
                }
            }
            told += 1;
            prop_assert_eq!(&checker.evicted, &late.checker.evicted, "{}", name);
        }
    }
}

#[test]
fn the_default_policy_folds_hits_in_a_bounded_time() {
    let mut policy = named("landlord", 100).unwrap();
    assert!(policy.folds_hits());
    policy.grow(4);
    let mut checker = Checker::default();
    let files = [(0, 40), (1, 50), (2, 30)].map(|(id, weight)| Request::file(id, weight));
    files.iter().for_each(|request| _ = checker.request(&mut policy, request));
    let kept = *files.iter().find(|file| checker.resident.contains_key(&file.id)).unwrap();
    policy.hit_all(&[Hits { request: kept, times: u32::MAX }], &mut checker);
}
