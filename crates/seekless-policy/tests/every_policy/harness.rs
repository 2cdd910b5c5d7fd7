//! Drives any policy by bytes, and holds it to what the trait promises after each step. The
//! property test and the fuzz target (`fuzz/fuzz_targets/policies.rs`) share this file, so a crash
//! found by one is a seed for the other.

use seekless_policy::eviction::{
    Eviction, Id, NEVER, Named, Needs, Outcome, PageState, Pool, Request, Use, named, needs_of,
};
use std::collections::{HashMap, HashSet};

/// Ids are below this.
const IDS: u32 = 32;
/// Capacities are below this.
const CAPACITIES: u64 = 64;
/// Bytes of a step.
pub(crate) const STEP_BYTES: usize = 3;

/// What may happen to a policy.
#[derive(Clone, Copy, Debug)]
enum Step {
    Request(Request),
    EvictOne,
    SetCapacity(u64),
    Remove(Id),
    /// The owner has written it back; nothing happens to what is not dirty.
    Cleaned(Id),
}

impl Step {
    /// Most bytes are requests; the rest disturb.
    fn new(bytes: &[u8], needs: Needs) -> Self {
        let (what, id, extra) = (bytes[0], u32::from(bytes[1]) % IDS, bytes[2]);
        match what {
            250.. => Step::SetCapacity(u64::from(extra) % CAPACITIES),
            245.. => Step::EvictOne,
            240.. => Step::Remove(id),
            230.. => Step::Cleaned(id),
            _ => Step::Request(Request {
                weight: match needs {
                    Needs { unit_weights: true, .. } => 1,
                    Needs { equal_weights: true, .. } => 3,
                    _ => u64::from(id) * u64::from(id) % 23,
                },
                cost: u32::from(extra) % 4,
                kind: match what % 8 {
                    0..4 => Use::Read,
                    4 | 5 => Use::Write,
                    6 => Use::Prefetch,
                    _ => Use::FirstUse,
                },
                ..Request::page(id)
            }),
        }
    }

    /// The steps that bytes stand for; each request knows its next use.
    fn all(bytes: &[u8], needs: Needs) -> Vec<Self> {
        let mut steps: Vec<_> =
            bytes.chunks_exact(STEP_BYTES).map(|bytes| Step::new(bytes, needs)).collect();
        let mut position =
            steps.iter().filter(|step| matches!(step, Step::Request(_))).count() as u64;
        let mut next_uses = HashMap::new();
        for step in steps.iter_mut().rev() {
            if let Step::Request(request) = step {
                position -= 1;
                request.next_use = next_uses.insert(request.id, position).unwrap_or(NEVER);
            }
        }
        steps
    }
}

/// An owner that checks each thing that is reported to it, and knows which pages are dirty.
#[derive(Default)]
struct Owner {
    resident: HashMap<Id, u64>,
    /// Admitted and not forgotten: resident or ghost.
    known: HashSet<Id>,
    dirty: HashSet<Id>,
    evicted: Vec<Id>,
}

impl Pool for Owner {
    fn evict(&mut self, victim: Id) {
        assert!(self.resident.remove(&victim).is_some(), "{victim} was evicted and not resident");
        self.dirty.remove(&victim);
        self.evicted.push(victim);
    }

    fn forget(&mut self, id: Id) {
        assert!(!self.resident.contains_key(&id), "{id} was forgotten and is resident");
        assert!(self.known.remove(&id), "{id} was forgotten and not known");
    }

    fn state(&self, id: Id) -> PageState {
        assert!(
            self.resident.contains_key(&id),
            "asked for the state of {id}, which is not resident"
        );
        PageState { dirty: self.dirty.contains(&id), ..PageState::default() }
    }
}

/// A policy, its owner, and what the owner believes.
struct Run {
    policy: Named,
    owner: Owner,
    capacity: u64,
    hits: usize,
}

impl Run {
    fn new(name: &str, capacity: u64) -> Self {
        let mut policy = named(name, capacity).unwrap();
        policy.grow(IDS);
        Self { policy, owner: Owner::default(), capacity, hits: 0 }
    }

    fn request(&mut self, request: &Request) {
        let was_resident = self.owner.resident.contains_key(&request.id);
        let outcome = self.policy.request(request, &mut self.owner);
        assert_eq!(
            outcome == Outcome::Hit,
            was_resident,
            "a hit is what was resident: {request:?}"
        );
        self.hits += usize::from(outcome == Outcome::Hit);
        if outcome == Outcome::Admitted {
            self.owner.resident.insert(request.id, request.weight);
            self.owner.known.insert(request.id);
        }
        if outcome != Outcome::Bypassed && request.kind == Use::Write {
            self.owner.dirty.insert(request.id);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Request(request) => self.request(request),
            Step::EvictOne => self.evict_one(),
            Step::SetCapacity(capacity) => {
                self.capacity = *capacity;
                self.policy.set_capacity(*capacity, &mut self.owner);
            }
            Step::Remove(id) => {
                self.policy.remove(*id);
                self.owner.resident.remove(id);
                self.owner.known.remove(id);
                self.owner.dirty.remove(id);
            }
            Step::Cleaned(id) => {
                if self.owner.dirty.remove(id) {
                    self.policy.cleaned(*id);
                }
            }
        }
        let weight: u64 = self.owner.resident.values().sum();
        assert_eq!(self.policy.resident_weight(), weight, "after {step:?}");
        assert!(weight <= self.capacity, "{weight} over {} after {step:?}", self.capacity);
    }

    fn evict_one(&mut self) {
        let before = self.owner.resident.len();
        let evicted = self.policy.evict_one(&mut self.owner);
        assert_eq!(evicted, before > 0, "evicts while anything is resident");
        assert!(!evicted || self.owner.resident.len() < before, "says it evicted and did not");
    }

    /// Everything can be evicted, and an empty cache works on.
    fn drain(&mut self) {
        while !self.owner.resident.is_empty() {
            self.evict_one();
        }
        self.evict_one();
        assert_eq!(self.policy.resident_weight(), 0);
    }
}

fn run(name: &str, capacity: u64, steps: &[Step]) -> Run {
    let mut run = Run::new(name, capacity);
    steps.iter().for_each(|step| run.step(step));
    run
}

/// Checks the policy `name` against the promises of the trait over the steps in `bytes`. It never
/// exceeds its capacity, evicts only resident ids, forgets only known ids, and repeats itself.
pub(crate) fn check(name: &str, capacity: u64, bytes: &[u8]) {
    let steps = Step::all(bytes, needs_of(name).unwrap());
    let capacity = capacity % CAPACITIES;
    let mut first = run(name, capacity, &steps);
    first.drain();
    let mut second = run(name, capacity, &steps);
    second.drain();
    assert_eq!(first.owner.evicted, second.owner.evicted, "the same steps gave other victims");
}

/// Holds the policy `name` to the optimum: over the requests in `bytes`, all of weight 1, it has no
/// more hits.
pub(crate) fn check_optimum(name: &str, capacity: u64, bytes: &[u8]) {
    let pages = Needs { unit_weights: true, ..Needs::default() };
    let calm: Vec<u8> =
        bytes.chunks_exact(STEP_BYTES).filter(|step| step[0] < 230).flatten().copied().collect();
    let steps = Step::all(&calm, pages);
    let capacity = capacity % CAPACITIES;
    let (hits, most) = (run(name, capacity, &steps).hits, run("opt@bypass", capacity, &steps).hits);
    assert!(hits <= most, "{name} hits {hits} times, the optimum {most} times");
}
