//! Comparisons of small trees, on a modelled device so fast that only its counts matter.

use super::*;
use seekless_pack::{About, Codec, PackWriter, prepare};
use seekless_trace::Load;
use tempfile::TempDir;

/// A folder, its pack, and what to compare.
struct Case {
    directory: TempDir,
    pack: PathBuf,
}

impl Case {
    /// Writes `files`, and packs those that `packed` says.
    fn new(files: &[(&str, Vec<u8>)], packed: impl Fn(&str) -> bool) -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let pack = directory.path().join("data.zip");
        std::fs::create_dir(directory.path().join("data")).unwrap();
        let mut writer = PackWriter::new(Vec::new());
        for (name, content) in files {
            std::fs::write(directory.path().join("data").join(name), content).unwrap();
            if packed(name) {
                writer.add(prepare(About::named(*name), content.clone(), Codec::Auto).unwrap()).unwrap();
            }
        }
        std::fs::write(&pack, writer.finish().unwrap().0).unwrap();
        Case { directory, pack }
    }

    fn loose(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn compare(&self, loads: &Loads, options: &Options) -> Result<Comparison> {
        compare(&self.loose(), &self.pack, loads, options, &mut |_, _| {})
    }
}

/// One run that loads `order`, places in `names`.
fn loads(names: &[&str], order: &[u32]) -> Loads {
    let run = order.iter().map(|&file| Load { file, bytes: 0, time_ns: 0 }).collect();
    Loads {
        names: names.iter().map(ToString::to_string).collect(),
        bytes: vec![0; names.len()],
        runs: vec![run],
    }
}

fn fast() -> Options {
    let device = "iops=100000,bandwidth=10GB/s".parse().unwrap();
    Options { device: Some(device), rounds: 1, ..Options::default() }
}

#[test]
fn a_file_under_two_spellings_is_one_file() {
    let case = Case::new(&[("a", vec![1; 10])], |_| true);
    let recorded = [case.loose().join("a").display().to_string(), "a".into(), "./b/../a".into()];
    let loads = loads(&recorded.each_ref().map(String::as_str), &[0, 1, 2]);
    let comparison = case.compare(&loads, &fast()).unwrap();
    assert_eq!((comparison.loads, comparison.repeats, comparison.loose().requests), (3, 2, Some(2)));
    let unique = Options { unique: true, ..fast() };
    assert_eq!(case.compare(&loads, &unique).unwrap().loads, 1);
}

#[test]
fn loose_files_cost_an_open_and_a_read_for_each_mebibyte() {
    let large = vec![3; (1 << 20) + 1];
    let files = [("small", vec![1; 10]), ("empty", Vec::new()), ("large", large)];
    let case = Case::new(&files, |_| true);
    let loads = loads(&["small", "empty", "large"], &[0, 1, 2, 0]);
    let comparison = case.compare(&loads, &fast()).unwrap();
    assert_eq!((comparison.loads, comparison.repeats), (4, 1));
    assert_eq!(comparison.bytes, 10 + 1_048_577 + 10);
    let loose = comparison.loose();
    // small: open and read; empty: open; large: open and two reads; small again comes from the page cache.
    assert_eq!((loose.requests, loose.bytes), (Some(2 + 1 + 3), Some(10 + 1_048_577)));
    let pack = comparison.pack();
    assert!(pack.requests >= Some(1) && pack.bytes >= Some(22), "the directory is paid for: {pack:?}");
    assert_eq!(comparison.rivals.len(), 3);
    assert!(comparison.rivals.iter().all(|rival| rival.delivered_bytes == comparison.bytes));
}

#[test]
fn first_loads_only_leaves_the_repeats_out() {
    let case = Case::new(&[("a", vec![1; 10]), ("b", vec![2; 20])], |_| true);
    let options = Options { unique: true, ..fast() };
    let comparison = case.compare(&loads(&["a", "b"], &[0, 1, 0, 1, 0]), &options).unwrap();
    assert_eq!((comparison.loads, comparison.repeats, comparison.bytes), (2, 0, 30));
}

#[test]
fn what_a_side_lacks_is_left_out_on_both_and_named() {
    let case = Case::new(&[("here", vec![1; 10]), ("loose only", vec![2; 20])], |name| name == "here");
    let names = ["gone", "here", "loose only", "/etc/passwd"];
    let comparison = case.compare(&loads(&names, &[0, 1, 2, 3, 2]), &fast()).unwrap();
    assert_eq!((comparison.loads, comparison.bytes), (1, 10));
    let missing = &comparison.missing;
    assert_eq!((missing.in_directory, missing.in_pack, missing.loads), (2, 1, 4));
    assert_eq!(missing.named, ["gone", "loose only", "/etc/passwd"]);
}

#[test]
fn nothing_in_common_is_an_error_that_says_so() {
    let case = Case::new(&[("a", vec![1; 10])], |_| false);
    let error = case.compare(&loads(&["a", "gone"], &[0, 1]), &fast()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Missing);
    assert!(error.to_string().contains("1 not in the folder, 1 not in the pack"), "{error}");
    let error = case.compare(&loads(&["a"], &[]), &fast()).unwrap_err();
    assert!(error.to_string().contains("no loads"), "{error}");
}

#[test]
fn a_file_changed_since_it_was_packed_is_named() {
    let case = Case::new(&[("same", vec![1; 10]), ("changed", vec![2; 20])], |_| true);
    std::fs::write(case.loose().join("changed"), [9; 20]).unwrap();
    let error = case.compare(&loads(&["same", "changed"], &[0, 1]), &fast()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Differs);
    assert!(error.to_string().contains("data/changed"), "{error}");
}

#[test]
fn absolute_recorded_paths_match_below_the_folder() {
    let case = Case::new(&[("a", vec![1; 10])], |_| true);
    let recorded = case.loose().canonicalize().unwrap().join("a");
    let comparison = case.compare(&loads(&[recorded.to_str().unwrap()], &[0]), &fast()).unwrap();
    assert_eq!(comparison.loads, 1);
}

#[test]
fn on_the_real_device_the_loose_files_requests_are_unknown() {
    let case = Case::new(&[("a", vec![1; 10])], |_| true);
    let options = Options { rounds: 1, ..Options::default() };
    let comparison = case.compare(&loads(&["a"], &[0]), &options).unwrap();
    assert_eq!((comparison.loose().requests, comparison.loose().bytes), (None, None));
    assert_eq!(comparison.device, None);
}

#[test]
fn odd_requests_are_refused() {
    let case = Case::new(&[("a", vec![1; 10])], |_| true);
    let loads = loads(&["a"], &[0]);
    let no_rounds = case.compare(&loads, &Options { rounds: 0, ..fast() }).unwrap_err();
    assert_eq!(no_rounds.kind(), ErrorKind::Invalid);
    let no_run = case.compare(&loads, &Options { run: Some(3), ..fast() }).unwrap_err();
    assert!(no_run.to_string().contains("runs 0 to 0"), "{no_run}");
    let no_pack = compare(&case.loose(), &case.loose().join("none.zip"), &loads, &fast(), &mut |_, _| {});
    assert!(no_pack.unwrap_err().to_string().contains("none.zip"));
}

#[test]
fn slower_is_judged_by_the_packs_median() {
    let case = Case::new(&[("a", vec![1; 10])], |_| true);
    let mut comparison = case.compare(&loads(&["a"], &[0]), &fast()).unwrap();
    comparison.rivals[1].ratio = 100.0 / 104.0;
    assert!(!comparison.is_slower_by(5.0));
    comparison.rivals[1].ratio = 100.0 / 106.0;
    assert!(comparison.is_slower_by(5.0));
}
