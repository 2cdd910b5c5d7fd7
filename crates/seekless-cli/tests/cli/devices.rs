//! `seekless devices`: the list, one device as text that is read back, and its picture.

use super::{printed, run, workplace};
use std::fs;

#[test]
fn the_list_names_every_device_with_its_source() {
    let folder = workplace();
    let text = printed(folder.path(), "devices");
    for name in ["deskstar-7k250", "850evo", "nvme", "gp3", "s3", "cdrom-2000", "wu-2010-cached"] {
        assert!(text.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {text}");
    }
    let line = text.lines().find(|line| line.starts_with("cdrom-2000")).expect("a line");
    assert!(line.contains("130.0 ms") && line.contains("2.8 MB/s"), "{line}");
    assert!(line.contains("Table 2 of the paper"), "{line}");
    let listed: serde_json::Value =
        serde_json::from_str(&printed(folder.path(), "devices --json")).expect("JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(text.lines().count() - 2));
    assert_eq!(listed[0]["name"], "deskstar-7k250");
}

#[test]
fn what_is_shown_of_a_device_is_a_file_that_describes_it() {
    let folder = workplace();
    let names: serde_json::Value =
        serde_json::from_str(&printed(folder.path(), "devices --json")).expect("JSON");
    let presets = names.as_array().expect("a list").iter().map(|device| device["name"].as_str());
    let volume = ["iops=90,bandwidth=9MB/s,latency=2ms,burst=300x5000"];
    for name in presets.flatten().chain(volume) {
        let shown = printed(folder.path(), &format!("devices {name}"));
        fs::write(folder.path().join("mine.toml"), &shown).expect("written");
        let again = printed(folder.path(), "devices mine.toml");
        let numbers = |text: &str| -> Vec<String> {
            text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
        };
        assert_eq!(numbers(&shown), numbers(&again), "{name}");
        let table =
            |text: &str| text.split_once("Reads at random").map(|(_, table)| table.to_owned());
        assert_eq!(table(&shown), table(&again), "{name}");
    }
}

#[test]
fn a_disk_is_used_better_by_larger_reads() {
    let folder = workplace();
    let text = printed(folder.path(), "devices wu-2010-cached --json --picture use.svg");
    let device: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let points = device["utilisation"].as_array().expect("points");
    assert_eq!(points[0]["bytes"], 4096);
    assert_eq!(points[points.len() - 1]["bytes"], 16 << 20);
    let share = |point: &serde_json::Value| point["share"].as_f64().expect("a share");
    assert!(points.is_sorted_by(|one, next| share(one) < share(next)), "{points:?}");
    let picture = fs::read_to_string(folder.path().join("use.svg")).expect("drawn");
    assert!(picture.starts_with("<svg") && picture.contains("simulated"), "{picture}");
}

#[test]
fn an_unknown_device_is_answered_with_those_spelled_alike() {
    let folder = workplace();
    let error = |words: &str| {
        let output = run(folder.path(), words);
        assert_eq!(output.status.code(), Some(2), "{words}");
        String::from_utf8(output.stderr).expect("text")
    };
    assert!(error("devices deskstar").contains("did you mean deskstar-7k250"));
    assert!(error("devices none.toml").contains("cannot read none.toml"));
    fs::write(folder.path().join("bad.toml"), "[disk]\n\nrpm = \"fast\"\n").expect("written");
    let bad = error("compare a b --trace c --device bad.toml");
    assert!(bad.contains("bad.toml: line 3: "), "{bad}");
    assert!(error("devices --picture use.svg").contains("seekless devices t7k250 --picture"));
}
