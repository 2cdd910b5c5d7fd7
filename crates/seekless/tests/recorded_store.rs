//! Record, pack, serve, record again: a store that is recorded gives a trace, an order is made of
//! it, and the store of the pack in that order has the same loads and releases.

use seekless::io::Store;
use seekless::pack::{About, Codec, PackWriter, prepare};
use seekless::tools::{order, predict};
use seekless::trace::{Loads, Trace, import};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Names that a CSV must quote, and others.
const NAMES: [&str; 6] = ["a,b.dds", "say \"no\".xml", " blank ", "dir/plain.dds", "\u{e9}", "z"];

fn pack<'a>(path: &Path, names: impl IntoIterator<Item = &'a str>) {
    let mut pack = PackWriter::new(File::create(path).unwrap());
    for name in names {
        let content = name.repeat(900).into_bytes();
        pack.add(prepare(About::named(name), content, Codec::Auto).unwrap()).unwrap();
    }
    pack.finish().unwrap();
}

/// Loads in an order of its own, with repeats, some of them while another is held.
fn play(store: &Store, log: &Path) {
    let recording = store.record(log).unwrap();
    let held = store.load(NAMES[5]).unwrap();
    for at in [3, 0, 0, 4, 2, 5, 1, 3] {
        drop(store.load(NAMES[at]).unwrap());
    }
    drop(held);
    let recorded = recording.finish().unwrap();
    assert_eq!((recorded.loads, recorded.releases, recorded.lost), (9, 9, 0));
}

/// What a run loads by name, and the place of each load's release among all loads and releases.
fn course(log: &Path) -> Vec<(String, u64, usize)> {
    let loads = Loads::read(&[log.to_owned()]).unwrap();
    let run = &loads.runs[0];
    let mut times: Vec<u64> = run
        .iter()
        .flat_map(|load| [load.time_ns, load.released_ns.expect("each was released").into()])
        .collect();
    times.sort_unstable();
    run.iter()
        .map(|load| {
            let released = times.binary_search(&load.released_ns.unwrap().into()).unwrap();
            (loads.names[load.file as usize].clone(), load.bytes, released)
        })
        .collect()
}

#[test]
fn record_pack_serve_and_record_again_gives_the_same_loads() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second, one, two] =
        ["first.zip", "second.zip", "one.csv", "two.csv"].map(|name| folder.path().join(name));
    pack(&first, NAMES);
    play(&Store::open(&first).unwrap(), &one);
    let universe: Vec<(String, u64)> =
        course(&one).into_iter().map(|(name, bytes, _)| (name, bytes)).collect();
    let universe: std::collections::BTreeMap<_, _> = universe.into_iter().collect();
    let universe: Vec<_> = universe.into_iter().collect();
    let ordered =
        order::order_names(std::slice::from_ref(&one), &universe, "recent", None).unwrap();
    pack(&second, ordered.iter().map(String::as_str));
    let store = Store::open(&second).unwrap();
    assert_eq!(store.index().name(0), NAMES[5], "the order is that of the recorded loads");
    play(&store, &two);
    assert_eq!(course(&one), course(&two));

    let parquet = folder.path().join("one.parquet");
    import::csv(
        std::slice::from_ref(&one),
        parquet.as_path(),
        &import::Options::default(),
        &mut |_, _| (),
    )
    .unwrap();
    assert_eq!(course(&parquet), course(&one), "Parquet has the same");
}

#[test]
fn a_killed_program_leaves_a_trace() {
    const CHILD: &str = "SEEKLESS_RECORDED_STORE_CHILD";
    if let Some(folder) = std::env::var_os(CHILD) {
        let folder = PathBuf::from(folder);
        let store = Store::open(folder.join("data.zip")).unwrap();
        let _recording = store.record(folder.join("run.csv")).unwrap();
        loop {
            drop(store.load(NAMES[3]).unwrap());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    pack(&folder.path().join("data.zip"), NAMES);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["a_killed_program_leaves_a_trace", "--exact"])
        .env(CHILD, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let log = folder.path().join("run.csv");
    let began = Instant::now();
    while std::fs::metadata(&log).map_or(0, |log| log.len()) < 10_000 {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing is written");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let loads = Loads::read(std::slice::from_ref(&log)).unwrap();
    assert!(loads.runs[0].len() > 100, "{}", loads.runs[0].len());
    // Wherever it is cut, it opens; what was cut is counted.
    let text = std::fs::read(&log).unwrap();
    let cut = folder.path().join("cut.csv");
    std::fs::write(&cut, &text[..text.len() - 3]).unwrap();
    let parquet = folder.path().join("cut.parquet");
    import::csv(&[cut], parquet.as_path(), &import::Options::default(), &mut |_, _| ()).unwrap();
    assert_eq!(Trace::open(&parquet).unwrap().metadata().lost, 1);
}

#[test]
fn what_was_recorded_is_simulated_with_its_releases() {
    let folder = tempfile::tempdir().unwrap();
    let [path, log] = ["data.zip", "run.csv"].map(|name| folder.path().join(name));
    pack(&path, NAMES);
    play(&Store::open(&path).unwrap(), &log);
    let options = predict::Options {
        no_prediction: false,
        run: None,
        unique: false,
        roots: seekless::job::roots::Roots::default(),
        device: "iops=500,bandwidth=150MB/s".parse().unwrap(),
        device_known: true,
        work: seekless::sim::store::Work::default(),
    };
    let loads = Loads::read(&[log]).unwrap();
    let case = seekless::sim::Case { policy: "lru".into(), capacity: 0 };
    let predicted = predict::predict(&path, &loads, &[case], &options).unwrap();
    // The last of the names is held from the first load to the last.
    assert_eq!(predicted.rows[0].figures.revived, 1);
}
