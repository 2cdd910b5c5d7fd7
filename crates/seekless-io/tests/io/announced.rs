//! Loads that are announced: evicted by the order to come, read ahead, right in any order.

use crate::support::Sample;
use seekless_io::{Costs, Decision, ErrorKind, Store};
use seekless_pack::Codec;
use seekless_policy::cache::{Cache, Config};
use seekless_policy::eviction::{Belady, Needs, Outcome};
use seekless_policy::layout::shuffle::{Epoch, permutation};
use std::collections::HashSet;

const FILES: u32 = 400;
const BATCH: usize = 16;

fn sample() -> Sample {
    let sizes = (0..FILES as usize).map(|number| 500 + number * 97 % 3500);
    Sample::of_sizes(sizes, Codec::Stored)
}

fn bytes(sample: &Sample) -> u64 {
    sample.files.iter().map(|(_, content)| content.len() as u64).sum()
}

fn epoch(sample: &Sample, number: u64) -> Vec<String> {
    let order = permutation(FILES, Epoch { seed: 3, number });
    order.into_iter().map(|id| sample.name(id as usize).to_owned()).collect()
}

/// Loads epochs in batches; returns the coded bytes that each had decoded.
fn train(store: &Store, sample: &Sample, epochs: u64) -> Vec<u64> {
    let mut before = 0;
    let mut decoded = Vec::new();
    for number in 0..epochs {
        let (order, next) = (epoch(sample, number), epoch(sample, number + 1));
        store.will_load(order.iter().chain(&next)).unwrap();
        let following = store.follow(&order).unwrap();
        for batch in order.chunks(BATCH) {
            for (name, content) in batch.iter().zip(following.take(batch)) {
                let number: usize = name[4..8].parse().unwrap();
                assert_eq!(&content.unwrap()[..], sample.bytes(number), "{name}");
            }
        }
        let now = store.statistics().coded_bytes;
        decoded.push(now - before);
        before = now;
    }
    decoded
}

fn open(sample: &Sample, policy: &str) -> Store {
    let builder = Store::builder().policy(policy).cache(bytes(sample) / 4).read_ahead_cache(0);
    builder.record_decisions(true).open(&sample.path).unwrap()
}

#[test]
fn later_epochs_read_what_the_cache_has_no_room_for_and_little_more() {
    let sample = sample();
    let all = bytes(&sample) as f64;
    let share = |policy| {
        let decoded = train(&open(&sample, policy), &sample, 5);
        decoded[1..].iter().map(|&bytes| bytes as f64 / all).fold(0.0, f64::max)
    };
    let (belady, lru) = (share("belady"), share("lru"));
    assert!(belady <= 0.77, "{belady}");
    assert!(lru >= 0.93, "{lru}");
}

#[test]
fn two_epochs_known_at_a_time_evict_as_if_all_were_known() {
    let sample = sample();
    let store = open(&sample, "belady");
    train(&store, &sample, 4);
    let mut next = vec![u64::MAX; FILES as usize];
    let mut requests: Vec<_> = (store.decisions().into_iter())
        .map(|decision| match decision {
            Decision::Requested { request, evicted } => (request, evicted),
            other => panic!("nothing failed here: {other:?}"),
        })
        .collect();
    assert_eq!(requests.len(), 4 * FILES as usize);
    // The store knew the fifth epoch too.
    for (at, id) in permutation(FILES, Epoch { seed: 3, number: 4 }).into_iter().enumerate() {
        next[id as usize] = (requests.len() + at) as u64;
    }
    for at in (0..requests.len()).rev() {
        let id = requests[at].0.id as usize;
        requests[at].0.next_use = std::mem::replace(&mut next[id], at as u64);
    }
    let config = Config::files(bytes(&sample) / 4);
    let offer = Needs { next_use: true, ..Needs::NONE };
    let mut cache = Cache::with_offer(Belady::new(config.capacity), config, offer).unwrap();
    cache.grow(store.len() as u32);
    let mut resident = HashSet::new();
    for (turn, (request, evicted)) in requests.iter().enumerate() {
        if cache.access(request) == Outcome::Admitted {
            resident.insert(request.id);
        }
        evicted.iter().for_each(|victim| assert!(resident.remove(victim), "turn {turn}"));
        let same = resident.iter().all(|&id| cache.resident(id));
        assert!(same, "turn {turn}: the cache lacks what the store has");
    }
    assert!(resident.len() > FILES as usize / 8, "the test must keep files: {}", resident.len());
}

#[test]
fn files_may_be_taken_in_any_order_and_beside_the_list() {
    let sample = sample();
    // Requests are so cheap that nothing is read which is not asked for.
    let costs = Costs { request_ns: 1_000, bytes_per_second: 1_000_000_000, depth: 4 };
    let builder = Store::builder().cache(20_000).read_ahead_cache(0).window(10_000).costs(costs);
    let store = builder.open(&sample.path).unwrap();
    let order = epoch(&sample, 0);
    let following = store.follow(&order[..300]).unwrap();
    let mut asked: Vec<&String> = order.iter().rev().collect();
    asked.extend(&order[..50]);
    for batch in asked.chunks(7) {
        for (name, content) in batch.iter().zip(following.take(batch)) {
            let number: usize = name[4..8].parse().unwrap();
            assert_eq!(&content.unwrap()[..], sample.bytes(number));
        }
    }
    // The window, and as much of what waits to be taken; a file more each.
    assert!(store.statistics().held_bytes < 100_000, "{:?}", store.statistics());
    let unknown = following.take(&["nowhere", order[0].as_str()]);
    assert_eq!(unknown[0].as_ref().unwrap_err().kind(), ErrorKind::NotFound);
    assert!(unknown[1].is_ok());
}

#[test]
fn a_name_that_is_not_there_changes_nothing() {
    let sample = sample();
    let store = open(&sample, "belady");
    assert_eq!(store.will_load(["nowhere"]).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(store.follow(["nowhere"]).err().unwrap().kind(), ErrorKind::NotFound);
    assert!(Store::builder().policy("opt").open(&sample.path).is_err(), "its files have sizes");
}
