//! A long trace that is simulated while it is read gives the figures of one in memory, and its
//! memory does not depend on the number of its requests.

use crate::memory::allocations::peak_of_thread;
use seekless_policy::cache::Changed;
use seekless_policy::eviction::{NAMES, needs_of};
use seekless_sim::{
    Figures, Opened, Options, Plan, Reading, Requests, Stream, Unit, Windows, simulate_with,
};
use seekless_trace::import;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Several pieces of records, of which a window takes at least one.
const REQUESTS: u32 = 60_000;
const WINDOWS: Windows = Windows { first: 1, others: 1 };

/// A trace of oracleGeneral. `bytes` is the size of an object at a request.
fn records(folder: &Path, requests: u32, objects: u64, bytes: impl Fn(u64, u32) -> u32) -> PathBuf {
    let path = folder.join(format!("{requests}.oracleGeneral"));
    let mut file = Vec::new();
    let mut state = 7_u64;
    for at in 0..requests {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (one, other) = ((state >> 33) % objects, (state >> 13) % objects);
        let object = one.min(other) << 20; // the low ones are popular
        file.extend((at / 100).to_le_bytes());
        file.extend(object.to_le_bytes());
        file.extend(bytes(object >> 20, at).to_le_bytes());
        file.extend((-1_i64).to_le_bytes());
    }
    std::fs::write(&path, file).unwrap();
    path
}

fn plan(policies: &[&str], capacities: &[&str]) -> Plan {
    Plan {
        policies: policies.iter().map(|&name| name.to_owned()).collect(),
        capacities: capacities.iter().map(|text| text.parse().unwrap()).collect(),
        options: Options::default(),
    }
}

fn stream(path: &Path, reading: &Reading, plan: &Plan) -> Box<Stream> {
    let opened = reading.open(&[path.to_owned()], plan, WINDOWS, &mut |_, _| {}).unwrap();
    let Opened::Long(stream) = opened else { panic!("{}: is in memory", path.display()) };
    stream
}

/// Simulates both ways, and compares.
fn assert_same(path: &Path, reading: &Reading, plan: &Plan) {
    let requests = reading.read(&[path.to_owned()], &mut |_, _| {}).unwrap();
    let kept = |requests: &Requests| -> Vec<Figures> {
        let cases = plan.cases(&requests.totals()).unwrap();
        cases.iter().map(|case| simulate_with(requests, case, &plan.options).unwrap()).collect()
    };
    let (totals, streamed) = stream(path, reading, plan).simulate(&mut |_, _| {}).unwrap();
    assert_eq!(totals, requests.totals());
    let streamed: Vec<Figures> = streamed.into_iter().map(|(figures, _)| figures).collect();
    assert_eq!(streamed, kept(&requests));
}

/// Every policy that can run on these requests without the future.
fn policies(unit_weights: bool) -> Vec<&'static str> {
    let runs = |name: &&&str| {
        let needs = needs_of(name).unwrap();
        !needs.next_use && !needs.neighbours && (unit_weights || !needs.unit_weights)
    };
    NAMES.iter().filter(runs).copied().collect()
}

#[test]
fn every_policy_gives_the_figures_that_it_gives_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = records(folder.path(), REQUESTS, 600, |object, _| 100 + (object % 7) as u32);
    for (unit, unit_weights, capacities) in [
        (Unit::Object, false, ["3KB", "20KB"]),
        (Unit::Object, true, ["40", "10%"]),
        (Unit::File, false, ["3KB", "5%"]),
    ] {
        let reading = Reading { unit: Some(unit), unit_weights, ..Reading::default() };
        assert_same(&path, &reading, &plan(&policies(unit_weights), &capacities));
    }
}

#[test]
fn sizes_change_where_the_trace_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let sizes: [fn(u64, u32) -> u32; 3] = [
        |object, at| if at > 50_000 { 3 + (object % 5) as u32 } else { 3 },
        |object, at| if at < 50_000 { 1 + at % 3 } else { 3 + (object % 5) as u32 },
        |object, at| if (object + u64::from(at)).is_multiple_of(5) { 700 } else { 3 },
    ];
    for (number, size) in sizes.into_iter().enumerate() {
        let path = records(folder.path(), REQUESTS + number as u32, 600, size);
        for changed in [Changed::Hit, Changed::Miss] {
            for capacities in [["500", "1KB"], ["1KB", "10%"]] {
                let mut plan = plan(&policies(false), &capacities);
                plan.options.changed = changed;
                assert_same(&path, &Reading::default(), &plan);
            }
        }
    }
}

#[test]
fn a_policy_for_one_weight_runs_where_all_weigh_one() {
    let folder = tempfile::tempdir().unwrap();
    let only =
        |name: &&&str| needs_of(name).is_ok_and(|needs| needs.unit_weights && !needs.next_use);
    let policy = NAMES.iter().find(only).unwrap();
    let ones = records(folder.path(), REQUESTS, 600, |_, _| 1);
    assert_same(&ones, &Reading::default(), &plan(&[policy], &["50"]));
    let twos = records(folder.path(), REQUESTS + 1, 600, |_, _| 2);
    let plan = plan(&[policy], &["50"]);
    let refused = stream(&twos, &Reading::default(), &plan).simulate(&mut |_, _| {}).unwrap_err();
    assert!(refused.to_string().contains("--unit-weights weighs each 1"), "{refused}");
}

#[test]
fn what_needs_the_future_is_kept_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = records(folder.path(), REQUESTS, 600, |_, _| 1);
    for (plan, reading) in [
        (plan(&["lru", "opt"], &["50"]), Reading::default()),
        (plan(&["lru"], &["50"]), Reading { unit: Some(Unit::Page), ..Reading::default() }),
        (
            plan(&["lru"], &["50"]),
            Reading { memory_bytes_max: Some(1 << 13), ..Reading::default() },
        ),
    ] {
        let opened = reading.open(std::slice::from_ref(&path), &plan, WINDOWS, &mut |_, _| {});
        assert!(!matches!(opened, Ok(Opened::Long(_))), "{plan:?}");
    }
}

#[test]
fn compressed_records_and_several_files_stream_too() {
    let folder = tempfile::tempdir().unwrap();
    let one = records(folder.path(), REQUESTS, 600, |_, _| 5);
    let two = folder.path().join("two.oracleGeneral.zst");
    let content = std::fs::read(&one).unwrap();
    std::fs::write(&two, zstd::encode_all(&content[..24 * 20_000], 1).unwrap()).unwrap();
    let traces = [one, two];
    let plan = plan(&["arc"], &["500"]);
    let reading = Reading { import: import::Options::default(), ..Reading::default() };
    let opened = reading.open(&traces, &plan, WINDOWS, &mut |_, _| {}).unwrap();
    let Opened::Long(stream) = opened else { panic!("is in memory") };
    let (totals, figures) = stream.simulate(&mut |_, _| {}).unwrap();
    let requests = reading.read(&traces, &mut |_, _| {}).unwrap();
    assert_eq!((totals, totals.requests), (requests.totals(), 80_000));
    let case = &plan.cases(&totals).unwrap()[0];
    assert_eq!(figures[0].0, simulate_with(&requests, case, &plan.options).unwrap());
}

/// On one thread, whose allocations are counted.
fn streaming_bytes(path: &Path, plan: &Plan) -> usize {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let simulate = || {
        stream(path, &Reading::default(), plan).simulate(&mut |_, _| {}).unwrap();
    };
    pool.install(|| peak_of_thread(simulate).1)
}

#[test]
fn memory_does_not_depend_on_the_number_of_requests() {
    const OBJECTS: u64 = 2000;
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(&["lru", "s3-fifo", "arc"], &["1KB", "9KB"]);
    let [short, long] = [200_000, 2_000_000].map(|requests| {
        streaming_bytes(&records(folder.path(), requests, OBJECTS, |_, _| 9), &plan)
    });
    println!("{short} bytes for 200,000 requests, {long} for 2,000,000");
    // The longer trace has nearly the same objects; its requests alone would be 7.2 MB more.
    assert!(long < short + (64 << 10), "{short} bytes for the short trace, {long} for the long");
}

/// What `cat` prints of the file: a pipe, and its name.
fn piped(path: &Path) -> (Child, PathBuf) {
    let mut cat = Command::new("cat").arg(path).stdout(Stdio::piped()).spawn().unwrap();
    let pipe = cat.stdout.take().unwrap();
    let name = PathBuf::from(format!("/proc/self/fd/{}", pipe.as_raw_fd()));
    cat.stdout = Some(pipe);
    (cat, name)
}

#[test]
fn a_pipe_of_ids_is_simulated_while_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = records(folder.path(), REQUESTS, 600, |object, _| 100 + (object % 7) as u32);
    let reading = Reading { unit_weights: true, ..Reading::default() };
    let plan = plan(&["lru", "arc"], &["40", "90"]);
    let (mut cat, pipe) = piped(&path);
    let found = stream(&pipe, &reading, &plan).simulate(&mut |_, _| {}).unwrap();
    assert!(cat.wait().unwrap().success());
    let (totals, figures) = stream(&path, &reading, &plan).simulate(&mut |_, _| {}).unwrap();
    assert_eq!(found.0, totals);
    let only = |rows: Vec<(Figures, _)>| rows.into_iter().map(|row| row.0).collect::<Vec<_>>();
    assert_eq!(only(found.1), only(figures));
}

#[test]
fn a_pipe_that_would_be_read_twice_is_kept_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = records(folder.path(), REQUESTS, 600, |object, at| (object as u32 % 7) + at / 9000);
    for unit_weights in [false, true] {
        let reading = Reading { unit_weights, ..Reading::default() };
        let plan = plan(&["lru"], &["10%"]);
        let (_cat, pipe) = piped(&path);
        let opened = reading.open(&[pipe], &plan, WINDOWS, &mut |_, _| {}).unwrap();
        let Opened::Kept(requests) = opened else { panic!("is not in memory") };
        let whole = reading.read(std::slice::from_ref(&path), &mut |_, _| {}).unwrap();
        let figures = |requests: &Requests| {
            let case = &plan.cases(&requests.totals()).unwrap()[0];
            simulate_with(requests, case, &plan.options).unwrap()
        };
        assert_eq!(figures(&requests), figures(&whole));
    }
}

#[test]
fn a_pipe_that_ends_early_or_holds_no_records_is_an_error_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = records(folder.path(), REQUESTS, 600, |_, _| 1);
    let content = std::fs::read(&path).unwrap();
    std::fs::write(&path, &content[..24 * 30_000 + 7]).unwrap();
    let reading = Reading { unit_weights: true, ..Reading::default() };
    let plan = plan(&["lru"], &["40"]);
    let (_cat, pipe) = piped(&path);
    let opened = reading.open(&[pipe], &plan, WINDOWS, &mut |_, _| {}).unwrap();
    let Opened::Long(stream) = opened else { panic!("is in memory") };
    let error = stream.simulate(&mut |_, _| {}).unwrap_err().to_string();
    assert!(error.contains("byte 720000: ends within a record of 24 bytes"), "{error}");

    std::fs::write(&path, "path,size\na,1\n").unwrap();
    let (_cat, pipe) = piped(&path);
    let error = reading.open(&[pipe], &plan, WINDOWS, &mut |_, _| {}).unwrap_err().to_string();
    assert!(error.contains("name its format with --format"), "{error}");
}
