//! Counts the outcomes of requests and the accesses to the device, and passes device accesses to a
//! listener.

use crate::case::Options;
use crate::figures::{Counts, Point};
use crate::ratio::ratio;
use crate::requests::Requests;
use seekless_policy::cache::Sink;
use seekless_policy::eviction::{Id, Outcome, Request, Use};

/// A read or write of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceAccess {
    pub(crate) id: Id,
    pub(crate) write: bool,
    /// The request that caused it, from 0.
    pub(crate) position: usize,
}

/// Called with the device accesses in order.
pub(crate) type Device<'a> = Box<dyn FnMut(DeviceAccess) + 'a>;

pub(super) struct Ledger<'a> {
    requests: &'a Requests,
    device: Option<Device<'a>>,
    fetch_on_write: bool,
    /// The present request, from 0.
    pub(super) position: usize,
    counts: Counts,
    /// In units of weight.
    dirty_weight: u64,
    /// What each id weighed at its last request, if that changes.
    last_weights: Vec<u64>,
    /// What the policy evicted last, and how many objects came in and left.
    last_victim: Option<Id>,
    came: u64,
    left: u64,
    /// Key of the last page that was written back.
    last_key: Option<u64>,
    every: Option<u64>,
    next_point: u64,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(
        requests: &'a Requests,
        options: &Options,
        device: Option<Device<'a>>,
    ) -> Self {
        let every = options.every.map(std::num::NonZeroU64::get);
        Self {
            requests,
            device,
            fetch_on_write: options.fetch_on_write,
            position: 0,
            counts: Counts::default(),
            dirty_weight: 0,
            last_weights: match requests.sizes_change() {
                true => vec![0; requests.id_limit() as usize],
                false => Vec::new(),
            },
            last_victim: None,
            came: 0,
            left: 0,
            last_key: None,
            every,
            next_point: every.unwrap_or(u64::MAX),
        }
    }

    /// The object that the policy evicted last.
    pub(super) fn last_victim(&self) -> Option<Id> {
        self.last_victim
    }

    /// How many objects are in the cache.
    pub(super) fn resident(&self) -> u64 {
        self.came.saturating_sub(self.left)
    }

    pub(super) fn dirty_weight(&self) -> u64 {
        self.dirty_weight
    }

    /// A page of `weight` became dirty.
    pub(super) fn soiled(&mut self, weight: u64) {
        self.dirty_weight += weight;
    }

    /// An id is removed, and what was written to it is lost.
    pub(super) fn removed(&mut self, id: Id, was_dirty: bool) {
        if was_dirty {
            self.dirty_weight = self.dirty_weight.saturating_sub(self.weight(id));
        }
    }

    /// The weight of an id at its last request.
    fn weight(&self, id: Id) -> u64 {
        let last = self.last_weights.get(id as usize).copied();
        last.unwrap_or_else(|| self.requests.weight(id))
    }

    /// A write had to wait until others were written.
    pub(super) fn held_up(&mut self) {
        self.counts.held_up += 1;
    }

    /// A dirty page was written and stays.
    pub(super) fn flushed(&mut self, id: Id) {
        self.counts.flushed += 1;
        self.wrote_back(id);
    }

    #[inline]
    pub(super) fn count(&mut self, request: &Request, outcome: Outcome) {
        if let Some(last) = self.last_weights.get_mut(request.id as usize) {
            *last = request.weight;
        }
        let write = request.kind == Use::Write;
        if outcome == Outcome::Hit {
            self.counts.hits += 1;
            self.counts.hit_weight += request.weight;
        } else {
            self.counts.miss_weight += request.weight;
            self.came += u64::from(outcome == Outcome::Admitted);
            self.counts.bypassed += u64::from(outcome == Outcome::Bypassed);
            self.miss(request.id, write, outcome == Outcome::Bypassed);
        }
        if self.position as u64 + 1 == self.next_point {
            self.point(self.next_point);
            self.next_point += self.every.unwrap_or(0);
        }
    }

    fn miss(&mut self, id: Id, write: bool, bypassed: bool) {
        match (write, bypassed) {
            (false, _) => self.counts.read_misses += 1,
            (true, true) => self.counts.writes_through += 1,
            (true, false) if self.fetch_on_write => self.counts.fetches += 1,
            (true, false) => return,
        }
        self.tell(id, write && bypassed);
    }

    fn tell(&mut self, id: Id, write: bool) {
        if let Some(device) = &mut self.device {
            device(DeviceAccess { id, write, position: self.position });
        }
    }

    fn wrote_back(&mut self, id: Id) {
        let key = self.requests.key(id);
        let weight = self.weight(id);
        self.counts.write_backs += 1;
        self.counts.write_back_weight += weight;
        self.dirty_weight = self.dirty_weight.saturating_sub(weight);
        let follows = self.last_key.is_some_and(|last| last.checked_add(1) == Some(key));
        self.counts.write_back_runs += u64::from(!follows);
        self.last_key = Some(key);
        self.tell(id, true);
    }

    fn point(&mut self, requests: u64) {
        let last = self.counts.points.last().map_or((0, 0), |point| (point.requests, point.hits));
        let (hits, recent) = (self.counts.hits, requests - last.0);
        self.counts.points.push(Point {
            requests,
            hits,
            read_misses: self.counts.read_misses,
            write_backs: self.counts.write_backs,
            miss_ratio: ratio(requests - hits, requests),
            recent_miss_ratio: ratio(recent - (hits - last.1), recent),
        });
    }

    /// The first `requests` have been the warm-up.
    pub(super) fn warmed_up(&mut self, requests: usize) {
        self.counts.warmed_up(requests, self.requests.unit_bytes());
    }

    /// The counts. Adds a last point if the requests end between two points.
    pub(super) fn finish(mut self, dirty: u64) -> Counts {
        let total = self.requests.len() as u64;
        if self.every.is_some()
            && self.counts.points.last().map_or(0, |point| point.requests) < total
        {
            self.point(total);
        }
        self.counts.dirty_at_end = dirty;
        self.counts
    }
}

impl Sink for Ledger<'_> {
    #[inline]
    fn dropped(&mut self, id: Id) {
        self.last_victim = Some(id);
        self.left += 1;
    }

    fn write_back(&mut self, id: Id) -> bool {
        self.wrote_back(id);
        false
    }
}
