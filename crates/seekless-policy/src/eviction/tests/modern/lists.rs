//! Naive models of LIRS, Linux's two lists and W-TinyLFU, for pages; front is most recent.

use super::super::models::Model;
use crate::eviction::w_tiny_lfu::sketch::Sketch;
use crate::eviction::{Id, Outcome, Request, Use};
use std::collections::VecDeque;

type Queue = VecDeque<Id>;

fn take(queue: &mut Queue, id: Id) -> bool {
    let length = queue.len();
    queue.retain(|&other| other != id);
    queue.len() < length
}

/// Section 3 of Jiang and Zhang 2002.
pub(super) struct NaiveLirs {
    capacity: usize,
    stack: Queue,
    low: Queue,
    cold: Queue,
    ghosts: Queue,
}

impl NaiveLirs {
    pub(super) fn new(capacity: u64) -> Self {
        let new = Queue::new;
        Self { capacity: capacity as usize, stack: new(), low: new(), cold: new(), ghosts: new() }
    }

    fn low_capacity(&self) -> usize {
        self.capacity.saturating_sub((self.capacity / 100).max(1))
    }

    fn prune(&mut self) {
        while let Some(&oldest) = self.stack.back() {
            if self.low.contains(&oldest) {
                return;
            }
            self.stack.pop_back();
            take(&mut self.ghosts, oldest);
        }
    }

    fn demote_one(&mut self) {
        self.prune();
        if let Some(oldest) = self.stack.pop_back() {
            take(&mut self.low, oldest);
            self.cold.push_front(oldest);
            self.prune();
        }
    }

    fn enter_low(&mut self, id: Id) {
        self.stack.push_front(id);
        self.low.push_front(id);
        self.prune();
        while self.low.len() > self.low_capacity() {
            self.demote_one();
        }
    }

    fn hit(&mut self, id: Id) {
        let in_stack = take(&mut self.stack, id);
        if self.low.contains(&id) {
            self.stack.push_front(id);
            self.prune();
            return;
        }
        take(&mut self.cold, id);
        if in_stack {
            self.enter_low(id);
        } else {
            self.stack.push_front(id);
            self.cold.push_front(id);
        }
    }

    fn make_room(&mut self, pages: usize) -> Vec<Id> {
        let mut victims = Vec::new();
        while self.low.len() + self.cold.len() + pages > self.capacity {
            victims.extend(self.evict_one());
        }
        victims
    }
}

impl Model for NaiveLirs {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        let id = request.id;
        if self.low.contains(&id) || self.cold.contains(&id) {
            if request.kind != Use::FirstUse {
                self.hit(id);
            }
            return (Outcome::Hit, Vec::new());
        }
        if self.capacity == 0 {
            return (Outcome::Bypassed, Vec::new());
        }
        let was_ghost = take(&mut self.ghosts, id);
        take(&mut self.stack, id);
        let victims = self.make_room(1);
        if was_ghost || (self.cold.is_empty() && self.low.len() < self.low_capacity()) {
            self.enter_low(id);
        } else {
            self.stack.push_front(id);
            self.cold.push_front(id);
        }
        (Outcome::Admitted, victims)
    }

    fn evict_one(&mut self) -> Option<Id> {
        if self.cold.is_empty() {
            self.demote_one();
        }
        let victim = self.cold.pop_back()?;
        if self.stack.contains(&victim) {
            self.ghosts.push_front(victim);
        }
        if self.ghosts.len() > self.capacity {
            let oldest = self.ghosts.pop_back()?;
            take(&mut self.stack, oldest);
        }
        Some(victim)
    }

    fn set_capacity(&mut self, capacity: u64) -> Vec<Id> {
        self.capacity = capacity as usize;
        while self.low.len() > self.low_capacity() {
            self.demote_one();
        }
        let victims = self.make_room(0);
        while self.ghosts.len() > self.capacity {
            let oldest = self.ghosts.pop_back().unwrap();
            take(&mut self.stack, oldest);
        }
        victims
    }

    fn remove(&mut self, id: Id) {
        for queue in [&mut self.stack, &mut self.low, &mut self.cold, &mut self.ghosts] {
            take(queue, id);
        }
        self.prune();
    }
}

/// What `mm/workingset.c` and `mm/vmscan.c` do to clean pages that are not mapped, a page at a
/// time.
pub(super) struct NaiveTwoLists {
    capacity: usize,
    inactive: Queue,
    active: Queue,
    referenced: Queue,
    /// Shadows with the age at eviction.
    shadows: VecDeque<(Id, usize)>,
    age: usize,
    refaulted: bool,
}

impl NaiveTwoLists {
    pub(super) fn new(capacity: u64) -> Self {
        Self {
            capacity: capacity as usize,
            inactive: Queue::new(),
            active: Queue::new(),
            referenced: Queue::new(),
            shadows: VecDeque::new(),
            age: 0,
            refaulted: false,
        }
    }

    fn accessed(&mut self, id: Id) {
        let was_referenced = take(&mut self.referenced, id);
        if was_referenced && take(&mut self.inactive, id) {
            self.active.push_front(id);
            self.age += 1;
        } else {
            self.referenced.push_front(id);
        }
    }

    fn make_room(&mut self, pages: usize) -> Vec<Id> {
        let mut victims = Vec::new();
        while self.inactive.len() + self.active.len() + pages > self.capacity {
            victims.extend(self.evict_one());
        }
        victims
    }
}

impl Model for NaiveTwoLists {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        let id = request.id;
        if self.inactive.contains(&id) || self.active.contains(&id) {
            match request.kind {
                Use::FirstUse if self.referenced.contains(&id) => {}
                Use::FirstUse => self.referenced.push_front(id),
                _ => self.accessed(id),
            }
            return (Outcome::Hit, Vec::new());
        }
        if self.capacity == 0 {
            return (Outcome::Bypassed, Vec::new());
        }
        let shadow = self.shadows.iter().position(|shadow| shadow.0 == id);
        let evicted_at = shadow.and_then(|at| self.shadows.remove(at)).map(|shadow| shadow.1);
        let activates = evicted_at.is_some_and(|then| self.age - then <= self.active.len());
        if activates {
            self.age += 1;
            self.refaulted = true;
        }
        let victims = self.make_room(1);
        if activates { &mut self.active } else { &mut self.inactive }.push_front(id);
        take(&mut self.referenced, id);
        if request.kind != Use::Prefetch {
            self.referenced.push_front(id);
        }
        (Outcome::Admitted, victims)
    }

    fn evict_one(&mut self) -> Option<Id> {
        // Below a GiB the ratio is 1.
        let is_low = self.inactive.len() < self.active.len();
        if self.refaulted || is_low || self.inactive.is_empty() {
            let deactivated = self.active.pop_back();
            deactivated.into_iter().for_each(|id| self.inactive.push_front(id));
        }
        self.refaulted = false;
        let victim = self.inactive.pop_back()?;
        self.shadows.push_front((victim, self.age));
        self.age += 1;
        self.shadows.truncate(self.capacity);
        Some(victim)
    }

    fn set_capacity(&mut self, capacity: u64) -> Vec<Id> {
        self.capacity = capacity as usize;
        let victims = self.make_room(0);
        self.shadows.truncate(self.capacity);
        victims
    }

    fn remove(&mut self, id: Id) {
        take(&mut self.inactive, id);
        take(&mut self.active, id);
        take(&mut self.referenced, id);
        self.shadows.retain(|shadow| shadow.0 != id);
    }
}

/// Section 4 of Einziger and others 2017, with a window of one page (caches below 200 pages);
/// requests only.
pub(super) struct NaiveWTinyLfu {
    capacity: usize,
    sketch: Sketch,
    window: Queue,
    probation: Queue,
    protected: Queue,
    most: u64,
}

impl NaiveWTinyLfu {
    pub(super) fn new(capacity: u64) -> Self {
        Self {
            capacity: capacity as usize,
            sketch: Sketch::new(),
            window: Queue::new(),
            probation: Queue::new(),
            protected: Queue::new(),
            most: 0,
        }
    }

    fn len(&self) -> usize {
        self.window.len() + self.probation.len() + self.protected.len()
    }

    fn hit(&mut self, id: Id) {
        if take(&mut self.probation, id) || take(&mut self.protected, id) {
            self.protected.push_front(id);
            if self.protected.len() > (self.capacity - 1) * 4 / 5 {
                let oldest = self.protected.pop_back().unwrap();
                self.probation.push_front(oldest);
            }
        }
    }

    /// The window's page against the main part's victim; equal counts keep the victim.
    fn duel(&mut self, candidate: Id) -> Id {
        let main =
            if self.probation.is_empty() { &mut self.protected } else { &mut self.probation };
        match main.back().copied() {
            Some(victim)
                if self.sketch.estimate(u64::from(candidate))
                    > self.sketch.estimate(u64::from(victim)) =>
            {
                main.pop_back();
                self.probation.push_front(candidate);
                victim
            }
            _ => candidate,
        }
    }
}

impl Model for NaiveWTinyLfu {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        let id = request.id;
        if request.kind != Use::FirstUse {
            self.sketch.add(u64::from(id));
        }
        if [&self.window, &self.probation, &self.protected].iter().any(|queue| queue.contains(&id))
        {
            if request.kind != Use::FirstUse {
                self.hit(id);
            }
            return (Outcome::Hit, Vec::new());
        }
        let full = self.len() == self.capacity;
        let mut victims = Vec::new();
        if let Some(candidate) = self.window.pop_back() {
            match full {
                true => victims.push(self.duel(candidate)),
                false => self.probation.push_front(candidate),
            }
        }
        self.window.push_front(id);
        self.most = self.most.max(self.len() as u64);
        self.sketch.fit(self.most);
        (Outcome::Admitted, victims)
    }
}
