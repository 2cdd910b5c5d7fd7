//! `./run lab vanmeter2000` in its quick setting: real commands in a control group of 32 MiB on a
//! throttled disk.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command beside the lab; built if it is not there.
fn seekless() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_seekless-lab")).with_file_name("seekless");
    if !path.exists() {
        let profile = if path.parent().unwrap().ends_with("release") { "release" } else { "dev" };
        let build =
            ["build", "--locked", "--package", "seekless-cli", "--bins", "--profile", profile];
        assert!(Command::new(env!("CARGO")).args(build).status().unwrap().success());
    }
    path
}

fn lab(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_seekless-lab"))
        .args(["vanmeter2000", "--quick", "--json", "--dir"])
        .arg(folder)
        .arg("--seekless")
        .arg(seekless())
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn a_file_larger_than_the_cache_is_not_read_whole_again_and_again() {
    // Not in /tmp, which may be memory: the disk of the group is under the checkout.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let pictures = folder.path().join("pictures");
    let output =
        lab(folder.path(), &["--figures", "7,9,11,13", "--pictures", pictures.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    if let Some(skipped) = said.lines().find(|line| line.starts_with("skipped: ")) {
        eprintln!("{skipped}");
        return;
    }
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    let cache = figures["cache_bytes"].as_u64().unwrap();
    assert!(cache > 8 << 20 && cache <= 40 << 20, "{cache}");
    let curves = figures["curves"].as_array().unwrap();
    assert_eq!(curves.len(), 2, "each question once");
    for curve in curves {
        let large = &curve["points"][1];
        assert!(large["file_bytes"].as_u64().unwrap() > cache);
        let series = large["series"].as_array().unwrap();
        assert_eq!((&series[0]["tool"], &series[1]["tool"]), (&"gnu".into(), &"seekless".into()));
        assert!(series.iter().all(|series| series["discarded"].as_array().unwrap().len() == 1));
    }
    // The least of the passes, since other tests empty the caches meanwhile.
    let least = |tool: usize| {
        let passes = curves[0]["points"][1]["series"][tool]["passes"].as_array().unwrap();
        passes.iter().map(|pass| pass["device_bytes"].as_u64().unwrap()).min().unwrap()
    };
    assert!(least(1) < least(0), "{} and {}", least(1), least(0));
    for figure in [7, 9, 11, 13] {
        let picture =
            std::fs::read_to_string(pictures.join(format!("figure-{figure}-200MB-s.svg"))).unwrap();
        assert!(picture.starts_with("<svg"));
    }
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["pictures"], "the files are removed");
}

#[test]
fn the_order_of_an_image_is_judged_apart_from_the_passes() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let output = lab(folder.path(), &["--figures", "14"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    if let Some(skipped) = said.lines().find(|line| line.starts_with("skipped: no control")) {
        eprintln!("{skipped}");
        return;
    }
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    adopts(&figures["adopted"], &said);
    let large = &figures["curves"][0]["points"][1];
    let tools: Vec<_> =
        large["series"].as_array().unwrap().iter().map(|series| &series["tool"]).collect();
    assert_eq!(tools, ["seekless-linear", "seekless", "seekless-plain-order"]);
    // The least of the passes, since other tests empty the caches meanwhile. The file is half as
    // large again as the cache: the plain order reads all of it, two passes instead of three.
    let least = |tool: usize| {
        let passes = large["series"][tool]["passes"].as_array().unwrap();
        passes.iter().map(|pass| pass["device_bytes"].as_u64().unwrap()).min().unwrap()
    };
    assert!(least(1) < least(2) && least(2) < least(0), "{}, {}, {}", least(0), least(1), least(2));
}

/// Table 4: a real program changes a few of its lines, and reads less.
fn adopts(adopted: &Value, said: &str) {
    if let Some(skipped) = said.lines().find(|line| line.starts_with("skipped: Table 4")) {
        eprintln!("{skipped}");
        return;
    }
    let number = |value: &Value| value.as_u64().unwrap();
    let (modified, total) = (number(&adopted["modified"]), number(&adopted["total"]));
    assert!(modified < 140 && modified < total / 4, "{modified} of {total}");
    // Other tests may empty the caches meanwhile: then both read all.
    let read = |which: &str| number(&adopted[which]["device_bytes"]);
    assert!(read("sleds") <= read("plain"), "{} and {}", read("sleds"), read("plain"));
}

#[test]
fn what_cannot_be_measured_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str]| {
        let output = lab(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused(&["--figures", "6"]).contains("there is no figure 6"));
    assert!(refused(&["--speed", "tape"]).contains("cdrom"));
    assert!(refused(&["--sizes", "0"]).contains("--sizes"));
}
