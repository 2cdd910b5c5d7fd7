//! `seekless advise`: what it says of planted programs, whose waits are known.

use crate::caches::alone;
use crate::{seekless, workplace};
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Output, Stdio};

/// A device on which a request is dear, so that advice does not depend on this machine's disk.
const DEVICE: [&str; 2] = ["--device", "iops=100,bandwidth=100MB/s"];

fn advise(folder: &Path, options: &[&str], program: &[&str]) -> Output {
    let mut command = seekless(folder);
    command.env("XDG_STATE_HOME", folder.join("state")).stdin(Stdio::null());
    let _alone = alone();
    command.arg("advise").args(options).arg("--").args(program);
    command.output().expect("the command starts")
}

/// The figures of a program that may be recorded here; `None` where recording is refused.
fn figures(folder: &Path, options: &[&str], program: &[&str]) -> Option<Value> {
    let output = advise(folder, &[options, &["--json", "--runs", "1"]].concat(), program);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("may not trace another") {
        eprintln!("skipped: programs cannot be recorded here");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(serde_json::from_str(&said).expect("JSON alone"))
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn part<'a>(advice: &'a Value, cause: &str) -> Option<&'a Value> {
    advice["parts"].as_array().unwrap().iter().find(|part| part["cause"] == cause)
}

/// Some files in a folder, all on the device.
fn files(folder: &Path, count: usize, bytes: usize) {
    fs::create_dir(folder).unwrap();
    for number in 0..count {
        let path = folder.join(format!("file-{number:03}"));
        fs::write(&path, vec![number as u8; bytes]).unwrap();
        File::open(&path).unwrap().sync_all().unwrap();
    }
}

#[test]
fn the_parts_of_the_wait_add_up_and_small_files_are_among_them() {
    let folder = workplace();
    files(&folder.path().join("art"), 200, 9000);
    let Some(advice) = figures(folder.path(), &DEVICE, &["sh", "-c", "cat art/* > copy"]) else {
        return;
    };
    let wait_s = seconds(&advice["wait_s"]);
    let parts = advice["parts"].as_array().unwrap();
    let sum_s: f64 = parts.iter().map(|part| seconds(&part["wait_s"])).sum();
    assert!((sum_s - wait_s).abs() < 1e-6, "{sum_s} of {wait_s}");
    assert!(advice["learned"]["files"].as_u64().unwrap() >= 200, "{advice}");
    assert!(advice["learned"]["needed_bytes"].as_u64().unwrap() >= 200 * 9000);
    let all = advice["files"].as_array().unwrap();
    assert_eq!(all.iter().filter(|file| file["needed_bytes"] == 9000).count(), 200);
    assert_eq!(advice["device"]["source"], "given");
    assert_eq!(advice["starts"]["cold_s"].as_array().unwrap().len(), 1);
    if wait_s > 0.0 {
        let small = part(&advice, "small_files").expect("it read small files");
        assert!(small["calls"].as_u64().unwrap() >= 200, "{small}");
    }
}

#[test]
fn only_what_gains_enough_is_offered_best_first() {
    let folder = workplace();
    files(&folder.path().join("art"), 200, 9000);
    let Some(advice) = figures(folder.path(), &DEVICE, &["sh", "-c", "cat art/* > copy"]) else {
        return;
    };
    let cold_s = seconds(&advice["starts"]["cold_median_s"]);
    let measures = advice["measures"].as_array().unwrap();
    let starts: Vec<f64> = measures.iter().map(|it| seconds(&it["start_s"])).collect();
    assert!(starts.is_sorted(), "{starts:?}");
    assert!(starts.iter().all(|start_s| cold_s - start_s >= 0.02_f64.max(0.05 * cold_s)));
    for measure in measures {
        assert!(!measure["commands"].as_array().unwrap().is_empty(), "{measure}");
        assert!(seconds(&measure["error_s"]) >= 0.0, "{measure}");
    }
    let useless = advice["useless"].as_array().unwrap().len();
    assert!(measures.len() + useless >= 1, "run is judged in any case: {advice}");
}

#[test]
fn names_that_are_not_there_are_counted_where_they_are_looked_for() {
    let folder = workplace();
    fs::create_dir(folder.path().join("bin")).unwrap();
    let script = "n=0; while [ $n -lt 150 ]; do n=$((n+1)); [ -e bin/not-$n ]; done; true";
    let Some(advice) = figures(folder.path(), &DEVICE, &["sh", "-c", script]) else { return };
    assert!(advice["learned"]["names_missing"].as_u64().unwrap() >= 150, "{advice}");
    let searched = advice["searched"].as_array().unwrap();
    let bin = folder.path().join("bin").canonicalize().unwrap();
    let most = searched.iter().find(|entry| entry[0] == bin.to_str().unwrap());
    assert_eq!(most.expect("its folder")[1], 150, "{searched:?}");
}

#[test]
fn the_programs_output_stays_its_own_and_its_failure_is_said() {
    let folder = workplace();
    let program = ["sh", "-c", "echo out; read line || echo no input; exit 3"];
    let output = advise(folder.path(), &["--runs", "2"], &program);
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("may not trace another") {
        return;
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let times = printed.matches("out\nno input\n").count();
    assert!((6..=7).contains(&times), "two or three recordings, four timed starts: {printed}");
    assert!(said.contains("status 3"), "{said}");
    assert!(output.status.success());
}

#[test]
fn what_verify_measured_stands_beside_what_was_expected() {
    let folder = workplace();
    files(&folder.path().join("art"), 100, 9000);
    let program = ["sh", "-c", "cat art/* > copy"];
    let options = [&DEVICE[..], &["--verify"]].concat();
    let Some(advice) = figures(folder.path(), &options, &program) else { return };
    let measures = advice["measures"].as_array().unwrap();
    let verified = advice["verified"].as_array().unwrap();
    let can = |it: &&Value| {
        ["run:", "pack:"].iter().any(|done| it["what"].as_str().unwrap().starts_with(done))
    };
    let offered = measures.iter().filter(can).count();
    // Where the machine is so busy that nothing is worth offering, `run` is tried.
    assert_eq!(verified.len(), offered.max(1), "all that change nothing: {advice}");
    for verified in verified {
        assert_eq!(verified["with_s"].as_array().unwrap().len(), 1);
        match measures.iter().find(|it| it["what"] == verified["what"]) {
            Some(measure) => assert_eq!(measure["found"], "measured", "{advice}"),
            None => {
                let useless = advice["useless"].as_array().unwrap();
                assert!(useless.iter().any(|it| it[0] == verified["what"]), "{advice}");
            }
        }
    }
    assert!(!folder.path().join("state/seekless/profiles").exists(), "no profile is kept");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let folder = workplace();
    let output = advise(folder.path(), &[], &["no-such-program"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("no-such-program"), "{said}");
}

#[test]
fn the_page_holds_the_answer_and_the_files() {
    let folder = workplace();
    files(&folder.path().join("art"), 50, 9000);
    let page = folder.path().join("start.html");
    let options = ["--runs", "1", "--html", page.to_str().unwrap()];
    let program = ["sh", "-c", "cat art/f* > copy"];
    let output = advise(folder.path(), &options, &program);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("may not trace another") {
        return;
    }
    assert!(output.status.success(), "{said}");
    let html = fs::read_to_string(&page).unwrap();
    let answer = said.lines().find(|line| line.starts_with("A cold start takes")).unwrap();
    assert!(html.contains(answer), "{answer}");
    assert!(html.contains("file-007") && html.contains("Content-Security-Policy"));
    assert!(html.contains("seekless advise --runs 1 --html"), "the command that repeats it");
    assert!(html.len() < 1 << 20, "{} bytes", html.len());
    let again = advise(folder.path(), &options, &program);
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(!again.status.success() && said.contains("--force"), "{said}");
}
