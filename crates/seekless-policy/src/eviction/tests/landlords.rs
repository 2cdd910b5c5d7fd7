//! Landlord's published variants against figure 1 of Wassenberg 2006 with credits in floats.

use super::super::landlord::{Charging, Division, Hint, Lazy, Reciprocal};
use super::*;

/// A file: id, weight, credit.
type File = (Id, u64, f32);

/// Figure 1 with the numbers of 0 A.D.: 75 % restored, no credit below 0.0001. `lazy` evicts one at
/// a time and charges later.
struct Figure1 {
    capacity: u64,
    files: Vec<File>,
    reciprocal: bool,
    lazy: bool,
    pending: f32,
}

impl Figure1 {
    fn new(capacity: u64, reciprocal: bool, lazy: bool) -> Self {
        Self { capacity, files: Vec::new(), reciprocal, lazy, pending: 0.0 }
    }

    fn density(&self, &(_, weight, credit): &File) -> f32 {
        let weight = weight.max(1) as f32;
        if self.reciprocal { credit * (1.0 / weight) } else { credit / weight }
    }

    fn charge(&mut self, rent: f32) {
        self.files.iter_mut().for_each(|file| file.2 -= rent * file.1.max(1) as f32);
    }

    fn commit(&mut self) {
        let rent = std::mem::take(&mut self.pending);
        self.charge(rent);
    }

    /// One round: charges, and takes out at most `most` files without credit.
    fn round(&mut self, most: usize) -> Vec<Id> {
        let rent = self.files.iter().map(|file| self.density(file)).fold(f32::INFINITY, f32::min);
        self.charge(rent);
        let mut victims = Vec::new();
        let mut at = 0;
        while at < self.files.len() {
            if self.files[at].2 < 1e-4 && victims.len() < most {
                victims.push(self.files.swap_remove(at).0);
            } else {
                at += 1;
            }
        }
        victims
    }

    fn evict_least(&mut self) -> Option<Id> {
        let keys = self.files.iter().map(|file| (self.density(file).max(0.0), file.0));
        let (density, victim) = keys.min_by(|one, other| one.partial_cmp(other).unwrap())?;
        self.pending = density;
        self.files.retain(|file| file.0 != victim);
        Some(victim)
    }

    fn make_room(&mut self, weight: u64) -> Vec<Id> {
        let mut victims = Vec::new();
        while self.files.iter().map(|file| file.1).sum::<u64>() + weight > self.capacity {
            match self.lazy {
                true => victims.extend(self.evict_least()),
                false => victims.extend(self.round(usize::MAX)),
            }
        }
        victims
    }
}

impl Model for Figure1 {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        if let Some(at) = self.files.iter().position(|file| file.0 == request.id) {
            if request.kind != Use::FirstUse {
                self.commit();
                let credit = &mut self.files[at].2;
                *credit += (request.cost as f32 - *credit).max(0.0) * 0.75;
            }
            return (Outcome::Hit, Vec::new());
        }
        if request.weight > self.capacity {
            return (Outcome::Bypassed, Vec::new());
        }
        let victims = self.make_room(request.weight);
        self.commit();
        self.files.push((request.id, request.weight, request.cost as f32));
        (Outcome::Admitted, victims)
    }

    fn evict_one(&mut self) -> Option<Id> {
        if self.lazy {
            return self.evict_least();
        }
        while !self.files.is_empty() {
            let victim = self.round(1).pop();
            if victim.is_some() {
                return victim;
            }
        }
        None
    }

    fn set_capacity(&mut self, capacity: u64) -> Vec<Id> {
        self.capacity = capacity;
        self.make_room(0)
    }

    fn remove(&mut self, id: Id) {
        if let Some(at) = self.files.iter().position(|file| file.0 == id) {
            self.files.swap_remove(at);
        }
    }
}

proptest! {
    #[test]
    fn naive_and_cached_landlord_equal_figure_1(
        capacity in 0u64..60,
        steps in prop::collection::vec(step(false), 1..300),
    ) {
        check_model(Charging::<Division, false>::new(capacity), Figure1::new(capacity, false, false), &steps);
        check_model(Charging::<Reciprocal, false>::new(capacity), Figure1::new(capacity, true, false), &steps);
        check_model(Charging::<Division, true>::new(capacity), Figure1::new(capacity, false, false), &steps);
        check_model(Charging::<Reciprocal, true>::new(capacity), Figure1::new(capacity, true, false), &steps);
    }

    #[test]
    fn lazy_landlord_equals_figure_1_one_at_a_time(
        capacity in 0u64..60,
        steps in prop::collection::vec(step(false), 1..300),
    ) {
        check_model(Lazy::<Division>::new(capacity), Figure1::new(capacity, false, true), &steps);
        check_model(Lazy::<Reciprocal>::new(capacity), Figure1::new(capacity, true, true), &steps);
    }
}

/// The order in which files of one size leave a full cache, each with a hint.
fn leaving(hints: [Hint; 3]) -> Vec<Id> {
    let mut policy = Landlord::new(3);
    let mut owner = Checker::default();
    policy.grow(3);
    for (id, hint) in (0..).zip(hints) {
        owner.request(&mut policy, &Request { cost: hint.cost(1), ..Request::page(id) });
    }
    while policy.evict_one(&mut owner) {}
    owner.evicted
}

#[test]
fn hints_decide_among_files_of_one_size() {
    assert_eq!(leaving([Hint::Usual; 3]), [0, 1, 2]);
    assert_eq!(leaving([Hint::LongLived, Hint::Usual, Hint::Once]), [2, 1, 0]);
}

#[test]
fn a_long_lived_file_survives_seven_generations_of_others() {
    let mut policy = Landlord::new(4);
    let mut owner = Checker::default();
    policy.grow(IDS);
    owner.request(&mut policy, &Request { cost: Hint::LongLived.cost(1), ..Request::page(0) });
    // Three others fit beside it: each evicted generation of them raises the rent by 1.
    (1..IDS).for_each(|id| {
        owner.request(&mut policy, &Request::page(id));
    });
    assert!(owner.resident.contains_key(&0));
    assert_eq!(Hint::LongLived.cost(u32::MAX), u32::MAX);
}
