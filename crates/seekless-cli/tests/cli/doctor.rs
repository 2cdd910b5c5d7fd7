//! `seekless doctor`: each facility has a line, and one that is missing an explanation, for root
//! and for other users.

use crate::{seekless, workplace};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Output;

const NOBODY: u32 = 65534;

/// As this user, or as nobody.
fn doctor(folder: &Path, nobody: bool, words: &[&str]) -> Output {
    let mut command = seekless(folder);
    if nobody {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.arg("doctor").args(words).output().expect("the command starts")
}

#[test]
fn what_is_missing_is_explained_to_root_and_to_nobody() {
    let folder = workplace();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let users: &[bool] =
        if rustix::process::geteuid().is_root() { &[false, true] } else { &[false] };
    for &nobody in users {
        let json = doctor(folder.path(), nobody, &["--json"]);
        assert!(json.status.success(), "{}", String::from_utf8_lossy(&json.stderr));
        let found: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        assert_eq!(found["root"], rustix::process::geteuid().is_root() && !nobody);
        let facilities = found["facilities"].as_array().unwrap();
        assert!(facilities.len() >= 16, "{found}");
        let text = doctor(folder.path(), nobody, &[]);
        let said = String::from_utf8(text.stdout).unwrap();
        for facility in facilities {
            let mark = if facility["usable"] == true { "✓" } else { "✗" };
            let name = facility["name"].as_str().unwrap();
            let line = said.lines().find(|line| line.contains(&format!("{mark} {name} ")));
            assert!(line.is_some(), "no line of {name}:\n{said}");
            assert!(facility["usable"] == true || facility["why"].is_string(), "{facility}");
        }
        assert!(!said.contains('\x1b'), "no colours into a pipe");
        let fits = |line: &str| line.starts_with("files tried in ") || line.chars().count() <= 100;
        assert!(said.lines().all(fits), "{said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
}

#[test]
fn a_program_in_the_kernel_is_not_for_nobody() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root asks as somebody else");
    }
    let folder = workplace();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let json = doctor(folder.path(), true, &["--json"]);
    let found: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let of = |name: &str| {
        let all = found["facilities"].as_array().unwrap().iter();
        all.clone().find(|it| it["facility"] == name).unwrap().clone()
    };
    assert_eq!(of("ebpf")["usable"], false);
    assert!(of("ebpf")["why"].as_str().unwrap().contains("CAP_BPF"), "{found}");
    assert_eq!(of("drop_caches")["usable"], false);
}

#[test]
fn a_folder_that_holds_no_file_is_an_error_that_names_another() {
    let output = doctor(Path::new("/"), false, &["/proc"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("/proc") && said.contains("seekless doctor /tmp"), "{said}");
}
