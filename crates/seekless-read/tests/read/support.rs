//! A test's second run, in a process with other mounts or another user.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;

const CHILD: &str = "SEEKLESS_TEST_CHILD";

pub(crate) const MIB: usize = 1 << 20;

/// Whether this is a test's second run.
pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs the test `name` again by `command`, which is to run this program; false after saying why
/// where that cannot be done.
pub(crate) fn run_again(name: &str, mut command: Command) -> bool {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: {name} needs root");
        return false;
    }
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: {name}: {error}");
            return false;
        }
    };
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    err.lines().filter(|line| line.starts_with("skipped")).for_each(|line| eprintln!("{line}"));
    let passed = output.status.success() && out.contains("1 passed");
    assert!(passed, "{name} in a process of its own:\n{out}\n{err}");
    true
}

/// A file of this many bytes, written back.
pub(crate) fn written(path: &Path, bytes: usize) {
    let mut file = File::create(path).unwrap();
    file.write_all(&(0..bytes).map(|at| (at % 251) as u8).collect::<Vec<_>>()).unwrap();
    file.sync_all().unwrap();
}

/// Throws a file out of the page cache.
pub(crate) fn dropped(path: &Path) {
    let file = File::open(path).unwrap();
    seekless_sys::residency::drop_cached(file.as_fd()).unwrap();
}

/// Bytes of a file that are cached, as its owner sees it.
pub(crate) fn cached(path: &Path) -> Option<u64> {
    seekless_sys::residency::resident_bytes(File::open(path).unwrap().as_fd()).unwrap()
}
