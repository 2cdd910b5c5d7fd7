//! LHD: what earns the fewest hits for the room that it takes and the time that it stays leaves.

mod classes;

use super::resident::{Resident, Rule};
use super::{Id, Pool, Request};
use crate::lehmer64::{Lehmer64, Limit};
use crate::sample::Rows;
use classes::{AGES, Classes};

/// Files looked at for one victim; the program has fewer for its first [`EARLY`] updates.
const SAMPLE: usize = 32;
const SAMPLE_EARLY: usize = 8;
const EARLY: u32 = 50;
/// Newcomers that look like victims, and are looked at too.
const SUSPECTS: usize = 8;
/// One use in this many makes an explorer, while the budget lasts.
const EXPLORE: u64 = 32;
/// The share of the capacity for explorers.
const EXPLORERS: f32 = 0.01;
/// Hits and admissions between two updates.
const UPDATE: u64 = 1 << 20;
/// What is left of an average at each step.
const DECAY: f32 = 0.9;
/// No id.
const NOBODY: Id = Id::MAX;

/// A resident file. Numbers of 64 bits are in halves, so that it takes 20 bytes.
#[derive(Clone, Copy, Debug)]
struct File {
    used: [u32; 2],
    weight: [u32; 2],
    /// Its age at the last hit.
    hit_age: u16,
    class: u8,
    explorer: bool,
}

impl File {
    #[inline]
    fn weight(&self) -> u64 {
        join(self.weight)
    }
}

#[inline]
fn join([high, low]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[inline]
fn split(number: u64) -> [u32; 2] {
    [(number >> 32) as u32, number as u32]
}

/// Least hit density (Beckmann, Chen and Cidon, "LHD: improving cache hit rate by maximizing hit
/// density", NSDI 2018).
///
/// - **Idea:** the hit density of a file is its chance of a hit, divided by its size and the time
///   that it will stay. Both are learned from how files of its class fared beyond its age. A class
///   is a range of the ages at which the last two hits came. The least of a sample leaves.
/// - **Ties:** the first of the sample leaves.
/// - **Cost per request:** a hit O(1) and one cache line, a miss up to 40 looks. Each 2^20 hits and
///   admissions the densities are computed anew.
/// - **Memory:** 4 bytes an id and 24 a resident file, and a table for all, which grows with the
///   ages up to 3.7 MB. No ghosts.
/// - **Shines** on mixes of scans, loops and popular files of many sizes. **Fails** on short
///   traces: for the first million requests it is nearly GDSF, and the sample leaves chance in it.
///
/// As in the authors' program, which libCacheSim has: 32 files a sample (8 until 50 updates), the
/// last 8 newcomers that looked like victims, explorers on 1 % of the capacity, 20,000 ages whose
/// unit follows the number of files. The same draws as libCacheSim, and the same rounding. A weight
/// of 0 counts as 1. [`Use::FirstUse`](super::Use::FirstUse) is no use. Cost is ignored. A hit
/// keeps the weight that was admitted.
pub type Lhd = Resident<LhdRule>;

/// The rule of [`Lhd`].
#[derive(Clone, Debug)]
pub struct LhdRule {
    files: Rows<File>,
    classes: Classes,
    /// Hits and admissions so far.
    now: u64,
    /// How many of them there are until the next update.
    until_update: u64,
    updates: u32,
    suspects: [Id; SUSPECTS],
    suspected: usize,
    /// Average density of victims.
    victims: f32,
    /// Weight that may still become explorers. It may fall below 0.
    budget: i64,
    draws: Lehmer64,
    /// The number of files at the last draw of a sample.
    drawn_from: Limit,
}

impl Default for LhdRule {
    fn default() -> Self {
        Self {
            files: Rows::new(),
            classes: Classes::new(),
            now: 0,
            until_update: UPDATE,
            updates: 0,
            suspects: [NOBODY; SUSPECTS],
            suspected: 0,
            victims: 0.0,
            budget: 0,
            draws: Lehmer64::default(),
            drawn_from: Limit::new(1),
        }
    }
}

impl Lhd {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn lhd(capacity: u64) -> Self {
        let budget = (capacity as f32 * EXPLORERS) as i64;
        Self::with_rule(capacity, LhdRule { budget, ..LhdRule::default() })
    }
}

impl LhdRule {
    #[inline]
    fn density(&self, file: &File) -> f32 {
        let age = self.classes.age(self.now - join(file.used));
        if age == AGES - 1 {
            return f32::MIN;
        }
        let density = self.classes.density(file.class, age) / file.weight().max(1) as f32;
        if file.explorer { density + 1.0 } else { density }
    }

    /// The row of the least density among a sample and the suspects.
    fn least(&mut self) -> Option<usize> {
        let resident = self.files.all().len();
        if resident == 0 {
            return None;
        }
        if self.drawn_from.number() != resident as u64 {
            self.drawn_from = Limit::new(resident as u64);
        }
        let sample = if self.updates > EARLY { SAMPLE } else { SAMPLE_EARLY };
        let (mut least, mut victim) = (f32::MAX, 0);
        for _ in 0..sample {
            let at = self.draws.below_fast(&self.drawn_from) as usize;
            let density = self.density(&self.files.all()[at]);
            if density < least {
                (least, victim) = (density, at);
            }
        }
        for suspect in self.suspects {
            let Some(at) = self.files.position(suspect) else { continue };
            let density = self.density(&self.files.all()[at]);
            if density < least {
                (least, victim) = (density, at);
            }
        }
        self.victims = DECAY * self.victims + (1.0 - DECAY) * least;
        Some(victim)
    }

    /// Gives the room of an explorer back.
    #[inline]
    fn end_exploring(&mut self, file: &File) {
        if file.explorer {
            self.budget = (self.budget as f32 + file.weight() as f32) as i64;
        }
    }

    /// Decides whether a file of `weight` that is used now becomes an explorer; also whether it was
    /// drawn.
    #[inline]
    fn explore(&mut self, weight: u64) -> (bool, bool) {
        let drawn = self.draws.below(EXPLORE) == 0;
        let explorer = drawn && self.budget > 0 && self.updates < EARLY;
        if explorer {
            self.budget = (self.budget as f32 - weight as f32) as i64;
        }
        (explorer, drawn)
    }

    /// A hit or an admission is over.
    #[inline]
    fn advance(&mut self) {
        self.now += 1;
        self.classes.reach(self.now);
        self.until_update -= 1;
        if self.until_update == 0 {
            self.until_update = UPDATE;
            self.classes.update(self.updates, self.files.all().len());
            self.updates += 1;
        }
    }
}

impl Rule for LhdRule {
    fn grow(&mut self, ids: u32) {
        self.files.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.files.contains(id)
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        let Some(&file) = self.files.get(request.id) else { return };
        let age = self.classes.age(self.now - join(file.used));
        self.classes.count_hit(file.class, age);
        self.end_exploring(&file);
        let (explorer, _) = self.explore(file.weight());
        let class = Classes::of(usize::from(file.hit_age) + age);
        let used = split(self.now);
        if let Some(row) = self.files.get_mut(request.id) {
            *row = File { used, weight: file.weight, hit_age: age as u16, class, explorer };
        }
        self.advance();
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        let (explorer, drawn) = self.explore(request.weight);
        let weight = split(request.weight);
        let class = Classes::of(AGES);
        let file = File { used: split(self.now), weight, hit_age: 0, class, explorer };
        self.files.insert(request.id, file);
        if !drawn && self.density(&file) < self.victims {
            self.suspects[self.suspected % SUSPECTS] = request.id;
            self.suspected += 1;
        }
        self.advance();
    }

    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let at = self.least()?;
        let file = self.files.all()[at];
        let age = self.classes.age(self.now - join(file.used));
        self.classes.count_eviction(file.class, age);
        self.end_exploring(&file);
        Some(self.files.ids()[at])
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.files.remove(id);
    }

    fn reweigh(&mut self, request: &Request) {
        if let Some(file) = self.files.get_mut(request.id) {
            file.weight = split(request.weight);
        }
    }

    #[inline]
    fn weight(&self, id: Id) -> Option<u64> {
        Some(self.files.get(id).map_or(0, File::weight))
    }
}
