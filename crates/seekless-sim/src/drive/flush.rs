//! Writes back dirty pages that stay in the cache, by the [`WriteBack`] rule. Pages that are due
//! together are written in the order of their keys.

use super::ledger::Ledger;
use crate::case::Options;
use crate::requests::Requests;
use crate::write_back::{Alarm, WriteBack};
use seekless_policy::cache::page_keys;
use seekless_policy::cache::write_back::{DirtyPages, FlushRule};
use seekless_policy::cache::{Cache, Command, Config};
use seekless_policy::eviction::{Eviction, Id};
use std::ops::Range;

pub(super) struct Flusher<'a> {
    requests: &'a Requests,
    rule: WriteBack,
    flush: FlushRule,
    /// The dirty pages by age, if the rule asks for that.
    dirty: DirtyPages,
    /// The configuration while the cache is not made smaller.
    full: Config,
    shrunk: bool,
    /// When all dirty pages are written next, and when the flusher wakes next.
    every: Alarm,
    wake: Alarm,
    /// How many syncs of the trace have passed.
    synced: usize,
    chosen: Vec<Id>,
    commands: Vec<Command>,
}

impl<'a> Flusher<'a> {
    pub(super) fn new(requests: &'a Requests, options: &Options, full: Config) -> Self {
        let rule = options.write_back;
        let flush = rule.flush_rule();
        Self {
            requests,
            rule,
            flush,
            dirty: DirtyPages::default(),
            full,
            shrunk: false,
            every: Alarm::new(rule.every),
            wake: Alarm::new(rule.wakes()),
            synced: 0,
            chosen: Vec::new(),
            commands: Vec::new(),
        }
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
        let now = self.now(position);
        if let Some(now) = now {
            self.shrink(now, cache, ledger);
        }
        let dirty_max = self.rule.dirty_max.map(|share| share_of(share, cache));
        let too_many = dirty_max.is_some_and(|most| ledger.dirty_weight() > most);
        if too_many || now.is_some_and(|now| self.every.rings(now)) {
            self.flush(cache, ledger, |_| true);
        }
        let Some(now) = now else { return };
        let awake = self.rule.wakes().is_none() || self.wake.rings(now);
        if self.rule.chooses() && awake {
            let file = |key| file_of(self.requests, key);
            self.dirty.wake(&self.flush, now, cache, file, &mut self.chosen);
            self.write_chosen(cache, ledger);
        }
    }

    /// A write at `position` has made page `id` dirty; it may have to wait for others.
    pub(super) fn soiled<E: Eviction>(
        &mut self,
        position: usize,
        id: Id,
        cache: &mut Cache<E>,
        ledger: &mut Ledger<'_>,
    ) {
        if !self.rule.chooses() {
            return;
        }
        let now = self.now(position).unwrap_or(0);
        self.dirty.soiled(id, self.requests.key(id), now, cache);
        let file = |key| file_of(self.requests, key);
        if self.dirty.hold_up(&self.flush, cache, file, &mut self.chosen) {
            ledger.held_up();
            self.write_chosen(cache, ledger);
        }
    }

    /// The rule's clock; `None` behind the last request, where a clock of times has stopped.
    fn now(&self, position: usize) -> Option<u64> {
        match self.rule.needs_times() {
            true => (position < self.requests.len()).then(|| self.requests.time(position)),
            false => Some(position as u64),
        }
    }

    /// Gives the cache the capacity that it has at this time.
    fn shrink<E: Eviction>(&mut self, now: u64, cache: &mut Cache<E>, ledger: &mut Ledger<'_>) {
        let Some(rule) = self.rule.shrink else { return };
        let within = (rule.from.count()..rule.until.count()).contains(&now);
        if within == self.shrunk {
            return;
        }
        self.shrunk = within;
        let part = |whole: u64| (whole as f64 * rule.share) as u64;
        let Config { capacity, bypass_above } = self.full;
        let small = Config { capacity: part(capacity), bypass_above: bypass_above.map(part) };
        cache.set_config(if within { small } else { self.full }, ledger);
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
        self.write(cache, ledger);
    }

    fn write_chosen<E: Eviction>(&mut self, cache: &mut Cache<E>, ledger: &mut Ledger<'_>) {
        cache.flush_each(&self.chosen, &mut self.commands);
        self.chosen.clear();
        self.write(cache, ledger);
    }

    /// Writes what has begun, in the order of keys.
    fn write<E: Eviction>(&mut self, cache: &mut Cache<E>, ledger: &mut Ledger<'_>) {
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

fn share_of<E: Eviction>(share: f64, cache: &Cache<E>) -> u64 {
    (cache.config().capacity as f64 * share) as u64
}

/// The keys of the file that a page belongs to. Requests without places are of one file.
fn file_of(requests: &Requests, key: u64) -> Range<u64> {
    requests.space().map_or(0..u64::MAX, |_| page_keys::of_file(page_keys::place(key).0))
}
