//! Runs the test programs of the workspace as `cargo test --release` does, but several at once,
//! since many tests wait. Prints what each program printed, and then the slowest tests.
//!
//! A program that fails beside others runs once more alone, which decides: one that measures a cold
//! start empties the caches that another is testing. What failed at first is said.

mod programs;
mod slowest;

use anyhow::{Context, bail};
use programs::Program;
use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

/// How many tests of one program run at once. Most of them wait, for a device or a child.
const THREADS: &str = "4";

/// Where the seconds of each program's last run are kept: the longest programs start first.
const TIMES: &str = "target/test-times.json";

/// Runs all programs. Fails if one of them fails alone, after all have run.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut programs = programs::build()?;
    let mut times = last_times(Path::new(TIMES));
    let seconds = |program: &Program| times.get(&program.name).copied().unwrap_or(f64::MAX);
    programs.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    let slots = thread::available_parallelism().map_or(2, usize::from);
    let (waiting, done) = (Mutex::new(programs), Mutex::new(Vec::new()));
    let slot = || -> anyhow::Result<()> {
        loop {
            let Some(program) = locked(&waiting).pop() else { return Ok(()) };
            let ran = run_one(program)?;
            // A first failure is no result yet: `./test` counts results.
            let printed = match ran.succeeded {
                true => ran.printed.clone(),
                false => without_results(&ran.printed),
            };
            std::io::stdout().lock().write_all(&printed)?;
            locked(&done).push(ran);
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..slots).map(|_| scope.spawn(slot)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a slot does not panic"))
    })?;
    let done = done.into_inner().expect("no slot panicked");
    times.extend(done.iter().map(|ran| (ran.program.name.clone(), ran.seconds)));
    fs::write(TIMES, serde_json::to_vec_pretty(&times)?).context(TIMES)?;
    slowest::print(done.iter().map(|ran| (ran.program.name.as_str(), ran.printed.as_slice())));
    let mut failed = Vec::new();
    for first in done.into_iter().filter(|ran| !ran.succeeded) {
        let name = first.program.name.clone();
        let alone = run_one(first.program)?;
        std::io::stdout().lock().write_all(&alone.printed)?;
        if alone.succeeded {
            println!("beside others: {name} failed, and passed alone");
        } else {
            failed.push(name);
        }
    }
    if !failed.is_empty() {
        bail!("tests failed in {}", failed.join(", "));
    }
    Ok(())
}

/// What a program printed, with its results called otherwise.
fn without_results(printed: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(printed).replace("\ntest result: ", "\nfirst result: ").into_bytes()
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("no slot panicked")
}

/// Without times all programs count as equally long.
fn last_times(path: &Path) -> HashMap<String, f64> {
    fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

struct Ran {
    program: Program,
    seconds: f64,
    succeeded: bool,
    printed: Vec<u8>,
}

fn run_one(program: Program) -> anyhow::Result<Ran> {
    let mut out = tempfile::tempfile().context("cannot make a file for what a program prints")?;
    let begun = Instant::now();
    let status = Command::new(&program.path)
        // The times of tests are an unstable option of their harness.
        .args(["--show-output", "-Zunstable-options", "--report-time"])
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUST_TEST_THREADS", THREADS)
        .env("CARGO_MANIFEST_DIR", &program.folder)
        .current_dir(&program.folder)
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out.try_clone()?)
        .status()
        .with_context(|| format!("cannot run {}", program.path.display()))?;
    let seconds = begun.elapsed().as_secs_f64();
    let mut printed = format!("     Running {} ({status})\n", program.name).into_bytes();
    std::io::Seek::rewind(&mut out)?;
    std::io::Read::read_to_end(&mut out, &mut printed)?;
    Ok(Ran { program, seconds, succeeded: status.success(), printed })
}

#[cfg(test)]
mod of_this_module {
    use super::*;

    #[test]
    fn a_first_failure_is_not_counted() {
        let printed = b"running 1 test\ntest result: FAILED. 0 passed; 1 failed\n";
        let shown = String::from_utf8(without_results(printed)).unwrap();
        assert_eq!(shown, "running 1 test\nfirst result: FAILED. 0 passed; 1 failed\n");
    }
}
