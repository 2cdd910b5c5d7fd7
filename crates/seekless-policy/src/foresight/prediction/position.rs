//! Where in the recorded runs the program is: each run is followed at several places at once.
//!
//! A load that a run has near one of its places moves that place on. A load that it has elsewhere
//! begins a new place, instead of the one that was moved longest ago. So a run from which the
//! program has diverged is found again with the next file that both have.
//!
//! How likely the files behind a place are depends on how many of the runs have them. All runs have
//! most of their files in common, and these come in any case. Of the others a run takes some in
//! stretches: for a map, a people, a scene. So the last [`LOOKED_BACK`] files before the place that
//! not all runs have are looked at. If this program has loaded them all, nine of ten that follow
//! are loaded too, and if it has loaded none, one of twenty (five starts of 0 A.D., by bytes). The
//! shares are measured while the model is trained (`rates`).

use super::CERTAIN;
use super::rates::{Bin, COMMON, LOOKED_BACK};
use crate::id::Id;
use std::sync::Arc;

/// Loads that are guessed behind a place.
pub(super) const DEPTH: u32 = 256;

/// Places that a run is followed at.
const PLACES: usize = 3;

/// A load up to so far from a place moves it on: no two runs load in exactly the same order.
const NEAR: u32 = 192;

/// Files so far before the place may still come.
const LATE: u32 = 48;

#[derive(Clone, Copy, Debug)]
struct Place {
    /// The load expected next.
    at: u32,
    /// When it was moved; a later one has a larger number.
    moved: u64,
}

#[derive(Clone, Debug)]
struct Followed {
    run: Arc<[Id]>,
    /// The class of each load.
    classes: Vec<u8>,
    /// The positions of files that not all runs have.
    uncommon: Vec<u32>,
    places: Vec<Place>,
}

/// All recorded runs, and the places in them.
#[derive(Clone, Debug)]
pub(super) struct Followers {
    runs: Vec<Followed>,
    /// File, run and position of every load, sorted.
    index: Vec<(Id, u32, u32)>,
    moves: u64,
}

impl Followers {
    pub(super) fn new(runs: &[Arc<[Id]>]) -> Self {
        let mut index = Vec::with_capacity(runs.iter().map(|run| run.len()).sum());
        for (number, run) in (0..).zip(runs) {
            index.extend((0..).zip(run.iter()).map(|(position, &id)| (id, number, position)));
        }
        index.sort_unstable();
        let mut followers = Self { runs: Vec::with_capacity(runs.len()), index, moves: 0 };
        for run in runs {
            let class = |&id: &Id| class(followers.loads_of(id).len(), runs.len());
            let classes: Vec<u8> = run.iter().map(class).collect();
            let is_uncommon = |&position: &u32| classes[position as usize] != COMMON;
            let uncommon = (0..run.len() as u32).filter(is_uncommon).collect();
            let places = vec![Place { at: 0, moved: 0 }];
            followers.runs.push(Followed { run: run.clone(), classes, uncommon, places });
        }
        followers
    }

    fn loads_of(&self, id: Id) -> &[(Id, u32, u32)] {
        let first = self.index.partition_point(|load| load.0 < id);
        let count = self.index[first..].partition_point(|load| load.0 == id);
        &self.index[first..first + count]
    }

    /// The files that runs have, and whether all runs have them. A file may come several times.
    pub(super) fn files(&self) -> impl Iterator<Item = (Id, bool)> {
        self.runs.iter().flat_map(|Followed { run, classes, .. }| {
            run.iter().zip(classes).map(|(&id, &class)| (id, class == COMMON))
        })
    }

    /// The program loads `id` for the first time.
    pub(super) fn loaded(&mut self, id: Id) {
        let first = self.index.partition_point(|load| load.0 < id);
        let Self { runs, index, moves } = self;
        for &(_, run, position) in index[first..].iter().take_while(|load| load.0 == id) {
            *moves += 1;
            runs[run as usize].loaded(position, *moves);
        }
    }

    /// Calls `add` with each file behind each place: file, kind, distance and chance. `is_loaded`
    /// says which files the program has loaded.
    pub(super) fn guesses(
        &self,
        is_loaded: impl Fn(Id) -> bool,
        add: &mut impl FnMut(Id, Bin, i32, u32),
    ) {
        for followed in &self.runs {
            for place in &followed.places {
                followed.guesses(place, &is_loaded, add);
            }
        }
    }
}

impl Followed {
    fn loaded(&mut self, position: u32, moved: u64) {
        let apart = |place: &Place| place.at.abs_diff(position);
        let near = self.places.iter_mut().min_by_key(|place| apart(place));
        if let Some(place) = near
            && apart(place) <= NEAR
        {
            *place = Place { at: place.at.max(position + 1), moved };
            return;
        }
        let place = Place { at: position + 1, moved };
        if self.places.len() < PLACES {
            self.places.push(place);
        } else if let Some(oldest) = self.places.iter_mut().min_by_key(|place| place.moved) {
            *oldest = place;
        }
    }

    fn guesses(
        &self,
        place: &Place,
        is_loaded: &impl Fn(Id) -> bool,
        add: &mut impl FnMut(Id, Bin, i32, u32),
    ) {
        let behind = self.uncommon.partition_point(|&position| position < place.at);
        let back = &self.uncommon[behind.saturating_sub(LOOKED_BACK)..behind];
        let taken = back.iter().filter(|&&position| is_loaded(self.run[position as usize])).count();
        let begin = place.at.saturating_sub(LATE);
        let end = place.at.saturating_add(DEPTH).min(self.run.len() as u32);
        let mut uncommon = 0;
        for position in begin..end {
            let class = self.classes[position as usize];
            let distance = position as i32 - place.at as i32;
            if distance >= 0 {
                uncommon += u32::from(class != COMMON);
            }
            let steps = if class == COMMON { distance } else { uncommon as i32 };
            let step = match steps {
                ..1 => 0,
                1..=4 => 1,
                5..=16 => 2,
                _ => 3,
            };
            let bin = Bin::followed(class, taken, step);
            add(self.run[position as usize], bin, distance, CERTAIN);
        }
    }
}

/// The class of a file that `having` of `runs` runs have.
fn class(having: usize, runs: usize) -> u8 {
    match () {
        () if having == runs => COMMON,
        () if having <= 1 => 0,
        () if having * 2 <= runs => 1,
        () => 2,
    }
}
