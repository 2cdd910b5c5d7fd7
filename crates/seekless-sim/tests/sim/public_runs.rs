//! Golden figures over the five public runs of 0 A.D. (`reference/archive-and-ordering.md`, section
//! 4): what caches of 10 MB hit, and what the orders cost, trained on all runs and leaving one out.

use crate::shared_data::data;
use seekless_policy::eviction::Id;
use seekless_policy::layout::ordering::{ByName, Greedy, Ordering};
use seekless_sim::score::{BLOCK_BYTES, Placement, RunScore};
use seekless_sim::{Case, Requests, simulate};
use seekless_trace::{FileList, Loads};
use std::collections::HashMap;

const RUNS: [&str; 5] = ["acropolis_bay", "arcadia", "belgian_bog", "sahel", "siwa_oasis"];
const COSTS: seekless_device::Costs =
    seekless_device::Costs { request_ns: 2_000_000, bytes_per_second: 150_000_000, depth: 1 };

fn loads(folder: &std::path::Path) -> Loads {
    let paths: Vec<_> = RUNS.iter().map(|run| folder.join(format!("{run}.csv.gz"))).collect();
    Loads::read(&paths).unwrap()
}

#[test]
fn lru_and_landlord_hit_what_is_published_at_10_mb() {
    let Some(folder) = data("0ad") else { return };
    let requests = Requests::from_loads(&loads(&folder));
    assert_eq!((requests.len(), requests.distinct()), (25_293, 5_412));
    let percents = |policy: &str| {
        let figures =
            simulate(&requests, &Case { policy: policy.into(), capacity: 10_000_000 }).unwrap();
        let rounded = |ratio: f64| (ratio * 10_000.0).round() / 100.0;
        (rounded(figures.hit_ratio), rounded(figures.non_compulsory_miss_ratio))
    };
    assert_eq!(percents("lru"), (28.19, 50.41));
    assert_eq!(percents("landlord"), (70.54, 8.07));
    assert_eq!(percents("landlord@full"), (70.65, 7.95));
}

/// Needs no data. Two made-up starts of 12 files of 3,000 bytes, in the form of the recorded ones.
/// An archive in the order that one start makes is read by it without a seek (Wassenberg, section
/// 4.3), by name it is not. Three files fit into 10,000 bytes: of the loads a b a c a d b, LRU hits
/// a twice, and d evicts b before its second load.
#[test]
fn a_made_start_has_no_seeks_in_its_own_order_and_lru_hits_what_fits() {
    let folder = tempfile::tempdir().unwrap();
    let start = |name: &str, files: &[u32]| {
        let line = |(at, file): (usize, &u32)| format!("{at}.5,art/{file:02}.dds,3000\n");
        let lines: String = files.iter().enumerate().map(line).collect();
        let path = folder.path().join(name);
        std::fs::write(&path, format!("time_s,path,size\n{lines}")).unwrap();
        Loads::read(&[path]).unwrap()
    };
    let loads = start("one.csv", &[7, 2, 11, 5, 0, 9, 3, 8, 1, 10, 6, 4]);
    let files = loads.names.iter().cloned().zip(loads.bytes.iter().copied()).collect();
    let archive = Archive::new(files, &loads);
    let seeks = |ordering: &dyn Ordering| totals(&archive.trained(ordering)).0;
    assert_eq!((seeks(&Greedy { cache: None }), seeks(&ByName)), (0, 11));
    let requests = Requests::from_loads(&start("two.csv", &[0, 1, 0, 2, 0, 3, 1]));
    let case = Case { policy: "lru".into(), capacity: 10_000 };
    assert_eq!(simulate(&requests, &case).unwrap().hits, 2);
}

/// Files and runs under one numbering: by bytes of the path.
struct Archive {
    bytes: Vec<u64>,
    runs: Vec<Vec<Id>>,
}

impl Archive {
    fn new(mut files: Vec<(String, u64)>, loads: &Loads) -> Self {
        files.sort();
        let ids: HashMap<_, _> =
            files.iter().zip(0..).map(|(file, id)| (file.0.as_str(), id)).collect();
        let id = |file: u32| ids[loads.names[file as usize].as_str()];
        let runs =
            loads.runs.iter().map(|run| run.iter().map(|load| id(load.file)).collect()).collect();
        Self { runs, bytes: files.into_iter().map(|file| file.1).collect() }
    }

    fn order(&self, ordering: &dyn Ordering, without: Option<usize>) -> Vec<Id> {
        let kept = self.runs.iter().enumerate().filter(|(number, _)| Some(*number) != without);
        let runs: Vec<&[Id]> = kept.map(|(_, run)| run.as_slice()).collect();
        ordering.order(&runs, &self.bytes, &COSTS)
    }

    fn trained(&self, ordering: &dyn Ordering) -> Vec<RunScore> {
        let order = self.order(ordering, None);
        let placement = Placement::new(&order, &self.bytes);
        self.runs.iter().map(|run| placement.score(run, BLOCK_BYTES)).collect()
    }

    fn held_out(&self, ordering: &dyn Ordering) -> Vec<RunScore> {
        let score = |(number, run): (usize, &Vec<Id>)| {
            Placement::new(&self.order(ordering, Some(number)), &self.bytes).score(run, BLOCK_BYTES)
        };
        self.runs.iter().enumerate().map(score).collect()
    }
}

/// Sum of seeks, sum of first loads, mean block runs (whole), mean amplification (three places).
fn totals(scores: &[RunScore]) -> (u64, u64, u64, f64) {
    let runs = scores.len() as f64;
    let block_runs = scores.iter().map(|score| score.block_runs).sum::<u64>() as f64 / runs;
    let amplification = scores.iter().map(RunScore::amplification).sum::<f64>() / runs;
    (
        scores.iter().map(|score| score.seeks).sum(),
        scores.iter().map(|score| score.loads).sum(),
        block_runs.round() as u64,
        (amplification * 1000.0).round() / 1000.0,
    )
}

#[test]
fn orders_of_all_36266_files_cost_what_is_published() {
    let Some(folder) = data("0ad") else { return };
    let list = FileList::read(&folder.join("files.csv.gz")).unwrap();
    let files: Vec<_> =
        list.paths.into_iter().zip(list.bytes.into_iter().map(Option::unwrap)).collect();
    assert_eq!(files.len(), 36_266);
    let archive = Archive::new(files, &loads(&folder));
    let greedy = Greedy { cache: None };
    assert_eq!(totals(&archive.trained(&ByName)), (11_942, 15_516, 268, 1.296));
    assert_eq!(totals(&archive.trained(&greedy)), (2_212, 15_516, 141, 1.138));
    assert_eq!(totals(&archive.held_out(&greedy)), (4_815, 15_516, 243, 1.248));
}

#[test]
fn orders_of_the_traced_files_cost_what_is_published() {
    let Some(folder) = data("0ad") else { return };
    let loads = loads(&folder);
    let files = loads.names.iter().cloned().zip(loads.bytes.iter().copied()).collect();
    let archive = Archive::new(files, &loads);
    let percent = |scores: &[RunScore]| {
        let (seeks, loads, ..) = totals(scores);
        (1000.0 * seeks as f64 / loads as f64).round() / 10.0
    };
    let greedy = Greedy { cache: None };
    assert_eq!(percent(&archive.trained(&ByName)), 52.9);
    assert_eq!(percent(&archive.trained(&greedy)), 14.3);
    assert_eq!(percent(&archive.held_out(&greedy)), 30.2);
}
