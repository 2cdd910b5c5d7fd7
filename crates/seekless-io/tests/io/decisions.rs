//! A cache without threads or I/O that gets the recorded requests evicts the same ids.

use crate::support::Sample;
use proptest::prelude::*;
use seekless_io::{Costs, Decision, Store};
use seekless_pack::Codec;
use seekless_policy::cache::{Cache, Command, Config, Filled};
use seekless_policy::eviction::{NAMES, Needs, named, needs_of};
use std::sync::LazyLock;

const CACHE_BYTES: u64 = 30_000;

/// Given, so that the store's share of memory does not depend on how long its reads take.
const COSTS: Costs = Costs { request_ns: 100_000, bytes_per_second: 1 << 30, depth: 8 };

static SAMPLE: LazyLock<Sample> = LazyLock::new(|| {
    Sample::of_sizes((0..60).map(|number| 200 + number * 311 % 9_000), Codec::Auto)
});

/// Holds what a store of `cache_bytes` has decided to what a cache of its own decides.
pub(crate) fn check_replay(store: &Store, policy: &str, cache_bytes: u64) {
    let mut cache =
        Cache::new(named(policy, cache_bytes).unwrap(), Config::files(cache_bytes)).unwrap();
    cache.grow(store.len() as u32);
    let mut commands = Vec::new();
    for decision in store.decisions() {
        commands.clear();
        match decision {
            Decision::Requested { request, evicted } => {
                cache.step(&request, &mut commands);
                let drops = commands.iter().filter_map(|command| match command {
                    Command::Drop(id) => Some(*id),
                    Command::Fetch(_) | Command::WriteBack(_) => None,
                });
                assert_eq!(drops.collect::<Vec<_>>(), evicted, "{policy}, {request:?}");
                if cache.in_flight(request.id) {
                    cache.complete(request.id, Filled::Yes, &mut commands);
                }
            }
            Decision::Removed { id } => cache.complete(id, Filled::Failed, &mut commands),
            _ => unreachable!("there are two kinds"),
        }
    }
}

#[derive(Clone, Debug)]
enum Act {
    Load(usize),
    Hold(usize),
    Release,
    Many(Vec<usize>),
    Abandon(Vec<usize>, usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let list = || prop::collection::vec(0..60_usize, 1..30);
    let act = prop_oneof![
        6 => (0..60_usize).prop_map(Act::Load),
        3 => (0..60_usize).prop_map(Act::Hold),
        1 => Just(Act::Release),
        1 => list().prop_map(Act::Many),
        1 => (list(), 0..10_usize).prop_map(|(list, taken)| Act::Abandon(list, taken)),
    ];
    prop::collection::vec(act, 1..80)
}

fn check_many(store: &Store, list: &[usize], taken: usize) {
    let names = list.iter().map(|&number| SAMPLE.name(number));
    for (position, result) in store.load_many(names).take(taken) {
        assert_eq!(&result.unwrap()[..], SAMPLE.bytes(list[position]));
    }
}

fn perform(store: &Store, acts: &[Act]) {
    let mut held = Vec::new();
    for act in acts {
        match act {
            Act::Load(number) => {
                assert_eq!(&store.load(SAMPLE.name(*number)).unwrap()[..], SAMPLE.bytes(*number));
            }
            Act::Hold(number) => held.push((*number, store.load(SAMPLE.name(*number)).unwrap())),
            Act::Release => held.clear(),
            Act::Many(list) => check_many(store, list, list.len()),
            Act::Abandon(list, taken) => check_many(store, list, *taken),
        }
    }
    held.iter().for_each(|(number, buffer)| assert_eq!(&buffer[..], SAMPLE.bytes(*number)));
}

/// Policies that a store can have. It does not know the future or whether a file is dirty, and its
/// files have sizes.
fn policies() -> Vec<&'static str> {
    NAMES.iter().copied().filter(|name| needs_of(name).unwrap() == Needs::default()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_use_gets_the_right_bytes_and_the_simulators_victims(
        acts in acts(),
        policy in prop::sample::select(policies()),
        read_ahead in prop::sample::select(&[0_u64, 20_000, 1 << 20]),
        window in prop::sample::select(&[1_u64, 20_000, 1 << 20]),
    ) {
        let builder = Store::builder().cache(CACHE_BYTES).policy(policy).record_decisions(true);
        let store = builder.read_ahead_cache(read_ahead).window(window).open(&SAMPLE.path).unwrap();
        perform(&store, &acts);
        check_replay(&store, policy, CACHE_BYTES);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// While decisions are recorded the policy learns of each hit by itself. A store that reports
    /// it of several at once must not decide otherwise.
    #[test]
    fn a_store_that_counts_hits_by_file_keeps_the_same_files(
        loads in prop::collection::vec(prop_oneof![0..60_usize, 0..8_usize, 0..8_usize], 1..300),
        policy in prop::sample::select(policies()),
    ) {
        let [each, counted] = [true, false].map(|record| {
            let builder = Store::builder().cache(CACHE_BYTES).policy(policy);
            let builder = builder.costs(COSTS).read_ahead_cache(0).record_decisions(record);
            let store = builder.open(&SAMPLE.path).unwrap();
            // What is kept at last shows in which of all files are hits.
            for number in loads.iter().copied().chain((0..60).rev()) {
                assert_eq!(&store.load(SAMPLE.name(number)).unwrap()[..], SAMPLE.bytes(number));
            }
            let found = store.statistics();
            [found.hits, found.misses, found.bypassed, found.delivered_bytes]
        });
        prop_assert_eq!(each, counted, "{}", policy);
    }
}

#[test]
fn decisions_are_recorded_only_when_asked_for() {
    let store = Store::open(&SAMPLE.path).unwrap();
    store.load(SAMPLE.name(0)).unwrap();
    assert!(store.decisions().is_empty());
}
