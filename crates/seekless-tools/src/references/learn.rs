//! How likely a named file is to be loaded, learned from runs.

use super::mentions::{Class, Mentions};
use super::names::Way;
use seekless_policy::eviction::Id;
use seekless_policy::references::References;
use std::collections::HashMap;

/// A reference that is less likely than this to come true is left out, of 1.
pub const CHANCE_MIN: f64 = 0.3;
/// How many observations of a coarser class count as much as those of a class itself.
const BELIEF: f64 = 4.0;
/// The rate of what was never observed.
const UNKNOWN: f64 = 0.1;
const NOT_LOADED: u32 = u32::MAX;

/// How much files depend on which run has them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Had {
    ByNone,
    ByOne(u32),
    BySeveral,
}

/// The likely references of `mentions` in `files` files: from any file to files that none of `runs`
/// has. Each run is the files it has loaded, in order.
#[must_use]
pub fn learn(mentions: &Mentions, files: u32, runs: &[&[Id]]) -> References {
    let had = had(files, runs);
    let mut rates = Rates::default();
    for (number, run) in runs.iter().enumerate() {
        observe(mentions, &had, files, number as u32, run, runs.len() == 1, &mut rates);
    }
    let mut all = Vec::new();
    for from in 0..files {
        let is_known = had[from as usize] != Had::ByNone;
        for (to, class) in mentions.of(from) {
            if had.get(to as usize) != Some(&Had::ByNone) {
                continue;
            }
            let Some(class) = mentions.class(class) else { continue };
            let chance = rates.of(class, is_known);
            if chance >= CHANCE_MIN {
                all.push((from, to, (chance * 255.0).round() as u8));
            }
        }
    }
    References::new(files, all)
}

fn had(files: u32, runs: &[&[Id]]) -> Vec<Had> {
    let mut had = vec![Had::ByNone; files as usize];
    for (number, run) in runs.iter().enumerate() {
        let number = number as u32;
        for &file in *run {
            let Some(had) = had.get_mut(file as usize) else { continue };
            *had = match *had {
                Had::ByNone => Had::ByOne(number),
                Had::ByOne(other) if other == number => Had::ByOne(number),
                _ => Had::BySeveral,
            };
        }
    }
    had
}

/// Counts which mentions came true in a run, of files that the others do not have.
fn observe(
    mentions: &Mentions,
    had: &[Had],
    files: u32,
    number: u32,
    run: &[Id],
    is_only: bool,
    rates: &mut Rates,
) {
    let mut loaded_at = vec![NOT_LOADED; files as usize];
    for (at, &file) in run.iter().enumerate().rev() {
        if let Some(loaded) = loaded_at.get_mut(file as usize) {
            *loaded = at as u32;
        }
    }
    let is_fresh = |file: Id| {
        matches!(had[file as usize], Had::ByNone) || had[file as usize] == Had::ByOne(number)
    };
    for (at, &from) in run.iter().enumerate() {
        if from >= files || loaded_at[from as usize] != at as u32 {
            continue;
        }
        for (to, class) in mentions.of(from) {
            let then = loaded_at[to as usize];
            if !is_fresh(to) || then < at as u32 {
                continue;
            }
            let Some(class) = mentions.class(class) else { continue };
            rates.add(class, !is_only && !is_fresh(from), then != NOT_LOADED);
        }
    }
}

/// A class, less and less exactly.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Exact(bool, Class),
    Kinds(bool, Way, u16, u16),
    Way(bool, Way),
}

#[derive(Default)]
struct Rates(HashMap<Key, (u32, u32)>);

fn keys(class: Class, is_known: bool) -> [Key; 3] {
    let way = class.how.way;
    [
        Key::Way(is_known, way),
        Key::Kinds(is_known, way, class.from, class.to),
        Key::Exact(is_known, class),
    ]
}

impl Rates {
    fn add(&mut self, class: Class, is_known: bool, came: bool) {
        for key in keys(class, is_known) {
            let (count, hits) = self.0.entry(key).or_default();
            *count += 1;
            *hits += u32::from(came);
        }
    }

    /// The rate of a class, of 1; where little was observed, nearer to that of those like it.
    fn of(&self, class: Class, is_known: bool) -> f64 {
        keys(class, is_known).iter().fold(UNKNOWN, |rate, key| {
            let (count, hits) = self.0.get(key).copied().unwrap_or_default();
            (f64::from(hits) + BELIEF * rate) / (f64::from(count) + BELIEF)
        })
    }
}
