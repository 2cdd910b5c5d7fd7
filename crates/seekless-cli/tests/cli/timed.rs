//! `seekless sim --device`: a cache, a readahead and a device in time.

use super::{printed, run, workplace};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// Two streams of 200 pages in one file, their reads in turn.
fn interleaved(directory: &Path) {
    let mut text = "time_s,op,path,offset,bytes\n".to_owned();
    for page in 0..200 {
        for stream in [0, 200] {
            writeln!(text, "0,read,data.bin,{},4096", (stream + page) * 4096).unwrap();
        }
    }
    std::fs::write(directory.join("run.csv"), text).unwrap();
}

/// The figures of a program that computes for a moment with each page.
fn rows(directory: &Path, words: &str) -> Vec<Value> {
    let device = "--device iops=10,bandwidth=50MB/s --think 24us --json";
    serde_json::from_str(&printed(directory, &format!("sim run.csv {device} {words}"))).unwrap()
}

#[test]
fn every_policy_size_and_readahead_has_a_row() {
    let directory = workplace();
    interleaved(directory.path());
    let words = "--policy lru,arc --capacity 1MB,50% --readahead legacy,linux";
    let rows = rows(directory.path(), words);
    let cases: Vec<_> = rows
        .iter()
        .map(|row| format!("{} {} {}", row["policy"], row["capacity"], row["readahead"]))
        .collect();
    assert_eq!(cases.len(), 8);
    assert_eq!(cases[0], "\"lru\" 1000000 \"legacy\"");
    assert_eq!(cases[7], "\"arc\" 819200 \"linux\"", "half of 400 pages");
    for row in &rows {
        assert_eq!(row["pages_demanded"], 400);
        assert_eq!(row["bytes_delivered"], 400 * 4096);
        assert_eq!(
            (&row["readahead_max_pages"], &row["readahead_lead"]),
            (&32.into(), &"auto".into())
        );
    }
    let waited = |row: usize| rows[row]["wait_seconds"].as_f64().unwrap();
    assert!(waited(1) < waited(0) / 4.0, "{rows:?}");
}

#[test]
fn the_window_and_its_lead_can_be_set() {
    let directory = workplace();
    interleaved(directory.path());
    let largest = |words: &str| {
        let rows = rows(directory.path(), &format!("--policy lru --readahead ondemand {words}"));
        let windows = rows[0]["windows"].as_array().unwrap();
        windows.iter().filter_map(|size| size["pages"].as_u64()).max().unwrap()
    };
    assert_eq!(largest(""), 32);
    assert_eq!(largest("--readahead-max 32KiB"), 8);
    // One stream: without a marker no page is on its way when it is asked for.
    let text: String =
        (0..200).map(|page| format!("read,data.bin,{},4096\n", page * 4096)).collect();
    std::fs::write(directory.path().join("run.csv"), "op,path,offset,bytes\n".to_owned() + &text)
        .unwrap();
    let late = |lead: &str| {
        let words = format!("--policy lru --readahead ondemand --readahead-lead {lead}");
        let row = rows(directory.path(), &words).remove(0);
        assert_eq!(row["readahead_lead"], lead);
        row["pages_late"].as_u64().unwrap()
    };
    assert_eq!(late("off"), 0);
    assert!(late("auto") > 3 && late("1") > 3);
}

#[test]
fn the_table_says_what_the_program_waited() {
    let directory = workplace();
    interleaved(directory.path());
    let words = "sim run.csv --device iops=200,bandwidth=50MB/s --policy lru --readahead none";
    let text = printed(directory.path(), words);
    let heading =
        "400 accesses of 1 file on iops=200,bandwidth=50MB/s, by a program which computes";
    assert!(text.starts_with(&format!("{heading} nothing between reads (--think)\n")), "{text}");
    let thinks = printed(directory.path(), &format!("{words} --think 2ms"));
    assert!(thinks.starts_with(&format!("{heading} 2.0 ms with each page\n")), "{thinks}");
    let words = ["waited", "device busy", "late", "evicted unused", "lru", "none", "1.6 MB"];
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let directory = workplace();
    interleaved(directory.path());
    let refused = |words: &str, why: &str| {
        let output = run(directory.path(), &format!("sim run.csv {words}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(why), "{words}: {said}");
    };
    let device = "--device iops=200,bandwidth=50MB/s";
    refused(&format!("{device} --readahead on-demand"), "near it are ondemand");
    refused(&format!("{device} --policy opt"), "use another policy with --device");
    refused(&format!("{device} --readahead-lead some"), "auto, off or a number of pages");
    refused(&format!("{device} --unit page"), "--unit");
    refused("--readahead linux", "--device");
    refused("--device fast", "device");
}

#[test]
fn the_help_lists_the_readaheads() {
    let text = printed(workplace().path(), "sim --help");
    assert!(text.contains("Readaheads:") && text.contains("Wu, Xi and Xu 2010"), "{text}");
}

/// Unless it is asked for, the program computes nothing: a fast device is not held up.
#[test]
fn a_fast_drive_delivers_what_it_can() {
    let directory = workplace();
    let mut text = "time_s,op,path,offset,bytes\n".to_owned();
    for page in 0..5120 {
        writeln!(text, "0,read,data.bin,{},4096", page * 4096).unwrap();
    }
    std::fs::write(directory.path().join("run.csv"), text).unwrap();
    let words = "sim run.csv --device nvme --policy lru --readahead linux --json";
    let rows: Vec<Value> = serde_json::from_str(&printed(directory.path(), words)).unwrap();
    assert!(rows[0]["bytes_per_second"].as_f64().unwrap() > 1e9, "{rows:?}");
}
