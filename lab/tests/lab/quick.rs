//! The labs in their quick settings, as `./run lab NAME` runs them.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Runs a lab and reads the figures that it prints.
fn lab(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_seekless-lab"))
        .args(arguments)
        .arg("--json")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn is_data_there(folder: &str) -> bool {
    let found = seekless_results::data_folder(None).join(folder).is_dir();
    if !found {
        eprintln!("skipped: {folder}/ is not there: see docs/data.md");
    }
    found
}

#[test]
fn mccarthy_reads_the_same_by_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("figure-3.svg");
    let figures = lab(&["mccarthy2015", "--quick", "--picture", picture.to_str().unwrap()]);
    assert!(fs::read_to_string(&picture).unwrap().starts_with("<svg"));
    let requests = figures["requests"].as_u64().unwrap();
    let rows = figures["times"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3 * 5, "three orders, three ways and two caches");
    let of = |order: &str, method: &str| {
        let found = rows.iter().find(|row| row["order"] == order && row["method"] == method);
        found.unwrap_or_else(|| panic!("no row for {method}, {order}"))
    };
    assert_eq!(of("trace", "directory")["reads"], requests);
    for cache in figures["hit_ratios"].as_array().unwrap() {
        // The simulator and the live cache must agree.
        let live = of("trace", &format!("LRU of {} entries", cache["entries"]));
        assert_eq!(live["hits"], cache["hits"]);
        assert_eq!(live["reads"].as_u64().unwrap() + cache["hits"].as_u64().unwrap(), requests);
    }
    let future = figures["future"].as_array().unwrap();
    let hits = |order: &str, entries_a_line: u64| {
        let is_wanted = |row: &&Value| {
            row["order"] == order && row["entries_a_line"] == entries_a_line && row["threads"] == 0
        };
        let row = future.iter().find(is_wanted);
        row.and_then(|row| row["hits"].as_u64()).unwrap()
    };
    assert_eq!(
        hits("by id", 1),
        hits("greedy, first half", 1),
        "an order changes nothing for single entries"
    );
    assert!(hits("greedy, whole trace", 4) > 0);
    let by_threads = future.iter().filter(|row| row["threads"] != 0);
    assert_eq!(by_threads.clone().count(), 3 * 3, "three orders");
    assert!(by_threads.into_iter().all(|row| row["hits"].as_u64().unwrap() > 0));
    let overhead = figures["overhead"].as_array().unwrap();
    assert_eq!(overhead.len(), 2 * 3, "two orders, no cache and two");
    for order in overhead.chunks(3) {
        assert_eq!(order[1]["hits"], order[2]["hits"], "his cache and ours hit the same");
    }
    let stored = figures["stored"].as_array().unwrap();
    assert_eq!(stored.len(), figures["hit_ratios"].as_array().unwrap().len());
    assert!(stored.iter().all(|row| row["hits"] == row["simulated_hits"]), "{stored:?}");
}

#[test]
fn mccarthy_hits_what_is_published() {
    if !is_data_there("mccarthy-2015") {
        return;
    }
    let figures = lab(&["mccarthy2015", "--ratios"]);
    assert!((figures["perfect_hit_ratio"].as_f64().unwrap() - 0.81).abs() < 0.005);
    let published = [0.710, 0.738, 0.761];
    for (row, at_end) in figures["hit_ratios"].as_array().unwrap().iter().zip(published) {
        assert_eq!(row["published"]["points_compared"], 62);
        assert!(row["published"]["max_difference"].as_f64().unwrap() < 6e-7);
        assert!((row["published"]["hit_ratio_at_end"].as_f64().unwrap() - at_end).abs() < 0.0006);
    }
}

#[test]
fn without_the_starts_made_up_ones_stand_in() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_seekless-lab"))
        .args(["wassenberg2006", "--cache", "--quick", "--rounds", "1"])
        .env("SEEKLESS_DATA", folder.path())
        .output()
        .unwrap();
    let [text, said] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{said}");
    assert!(said.contains("docs/data.md"), "{said}");
    assert!(text.starts_with("Not the published traces: five made-up starts"), "{text}");
    let named = ["wassenberg2006", "--cache", "--quick", "--data", folder.path().to_str().unwrap()];
    let output = Command::new(env!("CARGO_BIN_EXE_seekless-lab")).args(named).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "what was named is not replaced");
}

#[test]
fn wassenbergs_cache_misses_less_as_it_grows() {
    if !is_data_there("0ad") {
        return;
    }
    let figures = lab(&["wassenberg2006", "--cache", "--quick", "--rounds", "1"]);
    let of = |policy: &str| -> Vec<f64> {
        let rows =
            figures["figure_3"].as_array().unwrap().iter().filter(|row| row["policy"] == policy);
        rows.map(|row| row["non_compulsory_miss_ratio"].as_f64().unwrap()).collect()
    };
    let (lru, landlord) = (of("lru"), of("landlord"));
    assert_eq!((lru.len(), landlord.len()), (16, 16));
    assert!(lru[0] > lru[5] && lru[5] > lru[15] && landlord[5] < lru[5], "{lru:?}, {landlord:?}");
    assert!((lru[5] - 0.5041).abs() < 0.00005 && (landlord[5] - 0.0807).abs() < 0.00005, "10 MB");
    let manager = figures["manager"].as_array().unwrap();
    assert_eq!(manager.len(), 2 * 2 * 7);
    assert!(manager.iter().all(|row| row["ns_per_operation"].as_f64().unwrap() > 0.0));
}

#[test]
fn wassenbergs_start_is_the_same_from_all_peers() {
    if !is_data_there("0ad") {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let place = folder.path().to_str().unwrap();
    let figures = lab(&["wassenberg2006", "--peers", place, "--quick", "--rounds", "1"]);
    let start = &figures[0];
    assert_eq!((&start["run"], &start["loads"]), (&"arcadia".into(), &60.into()));
    let rivals = start["rivals"].as_array().unwrap();
    let is = |rival: &&Value, name: &str| rival["name"].as_str().unwrap().contains(name);
    let count = |name: &str| rivals.iter().filter(|rival| is(rival, name)).count();
    assert_eq!(count("our pack, order"), 6 + count("zipfile"), "three orders, two ways");
    assert_eq!(count("tar, order"), 4, "two orders, two ways");
    assert!(rivals.iter().all(|rival| rival["checksum"] == rivals[0]["checksum"]), "{figures}");
    // Each peer is there, or it is said why not.
    let left_out = start["left_out"].as_array().unwrap();
    let peers = count("squashfs") + count("erofs") + count("zipfile").min(1);
    assert_eq!(peers + left_out.len(), 4, "{figures}");
    for peer in left_out {
        eprintln!("skipped: {}: {}", peer["peer"].as_str().unwrap(), peer["why"].as_str().unwrap());
    }
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(place), "an image is still mounted");
}

#[test]
fn wassenbergs_techniques_load_from_every_order() {
    if !is_data_there("0ad") {
        return;
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let place = folder.path().to_str().unwrap();
    let figures = lab(&["wassenberg2006", "--live", place, "--quick", "--rounds", "1"]);
    let rows = figures.as_array().unwrap();
    assert_eq!(rows.len(), 2 + 9 * 4, "loose files in two ways, nine techniques from four orders");
    let checksum = |row: &Value| row["figures"]["checksum"].clone();
    assert!(rows.iter().all(|row| checksum(row) == checksum(&rows[0])), "{figures}");
}

#[test]
fn wu_has_every_figure_and_more_streams_gain_more() {
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("wu.svg");
    let figures = lab(&["wu2010", "--quick", "--picture", picture.to_str().unwrap()]);
    for name in ["9", "10", "11a", "11b", "12", "beyond"] {
        let text = fs::read_to_string(folder.path().join(format!("wu-{name}.svg"))).unwrap();
        assert!(text.starts_with("<svg"), "{name}");
    }
    assert_eq!(figures["figure_9"].as_array().unwrap().len(), 10);
    let ratio = |at: usize| {
        let row = &figures["figure_11_off"][at];
        row["new"].as_f64().unwrap() / row["old"].as_f64().unwrap()
    };
    assert!((0.99..1.01).contains(&ratio(0)), "one stream is read alike by both");
    assert!(ratio(1) > 2.0, "{figures}");
    let reads = |at: usize| figures["figure_10"][at]["reads"].as_array().unwrap().len();
    assert!(reads(0) > reads(1), "the old algorithm's windows are interrupted");
    assert_eq!(figures["claims"].as_array().unwrap().len(), 0);
    assert_eq!(figures["ended"].as_array().unwrap().len(), 2 * 3, "two counts, three windows");
    assert!(figures["live"].is_null());
}

#[test]
fn wu_is_read_on_the_real_device_by_both_sides() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let place = folder.path().to_str().unwrap();
    let picture = folder.path().join("wu.svg");
    let picture = ["--picture", picture.to_str().unwrap()];
    let figures = lab(&[&["wu2010", "--quick", "--live", place], &picture[..]].concat());
    let rows = figures["live"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 5, "one and three streams, two disturbances, random reads");
    for row in rows {
        let comparison = &row["comparison"];
        let of = |side: &str, name: &str| comparison[side][name].clone();
        assert_eq!(of("kernel", "checksum"), of("seekless", "checksum"), "{comparison}");
        assert!(of("kernel", "delivered_bytes").as_u64().unwrap() > 0);
        let is_random = comparison["pattern"] == "random:4KiB";
        assert_eq!(row["simulated"].is_null(), is_random, "{row}");
    }
    let drawn = fs::read_to_string(folder.path().join("wu-live.svg")).unwrap();
    assert!(drawn.starts_with("<svg"));
    let left = fs::read_dir(folder.path()).unwrap().filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_none_or(|ending| ending != "svg")
    });
    assert_eq!(left.count(), 0, "the file that was read is removed");
}

#[test]
fn a_probe_identifies_planted_devices() {
    let figures = lab(&["probe", "--devices", "3"]);
    assert_eq!(figures["disks"]["devices"], 3);
    assert!(figures["exact_share"].as_f64().unwrap() > 0.6, "{figures}");
}

#[test]
fn ozens_test_3_is_judged() {
    if std::env::var_os("SEEKLESS_TEST_FAST").is_some() {
        eprintln!("skipped: Ozen's test 3 in the lab (./test without --fast runs it)");
        return;
    }
    if !is_data_there("ozen-2018") {
        return;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_seekless-lab")).arg("ozen2018").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("2 of 2 claims hold"), "{text}");
}

/// Ctrl-C left up to 1.7 GB in /tmp, and --live its files.
#[test]
fn an_interrupted_lab_leaves_nothing() {
    let room = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = room.path().to_str().unwrap();
    for (arguments, signal) in [
        (&["mccarthy2015", "--file-size", "8"][..], Signal::SIGTERM),
        (&["wu2010", "--live", folder], Signal::SIGINT),
        (&["wassenberg2006", "--live", folder], Signal::SIGTERM),
        (&["wassenberg2006", "--end-to-end", folder], Signal::SIGINT),
    ] {
        let mut lab = Command::new(env!("CARGO_BIN_EXE_seekless-lab"))
            .args(arguments)
            // Without data: made-up requests are written, too.
            .env("SEEKLESS_DATA", folder)
            .env("TMPDIR", folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let files = || fs::read_dir(room.path()).unwrap().count();
        while files() == 0 {
            assert!(lab.try_wait().unwrap().is_none(), "{arguments:?} made nothing and ended");
            thread::sleep(Duration::from_millis(5));
        }
        kill(Pid::from_raw(lab.id() as i32), signal).unwrap();
        assert_eq!(lab.wait().unwrap().code(), Some(128 + signal as i32), "{arguments:?}");
        assert_eq!(files(), 0, "{arguments:?}");
    }
}
