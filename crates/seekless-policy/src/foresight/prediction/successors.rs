//! A Markov model of order 1: what followed a file before. A file that nothing followed is taken to
//! be followed by its neighbours in the archive, which are its likeliest companions by name.

use super::CERTAIN;
use super::rates::{Bin, NEIGHBOURS, SHARES};
use crate::id::Id;
use std::collections::HashMap;
use std::sync::Arc;

/// Successors of a file that are counted.
const KEPT: usize = 3;

/// Files whose successors are counted: 2 MB.
const FILES_MAX: usize = 1 << 16;

/// How far a chain of successors is followed.
const CHAIN: i32 = 8;

/// Counts are halved at this one.
const COUNT_MAX: u16 = 256;

#[derive(Clone, Copy, Debug, Default)]
struct Successor {
    id: Id,
    count: u16,
}

#[derive(Clone, Debug)]
pub(super) struct Successors {
    of: HashMap<Id, [Successor; KEPT]>,
    last: Option<Id>,
}

impl Successors {
    pub(super) fn new(runs: &[Arc<[Id]>]) -> Self {
        let mut successors = Self { of: HashMap::new(), last: None };
        for run in runs {
            run.iter().for_each(|&id| successors.loaded(id));
            successors.last = None;
        }
        successors
    }

    pub(super) fn loaded(&mut self, id: Id) {
        let Some(last) = self.last.replace(id) else { return };
        if last == id || (self.of.len() >= FILES_MAX && !self.of.contains_key(&last)) {
            return;
        }
        let kept = self.of.entry(last).or_default();
        let at = match kept.iter().position(|one| one.count > 0 && one.id == id) {
            Some(at) => at,
            None => {
                // The rarest makes room, but only once it has been outvoted.
                let rarest = &mut kept[KEPT - 1];
                rarest.count = rarest.count.saturating_sub(1);
                if rarest.count > 0 {
                    return;
                }
                *rarest = Successor { id, count: 0 };
                KEPT - 1
            }
        };
        kept[at].count += 1;
        if kept[at].count >= COUNT_MAX {
            kept.iter_mut().for_each(|one| one.count = one.count.div_ceil(2));
        }
        kept.sort_by_key(|one| std::cmp::Reverse(one.count)); // stable
    }

    /// Calls `add` with the files that may follow the last: file, kind, distance and chance.
    pub(super) fn guesses(&self, entries: u32, add: &mut impl FnMut(Id, Bin, i32, u32)) {
        let Some(last) = self.last else { return };
        if !self.of.contains_key(&last) {
            return neighbours(last, entries, add);
        }
        let (mut id, mut chance) = (last, CERTAIN);
        for distance in 0..CHAIN {
            let Some(kept) = self.of.get(&id) else { return };
            let all: u32 = kept.iter().map(|one| u32::from(one.count)).sum();
            for one in kept.iter().filter(|one| one.count > 0) {
                let share = u32::from(one.count) * SHARES as u32 / (all + 1);
                add(one.id, Bin::successor(share as usize), distance, chance);
            }
            chance = chance * u32::from(kept[0].count) / all.max(1);
            id = kept[0].id;
        }
    }
}

fn neighbours(last: Id, entries: u32, add: &mut impl FnMut(Id, Bin, i32, u32)) {
    let half = (NEIGHBOURS / 2) as u32;
    for step in 1..=half {
        let number = step as usize - 1;
        if let Some(after) = last.checked_add(step).filter(|&id| id < entries) {
            add(after, Bin::neighbour(number), step as i32, CERTAIN);
        }
        if let Some(before) = last.checked_sub(step) {
            add(before, Bin::neighbour(number + half as usize), step as i32, CERTAIN);
        }
    }
}
