//! The flusher against a naive model: a list of dirty pages with the time at which each became
//! dirty, sorted anew for each question.

use super::*;
use crate::cache::{Command, Config};
use crate::eviction::{Lru, Request, Use};
use proptest::prelude::*;
use std::collections::BTreeMap as Map;

const PAGES: u64 = 8;
/// Files of five pages.
const FILE: u64 = 5;

fn file(key: u64) -> Range<u64> {
    let start = key - key % FILE;
    start..start + FILE
}

fn written(commands: &mut Vec<Command>) -> Vec<Id> {
    let id = |command| match command {
        Command::WriteBack(id) => Some(id),
        _ => None,
    };
    commands.drain(..).filter_map(id).collect()
}

/// The real thing: an LRU cache whose pages are their own keys.
struct Real {
    cache: Cache<Lru>,
    dirty: DirtyPages,
    commands: Vec<Command>,
}

impl Real {
    fn new() -> Self {
        let cache = Cache::new(Lru::new(PAGES), Config::pages(PAGES)).unwrap();
        let mut real = Self { cache, dirty: DirtyPages::default(), commands: Vec::new() };
        real.cache.grow(64);
        real
    }

    /// Writes a page; returns what is evicted.
    fn write(&mut self, id: Id, now: u64) -> Vec<Id> {
        let request = Request { kind: Use::Write, ..Request::file(id, 1) };
        let was_dirty = self.cache.is_dirty(id);
        self.cache.step(&request, &mut self.commands);
        if !was_dirty {
            self.dirty.soiled(id, u64::from(id), now, &self.cache);
        }
        self.ended()
    }

    fn ended(&mut self) -> Vec<Id> {
        let ids = written(&mut self.commands);
        ids.iter().for_each(|&id| self.cache.written(id, &mut self.commands));
        self.commands.clear();
        ids
    }

    fn flush(&mut self, ids: &[Id]) {
        self.cache.flush_each(ids, &mut self.commands);
        let mut begun = self.ended();
        begun.sort_unstable();
        let mut asked = ids.to_vec();
        asked.sort_unstable();
        assert_eq!(begun, asked, "what is chosen is dirty, and chosen once");
    }
}

/// When each dirty page became dirty, and in which order.
#[derive(Default)]
struct Naive {
    dirty: Map<Id, (u64, u64)>,
    turns: u64,
}

impl Naive {
    fn take(&mut self, cluster: Cluster) -> Vec<Id> {
        let Some((&oldest, _)) = self.dirty.iter().min_by_key(|(_, when)| **when) else {
            return Vec::new();
        };
        let together = |id: Id| {
            let (one, other) = (u64::from(oldest), u64::from(id));
            match cluster {
                Cluster::None => one == other,
                Cluster::File => one / FILE == other / FILE,
                Cluster::Pages(count) => one / FILE == other / FILE && one / count == other / count,
            }
        };
        let taken: Vec<Id> = self.dirty.keys().copied().filter(|&id| together(id)).collect();
        taken.iter().for_each(|id| _ = self.dirty.remove(id));
        taken
    }

    fn wake(&mut self, rule: &FlushRule, now: u64) -> Vec<Id> {
        let allowed = rule.background.map_or(u64::MAX, |share| (PAGES as f64 * share) as u64);
        let mut all = Vec::new();
        loop {
            let oldest = self.dirty.values().min().map(|when| when.0);
            let expired = rule.expire.is_some_and(|age| oldest.is_some_and(|at| at + age <= now));
            if !expired && self.dirty.len() as u64 <= allowed {
                return all;
            }
            all.extend(self.take(rule.cluster));
        }
    }

    fn hold_up(&mut self, rule: &FlushRule) -> Option<Vec<Id>> {
        let limit = (PAGES as f64 * rule.limit?) as u64;
        let background = rule.background.map_or(limit, |share| (PAGES as f64 * share) as u64);
        let mut all = Vec::new();
        if self.dirty.len() as u64 <= limit {
            return None;
        }
        while self.dirty.len() as u64 > u64::midpoint(background.min(limit), limit) {
            all.extend(self.take(rule.cluster));
        }
        Some(all)
    }
}

fn sorted(mut ids: Vec<Id>) -> Vec<Id> {
    ids.sort_unstable();
    ids
}

proptest! {
    #[test]
    fn as_a_list_that_is_sorted_anew(
        steps in prop::collection::vec((0_u32..20, 0_u64..4, any::<bool>()), 1..300),
        expire in prop::option::of(0_u64..12),
        background in prop::option::of(0.0..1.0),
        limit in prop::option::of(0.0..1.0),
        cluster in prop::sample::select(vec![Cluster::None, Cluster::Pages(2), Cluster::Pages(4), Cluster::File]),
    ) {
        let rule = FlushRule { expire, background, limit, cluster };
        let (mut real, mut naive, mut now) = (Real::new(), Naive::default(), 0);
        for (id, later, wakes) in steps {
            now += later;
            if wakes {
                let mut due = Vec::new();
                real.dirty.wake(&rule, now, &real.cache, file, &mut due);
                real.flush(&due);
                prop_assert_eq!(sorted(due), sorted(naive.wake(&rule, now)));
            }
            for evicted in real.write(id, now) {
                naive.dirty.remove(&evicted);
            }
            naive.turns += 1;
            naive.dirty.entry(id).or_insert((now, naive.turns));
            let mut due = Vec::new();
            let held = real.dirty.hold_up(&rule, &real.cache, file, &mut due);
            real.flush(&due);
            let expected = naive.hold_up(&rule);
            prop_assert_eq!(held, expected.is_some());
            prop_assert_eq!(sorted(due), sorted(expected.unwrap_or_default()));
            prop_assert_eq!(real.cache.dirty(), naive.dirty.len() as u64);
        }
    }
}

#[test]
fn many_writes_of_one_page_take_no_memory() {
    let mut real = Real::new();
    for now in 0..100_000 {
        real.write(3, now);
        real.flush(&[3]);
    }
    assert!(real.dirty.order.len() < 3000, "{}", real.dirty.order.len());
}
