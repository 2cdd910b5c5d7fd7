//! How likely a named file is to be loaded, learned from runs.

use super::mentions::{Class, Mentions};
use super::names::{How, Way};
use seekless_policy::eviction::Id;
use seekless_policy::references::References;
use std::collections::{HashMap, HashSet};

/// A reference that is less likely than this to come true is left out, of 1.
pub const CHANCE_MIN: f64 = 0.5;
/// How many observations of a coarser class count as much as those of a class itself.
const BELIEF: f64 = 4.0;
/// The rate of what was never observed.
const UNKNOWN: f64 = 0.1;
/// A file that names more is no step between two others.
const STEP_NAMES_MAX: usize = 64;
/// References of one file, at most.
const REFERENCES_OF_FILE_MAX: usize = 4_096;
const NOT_LOADED: u32 = u32::MAX;

/// The likely references of `mentions` in `files` files, from and to files that none of `runs` has.
/// Each run is the files it has loaded, in order.
///
/// Where a file names one that a run has, and this names a third, the first counts as naming the
/// third: the file between was loaded long ago, or will be.
#[must_use]
pub fn learn(mentions: &Mentions, files: u32, runs: &[&[Id]]) -> References {
    let had = Had::new(files, runs);
    let mut rates = Rates::default();
    for (number, run) in runs.iter().enumerate() {
        observe(mentions, &had.without(number as u32), run, &mut rates);
    }
    let fresh = had.without(NOBODY);
    let mut all = Vec::new();
    for from in (0..files).filter(|&from| fresh.is_fresh(from)) {
        let first = all.len();
        each(mentions, &fresh, from, &mut |to, kind| {
            let chance = rates.of(kind);
            if chance >= CHANCE_MIN && all.len() - first < REFERENCES_OF_FILE_MAX {
                all.push((from, to, (chance * 255.0).round() as u8));
            }
        });
    }
    References::new(files, all)
}

/// No run has this number.
const NOBODY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;

/// Which run has each file.
struct Had(Vec<u32>);

impl Had {
    fn new(files: u32, runs: &[&[Id]]) -> Self {
        let mut had = vec![NOBODY; files as usize];
        for (number, run) in runs.iter().enumerate() {
            for &file in *run {
                let Some(had) = had.get_mut(file as usize) else { continue };
                let is_first = *had == NOBODY || *had == number as u32;
                *had = if is_first { number as u32 } else { SEVERAL };
            }
        }
        Self(had)
    }

    fn without(&self, run: u32) -> Fresh<'_> {
        Fresh { had: &self.0, run }
    }
}

/// The files that no run has, but perhaps one.
struct Fresh<'a> {
    had: &'a [u32],
    run: u32,
}

impl Fresh<'_> {
    fn is_fresh(&self, file: Id) -> bool {
        self.had.get(file as usize).is_some_and(|&had| had == NOBODY || had == self.run)
    }
}

/// What a mention is judged by.
#[derive(Clone, Copy)]
enum Kind {
    Direct(Class),
    /// Over a file between.
    Step(Class, Class),
}

/// Calls `take` with the fresh files that a file names, itself or over another.
fn each(mentions: &Mentions, fresh: &Fresh<'_>, from: Id, take: &mut impl FnMut(Id, Kind)) {
    let mut seen = HashSet::new();
    for (to, class) in mentions.of(from) {
        if let Some(class) = mentions.class(class).filter(|_| fresh.is_fresh(to)) {
            take(to, Kind::Direct(class));
            seen.insert(to);
        }
    }
    for (step, first) in mentions.of(from) {
        if fresh.is_fresh(step) || mentions.of(step).count() > STEP_NAMES_MAX {
            continue;
        }
        for (to, second) in mentions.of(step) {
            if to == from || !fresh.is_fresh(to) || !seen.insert(to) {
                continue;
            }
            if let (Some(first), Some(second)) = (mentions.class(first), mentions.class(second)) {
                take(to, Kind::Step(first, second));
            }
        }
    }
}

/// Counts which mentions came true in a run, of files that the others do not have.
fn observe(mentions: &Mentions, fresh: &Fresh<'_>, run: &[Id], rates: &mut Rates) {
    let mut loaded_at = vec![NOT_LOADED; fresh.had.len()];
    for (at, &file) in run.iter().enumerate().rev() {
        if let Some(loaded) = loaded_at.get_mut(file as usize) {
            *loaded = at as u32;
        }
    }
    for (at, &from) in run.iter().enumerate() {
        if !fresh.is_fresh(from) || loaded_at[from as usize] != at as u32 {
            continue;
        }
        each(mentions, fresh, from, &mut |to, kind| {
            let then = loaded_at[to as usize];
            if then > at as u32 {
                rates.add(kind, then != NOT_LOADED);
            }
        });
    }
}

/// A class, less and less exactly.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Exact(Class),
    Kinds(Way, u16, u16),
    Way(Way),
    Steps(How, Way, u16, u16, u16),
    StepKinds(u16, u16, u16),
    Step(Way, Way),
}

/// The classes of a mention, the coarsest first.
fn keys(kind: Kind) -> [Key; 3] {
    match kind {
        Kind::Direct(class) => [
            Key::Way(class.how.way),
            Key::Kinds(class.how.way, class.from, class.to),
            Key::Exact(class),
        ],
        Kind::Step(first, second) => [
            Key::Step(first.how.way, second.how.way),
            Key::StepKinds(first.from, first.to, second.to),
            Key::Steps(first.how, second.how.way, first.from, first.to, second.to),
        ],
    }
}

/// How many mentions of each class there were, and how many came true.
#[derive(Default)]
struct Rates(HashMap<Key, (u32, u32)>);

impl Rates {
    fn add(&mut self, kind: Kind, came: bool) {
        for key in keys(kind) {
            let (count, hits) = self.0.entry(key).or_default();
            *count += 1;
            *hits += u32::from(came);
        }
    }

    /// The rate of a class, of 1; where little was observed, nearer to that of those like it.
    fn of(&self, kind: Kind) -> f64 {
        keys(kind).iter().fold(UNKNOWN, |rate, key| {
            let (count, hits) = self.0.get(key).copied().unwrap_or_default();
            self::rate(hits, count, rate)
        })
    }
}

/// The rate of a class of which `hits` of `count` came true, if those like it have the rate `like`.
pub(super) fn rate(hits: u32, count: u32, like: f64) -> f64 {
    (f64::from(hits) + BELIEF * like) / (f64::from(count) + BELIEF)
}
