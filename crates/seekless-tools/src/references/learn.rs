//! How likely a named file is to be loaded, learned from runs.

use super::mentions::{Class, Mentions};
use super::names::{How, Way};
use seekless_policy::eviction::Id;
use seekless_policy::foresight::references::References;
use std::collections::{HashMap, HashSet};

/// A reference that is less likely than this to come true is left out, of 1: it must be likelier
/// than what was never observed. Where requests are dear and run beside others, as those to object
/// storage do, unlikely ones pay, too.
pub const CHANCE_MIN: f64 = 0.125;
/// How many observations of a coarser class count as much as those of a class itself.
const BELIEF: f64 = 4.0;
/// The rate of what was never observed.
const UNKNOWN: f64 = 0.1;
/// A file that names more is no step between two others.
const STEP_NAMES_MAX: usize = 64;
/// References of one file, at most.
const REFERENCES_OF_FILE_MAX: usize = 4_096;
const NOT_LOADED: u32 = u32::MAX;

/// The likely references of `mentions` in `files` files, from and to files that not all of `runs`
/// have: what all have comes anyway. Each run is the files it has loaded, in order.
///
/// Where a file that no run has names one that a run has, and this names a third that no run has,
/// the first counts as naming the third: the file between was loaded long ago, or will be.
#[must_use]
pub fn learn(mentions: &Mentions, files: u32, runs: &[&[Id]]) -> References {
    let all = Recorded::new(files, runs);
    let mut rates = Rates::default();
    for run in runs {
        observe(mentions, &all, run, &mut rates);
    }
    let having = |file: Id| all.having(file);
    let mut likely = Vec::new();
    for from in 0..files {
        let first = likely.len();
        each(mentions, &having, from, &mut |to, kind| {
            let chance = rates.of(kind);
            if chance >= CHANCE_MIN && likely.len() - first < REFERENCES_OF_FILE_MAX {
                likely.push((from, to, (chance * 255.0).round() as u8));
            }
        });
    }
    References::new(files, likely)
}

/// How many of some runs have a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Having {
    None,
    Some,
    All,
}

impl Having {
    /// From how many of the runs have the file.
    fn of(having: u32, runs: u32) -> Self {
        match having {
            0 => Self::None,
            all if all == runs => Self::All,
            _ => Self::Some,
        }
    }
}

/// How many runs there are, and how many of them have each file.
struct Recorded {
    runs: u32,
    having: Vec<u32>,
}

impl Recorded {
    fn new(files: u32, runs: &[&[Id]]) -> Self {
        let mut having = vec![0; files as usize];
        let mut seen = vec![0; files as usize];
        for (number, run) in (1..).zip(runs) {
            for &file in *run {
                let Some(seen) = seen.get_mut(file as usize) else { continue };
                having[file as usize] += u32::from(std::mem::replace(seen, number) != number);
            }
        }
        Self { runs: runs.len() as u32, having }
    }

    fn having(&self, file: Id) -> Having {
        Having::of(self.count(file), self.runs)
    }

    /// The same without one of the runs, which has the file or not.
    fn having_without(&self, file: Id, has: bool) -> Having {
        Having::of(self.count(file) - u32::from(has), self.runs - 1)
    }

    fn count(&self, file: Id) -> u32 {
        self.having.get(file as usize).copied().unwrap_or(0)
    }
}

/// What a mention is judged by.
#[derive(Clone, Copy)]
enum Kind {
    /// A mention of one file in another, by how many runs have each.
    Direct(Having, Having, Class),
    /// Over a file between.
    Step(Class, Class),
}

/// Calls `take` with the files that `from` names, itself or over another. `having` says how many
/// runs have a file; there are none from or to files that all have.
fn each(
    mentions: &Mentions,
    having: &impl Fn(Id) -> Having,
    from: Id,
    take: &mut impl FnMut(Id, Kind),
) {
    let source = having(from);
    if source == Having::All {
        return;
    }
    let mut seen = HashSet::new();
    for (to, class) in mentions.of(from) {
        let target = having(to);
        if let Some(class) = mentions.class(class).filter(|_| target != Having::All) {
            take(to, Kind::Direct(source, target, class));
            seen.insert(to);
        }
    }
    if source != Having::None {
        return;
    }
    for (step, first) in mentions.of(from) {
        if having(step) == Having::None || mentions.of(step).count() > STEP_NAMES_MAX {
            continue;
        }
        for (to, second) in mentions.of(step) {
            if to == from || having(to) != Having::None || !seen.insert(to) {
                continue;
            }
            if let (Some(first), Some(second)) = (mentions.class(first), mentions.class(second)) {
                take(to, Kind::Step(first, second));
            }
        }
    }
}

/// Counts which mentions came true in a run, which is one of `all`, as the others let expect.
fn observe(mentions: &Mentions, all: &Recorded, run: &[Id], rates: &mut Rates) {
    let mut loaded_at = vec![NOT_LOADED; all.having.len()];
    for (at, &file) in run.iter().enumerate().rev() {
        if let Some(loaded) = loaded_at.get_mut(file as usize) {
            *loaded = at as u32;
        }
    }
    let when = |file: Id| loaded_at.get(file as usize).copied().unwrap_or(NOT_LOADED);
    let having = |file: Id| all.having_without(file, when(file) != NOT_LOADED);
    for (at, &from) in run.iter().enumerate() {
        if when(from) != at as u32 {
            continue;
        }
        each(mentions, &having, from, &mut |to, kind| {
            let then = when(to);
            if then > at as u32 {
                rates.add(kind, then != NOT_LOADED);
            }
        });
    }
}

/// A class, less and less exactly.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Exact(Having, Having, Class),
    Kinds(Having, Having, Way, u16, u16),
    Way(Having, Having, Way),
    Steps(How, Way, u16, u16, u16),
    StepKinds(u16, u16, u16),
    Step(Way, Way),
}

/// The classes of a mention, the coarsest first.
fn keys(kind: Kind) -> [Key; 3] {
    match kind {
        Kind::Direct(from, to, class) => [
            Key::Way(from, to, class.how.way),
            Key::Kinds(from, to, class.how.way, class.from, class.to),
            Key::Exact(from, to, class),
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

/// The rate of a class with `hits` of `count` come true, if similar classes have the rate `like`.
pub(super) fn rate(hits: u32, count: u32, like: f64) -> f64 {
    (f64::from(hits) + BELIEF * like) / (f64::from(count) + BELIEF)
}
