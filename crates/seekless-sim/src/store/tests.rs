use super::*;
use seekless_device::{SplitMix64, Volume};

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
    Archive { extents, bytes, file_bytes: offset, alignment: 1, opening, names: None }
}

fn settings() -> Settings {
    let memory = Memory { cache_bytes: 64 << 20, read_ahead_bytes: None, window_bytes: None };
    Settings {
        policy: "lru".to_owned(),
        memory,
        together_bytes: None,
        costs: VOLUME,
        source: CostsSource::Given,
        work: Work::default(),
        prediction: None,
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
fn a_read_is_told_with_the_load_that_waited_for_it() {
    let archive = archive([10_000; 40]);
    let mut volume = Volume::new(500, 150_000_000);
    let (figures, reads) =
        demand_reads(&archive, &[10, 11, 10, 39], &settings(), &mut volume).unwrap();
    let read = |id, offset, bytes| DemandRead { id, extent: Extent { offset, bytes } };
    assert_eq!(reads, [read(10, 0, 310_000), read(39, 310_000, 90_000)]);
    assert_eq!(figures, simulate(&archive, &[10, 11, 10, 39], &settings()));
}

/// A folder's block lies before the archive's first byte on the device, so its offset wraps around.
#[test]
fn what_leads_to_the_archive_lies_outside_of_it_and_is_read_whole() {
    let within = archive([10_000; 40]);
    let folder = Extent { offset: 0u64.wrapping_sub(40_960), bytes: 4096 };
    let opening = vec![folder, Extent { offset: 5_000_000, bytes: 8192 }];
    let read = |opening| simulate(&Archive { opening, ..within.clone() }, &[], &settings());
    let (outside, none) = (read(opening), read(Vec::new()));
    assert_eq!((outside.requests, outside.bytes), (none.requests + 2, none.bytes + 12_288));
}

#[test]
fn what_the_program_holds_is_not_read_again() {
    let archive = archive([40_000; 3]);
    // A cache of one file.
    let memory = Memory { cache_bytes: 80_000, read_ahead_bytes: Some(0), window_bytes: None };
    let settings = Settings { memory, ..settings() };
    let run = |events: &[Event]| {
        on_demand_held(&archive, events, &settings, &mut Volume::new(500, 150_000_000)).unwrap()
    };
    use Event::{Load, Release};
    let held = run(&[Load(0), Load(1), Load(2), Load(0), Release(0), Load(1), Load(2), Load(0)]);
    assert_eq!((held.requests, held.hits + held.revived), (1 + 3, 4), "{held:?}");
    let twice = run(&[Load(0), Release(0), Load(1), Release(1), Load(2), Release(2), Load(0)]);
    assert_eq!((twice.requests, twice.revived), (1 + 4, 0), "{twice:?}");
    let let_go = run(&[Load(0), Release(1), Release(0), Release(0), Load(1), Load(2), Load(0)]);
    assert_eq!((let_go.requests, let_go.revived), (1 + 4, 0), "{let_go:?}");
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
    let estimated = Settings { costs: Costs::ASSUMED, source: CostsSource::Assumed, ..settings() };
    let run = |settings: &Settings| {
        let mut volume = Volume::new(120, 150_000_000);
        on_demand(&archive, &loads, settings, &mut volume).unwrap()
    };
    let costs = Volume::new(120, 150_000_000).costs();
    let given = run(&Settings { costs, ..settings() });
    let estimated = run(&estimated);
    // The first half second goes into finding out: 60 requests.
    assert!(
        estimated.requests <= given.requests + given.requests / 10 + 60,
        "{estimated:?} {given:?}"
    );
}

/// A drive with noise behind a throttle: a read ends when both have ended it.
struct Slowed {
    throttle: Volume,
    latency_ns: Nanos,
    bytes_per_second: u64,
    /// When the drive is free.
    free: Nanos,
    random: SplitMix64,
    ends: Vec<(Nanos, Io)>,
}

impl Slowed {
    const DRIVE: u64 = 2_500_000_000;

    fn new(throttle: (u64, u64), latency_ns: Nanos, seed: u64) -> Self {
        let (throttle, random) = (Volume::new(throttle.0, throttle.1), SplitMix64::new(seed));
        Slowed {
            throttle,
            latency_ns,
            bytes_per_second: Self::DRIVE,
            free: 0,
            random,
            ends: vec![],
        }
    }
}

impl DeviceModel for Slowed {
    fn submit(&mut self, now: Nanos, io: Io) {
        let plain = self.latency_ns + io.bytes * 1_000_000_000 / self.bytes_per_second;
        let mut took = (plain as f64 * (0.9 + 0.2 * self.random.share())) as Nanos;
        // Now and then the program is woken late.
        if self.random.below(200) == 0 {
            took += self.random.below(15_000_000);
        }
        self.free = self.free.max(now) + took;
        let mut end = self.free;
        self.throttle.submit(now, io);
        self.throttle.advance(Nanos::MAX, &mut |allowed, _| end = end.max(allowed));
        self.ends.push((end, io));
    }

    fn next_event(&self) -> Option<Nanos> {
        self.ends.iter().map(|&(end, _)| end).min()
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        self.ends.sort_by_key(|&(end, _)| end);
        let ended = self.ends.partition_point(|&(end, _)| end <= now);
        self.ends.drain(..ended).for_each(|(end, io)| done(end, io));
    }

    fn costs(&self) -> Costs {
        let Costs { request_ns, bytes_per_second, .. } = self.throttle.costs();
        Costs {
            request_ns: request_ns.max(self.latency_ns),
            bytes_per_second: bytes_per_second.min(self.bytes_per_second),
            depth: 1,
        }
    }
}

/// Most files in the order of the archive, in stretches, and others between.
fn planted() -> (Archive, Vec<Id>) {
    let archive = archive((0..40_000).map(|number| 4_000 + number * 7_919 % 40_000));
    let mut random = SplitMix64::new(1);
    let loads = (0..40_000u32)
        .filter(|number| number / 50 % 4 != 3)
        .map(|number| if random.below(10) == 0 { random.below(40_000) as Id } else { number })
        .collect();
    (archive, loads)
}

#[test]
fn a_store_that_finds_out_takes_little_longer_than_one_that_was_told() {
    let (archive, loads) = planted();
    let mut off = Vec::new();
    for iops in [60, 120, 500, 3000, 20_000] {
        for bytes_per_second in [20_000_000, 150_000_000, 1_000_000_000, 3_000_000_000] {
            for latency_ns in [20_000, 300_000, 3_000_000, 30_000_000] {
                let throttle = (iops, bytes_per_second);
                let device = || Slowed::new(throttle, latency_ns, iops + latency_ns);
                let given = Settings { costs: device().costs(), ..settings() };
                let estimated =
                    Settings { costs: Costs::ASSUMED, source: CostsSource::Assumed, ..settings() };
                let run = |settings: &Settings| {
                    on_demand(&archive, &loads, settings, &mut device()).unwrap()
                };
                let (given, estimated) = (run(&given), run(&estimated));
                if estimated.time_ns > given.time_ns + given.time_ns / 10 + 500_000_000 {
                    off.push((throttle, latency_ns, estimated, given));
                }
            }
        }
    }
    assert!(off.is_empty(), "{off:?}");
}

/// When each load began, and the requests before it; and both at the end.
fn course(
    archive: &Archive,
    loads: &[Id],
    settings: &Settings,
    mut model: Slowed,
) -> Vec<(Nanos, u64)> {
    let mut reader = Reader::open(archive, settings, &mut model).unwrap();
    let mut course = Vec::new();
    for &id in loads {
        course.push((reader.now, reader.figures.requests));
        reader.load(id, settings.work);
    }
    course.push((reader.now, reader.figures.requests));
    course
}

/// A limit that the store never reaches cannot be known: then its loads take little longer, with
/// more requests. Nor do more requests matter where the loads take no longer. The drive's own
/// latency must be no more than the limit makes of a request, since only the limits are given.
#[test]
fn a_store_that_finds_out_makes_few_more_requests_from_the_second_second_on() {
    let (archive, loads) = planted();
    let mut off = Vec::new();
    for iops in [120, 200, 500, 1000, 3000, 10_000] {
        for bytes_per_second in [50_000_000, 150_000_000, 400_000_000] {
            let latencies = [30_000, 300_000];
            for latency_ns in
                latencies.into_iter().filter(|latency| latency * iops <= 1_000_000_000)
            {
                let throttle = (iops, bytes_per_second);
                let device = || Slowed::new(throttle, latency_ns, iops + latency_ns);
                let memory = Memory { cache_bytes: 16 << 20, ..settings().memory };
                let costs = device().throttle.costs();
                let given = Settings { costs, memory, ..settings() };
                let (costs, source) = (Costs::ASSUMED, CostsSource::Assumed);
                let estimated = Settings { costs, source, ..given.clone() };
                let given = course(&archive, &loads, &given, device());
                let estimated = course(&archive, &loads, &estimated, device());
                let from = estimated.partition_point(|&(at, _)| at < 1_000_000_000);
                let after = |course: &[(Nanos, u64)]| {
                    let ((from, before), (end, requests)) = (course[from], course[loads.len()]);
                    (end - from, requests - before)
                };
                let ((took, requests), (given_took, given_requests)) =
                    (after(&estimated), after(&given));
                let is_reached = requests * 1_000_000_000 >= took * iops * 9 / 10;
                let is_well = requests <= given_requests + given_requests / 10
                    || took <= given_took
                    || !is_reached && took <= given_took + given_took / 10;
                if !is_well {
                    off.push((throttle, latency_ns, requests, given_requests, took, given_took));
                }
            }
        }
    }
    assert!(off.is_empty(), "{off:?}");
}

/// A large entry is read in pieces, as fast as they are decoded. What passes counts all the same.
#[test]
fn large_entries_do_not_hide_a_limit() {
    let size = |number: u64| match number % 100 {
        7 => 5_000_000,
        _ => 4_000 + number * 7_919 % 40_000,
    };
    let archive = archive((0..4_000).map(size));
    let loads: Vec<Id> = (0..4_000).filter(|number| number / 50 % 4 != 3).collect();
    for iops in [120, 200, 500] {
        let device = || Slowed::new((iops, 150_000_000), 100_000, iops);
        let memory = Memory { cache_bytes: 16 << 20, ..settings().memory };
        let given = Settings { costs: device().throttle.costs(), memory, ..settings() };
        let (costs, source) = (Costs::ASSUMED, CostsSource::Assumed);
        let estimated = Settings { costs, source, ..given.clone() };
        let run = |settings: &Settings| {
            on_demand(&archive, &loads, settings, &mut device()).unwrap().requests
        };
        let (given, estimated) = (run(&given), run(&estimated));
        // The first second goes into finding out.
        assert!(estimated <= given + given / 10 + iops, "{iops}: {estimated}, given {given}");
    }
}

#[test]
fn an_unknown_policy_is_refused() {
    let settings = Settings { policy: "best".to_owned(), ..settings() };
    let error = on_demand(&archive([1]), &[0], &settings, &mut Volume::new(1, 1)).unwrap_err();
    assert!(error.to_string().contains("best"), "{error}");
}

#[test]
fn a_list_joins_what_is_near_and_asks_for_nothing_twice() {
    let archive = archive([10_000; 100]);
    let model = || Volume::new(500, 150_000_000);
    let list = |loads: &[Id], settings: &Settings| {
        listed(&archive, loads, settings, &mut model()).unwrap()
    };
    // The open; 10 to 40, whose gap is less than the 300 KB of a request; 99, which lies further.
    let figures = list(&[40, 10, 11, 10, 99], &settings());
    assert_eq!((figures.loads, figures.hits), (5, 0));
    assert_eq!((figures.requests, figures.bytes), (3, 310_000 + 10_000));
    // A window that holds one file at a time joins nothing.
    let narrow = Memory { window_bytes: Some(1), ..settings().memory };
    let figures = list(&[40, 10, 11, 10, 99], &Settings { memory: narrow, ..settings() });
    assert_eq!((figures.loads, figures.hits, figures.requests), (5, 1, 5));
    let all: Vec<Id> = (0..100).collect();
    assert_eq!(list(&all, &settings()).bytes, 1_000_000);
    assert!(
        list(&all, &settings()).time_ns
            <= on_demand(&archive, &all, &settings(), &mut model()).unwrap().time_ns
    );
}

#[test]
fn files_of_a_unit_leave_the_cache_together() {
    let archive = archive([3_000; 40]);
    let memory = Memory { cache_bytes: 30_000, read_ahead_bytes: Some(0), window_bytes: None };
    let loads: Vec<Id> = (0..10).chain([30, 9, 8, 7, 6, 5, 4, 3, 2, 1]).collect();
    let hits = |together_bytes| {
        simulate(&archive, &loads, &Settings { memory, together_bytes, ..settings() }).hits
    };
    // Ten files fit. The eleventh evicts the first, whose unit has five.
    assert_eq!((hits(None), hits(Some(16 << 10)), hits(Some(1))), (9, 5, 9));
}
