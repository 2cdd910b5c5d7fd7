//! What you simulate is what you run: the reads. A live store loads from a pack on a modelled
//! device, and the simulator predicts that run: its requests and bytes one for one, and its time.
//!
//! The model's clock stands still while the program computes, so the times are those of the device
//! alone and the same on every machine. It jumps when all threads of this process wait, so the
//! trials take turns.

#[path = "../../../tests/holes.rs"]
mod holes;
#[path = "../../../tests/shared_data.rs"]
mod shared_data;

use holes::Holes;
use seekless::device::{Costs, CostsSource, DeviceSpec, Nanos};
use seekless::engine::{Clock, Counters, Engine, Read, build_throttled};
use seekless::io::Store;
use seekless::pack::{About, Codec, PackWriter, prepare};
use seekless::policy::eviction::Id;
use seekless::policy::foresight::prediction::Model;
use seekless::policy::planner::Memory;
use seekless::sim::store::{Archive, Settings, StoreFigures, Work, listed, on_demand};
use seekless::tools::{order, predict};
use seekless::trace::Loads;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

const POLICIES: [&str; 3] = ["landlord", "lru", "arc"];
const ORDERS: [&str; 3] = ["name", "recent", "best"];
const RUNS: [&str; 5] = ["acropolis_bay", "arcadia", "belgian_bog", "sahel", "siwa_oasis"];
const VOLUME: DeviceSpec = DeviceSpec::Volume { iops: 500, bytes_per_second: 150_000_000 };

/// A window that holds any of these lists, coded and decoded.
const WHOLE_LIST: u64 = 1 << 30;

/// Held by the trial that runs.
static TURN: Mutex<()> = Mutex::new(());

/// A pack of stored files of zeros, in this order.
fn pack(path: &Path, files: impl IntoIterator<Item = (String, u64)>) {
    let mut pack = PackWriter::new(Holes(File::create(path).unwrap()));
    for (name, bytes) in files {
        let content = vec![0; bytes as usize];
        pack.add(prepare(About::named(&name), content, Codec::Stored).unwrap()).unwrap();
    }
    pack.finish().unwrap().0.0.sync_all().unwrap();
}

/// An engine whose user does not know its device.
struct Untold(Arc<dyn Engine>);

impl Engine for Untold {
    fn submit(&self, reads: Vec<Read>) {
        self.0.submit(reads);
    }

    fn counters(&self) -> Counters {
        self.0.counters()
    }

    fn name(&self) -> &'static str {
        "untold"
    }

    fn costs(&self) -> Costs {
        Costs::ASSUMED
    }

    fn knows_costs(&self) -> bool {
        false
    }

    fn now(&self) -> Nanos {
        self.0.now()
    }

    fn opened(&self) {
        self.0.opened();
    }
}

/// One store and its loads.
struct Trial<'a> {
    path: &'a Path,
    archive: &'a Archive,
    loads: &'a [Id],
    policy: &'a str,
    cache_bytes: u64,
    device: DeviceSpec,
    told: bool,
    /// The loads are one list, of which the store reads this many bytes ahead. `None`: the loads
    /// follow one another.
    window_bytes: Option<u64>,
    prediction: Option<Model>,
}

impl Trial<'_> {
    /// What the live store asks of the modelled device: requests, bytes and nanoseconds.
    fn live(&self) -> (u64, u64, Nanos) {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let clock = Clock::of_the_model();
        let throttled = build_throttled(self.device.clone(), clock.clone()).unwrap();
        let engine: Arc<dyn Engine> =
            if self.told { throttled } else { Arc::new(Untold(throttled)) };
        let builder = Store::builder().cache(self.cache_bytes).policy(self.policy);
        let mut builder = builder.look_up_costs(false).shared_engine(engine);
        if let Some(model) = &self.prediction {
            builder = builder.prediction(model.clone());
        }
        if let Some(bytes) = self.window_bytes {
            // Two workers may take two reads that end at one instant in either order.
            builder = builder.window(bytes).workers(1);
        }
        let store = builder.open(self.path).unwrap();
        let names = self.loads.iter().map(|&id| store.index().name(id));
        match self.window_bytes {
            None => names.for_each(|name| drop(store.load(name).unwrap())),
            Some(_) => store.load_many(names).for_each(|(_, loaded)| drop(loaded.unwrap())),
        }
        let expected = if self.told { CostsSource::Given } else { CostsSource::Estimated };
        assert_eq!(store.statistics().costs_source, expected);
        let Counters { requests, bytes, .. } = store.counters();
        (requests, bytes, clock.now())
    }

    fn simulated(&self) -> StoreFigures {
        let (costs, source) = match self.told {
            true => (self.device.costs(), CostsSource::Given),
            false => (Costs::ASSUMED, CostsSource::Assumed),
        };
        let settings = Settings {
            policy: self.policy.to_owned(),
            together_bytes: None,
            memory: Memory {
                cache_bytes: self.cache_bytes,
                read_ahead_bytes: None,
                window_bytes: self.window_bytes,
            },
            costs,
            source,
            work: Work::default(),
            prediction: self.prediction.clone(),
        };
        let simulate = if self.window_bytes.is_some() { listed } else { on_demand };
        simulate(self.archive, self.loads, &settings, &mut self.device.model()).unwrap()
    }

    fn check(&self, what: &str) {
        let (requests, bytes, time_ns) = self.live();
        let figures = self.simulated();
        assert_eq!((figures.requests, figures.bytes), (requests, bytes), "{what}: {}", self.policy);
        let apart = figures.time_ns.abs_diff(time_ns) as f64 / time_ns as f64;
        assert!(apart <= 0.05, "{what}: {figures:?}, live {time_ns} ns");
    }
}

/// xorshift, so that every run of the test is the same.
fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// Mostly small; every five hundredth takes several requests.
fn size(seed: &mut u64, number: u64) -> u64 {
    let bytes = random(seed);
    if number % 500 == 20 { bytes % 12_000_000 } else { bytes % 40_000 }
}

#[test]
fn a_store_reads_what_was_simulated() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("sample.zip");
    let mut seed = 5;
    let files: Vec<(String, u64)> =
        (0..4000).map(|number| (format!("file-{number:04}"), size(&mut seed, number))).collect();
    pack(&path, files);
    let (archive, _store) = predict::archive(&path).unwrap();
    // Stretches in sequence, every fifth file, and favourites.
    let mut loads = Vec::new();
    for _ in 0..60 {
        let (start, step) = (random(&mut seed) % 3800, 1 + 4 * (random(&mut seed) % 2));
        loads.extend((0..40).map(|turn| ((start + turn * step) % 4000) as Id));
        loads.extend((0..10).map(|_| (random(&mut seed) % 50) as Id));
    }
    let volume = |iops| DeviceSpec::Volume { iops, bytes_per_second: 150_000_000 };
    for (policy, cache_bytes) in [("landlord", 4 << 20), ("lru", 1 << 20), ("arc", 0)] {
        for (device, told) in [(VOLUME, true), (volume(3000), true), (volume(120), false)] {
            if (cache_bytes, told) == (0, false) {
                continue; // a store that reads nothing ahead tells no sizes apart
            }
            let trial = Trial {
                path: &path,
                archive: &archive,
                loads: &loads,
                policy,
                cache_bytes,
                device: device.clone(),
                told,
                window_bytes: None,
                prediction: None,
            };
            trial.check(&format!("{device}, told: {told}"));
        }
    }
}

/// A list of loads in three orders, on devices with cheap and dear requests. A list that its window
/// holds is planned at once, so its reads are the same one for one. A longer one is planned again
/// when its consumer has taken half of the window. Where several reads end at one instant, threads
/// decide which of them has arrived by then: a few reads are joined otherwise.
#[test]
fn a_list_reads_what_was_simulated() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("sample.zip");
    let mut seed = 9;
    let files: Vec<(String, u64)> =
        (0..2000).map(|number| (format!("file-{number:04}"), random(&mut seed) % 40_000)).collect();
    pack(&path, files);
    let (archive, _store) = predict::archive(&path).unwrap();
    let forward: Vec<Id> = (0..2000).filter(|number| number % 3 != 1).collect();
    let strided: Vec<Id> = (0..2000).map(|turn| turn * 7 % 2000).collect();
    let mut shuffled = forward.clone();
    for place in (1..shuffled.len()).rev() {
        shuffled.swap(place, (random(&mut seed) % (place as u64 + 1)) as usize);
    }
    for (order, loads) in [("forward", forward), ("strided", strided), ("shuffled", shuffled)] {
        for (policy, cache_bytes) in [("landlord", 4 << 20), ("lru", 1 << 20), ("arc", 16 << 20)] {
            for iops in [500, 3000] {
                let device = DeviceSpec::Volume { iops, bytes_per_second: 150_000_000 };
                let trial = Trial {
                    path: &path,
                    archive: &archive,
                    loads: &loads,
                    policy,
                    cache_bytes,
                    device,
                    told: true,
                    window_bytes: Some(WHOLE_LIST),
                    prediction: None,
                };
                let what = format!("{order} list at {iops} requests/s");
                trial.check(&what);
                let narrow = Trial { window_bytes: Some(8 << 20), ..trial };
                let (requests, simulated) = (narrow.live().0, narrow.simulated().requests);
                let apart = requests.abs_diff(simulated);
                assert!(apart * 20 <= simulated, "{what}: {requests} live, {simulated} simulated");
            }
        }
    }
}

/// The five runs of 0 A.D., if they are there.
fn public_runs() -> Option<Vec<PathBuf>> {
    let folder = shared_data::data("0ad")?;
    Some(RUNS.iter().map(|run| folder.join(format!("{run}.csv.gz"))).collect())
}

#[test]
fn five_starts_on_three_orders_and_three_policies_read_what_was_simulated() {
    let Some(runs) = public_runs() else { return };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let loads = Loads::read(&runs).unwrap();
    let universe: Vec<(String, u64)> =
        loads.names.iter().cloned().zip(loads.bytes.iter().copied()).collect();
    for method in ORDERS {
        let path = folder.path().join(format!("{method}.zip"));
        let order = order::order_names(&runs, &universe, method, None).unwrap();
        let bytes = |name: &String| universe.iter().find(|file| file.0 == *name).unwrap().1;
        pack(&path, order.iter().map(|name| (name.clone(), bytes(name))));
        let (archive, store) = predict::archive(&path).unwrap();
        for (run, label) in loads.runs.iter().zip(RUNS) {
            let id = |load: &seekless::trace::Load| {
                store.index().find(&loads.names[load.file as usize]).unwrap()
            };
            let loads: Vec<Id> = run.iter().map(id).collect();
            for policy in POLICIES {
                let trial = Trial {
                    path: &path,
                    archive: &archive,
                    loads: &loads,
                    policy,
                    cache_bytes: 16 << 20,
                    device: VOLUME,
                    told: true,
                    window_bytes: None,
                    prediction: None,
                };
                trial.check(&format!("{label} from a pack by {method}"));
                let listed = Trial { window_bytes: Some(WHOLE_LIST), ..trial };
                listed.check(&format!("{label} as a list, from a pack by {method}"));
            }
        }
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_store_that_predicts_reads_what_was_simulated() {
    let Some(runs) = public_runs() else { return };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let loads = Loads::read(&runs).unwrap();
    let universe: Vec<(String, u64)> =
        loads.names.iter().cloned().zip(loads.bytes.iter().copied()).collect();
    // The first four are known, and the last is loaded.
    let order = order::order_names(&runs[..4], &universe, "greedy", None).unwrap();
    let bytes: std::collections::HashMap<&str, u64> =
        universe.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    let path = folder.path().join("data.zip");
    pack(&path, order.iter().map(|name| (name.clone(), bytes[name.as_str()])));
    let (archive, store) = predict::archive(&path).unwrap();
    let ids = |run: &Vec<seekless::trace::Load>| -> Vec<Id> {
        let name = |load: &seekless::trace::Load| &loads.names[load.file as usize];
        run.iter().map(|load| store.index().find(name(load)).unwrap()).collect()
    };
    let known: Vec<Vec<Id>> = loads.runs[..4].iter().map(ids).collect();
    let model = Model::train(store.len() as u32, &known);
    let last = ids(&loads.runs[4]);
    for policy in POLICIES {
        let trial = Trial {
            path: &path,
            archive: &archive,
            loads: &last,
            policy,
            cache_bytes: 64 << 20,
            device: VOLUME,
            told: true,
            window_bytes: None,
            prediction: Some(model.clone()),
        };
        trial.check("with a prediction");
        let with = trial.simulated();
        assert!(with.predicted_used_bytes > with.predicted_bytes / 3, "{with:?}");
    }
}
