//! `seekless tour`, shortened: what it prints, what it leaves, and that it leaves nothing if
//! interrupted.

use super::{printed, run, seekless, workplace};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const FAST: &str = "--small --device iops=10000,bandwidth=10GB/s";

fn is_empty(directory: &Path) -> bool {
    directory.read_dir().unwrap().next().is_none()
}

#[test]
fn the_tour_ends_with_the_table_and_leaves_nothing() {
    let _alone = crate::caches::alone();
    let directory = workplace();
    let home = workplace();
    let homes = ["HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"].map(|name| (name, home.path()));
    let mut command = seekless(directory.path());
    let output = command
        .env("TMPDIR", directory.path())
        .envs(homes)
        .arg("tour")
        .args(FAST.split(' '))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let steps = [
        "\n1. Find out",
        "\n2. Make",
        "\n3. Record",
        "\n4. Pack",
        "\n5. Load",
        "\nBefore and after",
    ];
    assert!(steps.iter().all(|step| text.contains(step)), "{text}");
    let row = |name: &str| text.lines().any(|line| line.starts_with(name) && line.contains('×'));
    assert!(
        ["loose files, on demand", "pack, on demand", "pack, list known"].into_iter().all(row),
        "{text}"
    );
    assert!(!text.contains(r"\x"), "a command over two lines is escaped: {text}");
    assert!(is_empty(directory.path()), "the temporary folder is removed");
    let found = std::process::Command::new("find").arg(home.path()).args(["-type", "f"]).output();
    let left = String::from_utf8(found.unwrap().stdout).unwrap();
    assert_eq!(left, "", "no file of the user's is changed or added");
}

#[test]
fn kept_things_stay_and_are_not_overwritten() {
    let _alone = crate::caches::alone();
    let directory = workplace();
    let figures =
        printed(directory.path(), &format!("tour --keep kept {FAST} --picture tour.svg --json"));
    let figures: serde_json::Value = serde_json::from_str(&figures).unwrap();
    let steps = figures["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 5);
    let command = steps[0]["commands"][0].as_str().unwrap();
    assert!(command.starts_with("seekless advise -- "), "{command}");
    match &figures["advice"] {
        serde_json::Value::Null => {
            let found = steps[0]["found"].as_str().unwrap();
            assert!(found.starts_with("That is not possible here: "), "{found}");
            eprintln!("skipped: programs cannot be recorded here");
        }
        advice => {
            assert!(command.contains(advice["command"][0].as_str().unwrap()), "{command}");
            assert_eq!(advice["starts"]["cold_s"].as_array().unwrap().len(), 1);
            assert!(advice["starts"]["cold_s"][0].as_f64().unwrap() > 0.0);
        }
    }
    assert!(directory.path().join("kept/sample.zip").is_file());
    let picture = std::fs::read_to_string(directory.path().join("tour.svg")).unwrap();
    assert!(picture.contains("pack, on demand"), "{picture}");
    let again = run(directory.path(), &format!("tour --keep kept {FAST}"));
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("kept is not empty"), "{again:?}");
}

#[test]
fn an_interruption_removes_the_folder() {
    let _alone = crate::caches::alone();
    let directory = workplace();
    // The device is so slow that the tour cannot have ended.
    let mut child = seekless(directory.path())
        .env("TMPDIR", directory.path())
        .args(["tour", "--small", "--device", "iops=1,bandwidth=1MB/s"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let patience = Instant::now();
    let has_tree = || {
        directory
            .path()
            .read_dir()
            .unwrap()
            .flatten()
            .any(|entry| entry.path().join("sample").is_dir())
    };
    while !has_tree() {
        assert!(patience.elapsed() < Duration::from_secs(60), "the tour never began");
        std::thread::sleep(Duration::from_millis(5));
    }
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    assert!(is_empty(directory.path()), "nothing is left");
}
