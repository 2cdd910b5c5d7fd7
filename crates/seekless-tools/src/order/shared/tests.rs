//! Random permutations of several kinds, and runs that share an order to some degree.

use super::*;
use seekless_device::SplitMix64;

/// Fisher and Yates's shuffle.
fn mix(draws: &mut SplitMix64, items: &mut [Id]) {
    for last in (1..items.len()).rev() {
        items.swap(last, draws.below(last as u64 + 1) as usize);
    }
}

fn shared(runs: &[Vec<Id>], files: usize) -> bool {
    let runs: Vec<&[Id]> = runs.iter().map(Vec::as_slice).collect();
    share_an_order(&runs, files)
}

/// `count` runs that each load what `chosen` says in an order of their own.
fn random(
    seed: u64,
    count: usize,
    files: usize,
    chosen: impl Fn(&mut SplitMix64, Id) -> bool,
) -> Vec<Vec<Id>> {
    let mut draws = SplitMix64::new(seed);
    let run = |_| {
        let mut run: Vec<Id> = (0..files as Id).filter(|&id| chosen(&mut draws, id)).collect();
        mix(&mut draws, &mut run);
        run
    };
    (0..count).map(run).collect()
}

#[test]
fn random_permutations_share_no_order() {
    for seed in 0..40 {
        for files in [64, 100, 1_000, 8_000] {
            assert!(!shared(&random(seed, 5, files, |_, _| true), files), "{files}, seed {seed}");
        }
    }
    assert!(!shared(&random(1, 2, 300_000, |_, _| true), 300_000));
}

#[test]
fn random_parts_in_random_order_share_no_order() {
    for seed in 0..40 {
        let half = random(seed, 4, 4_000, |draws, _| draws.below(2) == 0);
        assert!(!shared(&half, 4_000), "seed {seed}");
        // What is drawn with replacement loads some files twice.
        let mut draws = SplitMix64::new(seed);
        let run = |_| (0..4_000).map(|_| draws.below(4_000) as Id).collect();
        let drawn: Vec<Vec<Id>> = (0..4).map(run).collect();
        assert!(!shared(&drawn, 4_000), "seed {seed}");
    }
}

#[test]
fn a_few_files_in_one_order_before_random_ones_are_no_order_of_all() {
    for seed in 0..20 {
        let mut runs = random(seed, 4, 5_000, |_, id| id >= 30);
        runs.iter_mut().for_each(|run| {
            run.splice(0..0, 0..30);
        });
        assert!(!shared(&runs, 5_000), "seed {seed}");
    }
}

#[test]
fn an_order_is_found_however_much_of_it_is_mixed() {
    for seed in 0..20 {
        let mut draws = SplitMix64::new(seed);
        // Shuffled inside groups that come in the same order; whole groups in random order; one
        // file in ten in its place.
        let grouped = |_| {
            let mut run: Vec<Id> = (0..4_000).collect();
            run.chunks_mut(400).for_each(|group| mix(&mut draws, group));
            run
        };
        assert!(shared(&(0..2).map(grouped).collect::<Vec<_>>(), 4_000), "seed {seed}");
        let mut draws = SplitMix64::new(seed);
        let of_groups = |_| {
            let mut groups: Vec<Id> = (0..400).collect();
            mix(&mut draws, &mut groups);
            groups.into_iter().flat_map(|group| group * 10..group * 10 + 10).collect()
        };
        assert!(shared(&(0..2).map(of_groups).collect::<Vec<_>>(), 4_000), "seed {seed}");
        let mut draws = SplitMix64::new(seed);
        let partly = |_| {
            let mut run: Vec<Id> = (0..4_000).collect();
            mix(&mut draws, &mut run[400..]);
            run
        };
        assert!(shared(&(0..2).map(partly).collect::<Vec<_>>(), 4_000), "seed {seed}");
    }
}

#[test]
fn one_pair_with_an_order_is_enough() {
    let mut runs = random(7, 3, 2_000, |_, _| true);
    runs.push(runs[0].clone());
    assert!(shared(&runs, 2_000));
}

#[test]
fn few_common_files_do_not_tell() {
    assert!(shared(&random(3, 2, FILES_MIN - 1, |_, _| true), FILES_MIN));
    assert!(shared(&[vec![0, 1, 2], vec![5, 6, 9]], 10), "and one that is not there");
    assert!(shared(&[vec![], vec![]], 0));
}

#[test]
fn what_is_found_by_chance_is_as_much_as_expected() {
    // Over many permutations the deviation from what is expected has mean 0 and deviation 1.
    for files in [100usize, 1_000] {
        let near = NEAR.min(files / NEAR_PART) as f64;
        let (n, rounds) = (files as f64, 2_000);
        let chance = near * (2.0 * n - near - 1.0) / (n * (n - 1.0));
        let mut draws = SplitMix64::new(5);
        let mut places: Vec<Id> = (0..files as Id).collect();
        let mut one = || {
            mix(&mut draws, &mut places);
            let found =
                places.windows(2).filter(|pair| f64::from(pair[0].abs_diff(pair[1])) <= near);
            (found.count() as f64 - (n - 1.0) * chance)
                / ((n - 1.0) * chance * (1.0 - chance)).sqrt()
        };
        let found: Vec<f64> = (0..rounds).map(|_| one()).collect();
        let mean = found.iter().sum::<f64>() / f64::from(rounds);
        let deviation = (found.iter().map(|it| it * it).sum::<f64>() / f64::from(rounds)).sqrt();
        assert!(mean.abs() < 0.1, "{files}: {mean}");
        assert!((0.9..1.1).contains(&deviation), "{files}: {deviation}");
    }
}
