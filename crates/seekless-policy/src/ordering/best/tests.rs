//! Small layouts that can be told by eye, and what holds of all of them.

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

proptest! {
    #[test]
    fn each_file_comes_once(
        runs in prop::collection::vec(prop::collection::vec(0u32..40, 0..60), 0..12),
        bytes in prop::collection::vec(0u64..20_000, 0..35),
        any_size: bool,
    ) {
        let names: Vec<String> =
            (0..bytes.len()).map(|id| format!("f{}/{}.k{}", id % 3, id, id % 4)).collect();
        let kin = Kin::new(names.iter().map(String::as_str));
        let slices: Vec<&[Id]> = runs.iter().map(Vec::as_slice).collect();
        let mut order = Best { kin, any_size }.order(&slices, &bytes, &COSTS);
        order.sort_unstable();
        prop_assert_eq!(order, (0..bytes.len() as Id).collect::<Vec<_>>());
    }
}
