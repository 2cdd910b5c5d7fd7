//! The flusher in time: when it wakes, and which readers wait for the device to have what they or
//! others wrote.

use crate::write_back::{Alarm, WriteBack};
use seekless_device::Nanos;
use seekless_policy::cache::paged::{PageCommand, PagedCache};
use seekless_policy::eviction::{Id, Named};
use std::collections::BTreeMap;

pub(super) struct Flusher {
    rule: WriteBack,
    every: Alarm,
    wake: Alarm,
    /// The pages for which each reader waits.
    held: BTreeMap<u32, Vec<Id>>,
}

impl Flusher {
    pub(super) fn new(rule: WriteBack, cache: &mut PagedCache<Named>) -> Self {
        cache.set_flush_rule(rule.flush_rule());
        let wake = if rule.chooses() { rule.wakes() } else { None };
        Self { rule, every: Alarm::new(rule.every), wake: Alarm::new(wake), held: BTreeMap::new() }
    }

    pub(super) fn rule(&self) -> &WriteBack {
        &self.rule
    }

    /// When it has something to do next; `None` while nothing is dirty.
    pub(super) fn next(&self, cache: &PagedCache<Named>) -> Option<Nanos> {
        let next = self.every.next().min(self.wake.next());
        (cache.dirty_pages() > 0 && next < Nanos::MAX).then_some(next)
    }

    /// Starts to write what is due.
    pub(super) fn run(
        &mut self,
        now: Nanos,
        cache: &mut PagedCache<Named>,
        out: &mut Vec<PageCommand>,
    ) {
        if self.every.rings(now) {
            cache.flush_all(out);
        }
        let is_awake = self.rule.wakes().is_none() || self.wake.rings(now);
        if self.rule.chooses() && is_awake {
            cache.flush_due(now, out);
        }
    }

    /// After a write: writes more if too much is dirty. Returns the pages that its writer waits
    /// for.
    pub(super) fn written(
        &mut self,
        cache: &mut PagedCache<Named>,
        out: &mut Vec<PageCommand>,
    ) -> Vec<Id> {
        let most = |share: f64| (cache.limits().capacity as f64 * share) as u64;
        if self.rule.dirty_max.is_some_and(|share| cache.dirty_pages() > most(share)) {
            cache.flush_all(out);
        }
        cache.hold_up(out)
    }

    /// A reader waits until the device has these pages.
    pub(super) fn hold(&mut self, reader: u32, pages: Vec<Id>) {
        self.held.insert(reader, pages);
    }

    /// The write-back of a page has ended. Returns the readers that wait no longer.
    pub(super) fn ended(&mut self, id: Id, cache: &PagedCache<Named>) -> Vec<u32> {
        if cache.in_write_back(id) {
            return Vec::new(); // it was written to in the meantime, and is written once more
        }
        let mut free = Vec::new();
        self.held.retain(|&reader, pages| {
            pages.retain(|&page| page != id);
            if pages.is_empty() {
                free.push(reader);
            }
            !pages.is_empty()
        });
        free
    }
}
