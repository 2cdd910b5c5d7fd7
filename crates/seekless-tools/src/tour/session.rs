//! Chooses which files a run of the made-up game loads, and in which order. All runs start the
//! same, then load different levels, with some random variation.
//!
//! This models five recorded starts of 0 A.D. Well over half of a run's files are loaded by every
//! run, and a tenth by no other run. The order differs a little each time, because textures are
//! loaded when they are drawn. The last run shares its parts with the others, but loads a level
//! that none of them loaded.

use super::dice::Dice;
use super::sample::Sample;

/// The parts of the game that a level needs.
struct Level {
    factions: [usize; 2],
    biome: usize,
    map: usize,
}

/// Four levels to learn from, and a fifth to measure on, as five starts of the game are measured.
/// The fifth has factions and a biome of the others, but not in one level, and its own map.
const LEVELS: [Level; 5] = [
    Level { factions: [0, 1], biome: 0, map: 3 },
    Level { factions: [1, 2], biome: 1, map: 17 },
    Level { factions: [0, 1], biome: 1, map: 8 },
    Level { factions: [1, 2], biome: 0, map: 22 },
    Level { factions: [2, 0], biome: 1, map: 29 },
];

/// Runs that the tour records.
pub(crate) const RUNS: usize = LEVELS.len();

/// The probability that a file is loaded late, as a texture is when it is first drawn.
const LATE: f64 = 0.06;
/// The most files that are loaded before a late one.
const LATE_BY: usize = 8;
/// The probability that a file unrelated to the level is loaded before the next file.
const EXTRA: f64 = 0.04;
/// Every level with a group loads one in this many of its files. The rest is random.
const ALWAYS: usize = 5;

/// The files that run `run` loads, in order, each once.
pub(crate) fn session(sample: &Sample, run: usize) -> Vec<usize> {
    let level = &LEVELS[run % RUNS];
    let mut dice = Dice::new(0x005E_0005 + run as u64);
    let groups = &sample.groups;
    let mut files = groups.core.clone();
    files.extend(&groups.maps[level.map % groups.maps.len()]);
    files.extend(partly(&groups.biomes[level.biome], 0.2, &mut dice));
    for faction in level.factions {
        let units: Vec<usize> = (0..groups.factions[faction].len()).collect();
        for unit in partly(&units, 0.08, &mut dice) {
            files.extend(&groups.factions[faction][unit]);
        }
    }
    let files = with_extras(files, &groups.extras, &mut dice);
    put_some_off(files, &mut dice)
}

/// Every fifth of a group, and each of the other files with probability `chance`.
fn partly(group: &[usize], chance: f64, dice: &mut Dice) -> Vec<usize> {
    let wanted = |&(index, _): &(usize, &usize)| index % ALWAYS == 0 || dice.happens(chance);
    group.iter().enumerate().filter(wanted).map(|(_, &file)| file).collect()
}

fn with_extras(files: Vec<usize>, extras: &[usize], dice: &mut Dice) -> Vec<usize> {
    let mut left = extras.to_vec();
    let mut out = Vec::with_capacity(files.len() + files.len() / 16);
    for file in files {
        if !left.is_empty() && dice.happens(EXTRA) {
            out.push(left.swap_remove(dice.below(left.len())));
        }
        out.push(file);
    }
    out
}

/// Moves some files behind a few of the files that follow them.
fn put_some_off(mut files: Vec<usize>, dice: &mut Dice) -> Vec<usize> {
    for index in 0..files.len() {
        if dice.happens(LATE) {
            let to = (index + 1 + dice.below(LATE_BY)).min(files.len() - 1);
            files[index..=to].rotate_left(1);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::super::sample::FULL_FILES;
    use super::*;
    use std::collections::HashSet;

    fn sets(sample: &Sample) -> Vec<HashSet<usize>> {
        (0..RUNS).map(|run| session(sample, run).into_iter().collect()).collect()
    }

    #[test]
    fn a_run_loads_about_three_hundred_files_once_each() {
        let sample = Sample::new(FULL_FILES);
        for run in 0..RUNS {
            let files = session(&sample, run);
            assert!((260..=360).contains(&files.len()), "run {run} loads {}", files.len());
            assert_eq!(
                files.iter().collect::<HashSet<_>>().len(),
                files.len(),
                "run {run} loads no file twice"
            );
        }
    }

    #[test]
    fn runs_overlap_as_those_of_a_game_do() {
        let sample = Sample::new(FULL_FILES);
        let sets = sets(&sample);
        for (a, b) in (0..RUNS).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let common = sets[a].intersection(&sets[b]).count() as f64;
            let either = sets[a].union(&sets[b]).count() as f64;
            assert!(
                (0.45..0.75).contains(&(common / either)),
                "Jaccard of {a} and {b}: {}",
                common / either
            );
        }
        let (last, others) = sets.split_last().unwrap();
        let is_new = |file: &&usize| others.iter().all(|set| !set.contains(file));
        let unseen = last.iter().filter(is_new).count() as f64 / last.len() as f64;
        // The five starts: 0.08 to 0.21.
        assert!(
            (0.08..0.21).contains(&unseen),
            "{unseen} of the last run is in none of the others"
        );
    }

    #[test]
    fn names_say_as_little_of_what_a_run_loads_as_those_of_a_game_do() {
        let sample = Sample::new(FULL_FILES);
        let mut by_name: Vec<usize> = (0..sample.paths.len()).collect();
        by_name.sort_by_key(|&file| &sample.paths[file]);
        for loaded in sets(&sample) {
            let is_loaded = |&&file: &&usize| loaded.contains(&file);
            let pieces = by_name.split(|file| !is_loaded(&file)).filter(|piece| !piece.is_empty());
            let files = loaded.len() as f64 / pieces.count() as f64;
            // Five starts of 0 A.D.: 1.67 to 1.77 files.
            assert!((1.5..2.0).contains(&files), "{files} files in a piece");
        }
        let folder = |file: usize| sample.paths[file].rsplit_once('/').unwrap().0;
        let of = |files: &[usize], name: &str| {
            files.iter().filter(|&&file| folder(file) == name).count() as f64
        };
        let core = &sample.groups.core;
        let shares = core.iter().map(|&file| of(core, folder(file)) / of(&by_name, folder(file)));
        let mean = shares.sum::<f64>() / core.len() as f64;
        // The same starts: 0.61.
        assert!((0.55..0.67).contains(&mean), "every start loads {mean} of a core file's folder");
    }

    #[test]
    fn the_last_run_is_not_in_the_order_of_the_others() {
        let sample = Sample::new(FULL_FILES);
        let next = |run: usize| -> HashSet<(usize, usize)> {
            session(&sample, run).windows(2).map(|pair| (pair[0], pair[1])).collect()
        };
        let known: HashSet<_> = (0..RUNS - 1).flat_map(next).collect();
        let last = next(RUNS - 1);
        let new = last.difference(&known).count() as f64 / last.len() as f64;
        assert!((0.2..0.5).contains(&new), "{new} of the last run's steps are new");
    }

    #[test]
    fn a_small_sample_still_makes_runs() {
        let sample = Sample::new(100);
        assert!((0..RUNS).all(|run| session(&sample, run).len() > 10));
    }
}
