//! Tests 5 to 16 of `./run lab ozen2018` in their small setting: SQLite and the hash table are
//! recorded as in the large one.

use serde_json::Value;
use std::process::Command;

/// Whether this process may trace another, which recording needs.
fn may_record(output: &std::process::Output) -> bool {
    let words = String::from_utf8_lossy(&output.stderr);
    let refused =
        words.contains("may not trace another") || words.contains("is not supported on this");
    if refused {
        eprintln!("skipped: recording is not possible here");
    }
    !refused
}

#[test]
fn sqlite_under_his_policies_ranks_as_his_does_and_each_time_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (work, picture) = (inside("work"), inside("bars.svg"));
    std::fs::create_dir(&work).unwrap();
    let arguments = ["ozen2018", "--sqlite", "--small", "--json", "--dir", work.as_str()];
    let run = |more: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_seekless-lab"))
            .args(arguments)
            .args(more)
            .output()
            .unwrap()
    };
    let output = run(&["--tests", "7,15,16", "--picture", &picture]);
    if !may_record(&output) {
        return;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::read_to_string(inside("bars-7.svg")).unwrap().starts_with("<svg"));
    assert!(std::fs::exists(inside("bars-16.svg")).unwrap());
    assert_eq!(std::fs::read_dir(&work).unwrap().count(), 0, "the database is removed");
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    let alone: Value = serde_json::from_slice(&run(&["--tests", "16"]).stdout).unwrap();
    assert_eq!(alone["tests"][0], figures["tests"][2], "what was recorded before changes nothing");
    let test = &figures["tests"][0];
    let raw = &test["runs"].as_array().unwrap().iter().find(|run| run["lines"] == "raw").unwrap();
    assert!(raw["spearman"].as_f64().unwrap() > 0.9, "{raw}");
    let rows = raw["rows"].as_array().unwrap();
    let best = rows.iter().min_by_key(|row| row["reads"].as_u64());
    assert_eq!(best.unwrap()["published_as"], "2Q");
    assert!(raw["requests"].as_u64() > test["calls_read"].as_u64().map(|calls| 8 * calls));
}

#[test]
fn a_hash_table_asks_for_less_than_a_b_tree() {
    let arguments = ["ozen2018", "--sqlite", "--further", "--small", "--json"];
    let output = Command::new(env!("CARGO_BIN_EXE_seekless-lab")).args(arguments).output().unwrap();
    if !may_record(&output) {
        return;
    }
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = figures["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * 3 * 3 * 2, "stores, their pages, their caches, caches below");
    let calls = |store: &str, cache: u64| {
        let found = rows
            .iter()
            .find(|row| row["store"] == store && row["application_cache_pages"] == cache);
        found.and_then(|row| row["calls_per_statement"].as_f64()).unwrap()
    };
    assert!(calls("hash", 0) < calls("b-tree", 0) && calls("b-tree", 200) < calls("b-tree", 0));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let child = Command::new(env!("CARGO_BIN_EXE_seekless-lab"))
        .args(["mccarthy2015", "--small"])
        .stdout(writer)
        .stderr(std::process::Stdio::piped())
        .spawn();
    let output = child.unwrap().wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
