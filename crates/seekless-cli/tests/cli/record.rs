//! `seekless record`: what it prints, and what is left after it was killed.

use crate::{seekless, workplace};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Output;

/// Runs the command with its state in a folder of its own.
fn run(directory: &Path, words: &[&str]) -> Output {
    let work = directory.join("work");
    std::fs::create_dir_all(&work).unwrap();
    seekless(&work).env("XDG_STATE_HOME", directory.join("state")).args(words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_killed_recording_is_found_by_its_output() {
    let directory = workplace();
    let script = "cat /etc/passwd >/dev/null; sleep 1; kill -9 $PPID; sleep 60";
    let output = run(directory.path(), &["record", "-o", "run.parquet", "--", "sh", "-c", script]);
    if output.status.code() == Some(125) {
        eprintln!("skipped: {}", text(&output.stderr));
        return;
    }
    assert_eq!(output.status.code(), None, "it was killed: {}", text(&output.stderr));
    assert_eq!(std::fs::read_dir(directory.path().join("work")).unwrap().count(), 0);
    let output = run(directory.path(), &["trace", "info", "run.parquet"]);
    assert!(output.status.success());
    assert!(
        text(&output.stderr).contains("`seekless trace recover run.parquet`"),
        "{}",
        text(&output.stderr)
    );
    let output = run(directory.path(), &["trace", "recover", "run.parquet"]);
    assert!(text(&output.stdout).starts_with("run.parquet: "), "{}", text(&output.stderr));
    let output = run(directory.path(), &["trace", "info", "run.parquet"]);
    assert_eq!((output.status.success(), text(&output.stderr)), (true, String::new()));
    assert_eq!(
        std::fs::read_dir(directory.path().join("state/seekless/spool")).unwrap().count(),
        0
    );
}

#[test]
fn latencies_are_called_upper_bounds() {
    let directory = workplace();
    let output = run(directory.path(), &["record", "-o", "run.parquet", "--", "true"]);
    if output.status.code() == Some(125) {
        eprintln!("skipped: {}", text(&output.stderr));
        return;
    }
    let output = run(directory.path(), &["trace", "info", "run.parquet"]);
    assert!(
        text(&output.stdout).contains("latencies         upper bounds"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn a_bad_glob_is_said_before_the_program_runs() {
    let directory = workplace();
    let output = run(directory.path(), &["record", "--only", "[a", "--", "touch", "ran"]);
    assert_eq!(output.status.code(), Some(125));
    assert!(text(&output.stderr).contains("\"[a\" is not a glob"), "{}", text(&output.stderr));
    assert!(!directory.path().join("work/ran").exists());
}

#[test]
fn standard_output_is_the_programs_and_cannot_hold_the_trace() {
    let directory = workplace();
    let output = run(directory.path(), &["record", "-o", "-", "--", "touch", "ran"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(125), String::new()));
    let said = text(&output.stderr);
    assert!(said.contains("name a file, such as -o run.parquet"), "{said}");
    assert_eq!(std::fs::read_dir(directory.path().join("work")).unwrap().count(), 0, "nothing ran");
}

/// Two copies of `true`: one that would run as another user, and one with a capability.
fn privileged(folder: &Path) -> std::io::Result<[std::path::PathBuf; 2]> {
    let paths = ["setuid", "capable"].map(|name| folder.join(name));
    for path in &paths {
        std::fs::copy("/bin/true", path)?;
    }
    std::fs::set_permissions(&paths[0], std::fs::Permissions::from_mode(0o4755))?;
    let mut net_raw = [0_u8; 20];
    net_raw[..8].copy_from_slice(&[1, 0, 0, 2, 0, 32, 0, 0]); // effective, version 2; bit 13
    rustix::fs::setxattr(
        &paths[1],
        "security.capability",
        &net_raw,
        rustix::fs::XattrFlags::empty(),
    )?;
    Ok(paths)
}

#[test]
fn programs_that_lose_their_privileges_are_named() {
    const NOBODY: u32 = 65534;
    let directory = workplace();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let Ok(programs) = privileged(directory.path()) else {
        eprintln!("skipped: only root makes files with capabilities");
        return;
    };
    let mut command = seekless(directory.path());
    command.env("XDG_STATE_HOME", directory.path().join("state")).uid(NOBODY).gid(NOBODY);
    command.args([
        "record",
        "-o",
        "run.parquet",
        "--",
        "sh",
        "-c",
        "\"$@\"; \"$2\"; \"$1\"; true",
        "sh",
    ]);
    match command.args(&programs).output() {
        Ok(output) if output.status.success() => {
            let said = text(&output.stderr);
            for (program, times) in programs.iter().zip([" (2 times)\n", "\n"]) {
                let line = format!(
                    "without its privileges, since you are not root: {}{times}",
                    program.display()
                );
                assert!(said.contains(&line), "{said}");
            }
        }
        other => eprintln!("skipped: nobody may not record here: {other:?}"),
    }
}
