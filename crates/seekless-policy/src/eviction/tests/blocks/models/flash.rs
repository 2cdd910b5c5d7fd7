//! The policies made for flash: what is dirty, and which pages are neighbours.

use super::{Naive, take};
use crate::eviction::{Id, Request, Use};
use std::collections::{HashSet, VecDeque};

/// Park et al. 2006: the last pages of the LRU order give up their clean ones first. Front is most
/// recent.
pub(in super::super) struct NaiveCflru {
    capacity: usize,
    window: usize,
    order: VecDeque<Id>,
}

impl NaiveCflru {
    pub(in super::super) fn new(capacity: usize, window: usize) -> Self {
        Self { capacity, window, order: VecDeque::new() }
    }
}

impl Naive for NaiveCflru {
    fn request(&mut self, request: &Request, dirty: &HashSet<Id>) -> (bool, Vec<Id>) {
        if self.order.contains(&request.id) {
            if request.kind != Use::FirstUse {
                take(&mut self.order, request.id);
                self.order.push_front(request.id);
            }
            return (true, Vec::new());
        }
        let mut victims = Vec::new();
        if self.order.len() == self.capacity {
            let clean = self.order.iter().rev().take(self.window).find(|id| !dirty.contains(id));
            let victim = *clean.or(self.order.back()).unwrap();
            take(&mut self.order, victim);
            victims.push(victim);
        }
        self.order.push_front(request.id);
        (false, victims)
    }
}

/// Jung et al. 2008: a dirty page without a mark gets one and goes round again. Front is most
/// recent.
pub(in super::super) struct NaiveWsr {
    capacity: usize,
    order: VecDeque<Id>,
    cold: HashSet<Id>,
}

impl NaiveWsr {
    pub(in super::super) fn new(capacity: usize) -> Self {
        Self { capacity, order: VecDeque::new(), cold: HashSet::new() }
    }
}

impl Naive for NaiveWsr {
    fn request(&mut self, request: &Request, dirty: &HashSet<Id>) -> (bool, Vec<Id>) {
        let hit = self.order.contains(&request.id);
        if hit && request.kind == Use::FirstUse {
            return (true, Vec::new());
        }
        let mut victims = Vec::new();
        while !hit && self.order.len() == self.capacity {
            let last = self.order.pop_back().unwrap();
            if dirty.contains(&last) && self.cold.insert(last) {
                self.order.push_front(last);
            } else {
                victims.push(last);
            }
        }
        take(&mut self.order, request.id);
        self.cold.remove(&request.id);
        self.order.push_front(request.id);
        (hit, victims)
    }
}

/// Jo et al. 2006, or Ozen's version of it: every block is looked at, the most recent first in the
/// vector.
pub(in super::super) struct NaiveFab {
    capacity: usize,
    pages: u32,
    ozen: bool,
    blocks: VecDeque<Vec<Id>>,
}

impl NaiveFab {
    pub(in super::super) fn new(capacity: usize, pages: u32, ozen: bool) -> Self {
        Self { capacity, pages, ozen, blocks: VecDeque::new() }
    }

    fn evict(&mut self, dirty: &HashSet<Id>) -> Vec<Id> {
        let full = |block: &Vec<Id>| {
            block.len() as u32 == self.pages && block.iter().all(|id| dirty.contains(id))
        };
        let all_dirty = self.blocks.iter().rposition(|block| self.ozen && full(block));
        let most = self.blocks.iter().map(Vec::len).max().unwrap();
        let at = all_dirty.or(self.blocks.iter().rposition(|block| block.len() == most)).unwrap();
        self.blocks.remove(at).unwrap()
    }
}

impl Naive for NaiveFab {
    fn request(&mut self, request: &Request, dirty: &HashSet<Id>) -> (bool, Vec<Id>) {
        let hit = self.blocks.iter().flatten().any(|&id| id == request.id);
        if hit && request.kind == Use::FirstUse {
            return (true, Vec::new());
        }
        let full = self.blocks.iter().map(Vec::len).sum::<usize>() == self.capacity;
        let victims = if !hit && full { self.evict(dirty) } else { Vec::new() };
        let of_block = |block: &Vec<Id>| block[0] / self.pages == request.id / self.pages;
        match self.blocks.iter().position(of_block) {
            Some(at) => {
                if !hit {
                    self.blocks[at].push(request.id);
                    self.blocks[at].sort_unstable();
                }
                if hit || !self.ozen {
                    let block = self.blocks.remove(at).unwrap();
                    self.blocks.push_front(block);
                }
            }
            None => self.blocks.push_front(vec![request.id]),
        }
        (hit, victims)
    }
}

/// Kim, Ryu and Ramachandran 2012: a sorted array, and the page of the hand; `None` is the first.
pub(in super::super) struct NaiveSpatial {
    capacity: usize,
    pages: Vec<(Id, bool)>,
    hand: Option<Id>,
}

impl NaiveSpatial {
    pub(in super::super) fn new(capacity: usize) -> Self {
        Self { capacity, pages: Vec::new(), hand: None }
    }
}

impl Naive for NaiveSpatial {
    fn request(&mut self, request: &Request, _dirty: &HashSet<Id>) -> (bool, Vec<Id>) {
        if let Some(page) = self.pages.iter_mut().find(|page| page.0 == request.id) {
            page.1 |= request.kind != Use::FirstUse;
            return (true, Vec::new());
        }
        let mut victims = Vec::new();
        while self.pages.len() == self.capacity {
            let at = self.pages.iter().position(|page| Some(page.0) == self.hand).unwrap_or(0);
            self.hand = self.pages.get(at + 1).map(|page| page.0);
            if !std::mem::take(&mut self.pages[at].1) {
                victims.push(self.pages.remove(at).0);
            }
        }
        self.pages.push((request.id, false));
        self.pages.sort_unstable();
        (false, victims)
    }
}
