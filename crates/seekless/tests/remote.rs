//! A pack in object storage: the store loads from it what it would load from a file, in few
//! requests, whatever the server does.

use seekless::device::{CostsSource, DeviceSpec, ObjectStoreParameters, Parameters, Quantile};
use seekless::engine::automatic;
use seekless::io::{DiskCacheSettings, ErrorKind, Store};
use seekless::pack::{About, Codec, PackWriter, prepare};
use seekless::policy::eviction::Id;
use seekless::policy::layout::extents::Extent;
use seekless::policy::planner::Memory;
use seekless::remote::{Access, Remote, Settings};
use seekless::sim::store::{Archive, Settings as Simulated, Work, listed, on_demand};
use seekless_testing::{Conduct, Fault, ObjectServer};
use std::sync::Arc;
use std::time::Duration;

const FILES: u32 = 500;

fn name(file: u32) -> String {
    format!("art/{}/{file}.dds", file % 7)
}

/// Text of some KiB, so that entries are deflated.
fn content(file: u32) -> Vec<u8> {
    let lines = 40 + file % 200;
    (0..lines)
        .flat_map(|line| format!("{file} has {line}, {}\n", line * file).into_bytes())
        .collect()
}

fn pack() -> Vec<u8> {
    let mut pack = PackWriter::new(Vec::new());
    for file in 0..FILES {
        pack.add(prepare(About::named(name(file)), content(file), Codec::Auto).unwrap()).unwrap();
    }
    pack.finish().unwrap().0
}

fn server(conduct: Conduct) -> ObjectServer {
    let server = ObjectServer::start(conduct).unwrap();
    server.put("/bucket/pack.zip", pack());
    server
}

fn url(server: &ObjectServer) -> String {
    format!("http://{}/bucket/pack.zip", server.address())
}

/// An engine that tries again soon.
fn engine() -> Arc<Remote> {
    engine_with(Settings::default())
}

fn engine_with(mut settings: Settings) -> Arc<Remote> {
    settings.pause_min = Duration::from_millis(1);
    settings.pause_max = Duration::from_millis(20);
    Arc::new(Remote::new(automatic(), Access::default(), settings).unwrap())
}

#[test]
fn a_pack_is_opened_by_its_url_in_one_request() {
    let server = server(Conduct::plain());
    let store = Store::open(url(&server)).unwrap();
    assert_eq!(server.served().requests, 1);
    assert_eq!((store.len(), store.engine_name()), (FILES as usize, "range requests"));
    assert!(store.load(&name(7)).unwrap()[..] == content(7));
    assert!(store.read_range(&name(8), 5..50).unwrap()[..] == content(8)[5..50]);
    assert!(store.stored_at(&name(9)).unwrap().is_none(), "there is no file to read it from");
}

#[test]
fn a_whole_list_takes_few_requests() {
    let delay = Duration::from_millis(5);
    let server = server(Conduct::plain().delayed(delay, delay / 2));
    let store = Store::builder().shared_engine(engine()).open(url(&server)).unwrap();
    let names: Vec<String> = (0..FILES).map(name).collect();
    for (place, loaded) in store.load_many(names) {
        assert!(loaded.unwrap()[..] == content(place as u32), "{place}");
    }
    let requests = server.served().requests;
    assert!(requests <= u64::from(FILES) / 10, "{requests} requests for {FILES} files");
    assert_eq!(store.counters().requests, requests);
}

#[test]
fn a_second_store_loads_from_the_disk_cache_and_learns_nothing_of_the_storage_by_it() {
    let (folder, delay) = (tempfile::tempdir().unwrap(), Duration::from_millis(5));
    let server = server(Conduct::plain().delayed(delay, delay / 2));
    let cache = DiskCacheSettings::new(16 << 20).folder(folder.path());
    let open = || Store::builder().disk_cache(cache.clone()).cache(0).open(url(&server)).unwrap();
    let load_all = |store: &Store| {
        for file in (0..FILES).map(|turn| turn * 37 % FILES) {
            assert!(store.load(&name(file)).unwrap()[..] == content(file), "{file}");
        }
    };
    load_all(&open());
    let first = server.served().requests;
    assert!(first > 10, "{first}");
    let store = open();
    load_all(&store);
    assert_eq!(server.served().requests, first + 1, "it asked which version there is");
    let known = store.statistics();
    assert_eq!(known.costs_source, CostsSource::Assumed);
    assert!(known.costs.request_ns > 2_000_000, "{:?}", known.costs);
    // Another version of the pack is another object.
    server.put("/bucket/pack.zip", pack());
    load_all(&open());
    assert!(server.served().requests > first + 10);
    let small = DiskCacheSettings::new(5).folder(folder.path());
    let error = Store::builder().disk_cache(small).open(url(&server)).unwrap_err();
    assert_eq!(error.to_string(), "the disk cache is too small: give 8 MiB or more");
}

#[test]
fn faults_change_no_file() {
    let server = server(Conduct::plain().faulty(200, Fault::PASSING));
    let store = Store::builder()
        .cache(0)
        .predict(false)
        .shared_engine(engine())
        .open(url(&server))
        .unwrap();
    for file in (0..FILES).map(|turn| turn * 37 % FILES) {
        let loaded = store.load(&name(file)).unwrap_or_else(|error| panic!("{error}"));
        assert!(loaded[..] == content(file), "{file}");
    }
    assert!(server.served().faults > 10, "{:?}", server.served());
}

#[test]
fn a_replaced_pack_is_an_error_that_names_object_entry_and_range() {
    let server = server(Conduct::plain());
    let store =
        Store::builder().cache(0).read_ahead_cache(0).shared_engine(engine()).open(url(&server));
    let store = store.unwrap();
    assert!(store.load(&name(0)).is_ok());
    server.put("/bucket/pack.zip", pack());
    let error = store.load(&name(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Read);
    let words = error.to_string();
    assert!(words.starts_with(&format!("{}: entry {:?} at offset ", url(&server), name(1))));
    assert!(words.contains("was replaced after it was opened: open it again"), "{words}");
}

#[test]
fn what_is_no_pack_says_so() {
    let server = server(Conduct::plain());
    let open = |path: &str| {
        let url = format!("http://{}/bucket/{path}", server.address());
        Store::open(url).unwrap_err().to_string()
    };
    assert!(open("absent.zip").ends_with("there is no such object"), "{}", open("absent.zip"));
    server.put("/bucket/text", *b"no pack");
    assert!(open("text").contains("cannot be opened as a pack"), "{}", open("text"));
    let signed = open("pack.zip?X-Amz-Signature=secret");
    assert!(signed.contains("signed link") && !signed.contains("secret"), "{signed}");
}

/// A cache that holds half of the pack.
const CACHE_BYTES: u64 = 1 << 20;

/// The pack as a store on the server sees it. What opening takes is counted apart.
fn archive(store: &Store) -> Archive {
    let index = store.index();
    let extents: Vec<Extent> = index
        .entries()
        .map(|entry| Extent { offset: entry.header_offset, bytes: entry.extent_bytes })
        .collect();
    Archive {
        file_bytes: extents.last().unwrap().end(),
        extents: extents.into(),
        bytes: (0..index.len() as u32).map(|number| index.bytes(number)).collect(),
        alignment: store.alignment(),
        opening: Vec::new(),
        names: None,
    }
}

/// Storage of which a request costs as much as this many bytes.
fn storage(gap_bytes: u64) -> DeviceSpec {
    let latency_ns = gap_bytes * 20; // at 50 MB/s
    let parameters = ObjectStoreParameters {
        bytes_per_second: 50_000_000,
        streams: 128,
        seed: 1,
        first_byte: vec![
            Quantile { permille: 0, latency_ns },
            Quantile { permille: 1000, latency_ns },
        ],
    };
    DeviceSpec::new("storage", Parameters::ObjectStore(parameters)).unwrap()
}

#[test]
fn the_simulator_says_what_the_server_counts() {
    let mut most = 0;
    for gap_bytes in [5_000, 50_000, 1_000_000] {
        let spec = storage(gap_bytes);
        let costs = spec.costs();
        let settings = Simulated {
            policy: "landlord".to_owned(),
            together_bytes: None,
            memory: Memory { cache_bytes: CACHE_BYTES, read_ahead_bytes: None, window_bytes: None },
            costs,
            source: CostsSource::Given,
            work: Work::default(),
            prediction: None,
        };
        let files: Vec<u32> = (0..FILES).map(|turn| turn * 7 % FILES).step_by(2).collect();
        for is_listed in [false, true] {
            let server = server(Conduct::plain());
            let builder = Store::builder().cache(CACHE_BYTES).costs(costs).predict(false);
            // A request that is made twice depends on the time that others took.
            let engine = engine_with(Settings::default().without_hedges());
            let store = builder.shared_engine(engine).open(url(&server)).unwrap();
            let opened = server.served();
            let names = files.iter().copied().map(name);
            match is_listed {
                true => store.load_many(names).for_each(|(_, loaded)| drop(loaded.unwrap())),
                false => names.for_each(|name| drop(store.load(&name).unwrap())),
            }
            let ids: Vec<Id> =
                files.iter().map(|file| store.entry_of(&name(*file)).unwrap()).collect();
            let simulate = if is_listed { listed } else { on_demand };
            let figures = simulate(&archive(&store), &ids, &settings, &mut spec.model()).unwrap();
            let served = server.served();
            assert_eq!(
                (figures.requests, figures.bytes),
                (served.requests - opened.requests, served.bytes - opened.bytes),
                "{gap_bytes}, {is_listed}"
            );
            most = most.max(figures.requests);
        }
    }
    assert!(most > 10, "some took many requests: {most}");
}
