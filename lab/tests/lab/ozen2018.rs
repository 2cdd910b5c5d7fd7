//! Tests 5 to 16 of `./run lab ozen2018` in their quick setting: SQLite and the other stores
//! are recorded as in the large one.

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
    let arguments = ["ozen2018", "--sqlite", "--quick", "--json", "--dir", work.as_str()];
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
    let lies = |test: &Value| test["pieces"].as_u64().unwrap_or(1);
    let (again, before) = (&alone["tests"][0], &figures["tests"][2]);
    if lies(again) == 1 && lies(before) == 1 {
        // In several pieces, a database lies differently each time.
        assert_eq!(again, before, "what was recorded before changes nothing");
    }
    let test = &figures["tests"][0];
    let raw = &test["runs"].as_array().unwrap().iter().find(|run| run["lines"] == "raw").unwrap();
    assert!(raw["spearman"].as_f64().unwrap() > 0.9, "{raw}");
    let rows = raw["rows"].as_array().unwrap();
    let best = rows.iter().min_by_key(|row| row["reads"].as_u64());
    assert_eq!(best.unwrap()["published_as"], "2Q");
    assert!(raw["requests"].as_u64() > test["calls_read"].as_u64().map(|calls| 8 * calls));
}

#[test]
fn each_store_is_recorded_and_a_cache_of_its_own_saves_calls() {
    let folder = tempfile::tempdir().unwrap();
    let (work, saved) = (folder.path().join("work"), folder.path().join("saved.json"));
    std::fs::create_dir(&work).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_seekless-lab"))
        .args(["ozen2018", "--sqlite", "--further", "--quick", "--json", "--dir"])
        .args([work.as_os_str(), "--results".as_ref(), saved.as_os_str()])
        .output()
        .unwrap();
    if !may_record(&output) {
        return;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_dir(&work).unwrap().count(), 0, "the stores are removed");
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = figures["rows"].as_array().unwrap();
    let stores = 3 + 3 + 1;
    assert_eq!(rows.len(), stores * 3 * 2, "stores and their pages, their caches, caches below");
    let calls = |store: &str, cache: u64| {
        let found = rows
            .iter()
            .find(|row| row["store"] == store && row["application_cache_pages"] == cache);
        found.and_then(|row| row["calls_per_statement"].as_f64()).unwrap()
    };
    assert!(calls("hash", 0) < calls("b-tree", 0));
    for store in ["b-tree", "hash", "copy-on-write"] {
        assert!(calls(store, 200) < calls(store, 0), "{store}");
    }
    let saved: Value = serde_json::from_slice(&std::fs::read(saved).unwrap()).unwrap();
    let table = &saved["tables"][0];
    assert_eq!((&table["id"], table["rows"].as_array().unwrap().len()), (&"further".into(), 21));
    assert_eq!(table["contenders"].as_array().unwrap().len(), 5);
}

/// Figures of a recorded build of the smallest package. `None`, with a line that says why, if it
/// cannot be recorded here.
fn figures_of_a_build(options: &[&str]) -> Option<Value> {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_seekless-lab"));
    let output = lab.args(["ozen2018", "--builds", "--one", "--json"]).args(options).output();
    let output = output.unwrap();
    if !may_record(&output) {
        return None;
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let no_compiler = Command::new("cc").arg("--version").output().is_err();
    if no_compiler || ["no C sources", "on no block device"].iter().any(|why| said.contains(why)) {
        eprintln!("skipped: {said}");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn a_build_is_recorded_mapped_and_simulated() {
    let Some(figures) = figures_of_a_build(&[]) else { return };
    assert_eq!(figures["lost"], 0);
    let number = |value: &Value| value.as_u64().unwrap();
    for view in figures["views"].as_array().unwrap() {
        assert!(number(&view["writes"]) > 0 && number(&view["requests"]) > 1000, "{view}");
        let tests = view["tests"].as_array().unwrap();
        assert_eq!(tests.len(), 4);
        let lru = |test: &Value| {
            let rows = test["rows"].as_array().unwrap();
            number(&rows.iter().find(|row| row["published_as"] == "LRU").unwrap()["reads"])
        };
        assert!(lru(&tests[3]) > lru(&tests[2]), "a smaller cache reads more: {view}");
    }
    // Nine lines a page in place of one, less what only touches bring.
    let requests = |at: usize| number(&figures["views"][at]["requests"]);
    assert!(requests(0) > requests(1), "{} and {}", requests(0), requests(1));
}

#[test]
fn eviction_by_device_time_stands_beside_his_policies() {
    let Some(tests) = figures_of_a_build(&["--device-time"]) else { return };
    for test in tests.as_array().unwrap() {
        let rows = test["rows"].as_array().unwrap();
        let seconds = |policy: &str| {
            let row = rows.iter().find(|row| row["policy"] == policy).unwrap();
            row["seconds"][0].as_f64().unwrap()
        };
        // On the disk, without a readahead.
        assert!(seconds("device-time") < seconds("lru"), "{test}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let child = Command::new(env!("CARGO_BIN_EXE_seekless-lab"))
        .args(["mccarthy2015", "--quick"])
        .stdout(writer)
        .stderr(std::process::Stdio::piped())
        .spawn();
    let output = child.unwrap().wait_with_output().unwrap();
    assert!(output.status.success());
    // It may have waited for another lab.
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.lines().all(|line| line.starts_with("waiting for another lab")), "{said}");
}

#[test]
fn post_cache_traces_of_all_policies_are_played_and_modelled() {
    // Beside the source: /tmp may be memory.
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let on = folder.path().to_str().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_seekless-lab"))
        .args(["ozen2018", "--replay", "--sqlite", "--quick", "--tests", "16", "--json"])
        .args(["--on", on, "--target", "16", "--rounds", "1", "--ios", "1000"])
        .output()
        .unwrap();
    if !may_record(&output) {
        return;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    let test = &figures["tests"][0];
    for rows in [&test["published"], &test["corrected"]] {
        let rows = rows.as_array().unwrap();
        assert_eq!(rows.len(), 10);
        for row in rows {
            assert!(row["seconds"].as_f64().unwrap() > 0.0, "{row}");
            assert_eq!(row["models"].as_array().unwrap().len(), 3, "{row}");
            assert_eq!(row["shape"]["ios"], 1000, "{row}");
            assert!(row["his_seconds"].as_f64().unwrap() > 300.0, "{row}");
        }
    }
    assert_eq!(figures["experiments"].as_array().unwrap().len(), 2);
    let reads = |rows: &Value| rows[4]["reads"].as_u64().unwrap();
    assert!(
        reads(&test["corrected"]) < reads(&test["published"]),
        "the ninth line of each page makes LRU miss more"
    );
}
