//! The memory of a store at rest: a process of its own loads more than a cache holds, and looks how
//! much larger it has become.

#[path = "io/support.rs"]
#[expect(dead_code, reason = "only the samples are needed here")]
mod support;

use seekless_io::{Costs, Store};
use seekless_pack::Codec;
use std::path::Path;
use std::process::Command;
use support::Sample;

const MIB: u64 = 1 << 20;

/// Names the archive for the process that loads.
const ARCHIVE: &str = "SEEKLESS_TEST_ARCHIVE";

/// Requests are dear, so that much is read ahead.
const VOLUME: Costs = Costs { request_ns: 8_000_000, bytes_per_second: 150_000_000, depth: 4 };

/// Bytes of physical memory that are this process's own; `None` where the kernel does not say.
fn private_bytes() -> Option<u64> {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let of = |what: &str| {
        let line = rollup.lines().find_map(|line| line.strip_prefix(what))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    Some((of("Private_Dirty:")? + of("Private_Clean:")?) << 10)
}

/// Loads every file of the archive one by one, then as a list; twice.
fn load_all(store: &Store) {
    let names: Vec<String> =
        (0..store.len()).map(|id| store.index().name(id as u32).to_owned()).collect();
    for _ in 0..2 {
        names.iter().step_by(3).for_each(|name| drop(store.load(name).unwrap()));
        store.load_many(&names).for_each(|(_, result)| drop(result.unwrap()));
    }
}

/// What the other test runs in a process of its own.
#[test]
fn loads_in_a_process_of_its_own() {
    let Some(path) = std::env::var_os(ARCHIVE) else { return };
    let before = private_bytes().unwrap();
    for costs in [None, Some(VOLUME)] {
        let mut builder = Store::builder().cache(64 * MIB).look_up_costs(false);
        if let Some(costs) = costs {
            builder = builder.costs(costs);
        }
        let store = builder.open(Path::new(&path)).unwrap();
        load_all(&store);
        let (added, statistics) = (private_bytes().unwrap() - before, store.statistics());
        assert!(statistics.delivered_bytes > 200 * MIB, "the test must load more than the cache");
        assert!(added <= 72 * MIB, "{} KiB: {statistics:?}", added >> 10);
        // As long as costs are estimated, by real time, up to half may be kept for reading ahead.
        let least = if costs.is_some() { 40 * MIB } else { 32 * MIB };
        assert!(added >= least, "the cache is used: {} KiB, {statistics:?}", added >> 10);
        assert!(statistics.memory_bytes <= added + MIB && statistics.waste_bytes <= 6 * MIB);
        assert!(statistics.held_bytes <= 66 * MIB, "{statistics:?}");
    }
    println!("loaded");
}

#[test]
fn a_cache_of_64_mib_adds_at_most_72_mib_at_rest() {
    if private_bytes().is_none() {
        println!("skipped: the kernel does not tell a process's own memory");
        return;
    }
    let mut seed = 11;
    let sizes = (0..3000).map(|number| match number % 100 {
        0 => 1_400_000,
        1..30 => 20_000 + (support::random(&mut seed) % 150_000) as usize,
        _ => 200 + (support::random(&mut seed) % 20_000) as usize,
    });
    let sizes: Vec<usize> = sizes.collect();
    for codec in [Codec::Stored, Codec::Auto] {
        let sample = Sample::of_sizes(sizes.clone(), codec);
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "loads_in_a_process_of_its_own", "--nocapture"])
            .env(ARCHIVE, &sample.path)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("loaded"), "{text}{said}");
    }
}
