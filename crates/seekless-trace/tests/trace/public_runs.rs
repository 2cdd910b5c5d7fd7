//! Real traces import with the counts that were measured of them (archive-and-ordering section 3).

use super::shared_data::data;
use seekless_trace::{FileList, Kind, Loads, Trace, import, summary};
use std::path::PathBuf;

/// Map, loads, unique files, megabytes requested, megabytes unique.
const RUNS: [(&str, u64, u64, f64, f64); 5] = [
    ("acropolis_bay", 4601, 3002, 232.5, 226.9),
    ("arcadia", 4587, 2936, 145.7, 141.2),
    ("belgian_bog", 4902, 2992, 216.6, 211.5),
    ("sahel", 4769, 2973, 138.0, 132.8),
    ("siwa_oasis", 6434, 3613, 179.0, 173.8),
];

fn runs() -> Option<Vec<PathBuf>> {
    RUNS.iter().map(|(map, ..)| data(&format!("0ad/{map}.csv.gz"))).collect()
}

fn megabytes(bytes: u64) -> f64 {
    (bytes as f64 / 1e5).round() / 10.0
}

#[test]
fn five_start_ups_of_0ad() {
    let Some(files) = runs() else { return };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs.parquet");
    let report = import::csv(&files, &out, &import::Options::default(), &mut |_, _| {}).unwrap();
    assert_eq!((report.runs, report.rows, report.skipped), (5, 25_293, 0));

    let all = summary::summarise(&Trace::open(&out).unwrap(), &mut |_, _| {}).unwrap();
    for (run, (map, loads, files, requested, unique)) in all.runs.iter().zip(RUNS) {
        assert_eq!((run.loads, run.files), (loads, files), "{map}");
        assert_eq!(
            (megabytes(run.read_bytes), megabytes(run.unique_bytes)),
            (requested, unique),
            "{map}"
        );
    }
    assert_eq!(
        all.runs[0].span_ns,
        all.runs[0].span_ns / 1000 * 1000,
        "times are exact microseconds"
    );
    assert!(all.metadata.runs[4].source.ends_with("siwa_oasis.csv.gz"));
}

#[test]
fn loads_of_the_same_runs_without_importing_first() {
    let Some(files) = runs() else { return };
    let loads = Loads::read(&files).unwrap();
    let counts: Vec<usize> = loads.runs.iter().map(Vec::len).collect();
    assert_eq!(counts, RUNS.map(|run| run.1 as usize));
    let first = loads.runs[0][0];
    assert_eq!(loads.names[first.file as usize], "mod/audio/sound_group.rng");
    assert_eq!((first.bytes, first.time_ns), (3139, 1_153_597_000));
    assert!(loads.bytes.iter().all(|&bytes| bytes > 0) || loads.names.len() == loads.bytes.len());
}

#[test]
fn all_files_of_0ad() {
    let Some(list) = data("0ad/files.csv.gz") else { return };
    let files = FileList::read(&list).unwrap();
    assert_eq!(files.paths.len(), 36_266);
    assert_eq!(files.paths[0], "public/art/LICENSE.txt");
    let total: u64 = files.bytes.iter().flatten().sum();
    assert_eq!(total / 10_000_000, 328, "3.29 GB");
}

#[test]
fn ids_of_a_web_server() {
    let Some(list) = data("mccarthy-2015/trace3.txt") else { return };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("ids.parquet");
    let report = import::ids(&[list], &out, &import::Options::default(), &mut |_, _| {}).unwrap();
    assert_eq!((report.rows, report.runs), (312_044, 1));
    let trace = Trace::open(&out).unwrap();
    assert_eq!(trace.metadata().kind, Kind::Ids);
    let loads = Loads::read(&[out]).unwrap();
    assert_eq!(loads.names[loads.runs[0][1].file as usize], "16541");
    assert!(loads.bytes.iter().all(|&bytes| bytes == 1));
}
