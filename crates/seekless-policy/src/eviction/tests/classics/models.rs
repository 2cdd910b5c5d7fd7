//! Naive models of the older policies: plain vectors, every victim found by looking at all.

use super::super::models::Model;
use crate::eviction::{Id, Outcome, Request, Use};

/// What a scored policy knows of a resident page.
#[derive(Clone, Debug)]
pub(super) struct Page {
    id: Id,
    weight: u64,
    cost: u32,
    count: u64,
    admitted: u64,
    last: u64,
    last_but_two: u64,
    last_but_one: u64,
    next_use: u64,
    /// The score when it was used last.
    best: u128,
    /// The age of the cache at the last use.
    age: u128,
}

/// Which page leaves: that of the least score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Score {
    Fifo,
    Lru,
    Lfu,
    LfuDa,
    Lru2,
    Lru3,
    Gds,
    Gdsf,
    Opt,
    Mru,
    CrLfu,
    Size,
    Camp,
}

impl Score {
    /// The first part of the key of a page, and what the age of the cache becomes when it leaves.
    fn value(self, page: &Page) -> u128 {
        let weight = u128::from(page.weight.max(1));
        let worth = u128::from(page.count) * u128::from(page.cost);
        match self {
            Score::Fifo => u128::from(page.admitted),
            Score::Lru => u128::from(page.last),
            Score::Lfu => u128::from(page.count),
            Score::LfuDa => page.age + u128::from(page.count),
            Score::Lru2 => u128::from(page.last_but_one),
            Score::Lru3 => u128::from(page.last_but_two),
            Score::Gds => page.age + (u128::from(page.cost) << 64) / weight,
            Score::Gdsf => page.best.max(page.age + (worth << 56) / weight),
            Score::Opt => u128::from(u64::MAX - page.next_use),
            Score::Mru => u128::from(u64::MAX - page.last),
            Score::CrLfu => u128::from(page.count) << 64 | u128::from(u64::MAX - page.last),
            Score::Size => u128::from(u64::MAX - page.weight),
            Score::Camp => {
                let ratio = (u128::from(page.cost) << 56) / weight;
                let mut unit = 1;
                while ratio / unit >= 32 {
                    unit *= 2;
                }
                page.best.max(page.age + ratio / unit * unit)
            }
        }
    }

    fn of(self, page: &Page) -> (u128, u64) {
        (self.value(page), page.last)
    }
}

/// A policy that evicts the page of least score; the age of the cache is the score of the last
/// victim.
pub(super) struct NaiveScored {
    capacity: u64,
    score: Score,
    turn: u64,
    age: u128,
    pages: Vec<Page>,
    keeps_history: bool,
    /// Id, last use and weight of what left, oldest first; weighs at most the capacity.
    history: Vec<(Id, u64, u64)>,
}

impl NaiveScored {
    pub(super) fn new(capacity: u64, score: Score) -> Self {
        let (pages, history) = (Vec::new(), Vec::new());
        Self { capacity, score, turn: 0, age: 0, pages, keeps_history: false, history }
    }

    pub(super) fn with_history(capacity: u64, score: Score) -> Self {
        Self { keeps_history: true, ..Self::new(capacity, score) }
    }

    fn recall(&mut self, id: Id) -> u64 {
        match self.history.iter().position(|ghost| ghost.0 == id) {
            Some(at) => self.history.remove(at).1,
            None => 0,
        }
    }

    fn trim(&mut self) {
        while self.history.iter().map(|ghost| ghost.2).sum::<u64>() > self.capacity {
            self.history.remove(0);
        }
    }

    fn make_room(&mut self, weight: u64) -> Vec<Id> {
        let mut victims = Vec::new();
        while self.pages.iter().map(|page| page.weight).sum::<u64>() + weight > self.capacity {
            victims.extend(self.evict_one());
        }
        victims
    }
}

impl Model for NaiveScored {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        self.turn += 1;
        let (turn, age) = (self.turn, self.age);
        if let Some(page) = self.pages.iter_mut().find(|page| page.id == request.id) {
            if request.kind != Use::FirstUse || self.score == Score::Opt {
                page.last_but_two = page.last_but_one;
                (page.last_but_one, page.last) = (page.last, turn);
                (page.count, page.age, page.cost) = (page.count + 1, age, request.cost);
                page.best = self.score.value(page);
            }
            page.next_use = request.next_use;
            return (Outcome::Hit, Vec::new());
        }
        if request.weight > self.capacity {
            return (Outcome::Bypassed, Vec::new());
        }
        let last_but_one = self.recall(request.id);
        let victims = self.make_room(request.weight);
        let mut page = Page {
            id: request.id,
            weight: request.weight,
            cost: request.cost,
            count: 1,
            admitted: turn,
            last: turn,
            last_but_two: 0,
            last_but_one,
            next_use: request.next_use,
            best: 0,
            age: self.age,
        };
        page.best = self.score.value(&page);
        self.pages.push(page);
        (Outcome::Admitted, victims)
    }

    fn evict_one(&mut self) -> Option<Id> {
        let (at, page) =
            self.pages.iter().enumerate().min_by_key(|(_, page)| self.score.of(page))?;
        self.age = self.score.value(page);
        let page = self.pages.remove(at);
        if self.keeps_history {
            self.history.push((page.id, page.last, page.weight));
            self.trim();
        }
        Some(page.id)
    }

    fn set_capacity(&mut self, capacity: u64) -> Vec<Id> {
        self.capacity = capacity;
        let victims = self.make_room(0);
        self.trim();
        victims
    }

    fn remove(&mut self, id: Id) {
        self.pages.retain(|page| page.id != id);
        self.history.retain(|ghost| ghost.0 != id);
    }
}

/// Everything leaves when something does not fit.
pub(super) struct NaiveFwf {
    capacity: u64,
    phase: Vec<(Id, u64)>,
}

impl NaiveFwf {
    pub(super) fn new(capacity: u64) -> Self {
        Self { capacity, phase: Vec::new() }
    }

    fn make_room(&mut self, weight: u64) -> Vec<Id> {
        if self.phase.iter().map(|page| page.1).sum::<u64>() + weight <= self.capacity {
            return Vec::new();
        }
        self.phase.drain(..).map(|page| page.0).collect()
    }
}

impl Model for NaiveFwf {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        if self.phase.iter().any(|page| page.0 == request.id) {
            return (Outcome::Hit, Vec::new());
        }
        if request.weight > self.capacity {
            return (Outcome::Bypassed, Vec::new());
        }
        let victims = self.make_room(request.weight);
        self.phase.push((request.id, request.weight));
        (Outcome::Admitted, victims)
    }

    fn evict_one(&mut self) -> Option<Id> {
        (!self.phase.is_empty()).then(|| self.phase.remove(0).0)
    }

    fn set_capacity(&mut self, capacity: u64) -> Vec<Id> {
        self.capacity = capacity;
        self.make_room(0)
    }

    fn remove(&mut self, id: Id) {
        self.phase.retain(|page| page.0 != id);
    }
}

/// Segments of pages, each from oldest to newest; two as in the paper, four as in libCacheSim.
pub(super) struct NaiveSlru {
    capacity: usize,
    segments: Vec<Vec<Id>>,
}

impl NaiveSlru {
    pub(super) fn new(capacity: u64, segments: usize) -> Self {
        Self { capacity: capacity as usize, segments: vec![Vec::new(); segments] }
    }

    fn quota(&self, segment: usize) -> usize {
        match (self.segments.len(), segment) {
            (4, _) => self.capacity / 4,
            (_, 0) => self.capacity,
            _ => self.capacity * 4 / 5,
        }
    }

    fn resident(&self) -> usize {
        self.segments.iter().map(Vec::len).sum()
    }

    fn sink(&mut self) {
        for segment in (1..self.segments.len()).rev() {
            while self.segments[segment].len() > self.quota(segment) {
                let oldest = self.segments[segment].remove(0);
                self.segments[segment - 1].push(oldest);
            }
        }
    }

    fn hit(&mut self, id: Id, from: usize) {
        let above = (from + 1).min(self.segments.len() - 1);
        self.segments[from].retain(|&other| other != id);
        let to = if self.quota(above) == 0 { from } else { above };
        self.segments[to].push(id);
        self.sink();
    }

    fn shrink_to(&mut self, pages: usize) -> Vec<Id> {
        let mut victims = Vec::new();
        while self.resident() > pages {
            victims.extend(self.evict_one());
        }
        victims
    }
}

impl Model for NaiveSlru {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        let id = request.id;
        if let Some(from) = self.segments.iter().position(|segment| segment.contains(&id)) {
            if request.kind != Use::FirstUse {
                self.hit(id, from);
            }
            return (Outcome::Hit, Vec::new());
        }
        if self.capacity == 0 {
            return (Outcome::Bypassed, Vec::new());
        }
        let mut victims = Vec::new();
        let mut to = 0;
        if self.segments.len() == 4 {
            match (0..4).find(|&segment| self.segments[segment].len() < self.quota(segment)) {
                Some(segment) => to = segment,
                None => {
                    while !self.segments[0].is_empty() && self.segments[0].len() >= self.quota(0) {
                        victims.push(self.segments[0].remove(0));
                    }
                }
            }
        }
        victims.extend(self.shrink_to(self.capacity - 1));
        self.segments[to].push(id);
        (Outcome::Admitted, victims)
    }

    fn evict_one(&mut self) -> Option<Id> {
        let segment = self.segments.iter_mut().find(|segment| !segment.is_empty())?;
        Some(segment.remove(0))
    }

    fn set_capacity(&mut self, capacity: u64) -> Vec<Id> {
        self.capacity = capacity as usize;
        self.sink();
        self.shrink_to(self.capacity)
    }

    fn remove(&mut self, id: Id) {
        self.segments.iter_mut().for_each(|segment| segment.retain(|&other| other != id));
    }
}

/// The paper's pseudocode: queues of pages from oldest to newest, and Qout with the counts of what
/// left.
pub(super) struct NaiveMq {
    capacity: usize,
    time: u64,
    /// Id, count, expire time.
    queues: Vec<Vec<(Id, u32, u64)>>,
    out: Vec<(Id, u32)>,
}

impl NaiveMq {
    pub(super) fn new(capacity: u64) -> Self {
        Self { capacity: capacity as usize, time: 0, queues: vec![Vec::new(); 8], out: Vec::new() }
    }

    fn enter(&mut self, id: Id, count: u32) {
        let queue = (0..8).rfind(|&queue| count >= 1 << queue).unwrap();
        self.queues[queue].push((id, count, self.time + 4 * self.capacity as u64));
        for queue in 1..8 {
            if let Some(&(id, count, expire)) = self.queues[queue].first()
                && expire < self.time
            {
                self.queues[queue].remove(0);
                self.queues[queue - 1].push((id, count, self.time + 4 * self.capacity as u64));
            }
        }
    }

    fn shrink_to(&mut self, pages: usize) -> Vec<Id> {
        let mut victims = Vec::new();
        while self.queues.iter().map(Vec::len).sum::<usize>() > pages {
            victims.extend(self.evict_one());
        }
        victims
    }

    fn trim(&mut self) {
        while self.out.len() > 4 * self.capacity {
            self.out.remove(0);
        }
    }
}

impl Model for NaiveMq {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        self.time += 1;
        let id = request.id;
        for queue in 0..8 {
            if let Some(at) = self.queues[queue].iter().position(|page| page.0 == id) {
                if request.kind != Use::FirstUse {
                    let (_, count, _) = self.queues[queue].remove(at);
                    self.enter(id, count + 1);
                }
                return (Outcome::Hit, Vec::new());
            }
        }
        if self.capacity == 0 {
            return (Outcome::Bypassed, Vec::new());
        }
        let ghost = self.out.iter().position(|ghost| ghost.0 == id);
        let count = ghost.map_or(0, |at| self.out.remove(at).1);
        let victims = self.shrink_to(self.capacity - 1);
        self.enter(id, count + 1);
        (Outcome::Admitted, victims)
    }

    fn evict_one(&mut self) -> Option<Id> {
        let queue = self.queues.iter_mut().find(|queue| !queue.is_empty())?;
        let (id, count, _) = queue.remove(0);
        self.out.push((id, count));
        self.trim();
        Some(id)
    }

    fn set_capacity(&mut self, capacity: u64) -> Vec<Id> {
        self.capacity = capacity as usize;
        let victims = self.shrink_to(self.capacity);
        self.trim();
        victims
    }

    fn remove(&mut self, id: Id) {
        self.queues.iter_mut().for_each(|queue| queue.retain(|page| page.0 != id));
        self.out.retain(|ghost| ghost.0 != id);
    }
}

/// Resident files with their weight, next use and last use.
pub(super) struct NaiveBelady {
    capacity: u64,
    requests: u64,
    files: Vec<(Id, u64, u64, u64)>,
}

impl NaiveBelady {
    pub(super) fn new(capacity: u64) -> Self {
        Self { capacity, requests: 0, files: Vec::new() }
    }

    fn used(&self) -> u64 {
        self.files.iter().map(|file| file.1).sum()
    }

    /// The first to leave come first.
    fn sort(&mut self) {
        self.files.sort_by_key(|&(_, _, next_use, last_use)| (u64::MAX - next_use, last_use));
    }
}

impl Model for NaiveBelady {
    fn request(&mut self, request: &Request) -> (Outcome, Vec<Id>) {
        let Request { id, weight, next_use, .. } = *request;
        self.requests += 1;
        if let Some(file) = self.files.iter_mut().find(|file| file.0 == id) {
            (file.2, file.3) = (next_use, self.requests);
            return (Outcome::Hit, Vec::new());
        }
        self.sort();
        let later = self.files.iter().take_while(|file| file.2 >= next_use).count();
        let fits = (0..=later).find(|&leaving| {
            let staying: u64 = self.files[leaving..].iter().map(|file| file.1).sum();
            staying + weight <= self.capacity
        });
        let Some(leaving) = fits else { return (Outcome::Bypassed, Vec::new()) };
        let victims = self.files.drain(..leaving).map(|file| file.0).collect();
        self.files.push((id, weight, next_use, self.requests));
        (Outcome::Admitted, victims)
    }

    fn evict_one(&mut self) -> Option<Id> {
        self.sort();
        (!self.files.is_empty()).then(|| self.files.remove(0).0)
    }

    fn set_capacity(&mut self, capacity: u64) -> Vec<Id> {
        self.capacity = capacity;
        let mut victims = Vec::new();
        while self.used() > self.capacity {
            victims.extend(self.evict_one());
        }
        victims
    }

    fn remove(&mut self, id: Id) {
        self.files.retain(|file| file.0 != id);
    }
}
