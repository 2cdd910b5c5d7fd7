//! Which dirty pages are written while they stay in the cache, as a system's flusher decides it
//! (Linux: `dirty_expire_centisecs`, `dirty_background_ratio`, `dirty_ratio`).
//!
//! The oldest dirty page is always the next one to be written. Its cluster goes with it, so that
//! the device gets neighbours together. Three things make a page due:
//!
//! - its **age**, at the next wake of the flusher;
//! - the **background** limit: at a wake, the oldest are written until no more are dirty than that;
//! - the **hard** limit: a write that exceeds it is held up until the dirty pages are down to the
//!   middle between the two limits, as in Linux's `balance_dirty_pages`.
//!
//! Memory: 16 bytes an id, and about 64 bytes a dirty page. Each page is looked at once each time
//! it becomes dirty.

use super::Cache;
use crate::arrays::column;
use crate::eviction::{Eviction, Id};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// When dirty pages are written. Times are of the owner's clock, shares of the cache's capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlushRule {
    /// A page that has been dirty for so long is written at the next wake.
    pub expire: Option<u64>,
    /// The share of dirty pages to which a wake reduces them, 0 to 1.
    pub background: Option<f64>,
    /// The share of dirty pages above which a writer is held up, 0 to 1.
    pub limit: Option<f64>,
    /// What is written with a page.
    pub cluster: Cluster,
}

impl FlushRule {
    /// The defaults of Linux (`/proc/sys/vm`), with times in nanoseconds: pages expire after 30 s,
    /// a tenth of the capacity may be dirty before the flusher writes, a fifth before writers are
    /// held up, and a file's pages are written together.
    pub const LINUX: Self = Self {
        expire: Some(30_000_000_000),
        background: Some(0.1),
        limit: Some(0.2),
        cluster: Cluster::File,
    };
}

/// What is written together with a page that is due, if it is dirty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cluster {
    /// Nothing.
    #[default]
    None,
    /// The pages of the same file in an aligned group of this many.
    Pages(u64),
    /// All pages of the file.
    File,
}

/// The dirty pages, the oldest first, and by key.
#[derive(Debug, Default)]
pub struct DirtyPages {
    /// By id: how often it became dirty or was chosen. An older entry of `order` does not count.
    turns: Vec<u32>,
    /// By id: the name of the page that had it when it became dirty.
    keys: Vec<u64>,
    order: VecDeque<Entry>,
    by_key: BTreeMap<u64, Id>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    id: Id,
    turn: u32,
    key: u64,
    since: u64,
}

impl DirtyPages {
    /// Page `id`, whose stable name is `key`, has become dirty. Times must not fall.
    pub fn soiled<E: Eviction>(&mut self, id: Id, key: u64, now: u64, cache: &Cache<E>) {
        column::grow(&mut self.turns, id + 1, 0);
        column::grow(&mut self.keys, id + 1, 0);
        self.turns[id as usize] = self.turns[id as usize].wrapping_add(1);
        self.keys[id as usize] = key;
        self.order.push_back(Entry { id, turn: self.turns[id as usize], key, since: now });
        self.by_key.insert(key, id);
        // There are never many more stale entries than true ones: amortised O(1).
        if self.order.len() as u64 > 2 * cache.dirty() + 1024 {
            let turns = &self.turns;
            self.order.retain(|entry| is_current(turns, entry) && cache.is_dirty(entry.id));
            self.by_key.retain(|_, id| cache.is_dirty(*id));
        }
    }

    /// At a wake: appends the pages that are due to `out`. `file` gives the keys of the file that a
    /// key belongs to.
    pub fn wake<E: Eviction>(
        &mut self,
        rule: &FlushRule,
        now: u64,
        cache: &Cache<E>,
        file: impl Fn(u64) -> Range<u64>,
        out: &mut Vec<Id>,
    ) {
        let allowed = rule.background.map_or(u64::MAX, |share| pages(share, cache));
        let start = out.len();
        while let Some(oldest) = self.oldest(cache) {
            let chosen = (out.len() - start) as u64;
            let expired = rule.expire.is_some_and(|age| oldest.since.saturating_add(age) <= now);
            if !expired && cache.dirty() - chosen <= allowed {
                return;
            }
            self.choose(oldest, rule.cluster, cache, &file, out);
        }
    }

    /// After a write: if it exceeds the hard limit, appends the pages that its writer has to wait
    /// for to `out`, and says so.
    pub fn hold_up<E: Eviction>(
        &mut self,
        rule: &FlushRule,
        cache: &Cache<E>,
        file: impl Fn(u64) -> Range<u64>,
        out: &mut Vec<Id>,
    ) -> bool {
        let Some(limit) = rule.limit.map(|share| pages(share, cache)) else { return false };
        if cache.dirty() <= limit {
            return false;
        }
        let background = rule.background.map_or(limit, |share| pages(share, cache)).min(limit);
        let target = background.midpoint(limit);
        let start = out.len();
        while cache.dirty() - (out.len() - start) as u64 > target {
            let Some(oldest) = self.oldest(cache) else { break };
            self.choose(oldest, rule.cluster, cache, &file, out);
        }
        true
    }

    /// Takes the oldest dirty page out of the order.
    fn oldest<E: Eviction>(&mut self, cache: &Cache<E>) -> Option<Entry> {
        while let Some(entry) = self.order.front() {
            if is_current(&self.turns, entry) && cache.is_dirty(entry.id) {
                return Some(*entry);
            }
            self.order.pop_front();
        }
        None
    }

    /// Appends a page and its cluster. None of them is chosen again before it becomes dirty again.
    fn choose<E: Eviction>(
        &mut self,
        page: Entry,
        cluster: Cluster,
        cache: &Cache<E>,
        file: impl Fn(u64) -> Range<u64>,
        out: &mut Vec<Id>,
    ) {
        let keys = match cluster {
            Cluster::None => page.key..page.key.saturating_add(1),
            Cluster::File => file(page.key),
            Cluster::Pages(count) => {
                let (file, count) = (file(page.key), count.max(1));
                let start = page.key - page.key % count;
                start.max(file.start)..start.saturating_add(count).min(file.end)
            }
        };
        let near: Vec<(u64, Id)> = self.by_key.range(keys).map(|(key, id)| (*key, *id)).collect();
        for (key, id) in near {
            self.by_key.remove(&key);
            if cache.is_dirty(id) && self.keys[id as usize] == key {
                let turn = &mut self.turns[id as usize];
                *turn = turn.wrapping_add(1);
                out.push(id);
            }
        }
    }
}

fn is_current(turns: &[u32], entry: &Entry) -> bool {
    turns[entry.id as usize] == entry.turn
}

/// A share of the capacity, in whole pages.
fn pages<E: Eviction>(share: f64, cache: &Cache<E>) -> u64 {
    (cache.config().capacity as f64 * share) as u64
}

#[cfg(test)]
mod tests;
