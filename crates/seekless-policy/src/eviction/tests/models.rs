//! Naive models: what each paper says, in plain vectors and without any thought of speed.

use crate::eviction::{Id, Outcome, Request, Use};
use std::collections::VecDeque;

/// A policy that says which victims each step had, in order.
pub(super) trait Model {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>);

    // A model of requests alone has none of these.

    fn evict_one(&mut self) -> Option<Id> {
        None
    }

    fn set_capacity(&mut self, _capacity: u64) -> Vec<Id> {
        Vec::new()
    }

    fn remove(&mut self, _id: Id) {}
}

/// Most recently used first.
pub(super) struct NaiveLru {
    capacity: u64,
    files: VecDeque<(Id, u64)>,
}

impl NaiveLru {
    pub(super) fn new(capacity: u64) -> Self {
        Self { capacity, files: VecDeque::new() }
    }

    fn make_room(&mut self, weight: u64) -> Vec<Id> {
        let mut victims = Vec::new();
        while self.files.iter().map(|file| file.1).sum::<u64>() + weight > self.capacity {
            victims.extend(self.evict_one());
        }
        victims
    }
}

impl Model for NaiveLru {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        if let Some(at) = self.files.iter().position(|file| file.0 == request.id) {
            if request.kind != Use::FirstUse {
                let file = self.files.remove(at).unwrap();
                self.files.push_front(file);
            }
            return (Outcome::Hit, Vec::new());
        }
        if request.weight > self.capacity {
            return (Outcome::Bypassed, Vec::new());
        }
        let victims = self.make_room(request.weight);
        self.files.push_front((request.id, request.weight));
        (Outcome::Admitted, victims)
    }

    fn evict_one(&mut self) -> Option<Id> {
        self.files.pop_back().map(|file| file.0)
    }

    fn set_capacity(&mut self, capacity: u64) -> Vec<Id> {
        self.capacity = capacity;
        self.make_room(0)
    }

    fn remove(&mut self, id: Id) {
        self.files.retain(|file| file.0 != id);
    }
}

/// A file with its remaining credit for each unit of weight, in units of 2^-64.
struct Tenant {
    id: Id,
    weight: u64,
    credit_density: u128,
    last_use: usize,
}

/// Figure 1 of Wassenberg 2006: charges all files the least credit density, then removes
/// one without credit.
pub(super) struct NaiveLandlord {
    capacity: u64,
    quarters: u128,
    turn: usize,
    tenants: Vec<Tenant>,
}

fn full(cost: u32, weight: u64) -> u128 {
    (u128::from(cost) << 64) / u128::from(weight.max(1))
}

impl NaiveLandlord {
    /// A hit restores `quarters` quarters of the lost credit.
    pub(super) fn new(capacity: u64, quarters: u128) -> Self {
        Self { capacity, quarters, turn: 0, tenants: Vec::new() }
    }

    fn make_room(&mut self, weight: u64) -> Vec<Id> {
        let mut victims = Vec::new();
        while self.tenants.iter().map(|tenant| tenant.weight).sum::<u64>() + weight > self.capacity
        {
            victims.extend(self.evict_one());
        }
        victims
    }
}

impl Model for NaiveLandlord {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        self.turn += 1;
        if let Some(tenant) = self.tenants.iter_mut().find(|tenant| tenant.id == request.id) {
            if request.kind != Use::FirstUse {
                let lost = full(request.cost, tenant.weight).saturating_sub(tenant.credit_density);
                tenant.credit_density += lost * self.quarters / 4;
                tenant.last_use = self.turn;
            }
            return (Outcome::Hit, Vec::new());
        }
        if request.weight > self.capacity {
            return (Outcome::Bypassed, Vec::new());
        }
        let victims = self.make_room(request.weight);
        self.tenants.push(Tenant {
            id: request.id,
            weight: request.weight,
            credit_density: full(request.cost, request.weight),
            last_use: self.turn,
        });
        (Outcome::Admitted, victims)
    }

    fn evict_one(&mut self) -> Option<Id> {
        let rent = self.tenants.iter().map(|tenant| tenant.credit_density).min()?;
        self.tenants.iter_mut().for_each(|tenant| tenant.credit_density -= rent);
        let broke =
            self.tenants.iter().enumerate().filter(|(_, tenant)| tenant.credit_density == 0);
        let (at, _) = broke.min_by_key(|(_, tenant)| tenant.last_use)?;
        Some(self.tenants.remove(at).id)
    }

    fn set_capacity(&mut self, capacity: u64) -> Vec<Id> {
        self.capacity = capacity;
        self.make_room(0)
    }

    fn remove(&mut self, id: Id) {
        self.tenants.retain(|tenant| tenant.id != id);
    }
}

/// Figure 4 of Megiddo and Modha 2003, letter by letter; front is most recent. Pages only, requests
/// only.
pub(super) struct NaiveArc {
    c: usize,
    p: f64,
    t1: VecDeque<Id>,
    t2: VecDeque<Id>,
    b1: VecDeque<Id>,
    b2: VecDeque<Id>,
}

impl NaiveArc {
    pub(super) fn new(c: usize) -> Self {
        let empty = VecDeque::new;
        Self { c, p: 0.0, t1: empty(), t2: empty(), b1: empty(), b2: empty() }
    }

    fn replace(&mut self, x: Id) -> Id {
        let in_b2 = self.b2.contains(&x);
        if !self.t1.is_empty()
            && (self.t1.len() as f64 > self.p || (in_b2 && self.t1.len() as f64 == self.p))
        {
            let victim = self.t1.pop_back().unwrap();
            self.b1.push_front(victim);
            victim
        } else {
            let victim = self.t2.pop_back().unwrap();
            self.b2.push_front(victim);
            victim
        }
    }

    fn case_4(&mut self, x: Id) -> Vec<Id> {
        let mut victims = Vec::new();
        let l1 = self.t1.len() + self.b1.len();
        let total = l1 + self.t2.len() + self.b2.len();
        if l1 == self.c {
            if self.t1.len() < self.c {
                self.b1.pop_back();
                victims.push(self.replace(x));
            } else {
                victims.extend(self.t1.pop_back());
            }
        } else if total >= self.c {
            if total == 2 * self.c {
                self.b2.pop_back();
            }
            victims.push(self.replace(x));
        }
        self.t1.push_front(x);
        victims
    }
}

fn take(list: &mut VecDeque<Id>, x: Id) -> bool {
    let length = list.len();
    list.retain(|&id| id != x);
    list.len() < length
}

impl Model for NaiveArc {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        let x = request.id;
        if take(&mut self.t1, x) || take(&mut self.t2, x) {
            self.t2.push_front(x);
            return (Outcome::Hit, Vec::new());
        }
        let (b1, b2) = (self.b1.len(), self.b2.len());
        let victims = if self.b1.contains(&x) {
            self.p =
                (self.p + if b1 >= b2 { 1.0 } else { b2 as f64 / b1 as f64 }).min(self.c as f64);
            let victim = self.replace(x);
            take(&mut self.b1, x);
            self.t2.push_front(x);
            vec![victim]
        } else if self.b2.contains(&x) {
            self.p = (self.p - if b2 >= b1 { 1.0 } else { b1 as f64 / b2 as f64 }).max(0.0);
            let victim = self.replace(x);
            take(&mut self.b2, x);
            self.t2.push_front(x);
            vec![victim]
        } else {
            self.case_4(x)
        };
        (Outcome::Admitted, victims)
    }
}
