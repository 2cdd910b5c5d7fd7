//! `seekless run --readahead` and `seekless warm --pid`: unchanged programs do the same as alone,
//! and what they will read next is in memory before they ask.

use crate::{seekless, workplace};
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const NOBODY: u32 = 65534;
/// After this a helper that goes on is a fault.
const PATIENCE: Duration = Duration::from_secs(60);
const BLOCK: usize = 16 << 10;
const BLOCKS: usize = 512;

/// Reads a file backward, and waits a little between the reads, as one does who works on them. So
/// it takes a second at least, whatever the disk.
const BACKWARD: &str = "
import os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY)
size, step = os.fstat(file).st_size, 16384
for place in range(size - step, -1, -step):
    block = os.pread(file, step, place)
    assert block == (place // step).to_bytes(4, 'little') * (step // 4), place
    time.sleep(0.003)
";

fn numbered(folder: &Path) -> File {
    let block = |number: usize| (number as u32).to_le_bytes().repeat(BLOCK / 4);
    let bytes: Vec<u8> = (0..BLOCKS).flat_map(block).collect();
    std::fs::write(folder.join("numbers"), bytes).unwrap();
    let file = File::open(folder.join("numbers")).unwrap();
    file.sync_all().unwrap();
    file
}

/// Whether all of a file has left the page cache.
fn made_cold(file: &File) -> bool {
    seekless::sys::residency::drop_cached(file.as_fd()).unwrap();
    seekless::sys::residency::resident_bytes(file.as_fd()).unwrap() == Some(0)
}

/// As root, where programs in the kernel are allowed and see what comes into the page cache.
fn works() -> bool {
    let works = rustix::process::geteuid().is_root() && seekless::record::fetches_work().is_ok();
    if !works {
        eprintln!("skipped: a program's reads cannot be watched here");
    }
    works
}

fn followed(folder: &Path, reader: &Child) -> Child {
    let mut warm = seekless(folder);
    warm.args(["warm", "--json", "--pid", &reader.id().to_string()]);
    warm.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_backward_reader_that_runs_gets_what_it_will_read_next() {
    let _kept = crate::caches::kept();
    if !works() {
        return;
    }
    let folder = workplace();
    let file = numbered(folder.path());
    if !made_cold(&file) {
        return eprintln!("skipped: the file cannot be dropped from the cache");
    }
    let mut reader = Command::new("python3");
    let reader = reader.args(["-c", BACKWARD, "numbers"]).current_dir(folder.path());
    let mut reader = reader.spawn().unwrap();
    let warm = followed(folder.path(), &reader);
    assert!(reader.wait().unwrap().success(), "it read other bytes");
    let output = warm.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |name: &str| report[name].as_u64().unwrap();
    assert!(of("reads") > 0 && of("fetched_bytes") > 0, "{report}");
    assert!(of("used_bytes") > of("fetched_bytes") / 2, "most is read: {report}");
    assert!(of("used_bytes") <= (BLOCK * BLOCKS) as u64, "each byte once: {report}");
    assert!(of("late_bytes") <= of("used_bytes") && of("lost") == 0, "{report}");
}

/// Whether a process has this word on its command line.
fn has_process(word: &str) -> bool {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes()))
}

#[test]
fn a_program_under_readahead_prints_what_it_prints_alone() {
    let folder = workplace();
    let file = numbered(folder.path());
    made_cold(&file);
    let state = folder.path().join("state");
    let run = |words: &[&str]| -> Output {
        let mut run = seekless(folder.path());
        run.env("XDG_STATE_HOME", &state);
        run.args(["run", "--no-record", "--readahead", "streams", "--"]).args(words);
        run.output().unwrap()
    };
    let alone = Command::new("tac").arg("numbers").current_dir(folder.path()).output().unwrap();
    let under = run(&["tac", "numbers"]);
    assert_eq!((under.status.code(), under.stdout == alone.stdout), (Some(0), true));
    // The helper ends with the program, also with one that ends before the helper is ready.
    let word = format!("only-here-{}", std::process::id());
    assert_eq!(run(&["sh", "-c", "exit 7", &word]).status.code(), Some(7));
    let started = Instant::now();
    while has_process(&word) {
        assert!(started.elapsed() < PATIENCE, "the helper goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Its children read, too.
    let child = run(&["sh", "-c", "sleep 0.2; tac numbers | cksum; exit 3"]);
    assert_eq!((child.status.code(), child.stdout.is_empty()), (Some(3), false));
}

#[test]
fn without_the_right_to_watch_the_program_starts_without_readahead() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root asks as somebody else");
    }
    let folder = workplace();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut run = seekless(folder.path());
    run.args(["run", "--no-record", "--readahead", "streams", "--", "echo", "done"]);
    let output = run.env("HOME", folder.path()).uid(NOBODY).gid(NOBODY).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"done\n"[..]), "{said}");
    assert!(said.contains("CAP_BPF") && said.contains("starts without readahead"), "{said}");
}

#[test]
fn what_cannot_be_followed_is_an_error_that_says_why() {
    let folder = workplace();
    for (words, expected) in [
        (&["warm", "--pid", "2147483647"][..], "there is no process 2147483647"),
        (&["warm", "--pid", "1", "--readahead", "stream"], "near it are streams"),
        (&["warm", "--pid", "1", "--lock"], "cannot be used with"),
        (&["warm"], "SOURCE"),
    ] {
        let output = seekless(folder.path()).args(words).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(expected), "{words:?}: {said}");
    }
}
