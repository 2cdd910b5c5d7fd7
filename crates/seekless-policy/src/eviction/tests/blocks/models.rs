//! Naive models of the page policies: vectors searched from end to end. Capacity in pages, at least
//! 1.

mod clock_pro;
mod device_time;
mod flash;

use crate::eviction::{Id, Request, Use};
pub(super) use clock_pro::NaiveClockPro;
pub(super) use device_time::NaiveDeviceTime;
pub(super) use flash::{NaiveCflru, NaiveFab, NaiveSpatial, NaiveWsr};
use std::collections::{HashSet, VecDeque};

/// Says for each request whether it hits, and whom it evicts.
pub(super) trait Naive {
    fn request(&mut self, request: &Request, dirty: &HashSet<Id>) -> (bool, Vec<Id>);
}

/// Takes `id` out of a list; whether it was there.
fn take(list: &mut VecDeque<Id>, id: Id) -> bool {
    let length = list.len();
    list.retain(|&other| other != id);
    list.len() < length
}

/// Frames in a circle, each with a page and its bit.
pub(super) struct NaiveClock {
    capacity: usize,
    frames: Vec<(Id, bool)>,
    hand: usize,
}

impl NaiveClock {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, frames: Vec::new(), hand: 0 }
    }
}

impl Naive for NaiveClock {
    fn request(&mut self, request: &Request, _dirty: &HashSet<Id>) -> (bool, Vec<Id>) {
        if let Some(frame) = self.frames.iter_mut().find(|frame| frame.0 == request.id) {
            frame.1 |= request.kind != Use::FirstUse;
            return (true, Vec::new());
        }
        if self.frames.len() < self.capacity {
            self.frames.push((request.id, false));
            return (false, Vec::new());
        }
        while std::mem::take(&mut self.frames[self.hand].1) {
            self.hand = (self.hand + 1) % self.capacity;
        }
        let victim = std::mem::replace(&mut self.frames[self.hand], (request.id, false)).0;
        self.hand = (self.hand + 1) % self.capacity;
        (false, vec![victim])
    }
}

/// Johnson and Shasha, sections 3.1 and 3.2; front is most recent.
pub(super) struct NaiveTwoQueue {
    capacity: usize,
    full_version: bool,
    a1in: VecDeque<Id>,
    a1out: VecDeque<Id>,
    am: VecDeque<Id>,
}

impl NaiveTwoQueue {
    pub(super) fn full(capacity: usize) -> Self {
        let empty = VecDeque::new;
        Self { capacity, full_version: true, a1in: empty(), a1out: empty(), am: empty() }
    }

    pub(super) fn simple(capacity: usize) -> Self {
        Self { full_version: false, ..Self::full(capacity) }
    }

    fn reclaim(&mut self) -> Vec<Id> {
        if self.a1in.len() + self.am.len() < self.capacity {
            return Vec::new();
        }
        if self.a1in.len() <= self.capacity / 4 {
            return self.am.pop_back().into_iter().collect();
        }
        let victim = self.a1in.pop_back().unwrap();
        if self.full_version {
            self.a1out.push_front(victim);
            self.a1out.truncate(self.capacity / 2);
        }
        vec![victim]
    }
}

impl Naive for NaiveTwoQueue {
    fn request(&mut self, request: &Request, _dirty: &HashSet<Id>) -> (bool, Vec<Id>) {
        let id = request.id;
        if self.am.contains(&id) || self.a1in.contains(&id) {
            let promote = self.am.contains(&id) || !self.full_version;
            if promote && request.kind != Use::FirstUse {
                take(&mut self.am, id);
                take(&mut self.a1in, id);
                self.am.push_front(id);
            }
            return (true, Vec::new());
        }
        let seen = take(&mut self.a1out, id);
        let victims = self.reclaim();
        if seen { &mut self.am } else { &mut self.a1in }.push_front(id);
        (false, victims)
    }
}

/// Bansal and Modha, figure 2; the front of T1 and T2 is the head, the front of B1 and B2 the LRU
/// page.
pub(super) struct NaiveCar {
    c: usize,
    p: f64,
    t1: VecDeque<(Id, bool)>,
    t2: VecDeque<(Id, bool)>,
    b1: VecDeque<Id>,
    b2: VecDeque<Id>,
}

impl NaiveCar {
    pub(super) fn new(c: usize) -> Self {
        let (t1, t2) = (VecDeque::new(), VecDeque::new());
        Self { c, p: 0.0, t1, t2, b1: VecDeque::new(), b2: VecDeque::new() }
    }

    fn replace(&mut self) -> Id {
        loop {
            let from_t1 = self.t1.len() as f64 >= self.p.max(1.0);
            let (page, bit) =
                if from_t1 { &mut self.t1 } else { &mut self.t2 }.pop_front().unwrap();
            if !bit {
                if from_t1 { &mut self.b1 } else { &mut self.b2 }.push_back(page);
                return page;
            }
            self.t2.push_back((page, false));
        }
    }

    fn make_room(&mut self, x: Id) -> Vec<Id> {
        if self.t1.len() + self.t2.len() < self.c {
            return Vec::new();
        }
        let victim = self.replace();
        let known = self.b1.contains(&x) || self.b2.contains(&x);
        let total = self.t1.len() + self.t2.len() + self.b1.len() + self.b2.len();
        if !known && self.t1.len() + self.b1.len() == self.c {
            self.b1.pop_front();
        } else if !known && total == 2 * self.c {
            self.b2.pop_front();
        }
        vec![victim]
    }
}

impl Naive for NaiveCar {
    fn request(&mut self, request: &Request, _dirty: &HashSet<Id>) -> (bool, Vec<Id>) {
        let x = request.id;
        if let Some(page) = self.t1.iter_mut().chain(&mut self.t2).find(|page| page.0 == x) {
            page.1 |= request.kind != Use::FirstUse;
            return (true, Vec::new());
        }
        let victims = self.make_room(x);
        let (b1, b2) = (self.b1.len() as f64, self.b2.len() as f64);
        if take(&mut self.b1, x) {
            self.p = (self.p + (b2 / b1).max(1.0)).min(self.c as f64);
            self.t2.push_back((x, false));
        } else if take(&mut self.b2, x) {
            self.p = (self.p - (b1 / b2).max(1.0)).max(0.0);
            self.t2.push_back((x, false));
        } else {
            self.t1.push_back((x, false));
        }
        (false, victims)
    }
}

/// Jaleel et al., figure 2, static, with priority to hits: slots with a page and its prediction.
pub(super) struct NaiveRrip {
    capacity: usize,
    slots: Vec<(Id, u8)>,
}

impl NaiveRrip {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, slots: Vec::new() }
    }
}

impl Naive for NaiveRrip {
    fn request(&mut self, request: &Request, _dirty: &HashSet<Id>) -> (bool, Vec<Id>) {
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.0 == request.id) {
            if request.kind != Use::FirstUse {
                slot.1 = 0;
            }
            return (true, Vec::new());
        }
        if self.slots.len() < self.capacity {
            self.slots.push((request.id, 2));
            return (false, Vec::new());
        }
        loop {
            if let Some(slot) = self.slots.iter_mut().find(|slot| slot.1 == 3) {
                return (false, vec![std::mem::replace(slot, (request.id, 2)).0]);
            }
            self.slots.iter_mut().for_each(|slot| slot.1 += 1);
        }
    }
}
