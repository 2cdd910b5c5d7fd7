//! `./run lab probe --on nbdkit` with one device.

use serde_json::Value;
use std::process::Command;

/// Whether a program is installed.
fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Why the device cannot be planted here, if it cannot.
fn lacking() -> Option<String> {
    let missing =
        ["nbdkit", "nbdfuse", "losetup", "setpriv"].into_iter().find(|name| !is_installed(name));
    if let Some(program) = missing {
        return Some(format!("{program} is not installed"));
    }
    let needed = ["/dev/fuse", "/dev/loop-control"];
    let closed = |name: &&str| std::fs::OpenOptions::new().write(true).open(name).is_err();
    needed.into_iter().find(closed).map(|name| format!("{name} cannot be opened"))
}

#[test]
fn a_delay_is_no_disk_and_no_flash_drive_and_nothing_is_left_of_it() {
    if let Some(why) = lacking() {
        eprintln!("skipped: a device that nbdkit serves: {why}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_seekless-lab"))
        .args(["probe", "--on", "nbdkit", "--only", "delay", "--json"])
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((found.as_array().unwrap().len(), &found[0]["kind"]), (1, &"unknown".into()));
    let parameters = found[0]["parameters"].as_array().unwrap();
    assert_eq!(parameters.len(), 5 + 13 + 9, "{found:#}");
    for parameter in parameters {
        let reason = parameter["reason"].as_str().unwrap();
        assert!(!reason.is_empty() && reason != "not looked for", "{parameter}");
        if parameter["planted"] == "none" {
            assert_eq!(parameter["verdict"], "unidentifiable", "{parameter}");
        }
    }
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(folder.path().to_str().unwrap()), "the file is still mounted");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "a folder is left");
}
