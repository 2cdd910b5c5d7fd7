//! Writes back dirty pages that stay in the cache, by the [`WriteBack`] rule. Pages that are due
//! together are written in the order of their keys.

use super::ledger::Ledger;
use crate::case::Options;
use crate::requests::Requests;
use crate::write_back::{Period, WriteBack};
use seekless_policy::cache::{Cache, Command};
use seekless_policy::eviction::{Eviction, Id};

pub(super) struct Flusher<'a> {
    requests: &'a Requests,
    rule: WriteBack,
    /// The largest dirty weight; above it all dirty pages are written.
    dirty_max: u64,
    /// When the next periodic flush is due, in nanoseconds or requests.
    next: u64,
    /// How many syncs of the trace have passed.
    synced: usize,
    commands: Vec<Command>,
}

impl<'a> Flusher<'a> {
    pub(super) fn new(requests: &'a Requests, options: &Options, capacity: u64) -> Self {
        let rule = options.write_back;
        let dirty_max = rule.dirty_max.map_or(u64::MAX, |share| (capacity as f64 * share) as u64);
        let next = match rule.every {
            Some(Period::Time(period) | Period::Requests(period)) => period,
            None => u64::MAX,
        };
        Self { requests, rule, dirty_max, next, synced: 0, commands: Vec::new() }
    }

    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.rule.is_active()
    }

    /// Writes the pages that are due before the request at `position`.
    pub(super) fn before<E: Eviction>(
        &mut self,
        position: usize,
        cache: &mut Cache<E>,
        ledger: &mut Ledger<'_>,
    ) {
        if self.rule.on_sync {
            self.sync(position, cache, ledger);
        }
        if ledger.dirty_weight() > self.dirty_max || self.is_time(position) {
            self.flush(cache, ledger, |_| true);
        }
    }

    fn is_time(&mut self, position: usize) -> bool {
        let (now, period) = match self.rule.every {
            Some(Period::Requests(period)) => (position as u64, period),
            Some(Period::Time(period)) if position < self.requests.len() => {
                (self.requests.time(position), period)
            }
            _ => return false,
        };
        if now < self.next {
            return false;
        }
        self.next = now - now % period + period;
        true
    }

    fn sync<E: Eviction>(
        &mut self,
        position: usize,
        cache: &mut Cache<E>,
        ledger: &mut Ledger<'_>,
    ) {
        let requests = self.requests;
        while let Some(sync) = requests.syncs().get(self.synced) {
            if sync.position > position as u64 {
                return;
            }
            self.synced += 1;
            self.flush(cache, ledger, |id| sync.keys.contains(&requests.key(id)));
        }
    }

    fn flush<E: Eviction>(
        &mut self,
        cache: &mut Cache<E>,
        ledger: &mut Ledger<'_>,
        chosen: impl FnMut(Id) -> bool,
    ) {
        cache.flush(chosen, &mut self.commands);
        let written = |command: &Command| match command {
            Command::WriteBack(id) => Some(*id),
            Command::Drop(_) | Command::Fetch(_) => None,
        };
        let mut ids: Vec<Id> = self.commands.iter().filter_map(written).collect();
        self.commands.clear();
        ids.sort_by_key(|&id| self.requests.key(id));
        for id in ids {
            ledger.flushed(id);
            cache.written(id, &mut self.commands);
        }
        debug_assert!(self.commands.is_empty(), "what is flushed stays");
    }
}
