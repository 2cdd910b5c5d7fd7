//! How likely each file is to be loaded at some time of this run, wherever the program is: by how
//! many runs have it, and by the names of what this run has loaded.
//!
//! Before the first load a file is as likely as others that as many runs have. One that no run has
//! is as likely as its folder and kind let expect, after Good and Turing. What a run loads beyond
//! the files of all runs comes in clusters of like names ([`Alike`]). So from the first file of a
//! class on, the others of it are likely. A narrow class makes them likelier, and so does each
//! further file that has been loaded of it.
//!
//! The constants were chosen on starts of 0 A.D.: the shares of a class that three of them
//! (acropolis_bay, arcadia, belgian_bog) load after its first file, and then the time of all five,
//! each from the other four. So these starts show nothing of how well they hold elsewhere.
//!
//! **Memory.** 4 bytes a file, 12 a class.

use super::CERTAIN;
use crate::foresight::alike::{Alike, LEVELS};
use crate::id::Id;
use crate::layout::ordering::likelihoods;
use std::sync::Arc;

/// The chance of a file of a class after the first load from it, by how narrow the class is.
const CLUSTERED: [f32; LEVELS] = [0.03, 0.15, 0.40, 0.90];

/// After so many loads of files that not all runs have, a class is left behind,
const RECENT: u32 = 64;

/// and the chance of the rest of it is this share of what it was.
const LEFT_SHARE: f32 = 0.25;

/// After so few loads from a class the others of it come now, if they come: they take room for a
/// short time, and count twice.
const NOW: u32 = 8;

#[derive(Clone, Copy, Debug, Default)]
struct Class {
    /// Files that not all runs have.
    files: u32,
    /// Of these, those that this run has loaded.
    loaded: u32,
    /// When the last was loaded.
    last: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Likely {
    alike: Arc<Alike>,
    /// The chance of each file before anything is loaded.
    before: Vec<f32>,
    classes: Vec<Class>,
    /// Loads of files that not all runs have.
    loads: u32,
}

impl Likely {
    /// `having` says how many of `runs` runs have a file, for each; `core` how likely a file is
    /// that all of them have, of [`CERTAIN`].
    pub(super) fn new(alike: Arc<Alike>, having: &[u32], runs: u32, core: u32) -> Self {
        let shares = shares(having, runs);
        let new = likelihoods(alike.kin(), having, runs as usize);
        let chance = |(&having, new): (&u32, f64)| match having {
            0 => new as f32,
            all if all == runs => core as f32 / CERTAIN as f32,
            some => shares[some as usize],
        };
        let before = having.iter().zip(new).map(chance).collect();
        let mut classes = vec![Class::default(); alike.count()];
        for (id, _) in (0..).zip(having).filter(|&(_, &having)| having < runs) {
            alike.of(id).into_iter().flatten().for_each(|&of| classes[of as usize].files += 1);
        }
        Self { alike, before, classes, loads: 0 }
    }

    /// The program loads `id`, which not all runs have, for the first time.
    pub(super) fn loaded(&mut self, id: Id) {
        self.loads += 1;
        for &class in self.alike.of(id).into_iter().flatten() {
            let class = &mut self.classes[class as usize];
            class.loaded += 1;
            class.last = self.loads;
        }
    }

    /// The chance that the program will load `id`, if it has not yet.
    pub(super) fn chance(&self, id: Id) -> f32 {
        let (mut named, mut now) = (0f32, 0f32);
        for (clustered, &class) in CLUSTERED.iter().zip(self.alike.of(id).into_iter().flatten()) {
            let Class { files, loaded, last } = self.classes[class as usize];
            if loaded > 0 {
                let share = loaded as f32 / files.max(loaded) as f32;
                let others = clustered + (1.0 - clustered) * share;
                let ago = self.loads - last;
                if ago <= NOW {
                    now = now.max(others);
                } else {
                    named = named.max(if ago <= RECENT { others } else { others * LEFT_SHARE });
                }
            }
        }
        1.0 - (1.0 - self.before[id as usize]) * (1.0 - named.max(now)) * (1.0 - now)
    }
}

/// For each number of runs, how likely a further run has a file that so many have. Each run in
/// turn is taken for the further one.
fn shares(having: &[u32], runs: u32) -> Vec<f32> {
    let mut files = vec![0u64; runs as usize + 2];
    having.iter().for_each(|&having| files[having.min(runs) as usize] += 1);
    let mut shares = vec![0.0; runs as usize + 1];
    for having in 1..runs as usize {
        // A file that one run more has is one that so many have, but for the run that is left out.
        let with = (having as u64 + 1) * files[having + 1];
        let without = (u64::from(runs) - having as u64) * files[having];
        shares[having] = with as f32 / (with + without).max(1) as f32;
    }
    // What all but one have cannot be told so: leaving one out makes it what all have.
    if runs > 2 {
        shares[runs as usize - 1] = shares[runs as usize - 1].min(shares[runs as usize - 2]);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two runs have the first ten files, one run has the next ten; of a hundred.
    fn likely(name: impl Fn(u32) -> String) -> Likely {
        let names: Vec<String> = (0..100).map(name).collect();
        let having: Vec<u32> = (0..100).map(|id| [2, 1, 0][(id as usize / 10).min(2)]).collect();
        let alike = Alike::new(names.iter().map(String::as_str));
        Likely::new(Arc::new(alike), &having, 2, CERTAIN)
    }

    #[test]
    fn a_file_that_more_runs_have_is_likelier() {
        let likely = likely(|id| format!("{}.dds", char::from(b'a' + id as u8 % 26)));
        let (all, some, none) = (likely.chance(0), likely.chance(10), likely.chance(50));
        assert!(all > some && some > none && none > 0.0, "{all} {some} {none}");
        assert_eq!(all, 1.0);
    }

    #[test]
    fn like_names_of_what_was_loaded_are_likely_until_the_run_is_elsewhere() {
        let mut likely = likely(|id| format!("{}/normal{id}.png", id / 10));
        let before = likely.chance(51);
        likely.loaded(50);
        let after = likely.chance(51);
        assert!(before < 0.1 && after > 0.5, "{before} {after}");
        assert_eq!(likely.chance(61), before, "another folder");
        likely.loaded(52);
        assert!(likely.chance(51) > after);
        (0..=RECENT).for_each(|load| likely.loaded(30 + load % 10));
        assert!(likely.chance(51) < after / 2.0);
    }

    #[test]
    fn runs_are_left_out_in_turn() {
        // Of four runs: six files in one, four in two, two in three, one in all.
        let having = [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4];
        assert_eq!(shares(&having, 4)[1..3], [8.0 / 26.0, 6.0 / 14.0]);
        assert_eq!(shares(&having, 4)[3], 6.0 / 14.0);
        assert_eq!(shares(&[1, 0], 1), [0.0, 0.0]);
    }
}
