//! `seekless compare` on a folder of one tiny file, where a pack cannot win, and on one of many, where it must.

use super::{printed, run, workplace};
use std::fmt::Write;
use std::path::Path;

/// `files` files of `bytes` in `data`, packed, and a run that loads them all.
fn prepare(directory: &Path, files: usize, bytes: usize) {
    std::fs::create_dir(directory.join("data")).unwrap();
    let mut run = "time_s,path,size\n".to_owned();
    for file in 0..files {
        std::fs::write(directory.join(format!("data/{file}")), vec![7; bytes]).unwrap();
        writeln!(run, "{file},{file},{bytes}").unwrap();
    }
    std::fs::write(directory.join("run.csv"), run).unwrap();
    printed(directory, "pack data -o data.zip");
}

#[test]
fn a_pack_that_loses_ends_with_1_if_asked_to() {
    let directory = workplace();
    prepare(directory.path(), 1, 1);
    // Loose: an open and a read. The pack: an open, its directory, the file.
    let words = "compare data data.zip --trace run.csv --rounds 1 --device iops=30,bandwidth=1GB/s";
    assert_eq!(run(directory.path(), &format!("{words} --fail-if-slower 5%")).status.code(), Some(1));
    assert_eq!(run(directory.path(), &format!("{words} --fail-if-slower 900%")).status.code(), Some(0));
    assert_eq!(run(directory.path(), words).status.code(), Some(0));
}

#[test]
fn the_report_says_what_was_loaded_and_how_cold() {
    let directory = workplace();
    prepare(directory.path(), 20, 100);
    let text = printed(
        directory.path(),
        "compare data data.zip --trace run.csv --rounds 1 --device iops=2000,bandwidth=1GB/s",
    );
    let expected =
        ["20 loads of 2.0 KB; median of 1 round\n", "cached at the start: ", "iops=2000,bandwidth=1GB/s"];
    assert!(expected.iter().all(|words| text.contains(words)), "{text}");
    let loose = text.lines().find(|line| line.starts_with("loose files")).unwrap();
    assert!(loose.ends_with("1.0×        40      2.0 KB"), "an open and a read for each: {text}");
    assert!(text.lines().all(|line| line == line.trim_end()), "{text:?}");
}

#[test]
fn figures_come_as_json() {
    let directory = workplace();
    prepare(directory.path(), 3, 100);
    let words = "compare data data.zip --trace run.csv --rounds 2 --device iops=2000,bandwidth=1GB/s --json";
    let figures: serde_json::Value = serde_json::from_str(&printed(directory.path(), words)).unwrap();
    assert_eq!(figures["loads"], 3);
    assert_eq!(figures["rivals"][0]["requests"], 6);
    assert_eq!(figures["rivals"][1]["rounds_ns"].as_array().unwrap().len(), 2);
}

#[test]
fn a_changed_file_ends_with_2_and_its_name() {
    let directory = workplace();
    prepare(directory.path(), 2, 100);
    std::fs::write(directory.path().join("data/1"), "something else").unwrap();
    let output = run(directory.path(), "compare data data.zip --trace run.csv --rounds 1");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("data/1 holds other bytes"), "{output:?}");
}
