//! Small layouts that can be checked by eye, and properties of all layouts.

use super::*;
use proptest::prelude::*;

/// A request is worth 6,400 bytes: files up to 100 bytes are small, over 6,400 large.
const COSTS: Costs = Costs { request_ns: 6_400, bytes_per_second: 1_000_000_000, depth: 1 };

fn best(names: &[&str], runs: &[&[Id]], bytes: &[u64]) -> Vec<Id> {
    let kin = Kin::new(names.iter().copied());
    Best { kin, ..Best::default() }.order(runs, bytes, &COSTS)
}

#[test]
fn the_core_comes_first_in_the_newest_runs_order() {
    let order = best(&["a", "b", "c", "d"], &[&[0, 2, 3], &[3, 1, 2]], &[1; 4]);
    assert_eq!(order[..2], [3, 2]);
}

#[test]
fn one_run_is_its_own_order_and_its_folder_comes_next() {
    let names = ["a/1.x", "a/2.x", "b/1.x", "b/2.x", "b/3.y"];
    assert_eq!(best(&names, &[&[2, 0]], &[1; 5]), [2, 0, 3, 1, 4]);
}

#[test]
fn files_of_the_same_runs_are_neighbours() {
    let runs: [&[Id]; 3] = [&[0, 3, 5], &[1, 3, 4], &[0, 5, 2]];
    let order = best(&["a", "b", "c", "d", "e", "f"], &runs, &[1000; 6]);
    let place = |id| order.iter().position(|&other| other == id).unwrap();
    assert_eq!(place(0).abs_diff(place(5)), 1, "{order:?}");
    assert_eq!(place(1).abs_diff(place(4)), 1, "{order:?}");
}

#[test]
fn small_files_lie_apart_from_large_ones() {
    let runs: [&[Id]; 2] = [&[0, 1, 2, 3], &[]];
    let bytes = [50, 10_000, 50, 1_000];
    assert_eq!(best(&["a", "b", "c", "d"], &runs, &bytes), [0, 2, 3, 1]);
    let any = Best { any_size: true, ..Best::default() }.order(&runs, &bytes, &COSTS);
    assert_eq!(any, [0, 1, 2, 3]);
}

#[test]
fn the_pieces_of_all_runs_are_as_few_as_the_bound() {
    // A file for each set of five runs but the empty one. A piece begins where a run's next file
    // does not follow its last; no order has fewer than half as many as there are sets.
    let file = |run: u32| (1..32u32).filter(move |set| set >> run & 1 == 1).map(|set| set - 1);
    let runs: Vec<Vec<Id>> = (0..5).map(|run| file(run).collect()).collect();
    let slices: Vec<&[Id]> = runs.iter().map(Vec::as_slice).collect();
    let order = Best { any_size: true, ..Best::default() }.order(&slices, &[1000; 31], &COSTS);
    let has = |run: u32, id: Option<&Id>| id.is_some_and(|id| (id + 1) >> run & 1 == 1);
    let pieces: usize = (0..5)
        .map(|run| {
            let begins =
                |at: usize| has(run, order.get(at)) && (at == 0 || !has(run, order.get(at - 1)));
            (0..31).filter(|&at| begins(at)).count()
        })
        .sum();
    // The core was taken out of the code and put first: it adds a piece for most runs.
    assert!((16..=16 + 5).contains(&pieces), "{pieces}");
}

/// The order of files of these names, with these references; the first file was loaded.
fn named(names: &[&str], bytes: &[u64], all: &[(Id, Id, u8)]) -> Vec<Id> {
    let kin = Kin::new(names.iter().copied());
    let references = References::new(names.len() as u32, all.to_vec());
    Best { kin, references, any_size: false }.order(&[&[0]], bytes, &COSTS)
}

#[test]
fn a_chain_of_unloaded_files_lies_together_in_front_of_the_others() {
    let names = ["a/0", "a/1", "a/2", "b/3", "c/4", "c/5"];
    let chain = [(5, 2, 255), (2, 3, 255), (5, 4, 140)];
    assert_eq!(named(&names, &[1_000; 6], &[]), [0, 1, 2, 3, 4, 5]);
    assert_eq!(named(&names, &[1_000; 6], &chain), [0, 5, 2, 3, 4, 1]);
    // Small files stay apart.
    let bytes = [1_000, 50, 50, 1_000, 50, 1_000];
    assert_eq!(named(&names, &bytes, &chain), [0, 2, 4, 1, 5, 3]);
}

#[test]
fn chains_lie_in_the_order_that_their_first_files_had() {
    let names = ["b/0", "a/1", "a/2", "b/3", "b/4"];
    assert_eq!(named(&names, &[1_000; 5], &[]), [0, 3, 4, 1, 2]);
    assert_eq!(named(&names, &[1_000; 5], &[(1, 2, 255), (4, 3, 255)]), [0, 4, 3, 1, 2]);
}

#[test]
fn an_unlikely_file_that_another_names_lies_with_the_likely_ones() {
    // The run loads one .x, so another is likely to be loaded; of .y it loads none.
    let names = ["a/0.x", "a/1.x", "a/2.y", "a/3.x"];
    let unlikely_last = named(&names, &[1_000; 4], &[]);
    assert_eq!(unlikely_last, [0, 1, 3, 2]);
    assert_eq!(named(&names, &[1_000; 4], &[(3, 2, 255)]), [0, 3, 2, 1]);
}

/// This many files of three folders and four kinds.
fn some_kin(files: usize) -> Kin {
    let names: Vec<String> =
        (0..files).map(|id| format!("f{}/{}.k{}", id % 3, id, id % 4)).collect();
    Kin::new(names.iter().map(String::as_str))
}

fn some_references() -> impl Strategy<Value = Vec<(Id, Id, u8)>> {
    prop::collection::vec((0u32..40, 0u32..40, any::<u8>()), 0..80)
}

proptest! {
    #[test]
    fn references_move_unloaded_files_alone(
        runs in prop::collection::vec(prop::collection::vec(0u32..40, 0..15), 0..6),
        bytes in prop::collection::vec(0u64..20_000, 0..35),
        all in some_references(),
        any_size: bool,
    ) {
        let kin = some_kin(bytes.len());
        let slices: Vec<&[Id]> = runs.iter().map(Vec::as_slice).collect();
        let loaded = |id: &Id| runs.iter().any(|run| run.contains(id));
        let order = |all: Vec<(Id, Id, u8)>| {
            let references = References::new(bytes.len() as u32, all);
            Best { kin: kin.clone(), any_size, references }.order(&slices, &bytes, &COSTS)
        };
        let (without, with) = (order(Vec::new()), order(all.clone()));
        let moves = |id: &Id| {
            let touches = |&&(from, to, _): &&(Id, Id, u8)| from == *id || to == *id;
            !loaded(id) && all.iter().any(|edge| touches(&edge))
        };
        let rest = |order: &[Id]| -> Vec<Id> {
            order.iter().copied().filter(|id| !moves(id)).collect()
        };
        prop_assert_eq!(rest(&without), rest(&with));
        // References from loaded files and to them, and unlikely ones, say nothing.
        let idle = |&(from, to, chance): &(Id, Id, u8)| {
            loaded(&from) || loaded(&to) || chance < 128
        };
        prop_assert_eq!(without, order(all.iter().copied().filter(idle).collect()));
    }

    #[test]
    fn each_file_comes_once(
        runs in prop::collection::vec(prop::collection::vec(0u32..40, 0..60), 0..12),
        bytes in prop::collection::vec(0u64..20_000, 0..35),
        all in some_references(),
        any_size: bool,
    ) {
        let kin = some_kin(bytes.len());
        let references = References::new(bytes.len() as u32, all);
        let slices: Vec<&[Id]> = runs.iter().map(Vec::as_slice).collect();
        let mut order = Best { kin, any_size, references }.order(&slices, &bytes, &COSTS);
        order.sort_unstable();
        prop_assert_eq!(order, (0..bytes.len() as Id).collect::<Vec<_>>());
    }
}
