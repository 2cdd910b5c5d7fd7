//! Naive models of the older policies: plain vectors, every victim found by looking at all.

use super::super::models::Model;
use crate::eviction::{Id, Outcome, Request, Use};
use std::cmp::Reverse;

/// What a scored policy knows of a resident page.
#[derive(Clone, Debug)]
pub(super) struct Page {
    id: Id,
    weight: u64,
    cost: u32,
    count: u64,
    admitted: u64,
    last: u64,
    /// The age of the cache at the last use.
    age: u128,
}

/// Which page leaves: that of the least score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Score {
    Fifo,
    Lfu,
    LfuDa,
}

type Key = (u128, Reverse<u64>, u64);

impl Score {
    fn of(self, page: &Page) -> Key {
        let least = Reverse(0);
        match self {
            Score::Fifo => (0, least, page.admitted),
            Score::Lfu => (u128::from(page.count), least, page.last),
            Score::LfuDa => (page.age + u128::from(page.count), least, page.last),
        }
    }
}

/// A policy that evicts the page of least score; the age of the cache is the score of the last victim.
pub(super) struct NaiveScored {
    capacity: u64,
    score: Score,
    turn: u64,
    age: u128,
    pages: Vec<Page>,
}

impl NaiveScored {
    pub(super) fn new(capacity: u64, score: Score) -> Self {
        Self { capacity, score, turn: 0, age: 0, pages: Vec::new() }
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
            if request.kind != Use::FirstUse {
                (page.count, page.last, page.age, page.cost) = (page.count + 1, turn, age, request.cost);
            }
            return (Outcome::Hit, Vec::new());
        }
        if request.weight > self.capacity {
            return (Outcome::Bypassed, Vec::new());
        }
        let victims = self.make_room(request.weight);
        self.pages.push(Page {
            id: request.id,
            weight: request.weight,
            cost: request.cost,
            count: 1,
            admitted: turn,
            last: turn,
            age: self.age,
        });
        (Outcome::Admitted, victims)
    }

    fn evict_one(&mut self) -> Option<Id> {
        let (at, page) = self.pages.iter().enumerate().min_by_key(|(_, page)| self.score.of(page))?;
        self.age = self.score.of(page).0;
        Some(self.pages.remove(at).id)
    }

    fn set_capacity(&mut self, capacity: u64) -> Vec<Id> {
        self.capacity = capacity;
        self.make_room(0)
    }

    fn remove(&mut self, id: Id) {
        self.pages.retain(|page| page.id != id);
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
