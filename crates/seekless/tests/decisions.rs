//! What you simulate is what you run. This gives the simulator the live store's requests, in the
//! order in which the store's policy got them. It must hit and evict the same ids, with one thread
//! and with many.

use seekless::io::{Decision, Hint, Store};
use seekless::pack::{About, Codec, PackWriter, prepare};
use seekless::policy::cache::{Cache, Command, Config, Filled};
use seekless::policy::eviction::{Id, named};
use seekless::policy::layout::shuffle::{Epoch, permutation};
use seekless::sim::{Case, Requests, simulate, victims};
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::thread;
use tempfile::TempDir;

const POLICIES: [&str; 3] = ["lru", "arc", "landlord"];
const FILES: u64 = 200;
const CACHE_BYTES: u64 = 120_000;

/// xorshift, so that every run of the test is the same.
fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// A pack of 200 files: most small, every fiftieth over half the cache.
fn sample() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("sample.zip");
    let mut pack = PackWriter::new(BufWriter::new(File::create(&path).unwrap()));
    let mut seed = 5;
    for number in 0..FILES {
        let bytes = match number % 50 {
            49 => 70_000,
            _ => 100 + random(&mut seed) % 6_000,
        };
        let content = vec![number as u8; bytes as usize];
        pack.add(prepare(About::named(name(number)), content, Codec::Auto).unwrap()).unwrap();
    }
    pack.finish().unwrap().0.into_inner().unwrap();
    (directory, path)
}

fn name(number: u64) -> String {
    format!("file-{number:03}")
}

/// Skewed, as real programs are: a few files are loaded often, the others rarely.
fn pick(seed: &mut u64) -> String {
    let spread = match random(seed) % 3 {
        0 => FILES,
        1 => FILES / 5,
        _ => FILES / 20,
    };
    name(random(seed) % spread)
}

fn open(path: &PathBuf, policy: &str) -> Store {
    let builder = Store::builder().cache(CACHE_BYTES).read_ahead_cache(16 << 20);
    builder.policy(policy).record_decisions(true).open(path).unwrap()
}

/// Loads files one by one, and holds some of them for a while.
fn load(store: &Store, loads: usize, mut seed: u64) {
    let mut held = Vec::new();
    for turn in 0..loads {
        let buffer = store.load(&pick(&mut seed)).unwrap();
        if turn % 5 == 0 {
            held.push(buffer);
        }
        if held.len() > 8 {
            held.swap_remove((random(&mut seed) % 8) as usize);
        }
    }
}

/// Checks that the simulator evicts the same files as the store at each request. Returns how many.
fn replay(store: &Store, policy: &str) -> usize {
    let mut cache =
        Cache::new(named(policy, CACHE_BYTES).unwrap(), Config::files(CACHE_BYTES)).unwrap();
    cache.grow(store.len() as u32);
    let (mut commands, mut victims) = (Vec::new(), 0);
    for (turn, decision) in store.decisions().into_iter().enumerate() {
        commands.clear();
        match decision {
            Decision::Requested { request, evicted } => {
                cache.step(&request, &mut commands);
                assert_eq!(drops(&commands), evicted, "{policy}, turn {turn}: {request:?}");
                victims += evicted.len();
                if cache.in_flight(request.id) {
                    cache.complete(request.id, Filled::Yes, &mut commands);
                }
            }
            Decision::Removed { id } => cache.complete(id, Filled::Failed, &mut commands),
            other => panic!("a decision that this test does not know: {other:?}"),
        }
    }
    victims
}

fn drops(commands: &[Command]) -> Vec<Id> {
    let dropped = |command: &Command| match command {
        Command::Drop(id) => Some(*id),
        Command::Fetch(_) | Command::WriteBack(_) => None,
    };
    commands.iter().filter_map(dropped).collect()
}

#[test]
fn one_threads_loads_hit_and_evict_as_simulated() {
    let (_directory, path) = sample();
    for policy in POLICIES {
        let store = open(&path, policy);
        load(&store, 3_000, 11);
        assert!(replay(&store, policy) > 100, "{policy}: the test must evict");

        let (loaded, evicted): (Vec<Id>, Vec<Vec<Id>>) = (store.decisions().into_iter())
            .map(|decision| match decision {
                Decision::Requested { request, evicted } => (request.id, evicted),
                other => panic!("nothing failed here: {other:?}"),
            })
            .unzip();
        assert_eq!(loaded.len(), 3_000, "every load reached the policy");
        let bytes: Vec<u64> = store.index().entries().map(|entry| entry.bytes).collect();
        let case = Case { policy: policy.to_owned(), capacity: CACHE_BYTES };
        let requests = Requests::from_files(&loaded, &bytes);
        assert_eq!(simulate(&requests, &case).unwrap().hits, store.statistics().hits, "{policy}");
        assert_eq!(victims(&requests, &case).unwrap(), evicted, "{policy}");
    }
}

#[test]
fn the_order_of_one_threads_loads_is_the_order_of_the_decisions() {
    let (_directory, path) = sample();
    let store = open(&path, "lru");
    let mut seed = 3;
    let names: Vec<String> = (0..2_000).map(|_| pick(&mut seed)).collect();
    names.iter().for_each(|name| drop(store.load(name).unwrap()));
    let decided = store.decisions().into_iter().map(|decision| match decision {
        Decision::Requested { request, .. } => store.index().name(request.id).to_owned(),
        other => panic!("nothing failed here: {other:?}"),
    });
    assert!(decided.eq(names));
}

#[test]
fn hinted_loads_evict_as_simulated() {
    let (_directory, path) = sample();
    for policy in ["landlord", "gds", "gdsf", "hyperbolic"] {
        let store = open(&path, policy);
        for number in 0..FILES {
            let hint = [Hint::Usual, Hint::LongLived, Hint::Usual, Hint::Once][number as usize % 4];
            store.hint(&name(number), hint).unwrap();
        }
        load(&store, 1_500, 23);
        store.hint(&name(1), Hint::Once).unwrap();
        load(&store, 1_500, 29);
        assert!(replay(&store, policy) > 100, "{policy}: the test must evict");
    }
}

#[test]
fn many_threads_loads_evict_as_simulated() {
    let (_directory, path) = sample();
    for policy in POLICIES {
        let store = open(&path, policy);
        thread::scope(|scope| {
            for seed in 1..=4 {
                let store = &store;
                scope.spawn(move || load(store, 1_500, seed * 7_919));
            }
        });
        assert!(replay(&store, policy) > 100, "{policy}: the test must evict");
    }
}

#[test]
fn load_many_evicts_as_simulated_also_when_dropped_early() {
    let (_directory, path) = sample();
    for policy in POLICIES {
        let store = open(&path, policy);
        thread::scope(|scope| {
            for seed in 1..=3_u64 {
                let store = &store;
                scope.spawn(move || {
                    let mut seed = seed * 104_729;
                    for taken in [400, 3, 400, 0, 50] {
                        let names: Vec<String> = (0..400).map(|_| pick(&mut seed)).collect();
                        assert!(
                            store.load_many(names).take(taken).all(|(_, result)| result.is_ok())
                        );
                    }
                });
            }
        });
        assert!(replay(&store, policy) > 100, "{policy}: the test must evict");
    }
}

#[test]
fn announced_epochs_hit_and_evict_as_simulated() {
    let (_directory, path) = sample();
    let store = open(&path, "belady");
    let epoch = |number| permutation(FILES as u32, Epoch { seed: 9, number });
    let names = |ids: &[Id]| ids.iter().map(|&id| name(u64::from(id))).collect::<Vec<_>>();
    let mut loaded = Vec::new();
    for number in 0..6 {
        // Nothing comes after the last epoch, neither here nor in the simulator.
        let next = if number < 5 { epoch(number + 1) } else { Vec::new() };
        let order = epoch(number);
        store.will_load(names(&[&order[..], &next].concat())).unwrap();
        names(&order).iter().for_each(|name| drop(store.load(name).unwrap()));
        loaded.extend(order);
    }
    let evicted: Vec<Vec<Id>> = (store.decisions().into_iter())
        .map(|decision| match decision {
            Decision::Requested { evicted, .. } => evicted,
            other => panic!("nothing failed here: {other:?}"),
        })
        .collect();
    let bytes: Vec<u64> = store.index().entries().map(|entry| entry.bytes).collect();
    let case = Case { policy: "belady".to_owned(), capacity: CACHE_BYTES };
    let requests = Requests::from_files(&loaded, &bytes);
    assert_eq!(simulate(&requests, &case).unwrap().hits, store.statistics().hits);
    assert_eq!(victims(&requests, &case).unwrap(), evicted);
    assert!(evicted.iter().any(|victims| victims.len() > 1), "the test must evict");
}
