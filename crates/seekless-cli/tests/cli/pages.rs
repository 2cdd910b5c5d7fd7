//! `--html` of `trace info`, `sim` and `compare`: in a browser the page says what the JSON says.

#[path = "../../../seekless-report/tests/page/browser.rs"]
mod browser;

use super::{printed, run, workplace};
use browser::{browser, open, seen_in};
use seekless::device::units::{format_bytes, format_count, format_duration};
use seekless::trace::{Access, Metadata, Op, RunInfo, Writer};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Names that would be code or move a cursor, and one that is not UTF-8 (as traces escape it).
const NAMES: [&str; 6] = [
    "/odd/</script><script>alert(1)</script>",
    "/odd/<img src=x onerror=alert(1)>",
    "/odd/\"'&amp;",
    "/odd/\x1b[2J",
    "/odd/a\u{2028}b\u{202e}fdp.exe",
    "/odd/\\xff",
];

/// A trace of so many reads, of these files in turn. Reads take longer from file to file.
fn trace(path: &Path, names: &[String], reads: u64) {
    let run = RunInfo { duration_ns: Some(reads * 1_000_000), ..RunInfo::default() };
    let metadata = Metadata { runs: vec![run], ..Metadata::default() };
    let mut writer = Writer::create(path, metadata).unwrap();
    let files: Vec<u32> = names.iter().map(|name| writer.file(name)).collect();
    for read in 0..reads {
        let place = read as usize % files.len();
        let row = Access {
            time_ns: read * 1_000_000,
            tid: 1 + (read % 3) as u32,
            bytes: 4096,
            latency_ns: Some(1_000 + 7_919 * place as u64 % 900_000),
            file_bytes: Some(8192),
            ..Access::new(Op::Read, files[place])
        };
        writer.push(row).unwrap();
    }
    writer.finish().unwrap();
}

/// Runs a verb with `--html page.html`, and returns its JSON and the page.
fn page(directory: &Path, words: &str) -> (Value, String) {
    let figures = printed(directory, &format!("{words} --json --html page.html --force"));
    let html = std::fs::read_to_string(directory.join("page.html")).unwrap();
    (serde_json::from_str(&figures).expect("JSON alone"), html)
}

/// What a reader sees, who sorts and searches; the page's scripts must run without an error.
fn seen(html: &str) -> Option<Value> {
    let seen = seen_in(&browser()?, html);
    assert_eq!(seen["errors"], json!([]));
    assert_eq!((&seen["ready"], &seen["images"]), (&json!("true"), &json!(0)));
    assert_eq!(seen["plain"], seen["scripted"], "the script writes rows as the program does");
    let states: Vec<&Value> = (0..4).map(|step| &seen["sorted"][step][0]).collect();
    assert_eq!(states[2], "none", "the third click brings the first order back: {states:?}");
    let rows = |step: usize| seen["sorted"][step][1].as_array().unwrap();
    assert_eq!(rows(2), seen["plain"].as_array().unwrap().last().unwrap().as_array().unwrap());
    Some(seen)
}

fn duration(seconds: &Value) -> String {
    format_duration((1e9 * seconds.as_f64().unwrap()).round() as u64)
}

fn share(ratio: &Value) -> String {
    let thousandths = (1e3 * ratio.as_f64().unwrap()).round() as u64;
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

#[test]
fn the_page_of_a_trace_says_what_its_json_says() {
    let directory = workplace();
    let names: Vec<String> = NAMES.map(str::to_owned).into();
    trace(&directory.path().join("run.parquet"), &names, 60);
    let (figures, html) = page(directory.path(), "trace info run.parquet");
    assert_eq!(figures["accesses"], 60);
    let text = printed(directory.path(), "trace info run.parquet");
    let Some(seen) = seen(&html) else { return };
    let answer = seen["sentence"].as_str().unwrap();
    assert!(answer.starts_with("In calls on files ") && text.contains(answer), "{answer}: {text}");
    let files = printed(directory.path(), "trace files run.parquet --json");
    let files: Value = serde_json::from_str(&files).unwrap();
    let first = &files["files"][0];
    let row = &seen["plain"][0][0];
    assert_eq!(row[0], first["path"]);
    assert_eq!(row[1], format_duration(first["latency_ns"].as_u64().unwrap()));
    assert_eq!(row[2], format_count(first["accesses"].as_u64().unwrap()));
    assert_eq!(row[4], format_bytes(first["read_bytes"].as_u64().unwrap()));
    assert_eq!(seen["plain"][0].as_array().unwrap().len(), NAMES.len());
    assert!(seen["whole"].as_str().unwrap().ends_with(", 6 files"), "{}", seen["whole"]);
    assert_eq!(seen["areas"], 7, "a folder and its files");
}

#[test]
fn the_page_of_a_million_rows_is_thinned_and_says_so() {
    let directory = workplace();
    let names: Vec<String> = (0..40_000)
        .map(|file| format!("/srv/data/set-{:03}/part-of-a-long-name-{file:06}", file % 300))
        .collect();
    trace(&directory.path().join("run.parquet"), &names, 1_000_000);
    let (figures, html) = page(directory.path(), "trace info run.parquet");
    assert_eq!(figures["accesses"], 1_000_000);
    assert!(html.len() < 3_000_000, "{} bytes", html.len());
    assert!(html.contains("800,000 more, of "), "the timeline says what it leaves out");
    let Some(seen) = seen(&html) else { return };
    let path = directory.path().join("page.html");
    let dom = open(&browser().unwrap(), &path, &["--dump-dom"]);
    assert!(dom.matches("left out to keep this page small").count() >= 2, "table and timeline");
    assert!(seen["sentence"].as_str().unwrap().starts_with("In calls on files "));
}

/// 400 requests for 40 files, some of them often.
fn requests(directory: &Path) {
    let mut text = "op,path,offset,bytes\n".to_owned();
    for request in 0..400_u32 {
        let file = request * request * 7 % 40 / (1 + request % 3);
        writeln!(text, "read,art/{file},0,65536").unwrap();
    }
    std::fs::write(directory.join("run.csv"), text).unwrap();
}

#[test]
fn the_pages_of_simulations_say_what_their_json_says() {
    let directory = workplace();
    requests(directory.path());
    let words = "sim run.csv --unit page --policy lru,arc --capacity";
    for (capacity, count) in [("512KiB", 2), ("512KiB,1MiB", 4)] {
        let (rows, html) = page(directory.path(), &format!("{words} {capacity}"));
        assert_eq!(rows.as_array().unwrap().len(), count);
        let Some(seen) = seen(&html) else { return };
        let (row, first) = (&seen["plain"][0][0], &rows[0]);
        assert_eq!((&row[0], &row[2]), (&first["policy"], &json!(share(&first["hit_ratio"]))));
        assert_eq!(row[1], format_bytes(first["capacity"].as_u64().unwrap()));
        assert_eq!(row[3], format_count(first["misses"].as_u64().unwrap()));
        let mean = |policy: &str| {
            let of = rows.as_array().unwrap().iter().filter(|row| row["policy"] == policy);
            let ratios: Vec<f64> = of.map(|row| row["miss_ratio"].as_f64().unwrap()).collect();
            format!("{:.2} %", 100.0 * ratios.iter().sum::<f64>() / ratios.len() as f64)
        };
        let answer = seen["sentence"].as_str().unwrap();
        let (lru, arc) = (mean("lru"), mean("arc"));
        assert!(answer.contains("misses least: ") && answer.contains(&lru), "{answer}");
        assert!(answer.contains(&arc), "{answer}, {arc}");
        assert_eq!(html.contains("Miss ratio by cache size"), count == 4);
    }
    let (curves, html) =
        page(directory.path(), "sim run.csv --unit page --curve exact --policy lru,sieve");
    let Some(seen) = seen(&html) else { return };
    let (row, first) = (&seen["plain"][0][0], &curves[0]["points"][0]);
    assert_eq!((&row[0], &row[2]), (&json!("lru"), &json!(share(&first["miss_ratio"]))));
    let device = "--device iops=10,bandwidth=50MB/s --policy lru --capacity 512KiB,4MiB";
    let (rows, html) = page(directory.path(), &format!("sim run.csv {device}"));
    let Some(seen) = self::seen(&html) else { return };
    let row = &seen["plain"][0][0];
    assert_eq!((&row[0], &row[2]), (&json!("lru"), &rows[0]["readahead"]));
    assert_eq!(
        (&row[3], &row[4]),
        (&json!(duration(&rows[0]["seconds"])), &json!(duration(&rows[0]["wait_seconds"])))
    );
    let least = rows.as_array().unwrap().iter().map(|row| row["seconds"].as_f64().unwrap());
    let least = duration(&json!(least.fold(f64::INFINITY, f64::min)));
    let answer = seen["sentence"].as_str().unwrap();
    assert!(answer.contains(&format!("it takes {least}")), "{answer}");
    let waits = rows[0]["waits"].as_array().unwrap();
    let counted: u64 = waits.iter().map(|wait| wait["count"].as_u64().unwrap()).sum();
    assert_eq!(rows[0]["accesses"], counted);
    assert!(html.contains("How long accesses wait"));
}

#[test]
fn the_pages_of_comparisons_say_what_their_json_says() {
    let directory = workplace();
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let mut list = "time_s,path,size\n".to_owned();
    for file in 0..60 {
        std::fs::write(data.join(format!("{file}")), vec![7; 3000]).unwrap();
        writeln!(list, "{file},{file},3000").unwrap();
    }
    std::fs::write(directory.path().join("run.csv"), list).unwrap();
    printed(directory.path(), "pack data -o data.zip");
    let words =
        "compare data data.zip --trace run.csv --rounds 3 --device iops=200,bandwidth=9MB/s";
    let (figures, html) = page(directory.path(), words);
    if let Some(seen) = seen(&html) {
        let (row, pack) = (&seen["plain"][0][1], &figures["rivals"][1]);
        assert_eq!(row[0], pack["name"]);
        assert_eq!(row[2], format_duration(pack["median_ns"].as_u64().unwrap()));
        assert_eq!(row[5], format_count(pack["requests"].as_u64().unwrap()));
        let ratio = format!("{:.1} times as fast", pack["ratio"].as_f64().unwrap());
        assert!(seen["sentence"].as_str().unwrap().contains(&ratio), "{}", seen["sentence"]);
    }
    std::fs::write(directory.path().join("big"), vec![7; 1 << 20]).unwrap();
    let words = "compare big --pattern backward:4KiB --rounds 1 --amount 256KiB --cache 1MiB";
    let (figures, html) = page(directory.path(), words);
    let Some(seen) = seen(&html) else { return };
    let kernel = &figures[0]["kernel"];
    let row = &seen["plain"][0][0];
    assert_eq!((&row[0], &row[1]), (&json!("backward:4KiB"), &json!("kernel")));
    assert_eq!(row[4], format_duration(kernel["median_ns"].as_u64().unwrap()));
}

#[test]
fn a_page_that_may_not_be_written_is_refused_before_the_work() {
    let directory = workplace();
    requests(directory.path());
    std::fs::write(directory.path().join("page.html"), "mine").unwrap();
    for verb in ["sim run.csv", "trace info run.csv"] {
        let output = run(directory.path(), &format!("{verb} --html page.html"));
        assert_eq!(output.status.code(), Some(2), "{verb}");
        assert!(output.stdout.is_empty(), "{verb}");
    }
    assert_eq!(std::fs::read_to_string(directory.path().join("page.html")).unwrap(), "mine");
    let output = run(directory.path(), "sim run.csv --unit page --html -");
    assert!(output.stdout.starts_with(b"<!DOCTYPE html>"), "the page alone");
    assert!(String::from_utf8_lossy(&output.stderr).contains("missed bytes"));
}
