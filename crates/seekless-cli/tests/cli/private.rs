//! Arguments of programs, which may be secret: who may read what keeps them, and how they are left
//! out. And what a killed recording leaves: it is listed and removed, while one that runs is not.

use crate::workplace;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, SystemTime};

const SECRET: &str = "--token=f00dfeed";

/// Runs the command with its state in a folder of its own, and with a umask that hides nothing.
fn run(folder: &Path, words: &[&str]) -> Output {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "umask 022; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_seekless")]);
    command.args(words).current_dir(folder).env("XDG_STATE_HOME", folder.join("state"));
    command.env("TMPDIR", folder.join("temporary")).output().unwrap()
}

fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

fn prepared() -> tempfile::TempDir {
    let folder = workplace();
    fs::create_dir(folder.path().join("temporary")).unwrap();
    folder
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

fn holds(path: &Path, word: &str) -> bool {
    let bytes = fs::read(path).unwrap();
    memchr::memmem::find(&bytes, word.as_bytes()).is_some()
}

/// Records a program that copies its own spool; `None` where nothing can be recorded.
fn recorded(folder: &Path, options: &[&str]) -> Option<Output> {
    let script = "cp -p state/seekless/spool/*.spool copied";
    let words = [&["record", "-o", "run.parquet"], options, &["--", "sh", "-c", script, SECRET]];
    let output = run(folder, &words.concat());
    if output.status.code() == Some(125) {
        eprintln!("skipped: {}", said(&output));
        return None;
    }
    assert!(output.status.success(), "{}", said(&output));
    Some(output)
}

#[test]
fn what_keeps_arguments_is_for_its_user_alone() {
    let folder = prepared();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("run.parquet"), "old").unwrap();
    fs::set_permissions(at("run.parquet"), Permissions::from_mode(0o644)).unwrap();
    if recorded(folder.path(), &["--force"]).is_none() {
        return;
    }
    for name in ["run.parquet", "copied"] {
        assert!(holds(&at(name), SECRET), "{name}");
        assert_eq!(mode(&at(name)), 0o600, "{name}");
    }
    for words in ["trace cut run.parquet -o cut", "trace merge run.parquet -o merged"] {
        let words: Vec<&str> = words.split(' ').collect();
        assert!(run(folder.path(), &words).status.success());
        let made = at(words[words.len() - 1]);
        assert!(holds(&made, SECRET));
        assert_eq!(mode(&made), 0o600, "{words:?}");
    }
    assert!(
        run(folder.path(), &["trace", "anonymise", "run.parquet", "-o", "public"]).status.success()
    );
    assert!(!holds(&at("public"), SECRET));
    assert_eq!(mode(&at("public")), 0o644, "it is to be given away");
}

#[test]
fn arguments_are_left_out_where_one_asks_for_it() {
    let folder = prepared();
    if recorded(folder.path(), &["--no-arguments"]).is_none() {
        return;
    }
    for name in ["run.parquet", "copied"] {
        let path = folder.path().join(name);
        assert!(!holds(&path, SECRET), "{name}");
        assert_eq!(mode(&path), 0o600, "{name}");
    }
    let info = run(folder.path(), &["trace", "info", "run.parquet", "--json"]);
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!(info["metadata"]["runs"][0]["command"], serde_json::json!(["sh"]));
}

#[test]
fn profiles_are_for_their_user_alone_and_keep_no_values_of_arguments() {
    let folder = prepared();
    for turn in 0..3 {
        let output = run(folder.path(), &["run", "--", "sh", "-c", ":", SECRET]);
        assert!(output.status.success(), "{turn}: {}", said(&output));
    }
    let state = folder.path().join("state/seekless");
    let mut looked_at = 0;
    for below in ["profiles", "."] {
        for entry in fs::read_dir(state.join(below)).unwrap() {
            let path = entry.unwrap().path();
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode(&path), expected, "{}", path.display());
            assert!(path.is_dir() || !holds(&path, SECRET), "{}", path.display());
            looked_at += 1;
        }
    }
    assert!(looked_at >= 2, "{looked_at} files and folders");
}

/// The only spool in the folder, changed an hour ago.
fn old_spool(folder: &Path) -> PathBuf {
    let spools = fs::read_dir(folder.join("state/seekless/spool")).unwrap();
    let spools: Vec<PathBuf> = spools.map(|entry| entry.unwrap().path()).collect();
    let [spool] = &spools[..] else { panic!("{spools:?}") };
    let ago = SystemTime::now() - Duration::from_secs(3600);
    File::options().write(true).open(spool).unwrap().set_modified(ago).unwrap();
    spool.clone()
}

#[test]
fn a_spool_that_was_left_is_listed_and_removed() {
    let folder = prepared();
    let script = "cat /etc/passwd >/dev/null; sleep 1; kill -9 $PPID; sleep 60";
    let words = ["record", "--method", "ptrace", "-o", "run.parquet", "--", "sh", "-c", script];
    let output = run(folder.path(), &words);
    if output.status.code() == Some(125) {
        return eprintln!("skipped: {}", said(&output));
    }
    let spool = old_spool(folder.path());
    fs::create_dir(folder.path().join("temporary/seekless-runABC")).unwrap();

    let trace = folder.path().canonicalize().unwrap().join("run.parquet");
    let listed = said(&run(folder.path(), &["profiles"]));
    let line = listed.lines().find(|line| line.starts_with("spool ")).expect("a line");
    assert!(line.contains("1 hour ago"), "{line}");
    assert!(line.contains(spool.to_str().unwrap()), "{line}");
    assert!(line.ends_with(trace.to_str().unwrap()), "{line}");
    let told = said(&run(folder.path(), &["doctor"]));
    assert!(told.contains("Left by verbs that were killed: 1 spool with "), "{told}");
    assert!(told.contains("1 temporary folder with 0 B"), "{told}");
    let told = run(folder.path(), &["doctor", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(told["left"][0]["kind"], "spool");
    assert_eq!(told["left"][0]["trace"], trace.to_str().unwrap());

    let prune =
        |words: &[&str]| said(&run(folder.path(), &[&["profiles", "prune"], words].concat()));
    assert!(!prune(&["--older-than", "2h"]).contains("spool"));
    assert!(
        !prune(&["--max-size", "1B"]).contains("spool"),
        "what can be recovered is not a profile"
    );
    assert!(prune(&["--older-than", "10m", "--dry-run"]).contains("would remove a spool"));
    assert!(spool.exists());
    assert!(prune(&["--older-than", "10m"]).contains("removed a spool"));
    assert!(!spool.exists());
}

#[test]
fn a_spool_of_a_recording_that_runs_is_neither_listed_nor_removed() {
    let folder = prepared();
    let script = format!(
        "touch -d '1 hour ago' state/seekless/spool/*.spool && {0} profiles > listed && \
         {0} profiles prune --older-than 10m > pruned; ls state/seekless/spool > there",
        env!("CARGO_BIN_EXE_seekless")
    );
    let words = ["record", "--method", "ptrace", "-o", "run.parquet", "--", "sh", "-c", &script];
    let output = run(folder.path(), &words);
    if output.status.code() == Some(125) {
        return eprintln!("skipped: {}", said(&output));
    }
    assert!(output.status.success(), "{}", said(&output));
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    for name in ["listed", "pruned"] {
        assert!(!text(name).contains("spool"), "{name}: {}", text(name));
    }
    assert!(text("there").contains("run.parquet-"));
    assert!(folder.path().join("run.parquet").exists());
}
