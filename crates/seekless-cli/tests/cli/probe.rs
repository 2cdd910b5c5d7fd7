//! `seekless probe --inside` and `--save`: a model whose inside is known, a real file, device files
//! that are taken again, and what may not be overwritten.

use super::{printed, run, seekless, workplace};
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn a_models_inside_is_found_and_kept_as_a_device() {
    let folder = workplace();
    let words = "probe --inside --device t7k250 --noise 3 --seed 1 --json";
    let text = printed(folder.path(), &format!("{words} --save disk.toml --picture disk.svg"));
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(found["kind"], "disk");
    assert_eq!(found["disk"]["rpm"]["value"], 7200);
    assert!(found["disk"]["rpm"]["sigmas"].as_f64().is_some_and(|sigmas| sigmas >= 3.0), "{text}");
    assert_eq!(found["disk"]["segments"]["value"], 16);
    let picture = fs::read_to_string(folder.path().join("disk.svg")).expect("drawn");
    assert!(picture.starts_with("<svg") && picture.contains("The arm's moves"), "{picture}");
    let saved = fs::read_to_string(folder.path().join("disk.toml")).expect("saved");
    assert!(saved.starts_with("# ") && saved.contains("\n[disk]\n"), "{saved}");
    let device = printed(folder.path(), "devices disk.toml");
    assert!(device.contains("rpm = 7200"), "{device}");
    // The same seed, the same answer; the file is replaced only under --force.
    assert_eq!(text, printed(folder.path(), words));
    let again = run(folder.path(), &format!("{words} --save disk.toml"));
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(fs::read_to_string(folder.path().join("disk.toml")).expect("there"), saved);
}

#[test]
fn what_does_not_show_its_inside_is_kept_as_its_latencies() {
    let folder = workplace();
    let words = "probe --inside --device iops=3000,bandwidth=125MB/s,latency=1ms --seed 2";
    let text = printed(folder.path(), &format!("{words} --save volume.toml"));
    assert!(text.contains("unidentifiable") && text.contains("read of"), "{text}");
    let saved = fs::read_to_string(folder.path().join("volume.toml")).expect("saved");
    assert!(saved.contains("[latency-table]"), "{saved}");
    printed(folder.path(), "devices volume.toml");
}

/// A file of 40 MiB that lies on the device.
fn data(folder: &Path) -> bool {
    let mut file = fs::File::create(folder.join("data")).expect("made");
    file.write_all(&vec![7; 40 << 20]).expect("room");
    file.sync_all().expect("synced");
    drop(file);
    let works = run(folder, "probe data --save trial.toml");
    if works.status.success() {
        return true;
    }
    let error = String::from_utf8_lossy(&works.stderr).into_owned();
    let expected = error.contains("O_DIRECT") || error.contains("in one piece");
    assert!(expected, "{error}");
    println!("skipped: a probe of a real file: {}", error.trim());
    false
}

#[test]
fn a_files_latencies_become_a_device_that_is_taken_everywhere() {
    let folder = workplace();
    if !data(folder.path()) {
        return;
    }
    let before = fs::read(folder.path().join("data")).expect("there");
    let text = printed(folder.path(), "probe data --save table.toml --json");
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(found["latencies"]["depths"].as_array().map(Vec::len), Some(6));
    assert!(found["latencies"]["sequential_read"].as_u64().is_some_and(|rate| rate > 0), "{text}");
    assert_eq!(found["latencies"]["taken"]["bytes_written"], 0);
    let device = printed(folder.path(), "devices table.toml");
    assert!(device.contains("latency-table"), "{device}");
    assert_eq!(fs::read(folder.path().join("data")).expect("there"), before, "only read");
}

#[test]
fn writes_are_measured_on_a_file_that_was_named_for_them() {
    let folder = workplace();
    if !data(folder.path()) {
        return;
    }
    let text = printed(folder.path(), "probe data --destroy-data --save table.toml --json");
    let found: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(found["latencies"]["sequential_write"].as_u64().is_some_and(|rate| rate > 0), "{text}");
    let saved = fs::read_to_string(folder.path().join("table.toml")).expect("saved");
    assert!(saved.contains("writes"), "{saved}");
    assert_eq!(fs::metadata(folder.path().join("data")).expect("there").len(), 40 << 20);
}

/// Asserts that a target is refused in these words.
fn refused(folder: &Path, target: &str, why: &str) {
    for inside in ["--inside", "--save never.toml"] {
        let output = run(folder, &format!("probe {target} --destroy-data {inside}"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{target}: {error}");
        assert!(error.contains(why), "{target}: {error}");
        assert!(!folder.join("never.toml").exists());
    }
}

#[test]
fn what_something_else_may_want_is_not_overwritten() {
    let folder = workplace();
    let path = folder.path().join("data");
    let bytes: Vec<u8> = (0..33u32 << 20).map(|number| (number % 251) as u8).collect();
    fs::write(&path, &bytes).expect("room");
    refused(folder.path(), ".", "directory");
    symlink("data", folder.path().join("link")).expect("made");
    refused(folder.path(), "link", "a symbolic link");
    fs::hard_link(&path, folder.path().join("second")).expect("made");
    refused(folder.path(), "data", "2 names");
    fs::remove_file(folder.path().join("second")).expect("there");
    let held = fs::File::open(&path).expect("there");
    refused(folder.path(), "data", "it is open in");
    drop(held);
    refused(folder.path(), "missing", "missing");
    assert!(fs::read(&path).expect("there") == bytes, "the file was changed");
}

#[test]
fn the_disk_of_a_mounted_partition_is_not_overwritten() {
    let folder = workplace();
    let mounts = fs::read_to_string("/proc/self/mounts").expect("mounts");
    let devices = mounts.lines().filter_map(|line| line.split(' ').next());
    let disk = devices.filter(|word| word.starts_with("/dev/")).find_map(|word| {
        let disk = word.trim_end_matches(|end: char| end.is_ascii_digit());
        (disk != word && fs::File::open(disk).is_ok()).then_some(disk)
    });
    match disk {
        Some(disk) => refused(folder.path(), disk, "refused"),
        None => println!("skipped: no mounted partition has a disk that can be opened"),
    }
}

#[test]
fn a_device_node_is_its_device_or_is_refused() {
    let folder = workplace();
    let probe = |path: &str| {
        let words = ["probe", path, "--table", "table.toml", "--json"];
        seekless(folder.path()).args(words).output().expect("it runs")
    };
    for path in ["/dev/null", "/dev/zero"] {
        let output = probe(path);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{path}");
        assert!(said.contains(path) && said.contains("cannot be measured"), "{said}");
    }
    let disks = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let disks = disks.map(|disk| format!("/dev/{}", disk.file_name().to_string_lossy()));
    let mut large = disks.filter(|disk| {
        let bytes = fs::File::open(disk).and_then(|mut disk| disk.seek(SeekFrom::End(0)));
        bytes.is_ok_and(|bytes| bytes > 1 << 30)
    });
    let Some(disk) = large.next() else {
        println!("skipped: no disk that may be read");
        return;
    };
    let output = probe(&disk);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let device = found["device"].as_str().expect("a name");
    assert!(device.contains(disk.trim_start_matches("/dev/")), "{device}");
}
