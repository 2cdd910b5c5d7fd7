//! Naive models: what each paper says, in plain queues and without any thought of speed.

use super::super::models::Model;
use crate::eviction::{Id, Outcome, Request, Use};
use std::collections::VecDeque;

/// Algorithm 1 of Zhang and others 2024; front is the head.
pub(super) struct NaiveSieve {
    capacity: u64,
    /// Id, weight, visited.
    queue: VecDeque<(Id, u64, bool)>,
    hand: Option<Id>,
}

impl NaiveSieve {
    pub(super) fn new(capacity: u64) -> Self {
        Self { capacity, queue: VecDeque::new(), hand: None }
    }

    fn position(&self, id: Id) -> Option<usize> {
        self.queue.iter().position(|entry| entry.0 == id)
    }

    fn take(&mut self, at: usize) -> Id {
        if self.hand == Some(self.queue[at].0) {
            self.hand = at.checked_sub(1).map(|before| self.queue[before].0);
        }
        self.queue.remove(at).unwrap().0
    }

    fn make_room(&mut self, weight: u64) -> Vec<Id> {
        let mut victims = Vec::new();
        while self.queue.iter().map(|entry| entry.1).sum::<u64>() + weight > self.capacity {
            victims.extend(self.evict_one());
        }
        victims
    }
}

impl Model for NaiveSieve {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        if let Some(at) = self.position(request.id) {
            self.queue[at].2 |= request.kind != Use::FirstUse;
            return (Outcome::Hit, Vec::new());
        }
        if request.weight > self.capacity {
            return (Outcome::Bypassed, Vec::new());
        }
        let victims = self.make_room(request.weight);
        self.queue.push_front((request.id, request.weight, false));
        (Outcome::Admitted, victims)
    }

    fn evict_one(&mut self) -> Option<Id> {
        let tail = self.queue.len().checked_sub(1)?;
        let mut at = self.hand.and_then(|hand| self.position(hand)).unwrap_or(tail);
        while self.queue[at].2 {
            self.queue[at].2 = false;
            at = at.checked_sub(1).unwrap_or(tail);
        }
        self.hand = Some(self.queue[at].0);
        Some(self.take(at))
    }

    fn set_capacity(&mut self, capacity: u64) -> Vec<Id> {
        self.capacity = capacity;
        self.make_room(0)
    }

    fn remove(&mut self, id: Id) {
        if let Some(at) = self.position(id) {
            self.take(at);
        }
    }
}

/// What differs between the policies of three queues; shares in percent.
#[derive(Clone, Copy)]
pub(super) struct Trial {
    pub(super) ghosts: usize,
    pub(super) pass_at: u8,
    pub(super) uses_max: u8,
    pub(super) fills_main: bool,
    pub(super) window: usize,
}

/// A page, its uses, and when it entered the small queue, in pages.
struct Tried {
    id: Id,
    uses: u8,
    entered: usize,
}

/// Algorithm 1 of Yang and others 2023 (SOSP); front is the head. Pages only.
pub(super) struct NaiveProbation {
    trial: Trial,
    capacity: usize,
    entered: usize,
    full: bool,
    small: VecDeque<Tried>,
    main: VecDeque<Tried>,
    ghosts: VecDeque<Id>,
}

impl NaiveProbation {
    pub(super) fn new(capacity: u64, trial: Trial) -> Self {
        Self {
            trial,
            capacity: capacity as usize,
            entered: 0,
            full: false,
            small: VecDeque::new(),
            main: VecDeque::new(),
            ghosts: VecDeque::new(),
        }
    }

    fn read(&mut self, id: Id) -> bool {
        let window = (self.capacity / 10 * self.trial.window).div_ceil(100);
        if let Some(page) = self.small.iter_mut().find(|page| page.id == id) {
            if self.trial.window == 0 || self.entered - page.entered > window {
                page.uses = (page.uses + 1).min(self.trial.uses_max);
            }
            return true;
        }
        if let Some(page) = self.main.iter_mut().find(|page| page.id == id) {
            page.uses = (page.uses + 1).min(self.trial.uses_max);
            return true;
        }
        false
    }

    fn insert(&mut self, id: Id, was_ghost: bool) {
        let page = Tried { id, uses: 0, entered: self.entered };
        let small_is_full = self.small.len() >= self.capacity / 10;
        if was_ghost || (self.trial.fills_main && !self.full && small_is_full) {
            self.main.push_front(page);
        } else {
            self.entered += 1;
            self.small.push_front(page);
        }
    }

    fn evict_small(&mut self) -> Option<Id> {
        while let Some(page) = self.small.pop_back() {
            if page.uses >= self.trial.pass_at {
                self.main.push_front(Tried { uses: 0, ..page });
            } else {
                self.ghosts.push_front(page.id);
                self.trim();
                return Some(page.id);
            }
        }
        None
    }

    fn evict_main(&mut self) -> Option<Id> {
        loop {
            let page = self.main.pop_back()?;
            if page.uses == 0 {
                return Some(page.id);
            }
            self.main.push_front(Tried { uses: page.uses - 1, ..page });
        }
    }

    fn trim(&mut self) {
        self.ghosts.truncate(self.capacity * self.trial.ghosts / 100);
    }

    fn make_room(&mut self, pages: usize) -> Vec<Id> {
        let mut victims = Vec::new();
        while self.small.len() + self.main.len() + pages > self.capacity {
            self.full = true;
            victims.extend(self.evict_one());
        }
        victims
    }
}

impl Model for NaiveProbation {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        let id = request.id;
        if self.small.iter().chain(&self.main).any(|page| page.id == id) {
            if request.kind != Use::FirstUse {
                self.read(id);
            }
            return (Outcome::Hit, Vec::new());
        }
        if self.capacity == 0 {
            return (Outcome::Bypassed, Vec::new());
        }
        let was_ghost = self.ghosts.contains(&id);
        self.ghosts.retain(|&ghost| ghost != id);
        let victims = self.make_room(1);
        self.insert(id, was_ghost);
        (Outcome::Admitted, victims)
    }

    fn evict_one(&mut self) -> Option<Id> {
        let from_small = self.small.len() >= self.capacity / 10 || self.main.is_empty();
        let victim = if from_small { self.evict_small() } else { None };
        victim.or_else(|| self.evict_main()).or_else(|| self.evict_small())
    }

    fn set_capacity(&mut self, capacity: u64) -> Vec<Id> {
        self.capacity = capacity as usize;
        let victims = self.make_room(0);
        self.trim();
        victims
    }

    fn remove(&mut self, id: Id) {
        self.small.retain(|page| page.id != id);
        self.main.retain(|page| page.id != id);
        self.ghosts.retain(|&ghost| ghost != id);
    }
}
