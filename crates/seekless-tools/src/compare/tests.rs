//! Comparisons of small trees, on a modelled device so fast that only its counts matter.

use super::*;
use crate::{pack, predict};
use seekless_device::SplitMix64;
use seekless_job::roots::Roots;
use seekless_pack::{About, Codec, PREDICTION, PackWriter, prepare};
use seekless_policy::foresight::prediction::Model;
use seekless_sim::store::{StoreFigures, Work};
use seekless_sys::output::Destination;
use seekless_trace::Load;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use tempfile::TempDir;

/// A case that throttles the device also changes how far ahead the file system reads inodes. That
/// is part of what is charged for opening a file, so no other case may run meanwhile.
static MACHINE: RwLock<()> = RwLock::new(());

/// A hold on [`MACHINE`].
enum Hold {
    Shared { _lock: RwLockReadGuard<'static, ()> },
    Alone { _lock: RwLockWriteGuard<'static, ()> },
}

/// A folder, its pack, and what to compare.
struct Case {
    directory: TempDir,
    pack: PathBuf,
    _machine: Hold,
}

impl Case {
    /// Writes `files`, and packs those that `packed` says.
    fn new(files: &[(&str, Vec<u8>)], packed: impl Fn(&str) -> bool) -> Self {
        let lock = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
        Case::held(files, packed, Hold::Shared { _lock: lock })
    }

    /// As [`Case::new`], all packed, while no other case is there: to throttle the device.
    fn alone(files: &[(&str, Vec<u8>)]) -> Self {
        let lock = MACHINE.write().unwrap_or_else(PoisonError::into_inner);
        Case::held(files, |_| true, Hold::Alone { _lock: lock })
    }

    fn held(files: &[(&str, Vec<u8>)], packed: impl Fn(&str) -> bool, machine: Hold) -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let pack = directory.path().join("data.zip");
        std::fs::create_dir(directory.path().join("data")).unwrap();
        let mut writer = PackWriter::new(Vec::new());
        for (name, content) in files {
            let path = directory.path().join("data").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
            if packed(name) {
                writer
                    .add(prepare(About::named(*name), content.clone(), Codec::Auto).unwrap())
                    .unwrap();
            }
        }
        std::fs::write(&pack, writer.finish().unwrap().0).unwrap();
        // A file has its place on the disk once it is written back.
        File::open(&pack).unwrap().sync_all().unwrap();
        Case { directory, pack, _machine: machine }
    }

    fn loose(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn compare(&self, loads: &Loads, options: &Options) -> Result<Comparison> {
        compare(&self.loose(), &self.pack, loads, options, &mut |_, _, _| {})
    }
}

/// One run that loads `order`, places in `names`.
fn loads(names: &[&str], order: &[u32]) -> Loads {
    let run =
        order.iter().map(|&file| Load { file, bytes: 0, time_ns: 0, released_ns: None }).collect();
    Loads {
        names: names.iter().map(ToString::to_string).collect(),
        bytes: vec![0; names.len()],
        runs: vec![run],
        ..Loads::default()
    }
}

fn fast() -> Options {
    let device = "iops=100000,bandwidth=10GB/s".parse().unwrap();
    Options { device: Device::modelled(device), rounds: 1, ..Options::default() }
}

#[test]
fn a_file_under_two_spellings_is_one_file() {
    let case = Case::new(&[("a", vec![1; 10])], |_| true);
    let recorded = [case.loose().join("a").display().to_string(), "a".into(), "./b/../a".into()];
    let loads = loads(&recorded.each_ref().map(String::as_str), &[0, 1, 2]);
    let comparison = case.compare(&loads, &fast()).unwrap();
    assert_eq!((comparison.loads, comparison.repeats), (3, 2));
    let once = case.compare(&loads, &Options { unique: true, ..fast() }).unwrap();
    assert_eq!(comparison.loose().requests, once.loose().requests, "loaded again, it is in memory");
    let unique = Options { unique: true, ..fast() };
    assert_eq!(case.compare(&loads, &unique).unwrap().loads, 1);
}

#[test]
fn loose_files_cost_their_metadata_once_and_large_ones_several_requests() {
    let large = vec![3; (1 << 20) + 1];
    let files = [("small", vec![1; 10]), ("empty", Vec::new()), ("large", large)];
    let case = Case::new(&files, |_| true);
    let loads = loads(&["small", "empty", "large"], &[0, 1, 2, 0]);
    let comparison = case.compare(&loads, &fast()).unwrap();
    assert_eq!((comparison.loads, comparison.repeats), (4, 1));
    assert_eq!(comparison.bytes, 10 + 1_048_577 + 10);
    let loose = comparison.loose();
    let expected = comparison.expected;
    assert_eq!((loose.requests, loose.bytes), (Some(expected.requests), Some(expected.bytes)));
    // The folder's names; the inodes of four, side by side or apart; one block; three requests
    // for 257 blocks.
    assert!((1 + 1 + 1 + 3..=1 + 4 + 1 + 3).contains(&expected.requests), "{expected:?}");
    assert!(expected.bytes >= (1 + 1 + 1 + 257) * 4096, "{expected:?}");
    let pack = comparison.pack();
    assert!(
        pack.requests >= Some(3) && pack.bytes >= Some(22),
        "inode, names and directory are paid for: {pack:?}"
    );
    assert_eq!(comparison.rivals.len(), 3);
    assert!(comparison.rivals.iter().all(|rival| rival.delivered_bytes == comparison.bytes));
}

/// Minutes of modelled time: on the wall's clock this test would take them.
#[test]
fn modelled_time_is_not_waited_for() {
    let case = Case::new(&[("a", vec![1; 10]), ("b", vec![2; 20])], |_| true);
    let slow = Device::modelled("iops=1,bandwidth=1KB/s".parse().unwrap());
    let comparison =
        case.compare(&loads(&["a", "b"], &[0, 1]), &Options { device: slow, ..fast() }).unwrap();
    let Expected { requests, bytes, ns } = comparison.expected;
    // The last request is served at the start of the slice that allows it, a tenth of a second
    // long.
    let least = requests.max(bytes / 1000) * 1_000_000_000 - 100_000_000;
    assert!(ns >= least, "{requests} requests of {bytes} bytes: {ns}");
    let loose = comparison.loose().median_ns;
    assert!(
        (ns..ns + 1_000_000_000).contains(&loose),
        "the program's own work is not seconds: {loose}, {ns}"
    );
    assert!(
        comparison.rivals.iter().all(|rival| rival.median_ns >= 2_900_000_000),
        "an inode, names, a directory"
    );
}

#[test]
fn rivals_are_packed_loaded_and_removed() {
    let case = Case::new(&[("a", vec![1; 10]), ("b", vec![2; 20]), ("c", vec![3; 30])], |_| true);
    let trace = case.directory.path().join("run.csv");
    std::fs::write(&trace, "time_s,path,size\n0,c,30\n1,a,10\n").unwrap();
    let loads = loads(&["a", "c"], &[0, 1]);
    let names = |rivals: Vec<PathBuf>| -> Vec<String> {
        let options = Options { rivals: Some(rivals), ..fast() };
        let comparison = case.compare(&loads, &options).unwrap();
        comparison.rivals.into_iter().map(|rival| rival.name).collect()
    };
    let by_name = ["pack by name, on demand", "pack by name, list known"];
    let recent = ["pack by the newest run, on demand", "pack by the newest run, list known"];
    assert_eq!(names(vec![trace])[3..], [by_name, recent].concat());
    assert_eq!(names(Vec::new())[3..], by_name);
    let left: Vec<_> =
        case.directory.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "the folder, the pack and the trace: {left:?}");
}

#[test]
fn a_cancelled_comparison_ends_and_leaves_nothing() {
    let case = Case::new(&[("a", vec![1; 10])], |_| true);
    let options = Options { rivals: Some(Vec::new()), ..fast() };
    let cancel = Arc::clone(&options.cancel);
    let error =
        compare(&case.loose(), &case.pack, &loads(&["a"], &[0]), &options, &mut |what, _, _| {
            cancel.store(what == "Comparing", std::sync::atomic::Ordering::Relaxed);
        });
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(case.directory.path().read_dir().unwrap().count(), 2);
}

#[test]
fn a_real_device_can_be_throttled_and_is_put_back() {
    let files: Vec<(String, Vec<u8>)> =
        (0..200).map(|file| (format!("{file}"), vec![7; 5000])).collect();
    let files: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, content)| (name.as_str(), content.clone())).collect();
    let case = Case::alone(&files);
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let loads = loads(&names, &(0..200).collect::<Vec<_>>());
    let device = Device::Throttled("iops=100000,bandwidth=10GB/s".parse().unwrap());
    let comparison = match case.compare(&loads, &Options { device, ..fast() }) {
        Ok(comparison) => comparison,
        Err(error) => {
            return eprintln!("skipped: {error}: {:?}", std::error::Error::source(&error));
        }
    };
    assert!(comparison.throttled);
    let (loose, pack) = (comparison.loose().requests.unwrap(), comparison.pack().requests.unwrap());
    // 200 inodes fill 13 blocks: a file system whose names and inodes had stayed in memory would be
    // asked for less.
    assert!(
        loose >= 208 && pack >= 1 && pack < loose,
        "{loose} requests for files, {pack} for the pack"
    );
    if comparison.basis == Basis::AsTheyLie {
        let expected = comparison.expected.requests;
        assert!(
            loose.abs_diff(expected) * 10 <= expected.max(loose) * 2,
            "{loose} requests, {expected} expected"
        );
    }
}

/// 12 MB of files that do not deflate: the store reads them in few large reads.
#[test]
fn the_kernel_counts_as_many_requests_of_a_pack_as_the_model() {
    let mut random = SplitMix64::new(11);
    let mut content = || (0..300_000).map(|_| random.bits() as u8).collect::<Vec<u8>>();
    let files: Vec<(String, Vec<u8>)> = (0..40).map(|file| (file.to_string(), content())).collect();
    let files: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, content)| (name.as_str(), content.clone())).collect();
    let case = Case::alone(&files);
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let loads = loads(&names, &(0..40).collect::<Vec<_>>());
    // Requests are dear, so reads are as large as may be.
    let device = || "iops=1000,bandwidth=10GB/s".parse().unwrap();
    let requests = |device| -> Result<[u64; 2]> {
        let comparison = case.compare(&loads, &Options { device, ..fast() })?;
        Ok([1, 2].map(|rival| comparison.rivals[rival].requests.unwrap()))
    };
    // The kernel counts the blocks of inodes and names one by one.
    let survey = packed::survey(&case.pack).unwrap();
    let opening = |geometry| packed::opening(&survey, geometry).0.len() as u64;
    let more = opening(one_by_one(survey.geometry)) - opening(survey.geometry);
    let modelled = requests(Device::modelled(device())).unwrap().map(|requests| requests + more);
    // The pack may lie in several extents, and the way to its folder may take a block. What other
    // tests of this process read meanwhile is counted too, so one quiet try of many counts.
    let mut tries = Vec::new();
    for _ in 0..20 {
        match requests(Device::Throttled(device())) {
            Ok(counted) => tries.push(counted),
            Err(error) => {
                return eprintln!("skipped: {error}: {:?}", std::error::Error::source(&error));
            }
        }
        let near = |counted: &[u64; 2]| (0..2).all(|at| counted[at].abs_diff(modelled[at]) <= 3);
        if tries.last().is_some_and(near) {
            return;
        }
    }
    panic!("{tries:?} counted, {modelled:?} modelled");
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
    let case =
        Case::new(&[("here", vec![1; 10]), ("loose only", vec![2; 20])], |name| name == "here");
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
    let files = [("same", vec![1; 10]), ("changed", vec![2; 20]), ("grown", vec![3; 5])];
    let case = Case::new(&files, |_| true);
    std::fs::write(case.loose().join("changed"), [9; 20]).unwrap();
    std::fs::write(case.loose().join("grown"), [3; 6]).unwrap();
    let loads = loads(&["same", "changed", "grown"], &[0, 1, 2]);
    let error = case.compare(&loads, &fast()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Differs);
    let message = error.to_string();
    let named = ["data/changed", "data/grown"].map(|name| message.contains(name));
    assert_eq!((named, message.contains("data/same")), ([true, true], false), "{message}");
}

#[test]
fn files_are_found_by_the_links_that_a_pack_keeps() {
    let case = Case::new(&[("lib/a", vec![1; 10]), ("b", vec![2; 10])], |_| true);
    std::os::unix::fs::symlink("lib", case.loose().join("lib64")).unwrap();
    std::os::unix::fs::symlink("b", case.loose().join("link")).unwrap();
    let options = pack::Options { links: pack::Links::Keep, ..pack::Options::default() };
    let out = Destination::new(&case.pack).replacing(true);
    pack::pack(&case.loose(), out, &[], &options, &mut |_, _| {}).unwrap();
    let comparison = case.compare(&loads(&["lib64/a", "link", "b"], &[0, 1, 2]), &fast()).unwrap();
    assert_eq!((comparison.loads, comparison.repeats), (3, 1));
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
    assert_eq!((comparison.device, comparison.throttled), (None, false));
}

#[test]
fn odd_requests_are_refused() {
    let case = Case::new(&[("a", vec![1; 10])], |_| true);
    let loads = loads(&["a"], &[0]);
    let no_rounds = case.compare(&loads, &Options { rounds: 0, ..fast() }).unwrap_err();
    assert_eq!(no_rounds.kind(), ErrorKind::Invalid);
    let no_run = case.compare(&loads, &Options { run: Some(3), ..fast() }).unwrap_err();
    assert!(no_run.to_string().contains("runs 0 to 0"), "{no_run}");
    let no_pack =
        compare(&case.loose(), &case.loose().join("none.zip"), &loads, &fast(), &mut |_, _, _| {});
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

#[test]
fn a_tree_that_moved_is_compared_all_the_same() {
    let case = Case::new(&[("a", vec![1; 10]), ("b", vec![2; 20])], |_| true);
    let loads = loads(&["/gone/data/a", "/gone/data/b", "/usr/lib/x"], &[0, 1, 2]);
    let comparison = case.compare(&loads, &fast()).unwrap();
    assert_eq!((comparison.loads, comparison.missing.loads), (2, 1));
    assert_eq!(
        comparison.missing.moved.map(|root| root.to_string()).as_deref(),
        Some("/gone/data=.")
    );
    let root = format!("/gone/data={}", case.loose().display());
    let roots = Roots::new(vec![root.parse().unwrap()]);
    let comparison = case.compare(&loads, &Options { roots, ..fast() }).unwrap();
    assert_eq!((comparison.loads, comparison.missing.moved), (2, None));
}

/// Where things lie must reach the model: read in the order in which they lie, files cost less on a
/// disk than the other way round, and the same on a volume.
#[test]
fn on_a_disk_it_matters_where_files_lie() {
    let files: Vec<(String, Vec<u8>)> =
        (0..40).map(|file| (format!("f{file:02}"), vec![file as u8; 40_000])).collect();
    let named: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let case = Case::new(&named, |_| true);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    // Where the file system does not say, a fresh copy is taken to lie in the order of names.
    let place = |name: &str| {
        let file = File::open(case.loose().join(name)).unwrap();
        let told = seekless_sys::extents::extents(&file, 0..40_000, usize::MAX).unwrap();
        told.and_then(|told| told.list.first().and_then(|extent| extent.place))
    };
    let mut forward: Vec<u32> = (0..40).collect();
    forward.sort_by_key(|&file| place(names[file as usize]));
    let [first, last] = [forward[0], forward[39]].map(|file| place(names[file as usize]));
    if first.zip(last).is_some_and(|(first, last)| last - first > 256 << 20) {
        // As it does while other tests write: then it is far from each file to the next anyway.
        return eprintln!("skipped: the file system has put the files far apart");
    }
    let scattered: Vec<u32> = (0..40).map(|turn| forward[turn * 17 % 40]).collect();
    let took = |device: &str, order: &[u32]| {
        let device = Device::modelled(device.parse().unwrap());
        let options = Options { device, ..fast() };
        case.compare(&loads(&names, order), &options).unwrap().expected.ns
    };
    assert_eq!(took("gp3", &forward), took("gp3", &scattered));
    let (near, far) = (took("wu-2010-cached", &forward), took("wu-2010-cached", &scattered));
    assert!(far > near + near / 10, "{near} ns in order, {far} scattered");
}

/// Names, inode and directory of a pack lie apart from its entries, which costs a disk its seeks:
/// what is predicted finds them where what is compared does.
#[test]
fn a_pack_on_a_disk_is_predicted_as_it_is_compared() {
    let mut random = SplitMix64::new(3);
    let files: Vec<(String, Vec<u8>)> = (0..40)
        .map(|file| (format!("f{file:02}"), (0..40_000).map(|_| random.bits() as u8).collect()))
        .collect();
    let named: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let turns: Vec<u32> = (0..40).map(|turn| turn * 17 % 40).collect();
    let loads = loads(&names, &turns);
    let disk: DeviceSpec = "wu-2010".parse().unwrap();
    // Two runs that load a part of the files, so that some guesses are wrong.
    let model = Model::train(40, &[turns[..30].to_vec(), turns[10..].to_vec()]).to_bytes();
    let told: Vec<(&str, Vec<u8>)> = named.iter().cloned().chain([(PREDICTION, model)]).collect();
    let without = as_compared(&Case::new(&named, |_| true), &loads, &disk, false);
    let with = as_compared(&Case::new(&told, |_| true), &loads, &disk, false);
    let ignored = as_compared(&Case::new(&told, |_| true), &loads, &disk, true);
    assert_eq!((without.predicted_bytes, ignored.predicted_bytes), (0, 0));
    assert!(with.predicted_used_bytes > 100_000, "{with:?}");
    // Their requests are not compared: two files may lie on the disk in different pieces.
    assert_eq!((ignored.loads, with.loads), (without.loads, without.loads));
}

/// What is predicted for a pack, which is what is compared.
fn as_compared(case: &Case, loads: &Loads, disk: &DeviceSpec, no_prediction: bool) -> StoreFigures {
    let (compared, predicted) = both(case, loads, disk, no_prediction);
    let pack = compared.pack();
    assert_eq!((pack.requests, pack.bytes), (Some(predicted.requests), Some(predicted.bytes)));
    assert!(predicted.requests > 3, "the directory and what leads to it: {predicted:?}");
    assert_eq!(compared.served.predicted_bytes, predicted.predicted_bytes);
    predicted
}

fn both(
    case: &Case,
    loads: &Loads,
    disk: &DeviceSpec,
    no_prediction: bool,
) -> (Comparison, StoreFigures) {
    let compared = {
        let device = Device::modelled(disk.clone());
        case.compare(loads, &Options { device, no_prediction, ..fast() }).unwrap()
    };
    let options = predict::Options {
        run: None,
        unique: false,
        roots: Roots::default(),
        device: disk.clone(),
        device_known: true,
        work: Work::default(),
        no_prediction,
    };
    let capacity = Options::default().cache_bytes;
    let cases = [seekless_sim::Case { policy: "landlord".to_owned(), capacity }];
    let predicted = predict::predict(&case.pack, loads, &cases, &options).unwrap().rows[0].figures;
    (compared, predicted)
}
