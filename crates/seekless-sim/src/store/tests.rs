use super::*;
use seekless_device::Volume;

const VOLUME: Costs = Costs { request_ns: 2_000_000, bytes_per_second: 150_000_000, depth: 1 };

fn archive(sizes: impl IntoIterator<Item = u64>) -> Archive {
    let bytes: Vec<u64> = sizes.into_iter().collect();
    let mut offset = 0;
    let place = |&bytes: &u64| {
        let extent = Extent { offset, bytes };
        offset += bytes;
        extent
    };
    let extents = bytes.iter().map(place).collect();
    let opening = vec![Extent { offset: 0, bytes: 0 }];
    Archive { extents, bytes, file_bytes: offset, alignment: 1, opening }
}

fn settings() -> Settings {
    let memory = Memory { cache_bytes: 64 << 20, read_ahead_bytes: None, window_bytes: None };
    Settings {
        policy: "lru".to_owned(),
        memory,
        costs: VOLUME,
        source: CostsSource::Told,
        work: Work::default(),
    }
}

fn simulate(archive: &Archive, loads: &[Id], settings: &Settings) -> StoreFigures {
    on_demand(archive, loads, settings, &mut Volume::new(500, 150_000_000)).unwrap()
}

#[test]
fn each_way_of_a_load_is_counted_and_charged() {
    let archive = archive([10_000; 40]);
    let figures = simulate(&archive, &[10, 11, 10, 39], &settings());
    // The open; the read for 10, from the first entry to 20 after it; the rest for 39.
    assert_eq!((figures.loads, figures.hits, figures.read_ahead_hits), (4, 1, 1));
    assert_eq!((figures.requests, figures.bytes), (3, 310_000 + 90_000));
    assert_eq!(figures.time_ns, 0, "a burst, which the throttle lets pass at once");
    let loads: Vec<Id> = (0..40).cycle().take(4000).collect();
    let none = Memory { cache_bytes: 0, read_ahead_bytes: None, window_bytes: None };
    let figures = simulate(&archive, &loads, &Settings { memory: none, ..settings() });
    assert_eq!((figures.requests, figures.bytes), (4001, 40_000_000));
    assert_eq!(figures.time_ns, 8_000_000_000, "500 a second, 50 of them at once");
}

#[test]
fn work_delays_the_next_read_and_a_waiting_throttle_makes_up_for_it() {
    let archive = archive([10_000; 2000]);
    let loads: Vec<Id> = (0..2000).collect();
    let idle = simulate(&archive, &loads, &settings());
    let work = Work { load_ns: 1_000_000, mebibyte_ns: 0 };
    let busy = simulate(&archive, &loads, &Settings { work, ..settings() });
    assert_eq!((busy.requests, busy.bytes), (idle.requests, idle.bytes));
    assert_eq!(busy.time_ns, 2_000_000_000 + busy.wait_ns);
    assert!(busy.wait_ns < idle.wait_ns + 1);
    let work = Work { load_ns: 0, mebibyte_ns: 1 << 20 };
    let busy = simulate(&archive, &loads[..1], &Settings { work, ..settings() });
    assert_eq!(busy.time_ns - busy.wait_ns, 10_000);
}

#[test]
fn a_store_that_was_not_told_finds_out() {
    let archive = archive((0..20_000).map(|number| 4_000 + number * 7_919 % 20_000));
    let loads: Vec<Id> = (0..20_000).collect();
    let untold = Settings { costs: Costs::ASSUMED, source: CostsSource::Assumed, ..settings() };
    let run = |settings: &Settings| {
        let mut volume = Volume::new(120, 150_000_000);
        on_demand(&archive, &loads, settings, &mut volume).unwrap()
    };
    let costs = Volume::new(120, 150_000_000).costs();
    let told = run(&Settings { costs, ..settings() });
    let untold = run(&untold);
    // The first half second goes into finding out: 60 requests.
    assert!(untold.requests <= told.requests + told.requests / 10 + 60, "{untold:?} {told:?}");
}

#[test]
fn an_unknown_policy_is_refused() {
    let settings = Settings { policy: "best".to_owned(), ..settings() };
    let error = on_demand(&archive([1]), &[0], &settings, &mut Volume::new(1, 1)).unwrap_err();
    assert!(error.to_string().contains("best"), "{error}");
}
