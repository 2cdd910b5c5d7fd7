//! A shortened tour from end to end. What it times is not looked at, only what it counts.

use super::*;
use std::collections::BTreeSet;
use std::ffi::OsString;

/// A reader made of what every machine has: `cat` of each file of the list, in the folder.
fn reader() -> Vec<OsString> {
    ["/bin/sh", "-c", "cd \"$0\" && xargs cat < \"$1\" > /dev/null"].map(OsString::from).to_vec()
}

/// A small tour on a device so fast that only counts matter.
fn small(reader: Vec<OsString>) -> Options {
    Options { device: "iops=10000,bandwidth=10GB/s".parse().unwrap(), ..Options::small(reader) }
}

/// A real disk if the crate lies on one.
fn workplace() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
}

#[test]
fn a_small_tour_ends_with_fewer_requests_from_the_pack() {
    let directory = workplace();
    let mut reported = Vec::new();
    let done = tour(directory.path(), &small(reader()), &mut |event| match event {
        Event::Step(step) => reported.push(step.clone()),
        Event::Progress { done, total, .. } => assert!(done <= total),
    })
    .unwrap();
    assert_eq!(reported, done.steps, "every step is reported once, in order");
    assert_eq!(done.steps.len(), 4);
    let comparison = &done.comparison;
    assert_eq!(
        comparison.loads,
        session::session(&sample::Sample::new(sample::FULL_FILES / 10), session::RUNS - 1).len()
            as u64
    );
    if !done.recorded {
        eprintln!("skipped: recording is refused here, so the tour went on imported runs");
    }
    let (loose, pack) = (comparison.loose().requests.unwrap(), comparison.pack().requests.unwrap());
    assert!(pack * 3 < loose, "{pack} requests from the pack, {loose} from the files");
    assert!(done.seeks.loads > 0 && done.seeks.ordered <= done.seeks.by_name, "{:?}", done.seeks);
    what_the_commands_name_is_there(directory.path());
}

fn what_the_commands_name_is_there(directory: &Path) {
    let names: BTreeSet<String> = directory
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let expected =
        ["sample", "sample.csv", "run1.parquet", "run4.parquet", "run5.parquet", "sample.zip"];
    assert!(expected.iter().all(|name| names.contains(*name)), "{names:?}");
}

#[test]
fn without_recording_the_runs_are_imported() {
    let directory = workplace();
    let done = tour(directory.path(), &small(Vec::new()), &mut |_| {}).unwrap();
    assert!(!done.recorded && done.steps[1].found.contains("imported"), "{:?}", done.steps[1]);
    assert_eq!(done.comparison.missing.loads, 0);
}

#[test]
fn a_reader_that_fails_is_an_error() {
    let directory = workplace();
    let error = tour(directory.path(), &small(vec!["/bin/false".into()]), &mut |_| {})
        .map(|done| done.recorded);
    match error {
        Ok(recorded) => assert!(!recorded, "a failed reader counts only where nothing is recorded"),
        Err(error) => assert!(error.to_string().contains("/bin/false, ended with 1"), "{error}"),
    }
}

#[test]
fn a_tour_without_a_folder_names_it() {
    let error = tour(Path::new("/nowhere/at/all"), &small(reader()), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
}

#[test]
fn the_pack_of_the_full_tour_takes_fewer_requests_than_the_simple_orders() {
    let directory = workplace();
    let options = Options { rounds: 1, ..Options::full(Vec::new()) };
    let comparison = tour(directory.path(), &options, &mut |_| {}).unwrap().comparison;
    for way in ["on demand", "list known"] {
        let requests = |pack: &str| {
            let row = comparison.rivals.iter().find(|row| row.name == format!("{pack}, {way}"));
            row.and_then(|row| row.requests).unwrap()
        };
        let simple = requests("pack by name").min(requests("pack by the newest run"));
        assert!(requests("pack") < simple, "{way}: {:?}", comparison.rivals);
    }
}
