use super::*;
use crate::ErrorKind;
use crate::foresight::references::References;
use proptest::prelude::*;

fn extents(count: u32) -> Arc<[Extent]> {
    (0..count).map(|number| Extent { offset: u64::from(number) * 1000, bytes: 1000 }).collect()
}

fn follow(runs: &[Vec<Id>]) -> Prediction {
    Prediction::new(Model::train(1000, runs), extents(1000)).unwrap()
}

/// What is guessed with this confidence or more, soonest first.
fn guessed(prediction: &mut Prediction, least: u32) -> Vec<Id> {
    prediction.age = None;
    prediction.refresh(false, |guess, _| guess.confidence >= least);
    prediction.guesses.iter().map(|guess| guess.id).collect()
}

#[test]
fn what_all_runs_load_is_expected_before_the_first_load() {
    let runs: Vec<Vec<Id>> = (0..4).map(|run| (0..100).chain([200 + run]).collect()).collect();
    let mut prediction = follow(&runs);
    assert_eq!(guessed(&mut prediction, CERTAIN / 2), (0..100).collect::<Vec<_>>());
}

#[test]
fn usual_is_what_most_runs_load_in_the_order_of_first_need() {
    let usual = |runs: &[&[Id]]| {
        let runs: Vec<Vec<Id>> = runs.iter().map(|run| run.to_vec()).collect();
        Model::train(1000, &runs).usual()
    };
    assert_eq!(usual(&[]), []);
    assert_eq!(usual(&[&[7, 3, 9, 3]]), [7, 3, 9]);
    assert_eq!(usual(&[&[1, 2, 3, 4], &[2, 5, 1, 4]]), [1, 2, 4], "half is not most");
    assert_eq!(usual(&[&[1, 2, 3], &[8, 3, 2], &[3, 9, 1]]), [1, 3, 2]);
}

#[test]
fn a_run_that_is_followed_is_believed_and_one_that_is_not_is_not() {
    let (one, other) = ((0..300).collect(), (500..800).collect());
    let mut prediction = follow(&[one, other]);
    (0..100).for_each(|id| prediction.loaded(id));
    let next = guessed(&mut prediction, 0);
    let sure = |prediction: &Prediction, id| prediction.confidence(id);
    assert!(next.contains(&100) && next.contains(&520));
    assert!(sure(&prediction, 120) > sure(&prediction, 520), "this program was never there");
    // It diverges: nothing that either run has.
    (900..1000).for_each(|id| prediction.loaded(id));
    // It comes back elsewhere, and is found again at once.
    (500..560).for_each(|id| prediction.loaded(id));
    let next = guessed(&mut prediction, 0);
    assert_eq!(next.iter().find(|&&id| id >= 560), Some(&560));
    assert!(sure(&prediction, 570) > 0);
}

#[test]
fn a_file_that_is_loaded_again_and_again_is_learned_once() {
    let mut prediction = follow(&[(0..10).collect()]);
    for round in 0..100 {
        for id in [3, 7, 500, 9] {
            if round % 2 == 0 {
                let _ = guessed(&mut prediction, 0);
                prediction.reads(id);
            }
            prediction.loaded(id);
            prediction.evicted(id);
        }
    }
    assert!(guessed(&mut prediction, 0).contains(&3), "it may be guessed again");
    assert_eq!(prediction.learned().runs()[1][..], [3, 7, 500, 9]);
}

#[test]
fn a_file_that_all_runs_have_is_likely_long_before_its_turn_if_that_is_asked() {
    let run = |own: u32| (0..600).chain([own]).collect();
    let mut prediction = follow(&[run(700), run(800)]);
    prediction.refresh(false, |_, _| true);
    assert!(prediction.is_near(5) && !prediction.is_near(590));
    assert_eq!((prediction.confidence(590), prediction.announces(590)), (0, false));
    prediction.age = None;
    prediction.refresh(true, |_, _| true);
    assert!(prediction.announces(590) && !prediction.is_near(590));
    assert_eq!(prediction.confidence(800), 0, "not all runs have it");
    prediction.reads(590);
    assert!(prediction.is_ahead(590) && !prediction.announces(590));
    // It is loaded, and released: that it came in all runs says nothing of a second time.
    for id in [590, 591] {
        prediction.loaded(id);
        prediction.evicted(id);
        assert_eq!(prediction.confidence(id), 0);
    }
    assert_eq!((prediction.score().files, prediction.score().used), (1, 1));
}

#[test]
fn files_of_a_run_are_expected_as_the_ones_before_them_were_taken() {
    // The second run has files of its own between the common ones.
    let common: Vec<Id> = (0..400).collect();
    let own: Vec<Id> = (0..400).flat_map(|id| [id, 500 + id]).collect();
    let after = |loads: &mut dyn Iterator<Item = Id>| {
        let mut prediction = follow(&[common.clone(), own.clone()]);
        loads.for_each(|id| prediction.loaded(id));
        let _ = guessed(&mut prediction, 0);
        (prediction.confidence(210), prediction.confidence(710))
    };
    let takes_none = after(&mut (0..200));
    let takes_all = after(&mut (0..200).flat_map(|id| [id, 500 + id]));
    assert!(
        takes_all.1 > takes_none.1 && takes_none.0 > takes_none.1,
        "{takes_all:?} {takes_none:?}"
    );
}

#[test]
fn what_was_guessed_is_counted_once_as_right_or_wrong() {
    let mut prediction = follow(&[(0..50).collect(), (0..50).collect()]);
    assert_eq!(guessed(&mut prediction, 1).len(), 50);
    (0..4).for_each(|id| prediction.reads(id));
    prediction.reads(999); // not guessed by any model
    assert_eq!((prediction.score().files, prediction.score().bytes), (4, 4000));
    prediction.loaded(0);
    prediction.loaded(0);
    prediction.gone_unused(1);
    prediction.gone_unused(1);
    let Score { used, used_bytes, wasted_bytes, .. } = prediction.score();
    assert_eq!((used, used_bytes, wasted_bytes), (1, 1000, 1000));
    assert_eq!(prediction.budget().unused_bytes(), 2000);
    // The others are not loaded for long, and then one of them is after all.
    (0..=WRONG_AFTER + 1).for_each(|_| prediction.loaded(60));
    prediction.loaded(61);
    assert_eq!(prediction.score().wasted_bytes, 3000);
    prediction.loaded(2);
    let Score { used, wasted_bytes, .. } = prediction.score();
    assert_eq!((used, wasted_bytes), (2, 2000));
}

#[test]
fn wrong_guesses_shrink_the_budget_and_right_ones_let_it_grow() {
    let mut budget = Budget::default();
    assert_eq!(budget.of(1 << 20), 1 << 20);
    budget.wasted(4 << 20);
    assert_eq!(budget.of(1 << 20), 1 << 18, "half of them were wrong");
    budget.used(4 << 20);
    assert!(budget.of(1 << 20) > 1 << 18);
    (0..100).for_each(|_| budget.wasted(1 << 20));
    assert!(budget.of(1 << 20) < 1 << 10);
}

#[test]
fn what_was_learned_is_guessed_in_the_next_run() {
    let mut prediction = follow(&[]);
    assert_eq!(guessed(&mut prediction, 1), []);
    (100..160).for_each(|id| prediction.loaded(id));
    let learned = Model::from_bytes(&prediction.learned().to_bytes()).unwrap();
    let mut prediction = Prediction::new(learned, extents(1000)).unwrap();
    assert_eq!(guessed(&mut prediction, 1), (100..160).collect::<Vec<_>>());
    assert!(Prediction::new(Model::train(1001, &[]), extents(1000)).is_none());
}

#[test]
fn a_file_that_no_run_has_is_taken_to_be_followed_by_its_neighbours() {
    let mut prediction = follow(&[(0..20).collect()]);
    prediction.loaded(700);
    let next = guessed(&mut prediction, 1);
    assert!(next.contains(&701) && next.contains(&699), "{next:?}");
}

/// Follows a program of whose runs one is known, where these name these.
fn follow_references(run: Vec<Id>, all: &[(Id, Id, u8)]) -> Prediction {
    let model = Model::train(1000, &[run.clone(), run]);
    let model = model.with_references(References::new(1000, all.to_vec()));
    Prediction::new(model, extents(1000)).unwrap()
}

#[test]
fn what_a_new_file_names_is_expected_and_what_that_names_while_it_may_come() {
    let chain = [(500, 600, 250), (600, 700, 200), (700, 800, 30), (500, 650, 90)];
    let mut prediction = follow_references((0..20).collect(), &chain);
    assert!(!guessed(&mut prediction, 1).contains(&600));
    prediction.loaded(500);
    prediction.refresh(false, |_, _| true);
    assert!(prediction.announces(600) && prediction.announces(700));
    assert!(prediction.confidence(650) > 0 && !prediction.announces(650), "it may come");
    assert_eq!(prediction.confidence(800), 0, "one such chain in twelve comes true");
    prediction.reads(600);
    prediction.loaded(600);
    assert_eq!((prediction.score().used, prediction.confidence(600)), (1, 0));
}

#[test]
fn references_of_files_that_all_runs_have_are_not_followed() {
    let all = [(5, 600, 250), (500, 6, 250), (500, 700, 250), (700, 7, 250), (7, 800, 250)];
    let mut prediction = follow_references((0..20).collect(), &all);
    prediction.loaded(5);
    assert!(!guessed(&mut prediction, 1).contains(&600));
    prediction.loaded(500);
    let next = guessed(&mut prediction, CERTAIN / 2);
    assert!(next.contains(&700) && !next.contains(&800), "{next:?}");
}

#[test]
fn what_only_some_runs_have_is_surer_once_a_file_names_it() {
    let runs: [Vec<Id>; 3] = [(0..20).collect(), (0..10).chain(300..400).collect(), vec![0, 1]];
    let all = [(500, 390, 250), (390, 395, 250), (395, 700, 250), (391, 398, 250)];
    let model = Model::train(1000, &runs).with_references(References::new(1000, all.to_vec()));
    let mut prediction = Prediction::new(model, extents(1000)).unwrap();
    prediction.loaded(0);
    let surely = |prediction: &mut Prediction| {
        let mut ids = guessed(prediction, CERTAIN * 3 / 4);
        ids.sort_unstable();
        ids
    };
    assert_eq!(surely(&mut prediction), [1]);
    prediction.loaded(500);
    assert_eq!(surely(&mut prediction), [1, 390, 395, 700]);
    let of_new = prediction.guesses.iter().filter(|guess| guess.is_of_new());
    assert_eq!(of_new.map(|guess| guess.id).collect::<Vec<_>>(), [700]);
    prediction.loaded(391);
    assert!(prediction.age.is_none(), "what it names is expected");
    assert!(surely(&mut prediction).contains(&398));
}

#[test]
fn what_would_have_been_announced_and_was_not_is_unlikely() {
    let runs: [Vec<Id>; 2] = [(0..20).collect(), (0..10).collect()];
    let named = References::new(1000, vec![(500, 600, 250)]);
    let model = Model::train(1000, &runs).with_references(named);
    let mut prediction = Prediction::new(model, extents(1000)).unwrap();
    prediction.refresh(false, |_, _| true);
    // One that all runs have, one that a file names, and an unknown one.
    assert_eq!([9, 600, 700].map(|id| prediction.is_unlikely(id)), [false, true, false]);
    prediction.loaded(500);
    prediction.refresh(false, |_, _| true);
    assert!(!prediction.is_unlikely(600));
}

#[test]
fn references_that_do_not_come_true_are_trusted_less() {
    let all: Vec<_> = (600..640).map(|to| (500, to, 250)).collect();
    let mut prediction = follow_references((0..20).collect(), &all);
    prediction.loaded(500);
    assert_eq!(guessed(&mut prediction, CERTAIN / 2).len(), 40 + 20);
    let sure = prediction.confidence(639);
    (600..630).for_each(|id| prediction.reads(id));
    (0..=WRONG_AFTER + 1).for_each(|_| prediction.loaded(0));
    prediction.loaded(1);
    let all = prediction.rates.all();
    assert!(all.of(Bin::referred(250, true)) < sure / 4);
    assert!(guessed(&mut prediction, 1).contains(&639), "it may still come");
}

#[test]
fn a_repeated_sequence_is_learned_while_the_program_runs() {
    let mut prediction = follow(&[]);
    for _ in 0..8 {
        for id in [5, 900, 17, 333] {
            prediction.loaded(id);
        }
    }
    // 17 was released.
    prediction.evicted(17);
    prediction.loaded(5);
    prediction.loaded(900);
    assert_eq!(guessed(&mut prediction, CERTAIN / 2), [17]);
}

#[test]
fn a_model_of_another_version_or_with_a_flipped_bit_is_an_error() {
    let model = Model::train(1000, &[(0..300).collect(), (100..500).rev().collect()]);
    let all = (0..200).map(|from| (from, 999 - from * 3, 255 - from as u8 / 2)).collect();
    let model = model.with_references(References::new(1000, all));
    let bytes = model.to_bytes();
    assert_eq!(Model::from_bytes(&bytes).unwrap(), model);
    assert!(bytes.len() < 700 * 2 + 200 * 5 + 600, "{}", bytes.len());
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        let error = Model::from_bytes(&flipped).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Model);
        assert!(Model::from_bytes(&bytes[..at]).is_err());
    }
}

/// What the release before wrote: no references, and no counts of them.
#[test]
fn a_model_of_the_version_before_is_read() {
    let head = [b"SKLP\x01\x0a\x01\x03\x04\x02\x03\x9c\x01".as_slice(), &[0; 156 * 2]];
    let model = Model::from_bytes(&sealed(head.concat())).unwrap();
    assert_eq!(model, Model::train(10, &[vec![2, 3, 1]]));
}

#[test]
fn references_beyond_the_archive_are_left_out() {
    let all = vec![(1, 2, 200), (1, 20, 200), (20, 1, 200)];
    let model = Model::train(10, &[]).with_references(References::new(30, all));
    assert_eq!(model.references().all().collect::<Vec<_>>(), [(1, 2, 200)]);
    let moved = model.renumbered(4, |id| (id == 1 || id == 2).then_some(4 - id));
    assert_eq!(moved.references().all().collect::<Vec<_>>(), [(3, 2, 200)]);
}

/// Bytes with a checksum that is right.
fn sealed(mut body: Vec<u8>) -> Vec<u8> {
    let sum = crc32fast::hash(&body);
    body.extend(sum.to_le_bytes());
    body
}

proptest! {
    #[test]
    fn hostile_models_are_errors_or_models(
        version in 1u8..3,
        tail in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let head = [b"SKLP".as_slice(), &[version], &tail].concat();
        if let Ok(model) = Model::from_bytes(&sealed(head)) {
            let is_known = |id: Id| id < model.entries();
            prop_assert!(model.runs().iter().flat_map(|run| run.iter()).all(|&id| is_known(id)));
            prop_assert!(model.references().all().all(|(from, to, _)| is_known(from.max(to))));
        }
    }

    #[test]
    fn hostile_references_are_errors_or_references(
        tail in prop::collection::vec(0u8..12, 0..60),
    ) {
        let head = [b"SKLP\x02\x0a\0\0", &tail[..]].concat();
        if let Ok(model) = Model::from_bytes(&sealed(head)) {
            prop_assert!(model.references().all().all(|(from, to, _)| from < 10 && to < 10));
            prop_assert_eq!(Model::from_bytes(&model.to_bytes()).unwrap(), model);
        }
    }

    #[test]
    fn any_model_comes_back(
        runs in prop::collection::vec(prop::collection::vec(0u32..1000, 0..60), 0..20),
        all in prop::collection::vec((0u32..1000, 0u32..1000, any::<u8>()), 0..200),
    ) {
        let model = Model::train(1000, &runs).with_references(References::new(1000, all));
        prop_assert_eq!(Model::from_bytes(&model.to_bytes()).unwrap(), model);
    }

    #[test]
    fn any_loads_are_followed(
        runs in prop::collection::vec(prop::collection::vec(0u32..100, 0..60), 0..5),
        all in prop::collection::vec((0u32..100, 0u32..100, any::<u8>()), 0..100),
        steps in prop::collection::vec((0u32..100, 0u8..6), 0..300),
    ) {
        let model = Model::train(100, &runs).with_references(References::new(100, all));
        let mut prediction = Prediction::new(model, extents(100)).unwrap();
        for (id, what) in steps {
            match what {
                0 => prediction.gone_unused(id),
                1 => prediction.evicted(id),
                2 => {
                    prediction.refresh(id % 2 == 0, |_, _| true);
                    while let Some(guess) = prediction.next(|other, _| other.id != id) {
                        prop_assert!(guess.confidence > 0 && guess.confidence <= CERTAIN);
                        prediction.reads(guess.id);
                        prop_assert!(prediction.is_ahead(guess.id));
                    }
                }
                _ => prediction.loaded(id),
            }
            let Score { bytes, used_bytes, wasted_bytes, .. } = prediction.score();
            prop_assert!(used_bytes + wasted_bytes <= bytes);
            for id in 0..100 {
                prop_assert!(prediction.confidence(id) <= CERTAIN);
                prop_assert!(!prediction.is_near(id) || prediction.confidence(id) > 0);
                prop_assert!(!prediction.is_ahead(id) || prediction.confidence(id) == 0);
            }
        }
    }
}
