//! Eviction by device time, by looking at every page of the window.

use super::{Naive, take};
use crate::eviction::{Id, Request, Use};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// The age and cost of a page are in 1/256 of a page's transfer.
const FRACTION: u64 = 256;

pub(in super::super) struct NaiveDeviceTime {
    capacity: usize,
    window_pages: usize,
    group_pages: u64,
    fetch: u64,
    write: u64,
    /// The page used last first.
    working: VecDeque<Id>,
    window: Vec<Id>,
    /// When the last page entered each group.
    since: BTreeMap<u64, u64>,
    age: u64,
    leaving: Option<u64>,
}

impl NaiveDeviceTime {
    /// `fetch` and `write`: what a request costs, in pages.
    pub(in super::super) fn new(capacity: usize, share: f64, [fetch, write]: [u64; 2]) -> Self {
        let window_pages = (capacity as f64 * share) as usize;
        Self {
            capacity,
            window_pages,
            group_pages: fetch.next_power_of_two().min((window_pages as u64 / 4).max(1)),
            fetch,
            write,
            working: VecDeque::new(),
            window: Vec::new(),
            since: BTreeMap::new(),
            age: 0,
            leaving: None,
        }
    }

    fn group(&self, id: Id) -> u64 {
        u64::from(id) / self.group_pages
    }

    fn members(&self, group: u64) -> Vec<Id> {
        let mut members = self.window.clone();
        members.retain(|&id| self.group(id) == group);
        members.sort_unstable();
        members
    }

    fn worth(&self, group: u64, dirty: &HashSet<Id>) -> u64 {
        let members = self.members(group);
        let written = members.iter().filter(|id| dirty.contains(id)).count() as u64;
        let pages = members.len() as u64;
        let write = if written > 0 { self.write } else { 0 };
        self.since[&group] + FRACTION * (self.fetch + write + pages + written) / pages
    }

    fn drop(&mut self, id: Id) -> bool {
        if take(&mut self.working, id) {
            return true;
        }
        let before = self.window.len();
        self.window.retain(|&other| other != id);
        let group = self.group(id);
        if self.members(group).is_empty() && self.leaving == Some(group) {
            self.leaving = None;
        }
        self.window.len() < before
    }

    fn evict(&mut self, dirty: &HashSet<Id>) -> Vec<Id> {
        if self.leaving.is_none() {
            let groups = self.window.iter().map(|&id| self.group(id));
            let least = groups.map(|group| (self.worth(group, dirty), group)).min();
            self.age = least.map_or(self.age, |(worth, _)| worth.max(self.age));
            self.leaving = least.map(|(_, group)| group);
        }
        let mut victims = match self.leaving {
            Some(group) => self.members(group),
            None => self.working.back().copied().into_iter().collect(),
        };
        if !victims.iter().any(|id| dirty.contains(id)) {
            victims.truncate(1);
        }
        victims.iter().for_each(|&id| _ = self.drop(id));
        victims
    }

    fn use_now(&mut self, id: Id) {
        self.working.push_front(id);
        while self.window.len() < self.window_pages {
            let Some(oldest) = self.working.pop_back() else { return };
            self.window.push(oldest);
            self.since.insert(self.group(oldest), self.age);
        }
    }
}

impl Naive for NaiveDeviceTime {
    fn request(&mut self, request: &Request, dirty: &HashSet<Id>) -> (bool, Vec<Id>) {
        let resident = self.working.contains(&request.id) || self.window.contains(&request.id);
        if resident {
            if request.kind != Use::FirstUse {
                self.drop(request.id);
                self.use_now(request.id);
            }
            return (true, Vec::new());
        }
        let mut victims = Vec::new();
        while self.working.len() + self.window.len() >= self.capacity {
            victims.extend(self.evict(dirty));
        }
        self.use_now(request.id);
        (false, victims)
    }
}
