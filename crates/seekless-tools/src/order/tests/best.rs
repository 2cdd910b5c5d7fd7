//! `best` beside `name` and `recent`, on runs that it was not made from: the five public starts,
//! and made-up programs of other structure.

use crate::order::rivals::{Rival, Rivals, compare};
use crate::order::trials::Trials;
use crate::order::trials::folds_max;
use crate::order::{Files, Loading};
use seekless_device::{DeviceSpec, SplitMix64};
use seekless_policy::eviction::Id;
use seekless_policy::foresight::references::References;
use seekless_trace::{FileList, Loads};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

const DEVICES: [&str; 5] =
    ["deskstar-7k250", "iops=500,bandwidth=150MB/s", "iops=120,bandwidth=150MB/s", "s3", "nvme"];

/// What counts as the same time: the models of volumes and flash let a few requests more or less
/// pass in the same slice of time, or wait for the next one. On `nvme` one start takes 0.57 %
/// longer than from `recent`, with the list known.
const TIE_PERCENT: f64 = 0.6;

/// By how much orders differ that have nothing to go by, for the list known and on demand each: the
/// most is 2.03 % on demand, on `nvme`.
const CHANCE_PERCENT: f64 = 1.1;

/// A program and its runs.
struct Program {
    files: Files,
    runs: Vec<Vec<Id>>,
}

impl Program {
    /// `files` are name and bytes, in any order; runs name them by their place in that list.
    fn new(files: Vec<(String, u64)>, runs: Vec<Vec<usize>>) -> Self {
        let mut sorted: Vec<usize> = (0..files.len()).collect();
        sorted.sort_by_key(|&file| &files[file].0);
        let mut id = vec![0; files.len()];
        (0..).zip(&sorted).for_each(|(place, &file)| id[file] = place);
        let runs = runs.into_iter().map(|run| run.into_iter().map(|file| id[file]).collect());
        let runs = runs.collect();
        let names = sorted.iter().map(|&file| files[file].0.as_str());
        let bytes = sorted.iter().map(|&file| files[file].1).collect();
        Program { files: Files::new(names, bytes), runs }
    }

    fn rivals(&self, device: &str) -> Rivals {
        let device: DeviceSpec = device.parse().unwrap();
        let runs: Vec<&[Id]> = self.runs.iter().map(Vec::as_slice).collect();
        let trials = Trials::new(&self.files, &device, None, &runs);
        compare(&trials, &vec![""; runs.len()], &device).unwrap().unwrap()
    }
}

/// `best`, `name` and `recent`.
fn three(rivals: &Rivals) -> [&Rival; 3] {
    ["best", "name", "recent"]
        .map(|name| rivals.methods.iter().find(|rival| rival.method == name).unwrap())
}

/// By how many percent `best` is faster than the better of the other two, with the list known and
/// on demand, over all runs.
fn gains(rivals: &Rivals) -> [f64; 2] {
    let times =
        three(rivals).map(|rival| [rival.sums.listed.time_ns, rival.sums.on_demand.time_ns]);
    [0, 1].map(|way| {
        let other = times[1][way].min(times[2][way]).max(1);
        100.0 * (1.0 - times[0][way] as f64 / other as f64)
    })
}

/// The same for the run for which it is least.
fn least_gains(rivals: &Rivals) -> [f64; 2] {
    let [best, name, recent] = three(rivals);
    let mut least = [f64::INFINITY; 2];
    for (at, run) in best.runs.iter().enumerate() {
        let times = [run, &name.runs[at], &recent.runs[at]]
            .map(|run| [run.loadings.listed.time_ns, run.loadings.on_demand.time_ns]);
        for way in [0, 1] {
            let other = times[1][way].min(times[2][way]).max(1);
            least[way] = least[way].min(100.0 * (1.0 - times[0][way] as f64 / other as f64));
        }
    }
    least
}

fn public_starts() -> Option<Program> {
    let data = super::shared_data::data("0ad")?;
    let runs = ["acropolis_bay", "arcadia", "belgian_bog", "sahel", "siwa_oasis"];
    let loads = Loads::read(&runs.map(|run| data.join(format!("{run}.csv.gz")))).unwrap();
    let list = FileList::read(&data.join("files.csv.gz")).unwrap();
    let bytes = list.bytes.into_iter().map(Option::unwrap);
    let files: Vec<(String, u64)> = list.paths.into_iter().zip(bytes).collect();
    let places: HashMap<&str, usize> =
        files.iter().enumerate().map(|(at, file)| (file.0.as_str(), at)).collect();
    let place = |file: u32| places[loads.names[file as usize].as_str()];
    let runs = loads.runs.iter().map(|run| run.iter().map(|load| place(load.file)).collect());
    let runs = runs.collect();
    Some(Program::new(files, runs))
}

#[test]
fn the_best_order_loads_public_starts_that_it_has_not_seen_faster() {
    let Some(program) = public_starts() else { return };
    assert_eq!(program.files.bytes.len(), 36_266);
    for device in DEVICES {
        let rivals = program.rivals(device);
        let (gains, least) = (gains(&rivals), least_gains(&rivals));
        eprintln!("{device}: {gains:.1?}, least {least:.1?}, winner {}", rivals.winner);
        let others_are_not_better = least.iter().all(|&gain| gain > -TIE_PERCENT);
        assert!(others_are_not_better, "{device}: {least:?}");
        // The aim is 8 % on both. On the object store 16.5 are reached in sum, with the reads that
        // are kept within the cache's own memory.
        let sum_min = match device {
            "deskstar-7k250" => 16.0,
            "s3" => 16.0,
            _ => 0.0,
        };
        assert!(gains[0] + gains[1] >= sum_min, "{device}: {gains:?}");
        let floor = rivals.floor;
        for rival in &rivals.methods {
            let Loading { time_ns, requests, bytes, .. } = rival.sums.listed;
            assert!(time_ns >= floor.time_ns, "{device}: {rival:?}, floor {floor:?}");
            assert!(requests >= floor.requests && bytes >= floor.bytes, "{device}");
        }
    }
}

/// Each run imports the same base, and some packages whole; a package is a folder of small modules
/// and a few large libraries, with sources that are never read.
fn imports() -> Program {
    let mut draws = SplitMix64::new(1);
    let (mut files, mut packages) = (Vec::new(), Vec::new());
    for package in 0..120 {
        let mut modules = Vec::new();
        for module in 0..5 + draws.below(40) {
            let bytes = match draws.below(20) {
                0 => 400_000 + draws.below(3_000_000),
                _ => 800 + draws.below(20_000),
            };
            modules.push(files.len());
            files.push((format!("site/p{package:03}/m{module:02}.pyc"), bytes));
            files.push((format!("site/p{package:03}/m{module:02}.py"), 3 * bytes / 2));
        }
        packages.push(modules);
    }
    let run = |_| {
        let mut loads: Vec<usize> = packages[..20].concat();
        let mut chosen: Vec<usize> = (20..120).filter(|_| draws.below(4) == 0).collect();
        mix(&mut draws, &mut chosen);
        chosen.iter().for_each(|&package| loads.extend(&packages[package]));
        loads
    };
    let runs = (0..5).map(run).collect();
    Program::new(files, runs)
}

/// Every run loads all files, each time in a new order.
fn epochs() -> Program {
    let mut draws = SplitMix64::new(2);
    let files = (0..4000).map(|file| (format!("train/{file:05}.jpg"), 20_000 + file % 7 * 30_000));
    let files: Vec<(String, u64)> = files.collect();
    let run = |_| {
        let mut loads: Vec<usize> = (0..4000).collect();
        mix(&mut draws, &mut loads);
        loads
    };
    let runs = (0..4).map(run).collect();
    Program::new(files, runs)
}

/// Two programs that share nothing, run in turn; names say nothing of which files are whose.
fn two_programs() -> Program {
    let mut draws = SplitMix64::new(3);
    let mut places: Vec<u64> = (0..3000).collect();
    mix(&mut draws, &mut places);
    let files =
        places.iter().map(|place| (format!("blobs/{place:05}"), 2_000 + draws.below(60_000)));
    let files: Vec<(String, u64)> = files.collect();
    let run = |number: usize| {
        let begin = number % 2 * 1200;
        (begin..begin + 1200).filter(|_| draws.below(10) > 0).collect()
    };
    let runs = (0..6).map(run).collect();
    Program::new(files, runs)
}

/// Fisher and Yates's shuffle.
fn mix<T>(draws: &mut SplitMix64, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, draws.below(last as u64 + 1) as usize);
    }
}

#[test]
fn the_best_order_is_no_worse_on_programs_of_other_structure() {
    for (name, program) in
        [("imports", imports()), ("epochs", epochs()), ("two programs", two_programs())]
    {
        for device in DEVICES {
            let rivals = program.rivals(device);
            let (gains, least) = (gains(&rivals), least_gains(&rivals));
            eprintln!("{name} on {device}: {gains:.1?}, least {least:.1?}");
            // All runs together, both ways together: where no order helps, one is as good as the
            // other but for chance.
            assert!(gains[0] + gains[1] > -2.0 * CHANCE_PERCENT, "{name} on {device}: {gains:?}");
            assert_eq!(rivals.shuffle.is_some(), name == "epochs", "{name} on {device}");
        }
    }
}

#[test]
fn the_number_of_orders_that_are_tried_is_bounded() {
    assert_eq!([10, 36_000, 400_000, 1_000_000, 30_000_000].map(folds_max), [4, 4, 2, 1, 1]);
}

#[test]
fn a_short_run_takes_time_on_a_volume_that_lets_some_requests_pass_at_once() {
    let files = (0..300).map(|file| (format!("{file:03}"), 8_000)).collect();
    let every = |step: usize| (0..300).step_by(step).collect();
    let program = Program::new(files, vec![every(30), every(30), every(30)]);
    let rivals = program.rivals("iops=120,bandwidth=150MB/s");
    assert!(rivals.methods.iter().all(|rival| rival.sums.on_demand.time_ns > 0), "{rivals:?}");
    assert!(rivals.winner == "best", "{rivals:?}");
}

/// Levels of a game: a map of each names its 24 files, whose names say nothing. A run loads what
/// all levels need, and two levels that no other run does.
fn levels() -> (Program, Vec<(Id, Id, u8)>) {
    const LEVELS: usize = 60;
    const FILES: usize = 25;
    let mut draws = SplitMix64::new(4);
    let mut places: Vec<usize> = (0..LEVELS * FILES).collect();
    mix(&mut draws, &mut places);
    let mut files: Vec<(String, u64)> =
        places.iter().map(|place| (format!("blobs/{place:05}"), 20_000)).collect();
    files.extend((0..100).map(|file| (format!("core/{file:03}"), 20_000)));
    let of = |level: usize| level * FILES..(level + 1) * FILES;
    let run = |run: usize| {
        (LEVELS * FILES..files.len()).chain(of(2 * run)).chain(of(2 * run + 1)).collect()
    };
    let runs = (0..4).map(run).collect();
    // Names are sorted, so a file's number is that in its name.
    let named = |level| of(level).skip(1).map(move |file| (of(level).start, file));
    let number = |(from, to): (usize, usize)| (places[from] as Id, places[to] as Id, 255);
    let references = (0..LEVELS).flat_map(named).map(number).collect();
    (Program::new(files, runs), references)
}

#[test]
fn what_names_say_nothing_of_references_do() {
    let (mut program, all) = levels();
    let time = |program: &Program| {
        let rivals = program.rivals("deskstar-7k250");
        let best = three(&rivals)[0].sums;
        [best.listed.time_ns, best.on_demand.time_ns]
    };
    let without = time(&program);
    let files = program.files.bytes.len() as u32;
    program.files.learn = Some(Arc::new(move |_: &[&[Id]]| References::new(files, all.clone())));
    let with = time(&program);
    let half = |way: usize| 2 * with[way] < without[way];
    assert!(half(0) && half(1), "{with:?} of {without:?}");
}

#[test]
fn files_that_no_run_has_lie_behind_the_one_that_names_them() {
    let (mut program, all) = levels();
    let (last, files) = (all[all.len() - 24..].to_vec(), program.files.bytes.len() as u32);
    program.files.learn = Some(Arc::new(move |_: &[&[Id]]| References::new(files, all.clone())));
    let runs: Vec<&[Id]> = program.runs.iter().map(Vec::as_slice).collect();
    let device = "s3".parse().unwrap();
    let trials = Trials::new(&program.files, &device, None, &runs);
    for groups in [0, 1] {
        let order = trials.made(groups, &[]);
        let map = order.iter().position(|&id| id == last[0].0).unwrap();
        let mut behind = order[map + 1..][..24].to_vec();
        behind.sort_unstable();
        let mut named: Vec<Id> = last.iter().map(|&(_, to, _)| to).collect();
        named.sort_unstable();
        assert_eq!(behind, named);
    }
}

#[test]
fn references_are_learned_once_of_each_set_of_runs_that_makes_orders() {
    let files = (0..300).map(|file| (format!("{file:03}"), 8_000)).collect();
    let runs: [Vec<usize>; 3] = [10, 20, 30].map(|step| (0..300).step_by(step).collect());
    let mut program = Program::new(files, runs.into());
    let heard: Arc<Mutex<Vec<Vec<Vec<Id>>>>> = Arc::default();
    let hears = Arc::clone(&heard);
    program.files.learn = Some(Arc::new(move |runs: &[&[Id]]| {
        hears.lock().unwrap().push(runs.iter().map(|run| run.to_vec()).collect());
        References::default()
    }));
    program.rivals("s3");
    // Each run is left out to judge the choice, and a second one to make it.
    let of = |kept: &[usize]| kept.iter().map(|&run| program.runs[run].clone()).collect();
    let kept: [&[usize]; 6] = [&[0], &[0, 1], &[0, 2], &[1], &[1, 2], &[2]];
    let mut sets: Vec<Vec<Vec<Id>>> = kept.iter().map(|kept| of(kept)).collect();
    let mut heard = heard.lock().unwrap();
    sets.sort_unstable();
    heard.sort_unstable();
    assert_eq!(*heard, sets);
}
