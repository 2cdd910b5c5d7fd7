//! What files name in their content.
//!
//! A run that shows something new loads a file that no recorded run has: a map, a scene, a page. It
//! then loads what that file names, and what is named there: more files that no run has, and some
//! of those that the runs have for another map. How sure each reference is was learned from the
//! recorded runs; a chain of them is as sure as their product.

use super::CERTAIN;
use super::rates::Bin;
use crate::foresight::references::References;
use crate::id::Id;
use std::collections::{BinaryHeap, HashMap};

/// Chains that come true less often than once in eight times are not followed, of 255. Whether one
/// is worth a read is another question (`planner/predicted.rs`).
const CHAIN_MIN: u8 = 32;

/// Loads after which a file is needed that was just named.
const DISTANCE: u64 = 64;

/// Loads after which a file that was named is expected no longer. It may come late: a map of
/// 0 A.D. names its ground, which is loaded 3,000 files later, after all that stands on it.
const EXPECTED_FOR: u64 = 1 << 14;

/// Files that are expected at once.
const EXPECTED_MAX: usize = 1 << 14;

#[derive(Clone, Copy, Debug)]
struct Named {
    /// Of 255.
    chance: u8,
    /// At which load of the program.
    at: u64,
}

/// The references, and which files they let expect.
#[derive(Clone, Debug)]
pub(super) struct Referred {
    references: References,
    /// Whether a file is named by another, by file.
    is_named: Vec<bool>,
    expected: HashMap<Id, Named>,
    /// Files whose references are still to be followed, by their chances; empty between loads.
    open: BinaryHeap<(u8, Id)>,
}

impl Referred {
    /// For an archive of this many files.
    pub(super) fn new(references: References, files: usize) -> Self {
        let mut is_named = vec![false; files];
        references.all().for_each(|(_, to, _)| is_named[to as usize] = true);
        Self { references, is_named, expected: HashMap::new(), open: BinaryHeap::new() }
    }

    /// Whether a file names `id`.
    pub(super) fn is_named(&self, id: Id) -> bool {
        self.is_named[id as usize]
    }

    /// The program loads `id` as its load number `at`. True if it makes more files expected, of
    /// those that `may_come` accepts.
    pub(super) fn loaded(&mut self, id: Id, at: u64, may_come: impl Fn(Id) -> bool) -> bool {
        let Self { references, expected, open, .. } = self;
        expected.remove(&id);
        let mut is_more = false;
        // The surest first: so each file is followed once.
        open.push((u8::MAX, id));
        while let Some((sure, from)) = open.pop() {
            for (to, chance) in references.of(from) {
                let chance = (u32::from(sure) * u32::from(chance) / 255) as u8;
                if chance < CHAIN_MIN || to == id || !may_come(to) {
                    continue;
                }
                let known = expected.get(&to).map_or(0, |named| named.chance);
                if chance > known && (known > 0 || expected.len() < EXPECTED_MAX) {
                    expected.insert(to, Named { chance, at });
                    open.push((chance, to));
                    is_more = true;
                }
            }
        }
        is_more
    }

    /// Forgets what was named long before load `loads`, and what `is_done`.
    pub(super) fn forget(&mut self, loads: u64, is_done: impl Fn(Id) -> bool) {
        self.expected.retain(|&id, named| named.at + EXPECTED_FOR > loads && !is_done(id));
    }

    /// Calls `add` with each file that is expected: file, kind, distance and chance. `is_new` says
    /// of a file whether no run has it.
    pub(super) fn guesses(
        &self,
        loads: u64,
        is_new: impl Fn(Id) -> bool,
        add: &mut impl FnMut(Id, Bin, i32, u32),
    ) {
        for (&id, named) in &self.expected {
            let distance = DISTANCE as i64 - (loads - named.at) as i64;
            add(id, Bin::referred(named.chance, is_new(id)), distance as i32, CERTAIN);
        }
    }
}
