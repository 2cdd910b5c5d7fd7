//! `seekless advise --once` and `--service`: the program runs once, or runs already.

use crate::{run, seekless, workplace};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const DEVICE: [&str; 2] = ["--device", "iops=100,bandwidth=100MB/s"];

fn files(folder: &Path) {
    fs::create_dir(folder).unwrap();
    for number in 0..60 {
        fs::write(folder.join(format!("file-{number:03}")), vec![number; 9000]).unwrap();
    }
}

/// `None` where recording is refused.
fn advised(output: Output) -> Option<Output> {
    if String::from_utf8_lossy(&output.stderr).contains("may not trace another") {
        eprintln!("skipped: programs cannot be recorded here");
        return None;
    }
    Some(output)
}

fn once(folder: &Path, options: &[&str], script: &str) -> Option<Output> {
    let mut command = seekless(folder);
    command.arg("advise").arg("--once").args(DEVICE).args(options);
    let input = fs::File::open(folder.join("input")).unwrap();
    command.args(["--", "sh", "-c", script]).stdin(input);
    advised(command.output().expect("the command starts"))
}

#[test]
fn a_program_runs_once_with_its_own_input_output_and_status() {
    let folder = workplace();
    let place = folder.path();
    files(&place.join("art"));
    fs::write(place.join("input"), "a word\n").unwrap();
    let script = "read line; echo \"got $line\"; echo x >> runs; cat art/* > copy; exit 3";
    let Some(output) = once(place, &["--html", "once.html"], script) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "got a word\n");
    assert_eq!(fs::read_to_string(place.join("runs")).unwrap(), "x\n", "it ran once");
    let answer = said.lines().find(|line| line.starts_with("With nothing cached it waits"));
    let answer = answer.expect("the answer");
    assert!(answer.contains("estimated from one recorded run"), "{answer}");
    assert!(said.contains("small files read one by one"), "{said}");
    assert!(fs::read_to_string(place.join("once.html")).unwrap().contains(answer));
    assert!(!place.join("run.parquet").exists(), "the recording is not kept");
}

#[test]
fn the_estimate_is_that_from_the_kept_trace() {
    let folder = workplace();
    let place = folder.path();
    files(&place.join("art"));
    fs::write(place.join("input"), "").unwrap();
    let options = ["--json", "-o", "kept.parquet"];
    let Some(output) = once(place, &options, "cat art/* > copy") else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let now: Value = serde_json::from_str(&said).expect("JSON alone");
    assert_eq!(now["files"]["basis"], "one_run");
    assert!(now["files"]["recorded"]["parts"].as_array().is_some_and(|it| !it.is_empty()));
    let words = format!("advise kept.parquet --json {} {}", DEVICE[0], DEVICE[1]);
    let output = run(place, &words);
    let later: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for figure in ["wait_s", "requests", "needed_files", "parts", "folders"] {
        assert_eq!(now["files"][figure], later["files"][figure], "{figure}");
    }
    let again = once(place, &options, "true").unwrap();
    assert_eq!(again.status.code(), Some(125), "the kept trace is not replaced");
}

/// Of a search path, before the one that has the program.
const FOLDERS: u64 = 100;

#[test]
fn a_search_through_many_empty_folders_of_path_is_named_and_priced() {
    let folder = workplace();
    let place = folder.path();
    fs::write(place.join("input"), "").unwrap();
    fs::create_dir(place.join("bin")).unwrap();
    crate::write_script(&place.join("bin/planted"), "#!/bin/sh\n:\n");
    let empty = |number: u64| format!("empty-{number}");
    (0..FOLDERS).for_each(|number| fs::create_dir(place.join(empty(number))).unwrap());
    let path: String = (0..FOLDERS).map(|number| format!("$PWD/{}:", empty(number))).collect();
    let script = &format!("PATH={path}$PWD/bin:$PATH; planted");
    let Some(output) = once(place, &["--json"], script) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let advice: Value = serde_json::from_str(&said).expect("JSON alone");
    let files = &advice["files"];
    let of_path = |it: &&Value| it["setting"] == "path";
    let search = files["searches"].as_array().unwrap().iter().find(of_path).expect("it searches");
    assert_eq!((&search["in_vain"], &search["names"]), (&FOLDERS.into(), &1.into()), "{search}");
    assert_eq!(search["requests"], FOLDERS, "a block of each folder: {search}");
    let missing =
        files["parts"].as_array().unwrap().iter().find(|it| it["cause"] == "missing_names");
    assert!(missing.expect("a part of the wait")["calls"].as_u64() >= Some(FOLDERS), "{files}");
    let measures = files["measures"].as_array().unwrap();
    let shorter = measures.iter().find(|it| it["what"] == "shorter search path: PATH");
    let shorter = shorter.expect("it is worth it");
    let saves_s = files["wait_s"].as_f64().unwrap() - shorter["wait_s"].as_f64().unwrap();
    assert!((saves_s - 0.01 * FOLDERS as f64).abs() < 1e-6, "requests of 10 ms: {shorter}");
    let said = once(place, &[], script).map(|output| output.stderr).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let told = format!("PATH: {FOLDERS} look-ups in vain in {FOLDERS} folders before 1 name");
    assert!(said.contains(&told), "{said}");
}

#[test]
fn what_does_not_go_together_is_a_usage_error_that_says_so() {
    let folder = workplace();
    for (words, named) in [
        ("--once --runs 3 -- true", "'--runs <N>'"),
        ("--once --verify -- true", "'--verify'"),
        ("--once --budget 1s -- true", "'--budget <TIME>'"),
        ("--once --service 1", "'--service <PID>'"),
        ("--once trace.parquet", "--once"),
        ("--service 1 --verify", "'--verify'"),
        ("--service 1 trace.parquet", "--service"),
        ("--service 0", "0 is not in"),
        ("--for 3s -- true", "'--for <TIME>'"),
        ("--for 3s trace.parquet", "'--for <TIME>'"),
        ("-o kept.parquet -- true", "--once"),
        ("--once --html - -- true", "standard output is the program's"),
    ] {
        let output = run(folder.path(), &format!("advise {words}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(named), "{words}: {said}");
    }
    let output = run(folder.path(), "advise --once -- no-such-program");
    assert_eq!(output.status.code(), Some(127));
}

/// A program that was started by the test, and ends with it.
struct Service(Child);

impl Service {
    fn new(folder: &Path, script: &str) -> Self {
        let mut command = Command::new("sh");
        command.current_dir(folder).args(["-c", script]).stdin(Stdio::null());
        Self(command.stdout(Stdio::null()).spawn().expect("a shell"))
    }

    /// What is said of it.
    fn advised(&self, folder: &Path, words: &str) -> Option<Output> {
        let pid = self.0.id();
        advised(run(folder, &format!("advise --service {pid} {words}")))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads the same file again and again by the shell itself, and some others.
const READS: &str = "while :; do read a < hot; for f in art/*; do read a < $f; done; done";

#[test]
fn a_service_gets_advice_on_its_files_and_on_its_cache() {
    let folder = workplace();
    let place = folder.path();
    files(&place.join("art"));
    fs::write(place.join("hot"), "hot\n").unwrap();
    let service = Service::new(place, READS);
    let words = format!("--for 2s --json -o kept.parquet {} {}", DEVICE[0], DEVICE[1]);
    let Some(output) = service.advised(place, &words) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let advice: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let (files, cache) = (&advice["service"]["files"], &advice["service"]["cache"]);
    assert_eq!(files["basis"], "service");
    assert!(files["needed_files"].as_u64().unwrap() >= 61, "{files}");
    assert!(files["wait_s"].as_f64().unwrap() >= 61.0 * 0.01, "a request a file: {files}");
    assert_eq!(cache["unit"], "page", "{cache}");
    assert!(cache["requests"].as_u64() > cache["distinct"].as_u64(), "it reads again: {cache}");
    assert!(cache["present"]["policy"] == "lru" && !cache["reading_ahead"].is_null(), "{cache}");
    // The kept trace says the same, without the program.
    drop(service);
    let output = run(place, &format!("advise kept.parquet --json {} {}", DEVICE[0], DEVICE[1]));
    let later: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(later["service"]["cache"]["requests"], cache["requests"]);
    assert_eq!(later["service"]["files"]["wait_s"], files["wait_s"]);
}

#[test]
fn an_interruption_ends_the_recording_and_is_answered() {
    let folder = workplace();
    let place = folder.path();
    files(&place.join("art"));
    fs::write(place.join("hot"), "hot\n").unwrap();
    let service = Service::new(place, READS);
    let pid = service.0.id().to_string();
    let mut command = seekless(place);
    command.args(["advise", "--service", &pid, "--for", "1h"]);
    command.stdout(Stdio::piped()).stderr(fs::File::create(place.join("said")).unwrap());
    let advising = command.spawn().expect("the command starts");
    let said = || fs::read_to_string(place.join("said")).unwrap();
    while !said().contains("Ctrl-C") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // Signals are held back once the program is attached.
    std::thread::sleep(std::time::Duration::from_secs(3));
    let advising_pid = nix::unistd::Pid::from_raw(advising.id() as i32);
    nix::sys::signal::kill(advising_pid, nix::sys::signal::Signal::SIGINT).unwrap();
    let output = advising.wait_with_output().unwrap();
    if said().contains("may not trace another") {
        return;
    }
    assert!(output.status.success(), "{}", said());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("With nothing cached what it did takes"), "{text}");
    assert!(
        text.contains("The page cache:") && text.contains("seekless sim run.parquet"),
        "{text}"
    );
    assert!(text.contains("with -o run.parquet it is"), "{text}");
    assert!(!place.join("run.parquet").exists());
}

#[test]
fn a_service_that_is_not_there_or_reads_nothing_has_a_clear_answer() {
    let folder = workplace();
    let service = Service::new(folder.path(), "exec sleep 1000");
    let gone = {
        let mut gone = Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        gone.id()
    };
    let output = run(folder.path(), &format!("advise --service {gone} --for 1s"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(&format!("there is no process {gone}")), "{said}");
    let Some(output) = service.advised(folder.path(), "--for 1s") else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("read and wrote no files"), "{text}");
}
