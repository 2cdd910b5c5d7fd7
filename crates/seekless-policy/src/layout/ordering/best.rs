//! Groups of files that the same runs load, laid out for what a device charges.

mod likely;
mod named;
mod sets;

use super::{Kin, Ordering};
use crate::eviction::Id;
use crate::foresight::references::References;
pub(crate) use likely::likelihoods;
use seekless_device::Costs;
use sets::Sets;
use std::collections::HashMap;

/// A file that takes this part of the time of a request to read is small: a request that reads
/// through many of them is cheaper than a request for each that is needed.
const SMALL_PART: u64 = 64;

/// Files that no run has loaded lie last, by name, if the next run is less likely than this to load
/// one of their kind.
const UNLIKELY: f64 = 0.001;

const NEVER: u32 = u32::MAX;

/// The groups of files that no run has loaded: those that a walk along references reaches, and the
/// others.
const REACHED: u32 = 0;
const NOT_REACHED: u32 = 1;

/// The order for a store that joins reads and reads around a demand.
///
/// - **Idea:** what one request brings should be used together. The *core*, which nearly every run
///   loads, lies in one piece, as the newest run loads it. The other files form groups: those that
///   the same set of runs loads. Sets that differ in one run are neighbours (a Gray code), so that
///   each run's groups come in few pieces. A new run will load a part of each group. So small files
///   lie apart from larger ones: a request can bring hundreds of them. Among larger files, those of
///   one folder stay together by name, the folder that is needed first before the others.
/// - **Files that no run has loaded** lie behind their like, folder by folder as the folders are
///   first needed. How likely the next run is to load one is estimated from how often the runs at
///   hand each loaded a file of that folder and kind that no other run did (Good and Turing).
///   Unlikely ones lie last, out of the way. Those that name one another come before these others,
///   each behind a file that names it: a run that loads one is likely to load the other.
/// - **Cost:** O(n log n) for n files, loads and references together.
/// - **Memory:** some 100 bytes a file while it works.
/// - **Where it fails:** for a single run it is that run's order. Where runs have nothing in
///   common, no order is better than another.
#[derive(Clone, Debug, Default)]
pub struct Best {
    /// Which files are alike by name. By default all are alike.
    pub kin: Kin,
    /// Small files are not laid apart from larger ones.
    pub any_size: bool,
    /// Which files name which, to place those that no run has loaded. Only what was learned from
    /// the runs that make the order belongs here. By default there are none.
    pub references: References,
}

impl Ordering for Best {
    fn order(&self, runs: &[&[Id]], bytes: &[u64], costs: &Costs) -> Vec<Id> {
        let used = Used::new(runs, &self.kin, bytes.len());
        let likely = likelihoods(&self.kin, &used.runs, runs.len());
        let sizes = Sizes::new(costs, self.any_size);
        let in_group = used.folders_in_groups(&self.kin);
        let mut keyed: Vec<(Key, Id)> = (0..bytes.len() as Id)
            .map(|id| {
                let size = sizes.of(bytes[id as usize]);
                (self.key(id, &used, &likely, &in_group, size), id)
            })
            .collect();
        keyed.sort_unstable();
        if !self.references.is_empty() {
            let order = keyed.iter().map(|&(_, id)| id);
            let places = named::places(&self.references, &used.runs, order);
            for (key, id) in &mut keyed {
                let place = places[*id as usize];
                if place != NEVER {
                    *key = (key.0.min(Zone::Unloaded), REACHED, place, 0, 0);
                }
            }
            keyed.sort_unstable();
        }
        keyed.into_iter().map(|(_, id)| id).collect()
    }
}

/// Where a file lies: zone, group, place of its folder there, its folder, its place there. Equal
/// ones lie by number.
type Key = (Zone, u32, u32, u32, u32);

/// The parts of the archive, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Zone {
    Core,
    Small,
    SmallUnloaded,
    Medium,
    Large,
    Unloaded,
    Unlikely,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Small,
    Medium,
    Large,
}

/// The bounds of sizes. Between files that take longer than a request, nothing can be joined.
struct Sizes {
    small_max: Option<u64>,
    medium_max: u64,
}

impl Sizes {
    fn new(costs: &Costs, any: bool) -> Self {
        let gap = costs.gap_bytes();
        match any {
            true => Sizes { small_max: None, medium_max: u64::MAX },
            false => Sizes { small_max: Some(gap / SMALL_PART), medium_max: gap },
        }
    }

    fn of(&self, bytes: u64) -> Size {
        match bytes {
            _ if self.small_max.is_some_and(|max| bytes <= max) => Size::Small,
            _ if bytes <= self.medium_max => Size::Medium,
            _ => Size::Large,
        }
    }
}

/// What the runs have used, and when first.
struct Used {
    /// How many runs load each file.
    runs: Vec<u32>,
    /// Whether nearly all runs load this many.
    all: u32,
    /// The place of each file among first loads, the newest run before older ones.
    first: Vec<u32>,
    /// The same for each folder: that of its first file.
    folder_first: Vec<u32>,
    /// The place of each file's set of runs among all sets.
    set: Vec<u32>,
}

impl Used {
    fn new(runs: &[&[Id]], kin: &Kin, files: usize) -> Self {
        let mut first = vec![NEVER; files];
        let mut folder_first = vec![NEVER; kin.folders()];
        let mut place = 0;
        for &id in runs.iter().rev().copied().flatten() {
            let Some(known) = first.get_mut(id as usize) else { continue };
            if *known == NEVER {
                *known = place;
                let folder = &mut folder_first[kin.folder(id) as usize];
                *folder = place.min(*folder);
                place += 1;
            }
        }
        let sets = Sets::new(runs, files);
        let all = (runs.len() * 9 / 10 + 1) as u32;
        Used { runs: sets.counts(), all, first, folder_first, set: sets.places() }
    }

    /// When a file of a set and a folder is first needed.
    fn folders_in_groups(&self, kin: &Kin) -> HashMap<(u32, u32), u32> {
        let mut first = HashMap::new();
        for (id, (&set, &place)) in (0..).zip(self.set.iter().zip(&self.first)) {
            if place != NEVER {
                let known = first.entry((set, kin.folder(id))).or_insert(place);
                *known = place.min(*known);
            }
        }
        first
    }
}

impl Best {
    fn key(
        &self,
        id: Id,
        used: &Used,
        likely: &[f64],
        in_group: &HashMap<(u32, u32), u32>,
        size: Size,
    ) -> Key {
        let (at, folder) = (id as usize, self.kin.folder(id));
        let (first, set) = (used.first[at], used.set[at]);
        let folder_first = used.folder_first[folder as usize];
        let larger = |zone| {
            let place = in_group.get(&(set, folder)).copied().unwrap_or(NEVER);
            (zone, set, place, folder, 0)
        };
        match (used.runs[at], size) {
            (0, _) if likely[at] < UNLIKELY => (Zone::Unlikely, 0, 0, 0, 0),
            (0, Size::Small) => (Zone::SmallUnloaded, NOT_REACHED, folder_first, folder, 0),
            (0, _) => (Zone::Unloaded, NOT_REACHED, folder_first, folder, 0),
            (runs, _) if runs >= used.all => (Zone::Core, 0, 0, 0, first),
            (_, Size::Small) => (Zone::Small, set, 0, 0, first),
            (_, Size::Medium) => larger(Zone::Medium),
            (_, Size::Large) => larger(Zone::Large),
        }
    }
}

#[cfg(test)]
mod tests;
