//! Small copies of several policies that see a sample of the requests: SHARDS (Waldspurger and
//! others, FAST 2015), for policies instead of sizes.

use super::super::{Eviction, Id, Named, Outcome, Pool, Request, Use, named};
use crate::arrays::column;
use seekless_device::SplitMix64;
use std::collections::HashMap;

/// Pages or files that the shadows know at most, with their ghosts. Beyond it they are given half
/// of the sample.
const KNOWN_MAX: usize = 4096;
/// A window has at least so many requests, and twice as many as the shadows know pages.
const WINDOW_MIN: u32 = 2048;

/// The shadows of some policies.
#[derive(Debug)]
pub(super) struct Shadows {
    capacity: u64,
    /// One key in `2^halvings` is in the sample, and so much of the capacity a shadow has.
    halvings: u32,
    policies: Vec<Named>,
    hits: Vec<u32>,
    asked: u32,
    /// Hits of the cache itself, of the same requests.
    own: u32,
    known: Known,
    /// Ids for which the policies have room.
    room: u32,
}

/// The bit of an id about which the policies are being asked: its number must not go to another.
const ASKED: u8 = 1 << 7;

/// What a window of requests has shown.
#[derive(Debug)]
pub(super) struct Window {
    /// Requests.
    pub(super) asked: u32,
    /// Hits of the cache itself.
    pub(super) own: u32,
    /// Hits of each policy.
    pub(super) hits: Vec<u32>,
}

impl Window {
    pub(super) fn new(policies: usize) -> Self {
        Self { asked: 0, own: 0, hits: vec![0; policies] }
    }

    #[inline]
    pub(super) fn count(&mut self, policy: usize, is_hit: bool) {
        self.hits[policy] += u32::from(is_hit);
    }
}

/// What the shadows know, by key.
#[derive(Debug, Default)]
struct Known {
    ids: HashMap<u64, Id>,
    keys: Vec<u64>,
    /// For each id one bit a policy that knows it.
    by: Vec<u8>,
    free: Vec<Id>,
}

/// One shadow as the owner of its cache.
struct Owner<'a> {
    known: &'a mut Known,
    bit: u8,
}

impl Pool for Owner<'_> {
    fn evict(&mut self, _victim: Id) {}

    fn forget(&mut self, id: Id) {
        self.known.by[id as usize] &= !self.bit;
        self.known.release(id);
    }
}

impl Known {
    /// Gives the number of an id that no policy knows to another page.
    fn release(&mut self, id: Id) {
        if self.by[id as usize] == 0 && self.ids.remove(&self.keys[id as usize]).is_some() {
            self.free.push(id);
        }
    }

    fn id(&mut self, key: u64) -> Id {
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let id = self.free.pop().unwrap_or(self.keys.len() as Id);
        column::grow(&mut self.keys, id + 1, 0);
        column::grow(&mut self.by, id + 1, 0);
        self.keys[id as usize] = key;
        self.ids.insert(key, id);
        id
    }
}

impl Shadows {
    /// Of at most seven policies.
    pub(super) fn new(names: &[&str], capacity: u64) -> Self {
        debug_assert!(1 << names.len() <= u32::from(ASKED));
        let policies: Vec<Named> =
            names.iter().map(|name| named(name, capacity).expect("names of the table")).collect();
        let hits = vec![0; policies.len()];
        let known = Known::default();
        Self { capacity, halvings: 0, policies, hits, asked: 0, own: 0, known, room: 0 }
    }

    /// Whether the key is in the sample.
    #[inline]
    pub(super) fn samples(&self, key: u64) -> bool {
        SplitMix64::mix(key).trailing_zeros() >= self.halvings
    }

    /// A request that is in the sample, which was a hit in the cache itself or not.
    pub(super) fn request(&mut self, request: &Request, was_hit: bool) -> Option<Window> {
        let id = self.known.id(request.key);
        if id >= self.room {
            self.room = (id + 1).next_power_of_two().max(64);
            self.policies.iter_mut().for_each(|policy| policy.grow(self.room));
        }
        let kind = if request.kind == Use::Write { Use::Write } else { Use::Read };
        let request = Request { id, kind, ..*request };
        self.known.by[id as usize] |= ASKED;
        for (number, policy) in self.policies.iter_mut().enumerate() {
            let bit = 1 << number;
            let mut owner = Owner { known: &mut self.known, bit };
            match policy.request(&request, &mut owner) {
                Outcome::Hit => self.hits[number] += 1,
                Outcome::Admitted => self.known.by[id as usize] |= bit,
                Outcome::Bypassed => {
                    policy.remove(id);
                    self.known.by[id as usize] &= !bit;
                }
            }
        }
        self.known.by[id as usize] &= !ASKED;
        self.known.release(id);
        self.asked += 1;
        self.own += u32::from(was_hit);
        if self.known.ids.len() > KNOWN_MAX {
            self.halve();
        }
        let window = WINDOW_MIN.max(2 * self.known.ids.len() as u32);
        (self.asked >= window).then(|| Window {
            asked: std::mem::take(&mut self.asked),
            own: std::mem::take(&mut self.own),
            hits: self.hits.iter_mut().map(std::mem::take).collect(),
        })
    }

    fn halve(&mut self) {
        self.halvings += 1;
        let ids = self.known.ids.iter();
        let mut leaving: Vec<Id> =
            ids.filter(|(key, _)| !self.samples(**key)).map(|(_, id)| *id).collect();
        leaving.sort_unstable(); // the map has an order of its own
        leaving.into_iter().for_each(|id| self.forget(id));
        self.resize();
    }

    fn resize(&mut self) {
        let capacity = (self.capacity >> self.halvings).max(u64::from(self.capacity > 0));
        for (number, policy) in self.policies.iter_mut().enumerate() {
            policy.set_capacity(capacity, &mut Owner { known: &mut self.known, bit: 1 << number });
        }
    }

    fn forget(&mut self, id: Id) {
        self.policies.iter_mut().for_each(|policy| policy.remove(id));
        self.known.by[id as usize] = 0;
        self.known.release(id);
    }

    pub(super) fn reweigh(&mut self, request: &Request) {
        if let Some(id) = self.known.ids.get(&request.key).copied() {
            let request = Request { id, ..*request };
            self.policies.iter_mut().for_each(|policy| policy.reweigh(&request));
            self.resize();
        }
    }

    pub(super) fn set_capacity(&mut self, capacity: u64) {
        self.capacity = capacity;
        self.resize();
    }
}
