//! Naive models: what each paper says, in plain vectors. Fronts are the newest.

use super::super::models::Model;
use crate::eviction::{Id, Outcome, Request, Use};
use crate::lehmer64::Lehmer64;
use std::collections::{HashSet, VecDeque};

fn take(list: &mut VecDeque<Id>, id: Id) -> bool {
    let length = list.len();
    list.retain(|&other| other != id);
    list.len() < length
}

/// Id, weight, uses and last use of resident files; id, weight and turn of eviction of ghosts.
pub(super) struct NaiveLeCaR {
    capacity: u64,
    turn: u64,
    chances: [f64; 2],
    files: Vec<(Id, u64, u64, u64)>,
    ghosts: [VecDeque<(Id, u64, u64)>; 2],
    draws: Lehmer64,
}

impl NaiveLeCaR {
    pub(super) fn new(capacity: u64) -> Self {
        let (files, ghosts) = (Vec::new(), Default::default());
        Self { capacity, turn: 0, chances: [0.5; 2], files, ghosts, draws: Lehmer64::default() }
    }

    fn make_room(&mut self, weight: u64) -> Vec<Id> {
        let mut victims = Vec::new();
        while self.files.iter().map(|file| file.1).sum::<u64>() + weight > self.capacity {
            victims.extend(self.evict_one());
        }
        victims
    }

    fn trim(&mut self) {
        for ghosts in &mut self.ghosts {
            while ghosts.iter().map(|ghost| ghost.1.max(1)).sum::<u64>() > self.capacity / 2 {
                ghosts.pop_back();
            }
        }
    }

    fn regret(&mut self, id: Id) {
        for expert in 0..2 {
            let Some(at) = self.ghosts[expert].iter().position(|ghost| ghost.0 == id) else {
                continue;
            };
            let (_, _, left) = self.ghosts[expert].remove(at).unwrap();
            let each = 0.005_f64.powf(1.0 / self.capacity.max(1) as f64);
            let regret = each.powf((self.turn - left) as f64);
            let kept = self.chances[expert] * (-0.45 * regret).exp() + 1e-10;
            let other = self.chances[1 - expert];
            let sum = kept + other + 2e-10;
            self.chances[expert] = kept / sum;
            self.chances[1 - expert] = (other + 1e-10) / sum;
        }
    }
}

impl Model for NaiveLeCaR {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        self.turn += 1;
        let turn = self.turn;
        if let Some(file) = self.files.iter_mut().find(|file| file.0 == request.id) {
            if request.kind != Use::FirstUse {
                (file.2, file.3) = (file.2 + 1, turn);
            }
            return (Outcome::Hit, Vec::new());
        }
        self.regret(request.id);
        if request.weight > self.capacity {
            return (Outcome::Bypassed, Vec::new());
        }
        let victims = self.make_room(request.weight);
        self.files.push((request.id, request.weight, 1, turn));
        (Outcome::Admitted, victims)
    }

    fn evict_one(&mut self) -> Option<Id> {
        let oldest = self.files.iter().min_by_key(|file| file.3)?.0;
        let least = self.files.iter().min_by_key(|file| (file.2, file.3))?.0;
        let expert = match oldest == least {
            true => None,
            false => Some(usize::from(self.draws.hundredth() >= self.chances[0])),
        };
        let victim = if expert == Some(1) { least } else { oldest };
        let at = self.files.iter().position(|file| file.0 == victim)?;
        let (_, weight, ..) = self.files.remove(at);
        if let Some(expert) = expert {
            self.ghosts[expert].push_front((victim, weight, self.turn));
            self.trim();
        }
        Some(victim)
    }

    fn set_capacity(&mut self, capacity: u64) -> Vec<Id> {
        self.capacity = capacity;
        let victims = self.make_room(0);
        self.trim();
        victims
    }

    fn remove(&mut self, id: Id) {
        self.files.retain(|file| file.0 != id);
        self.ghosts.iter_mut().for_each(|ghosts| ghosts.retain(|ghost| ghost.0 != id));
    }
}

/// Figure 3 of the paper. Backs are the heads of its clocks.
pub(super) struct NaiveCart {
    c: usize,
    p: f64,
    q: usize,
    t1: VecDeque<Id>,
    t2: VecDeque<Id>,
    b1: VecDeque<Id>,
    b2: VecDeque<Id>,
    referenced: HashSet<Id>,
    long: HashSet<Id>,
}

impl NaiveCart {
    pub(super) fn new(c: usize) -> Self {
        let (t1, t2, b1, b2) = Default::default();
        let (referenced, long) = Default::default();
        Self { c, p: 0.0, q: 0, t1, t2, b1, b2, referenced, long }
    }

    fn short(&self) -> usize {
        self.t1.iter().filter(|id| !self.long.contains(id)).count()
    }

    fn long(&self) -> usize {
        self.t1.len() + self.t2.len() - self.short()
    }

    fn raise_q(&mut self) {
        if self.t2.len() + self.b2.len() + self.t1.len() - self.short() >= self.c {
            self.q = (self.q + 1).min(2 * self.c - self.t1.len());
        }
    }

    fn replace(&mut self) -> Id {
        while let Some(head) = self.t2.back().copied().filter(|id| self.referenced.contains(id)) {
            self.t2.pop_back();
            self.t1.push_front(head);
            self.referenced.remove(&head);
            self.raise_q();
        }
        while let Some(head) = self.t1.back().copied() {
            if self.referenced.remove(&head) {
                self.t1.pop_back();
                self.t1.push_front(head);
                if self.t1.len() as f64 >= (self.p + 1.0).min(self.b1.len() as f64) {
                    self.long.insert(head);
                }
            } else if self.long.contains(&head) {
                self.t1.pop_back();
                self.t2.push_front(head);
                self.q = self.q.saturating_sub(1).max(self.c - self.t1.len());
            } else {
                break;
            }
        }
        let from_t1 = self.t1.len() as f64 >= self.p.max(1.0) || self.t2.is_empty();
        if from_t1 && !self.t1.is_empty() {
            let victim = self.t1.pop_back().unwrap();
            self.b1.push_front(victim);
            victim
        } else {
            let victim = self.t2.pop_back().unwrap();
            self.b2.push_front(victim);
            victim
        }
    }
}

impl Model for NaiveCart {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        let x = request.id;
        if self.t1.contains(&x) || self.t2.contains(&x) {
            self.referenced.insert(x);
            return (Outcome::Hit, Vec::new());
        }
        let (in_b1, in_b2) = (self.b1.contains(&x), self.b2.contains(&x));
        let mut victims = Vec::new();
        if self.t1.len() + self.t2.len() == self.c {
            victims.push(self.replace());
            if !in_b1 && !in_b2 && self.b1.len() + self.b2.len() == self.c + 1 {
                if self.b1.len() > self.q || self.b2.is_empty() {
                    self.b1.pop_back();
                } else {
                    self.b2.pop_back();
                }
            }
        }
        self.referenced.remove(&x);
        if in_b1 {
            let ratio = self.short() as f64 / self.b1.len() as f64;
            self.p = (self.p + ratio.max(1.0)).min(self.c as f64);
            take(&mut self.b1, x);
        } else if in_b2 {
            let ratio = self.long() as f64 / self.b2.len() as f64;
            self.p = (self.p - ratio.max(1.0)).max(0.0);
            take(&mut self.b2, x);
        }
        self.t1.push_front(x);
        if in_b1 || in_b2 {
            self.long.insert(x);
        } else {
            self.long.remove(&x);
        }
        if in_b2 {
            self.raise_q();
        }
        (Outcome::Admitted, victims)
    }
}

/// A filter, and a stack of (page, whether it is resident in the main part).
pub(super) struct NaiveFrd {
    capacity: usize,
    filter: VecDeque<Id>,
    stack: VecDeque<(Id, bool)>,
}

impl NaiveFrd {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, filter: VecDeque::new(), stack: VecDeque::new() }
    }

    fn prune(&mut self) {
        while self.stack.back().is_some_and(|block| !block.1) {
            self.stack.pop_back();
        }
    }

    fn main(&self) -> usize {
        self.stack.iter().filter(|block| block.1).count()
    }

    fn evict_main(&mut self) -> Option<Id> {
        self.prune();
        let oldest = self.stack.pop_back();
        self.prune();
        oldest.map(|block| block.0)
    }

    fn use_block(&mut self, id: Id, resident: bool) {
        self.stack.retain(|block| block.0 != id);
        self.stack.push_front((id, resident));
    }

    fn bound(&mut self) {
        let is_ghost =
            |block: &(Id, bool), filter: &VecDeque<Id>| !block.1 && !filter.contains(&block.0);
        while self.stack.iter().filter(|block| is_ghost(block, &self.filter)).count()
            > self.capacity
        {
            let at = self.stack.iter().rposition(|block| is_ghost(block, &self.filter)).unwrap();
            self.stack.remove(at);
        }
    }
}

impl Model for NaiveFrd {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        let id = request.id;
        let block = self.stack.iter().find(|block| block.0 == id).copied();
        let mut victims = Vec::new();
        if take(&mut self.filter, id) {
            self.filter.push_front(id);
            self.use_block(id, false);
            self.prune();
            return (Outcome::Hit, victims);
        }
        if block == Some((id, true)) {
            self.use_block(id, true);
            self.prune();
            return (Outcome::Hit, victims);
        }
        let is_full = self.filter.len() + self.main() == self.capacity;
        if block.is_some() {
            self.stack.retain(|block| block.0 != id);
            if is_full {
                let oldest = self.evict_main();
                victims.extend(oldest.or_else(|| self.filter.pop_back()));
            }
            self.use_block(id, true);
        } else if self.main() < self.capacity - self.capacity.div_ceil(10) {
            self.use_block(id, true);
        } else {
            if is_full {
                let oldest = self.filter.pop_back();
                victims.extend(oldest.or_else(|| self.evict_main()));
                self.bound();
                self.use_block(id, false);
            }
            self.filter.push_front(id);
        }
        (Outcome::Admitted, victims)
    }
}
