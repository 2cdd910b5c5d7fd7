//! Runs the test programs of the workspace as `cargo test --release` does, but several at once,
//! since many tests wait. Prints what each program printed, and then the slowest tests.
//!
//! A program that fails beside others runs once more alone, which decides: one that measures a cold
//! start empties the caches that another is testing. What failed at first is said.
//!
//! Under `SEEKLESS_TEST_FAST` it leaves out the tests that took over a second when all ran last.

mod programs;
mod times;

use anyhow::{Context, bail};
use programs::Program;
use std::env;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;
use times::Times;

/// How many tests of one program run at once. Most of them wait, for a device or a child.
const THREADS: &str = "4";

/// A test that takes longer is left out of a fast run, in seconds.
const FAST_SECONDS: f64 = 1.0;

/// Runs all programs. Fails if one of them fails alone, after all have run.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut programs = programs::build()?;
    let mut times = Times::last();
    // The longest programs start first: they are taken from the end.
    programs.sort_by(|a, b| times.of(&a.name).total_cmp(&times.of(&b.name)));
    if env::var_os("SEEKLESS_TEST_FAST").is_some() {
        leave_out_slow(&mut programs, &times);
    }
    let slots = thread::available_parallelism().map_or(2, usize::from);
    let (waiting, done) = (Mutex::new(programs), Mutex::new(Vec::new()));
    let slot = || -> anyhow::Result<()> {
        loop {
            let Some(program) = locked(&waiting).pop() else { return Ok(()) };
            let ran = run_one(program)?;
            // `./test` counts results, and the second run gives this program its own.
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
    for ran in done.iter().filter(|ran| ran.program.left_out.is_empty()) {
        times.ran(&ran.program.name, ran.seconds, &ran.printed);
    }
    times.keep()?;
    times.print_slowest();
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

fn leave_out_slow(programs: &mut [Program], times: &Times) {
    for program in &mut *programs {
        let slow = times.over(FAST_SECONDS, &program.name);
        program.left_out = slow.into_iter().map(str::to_owned).collect();
    }
    let tests: usize = programs.iter().map(|program| program.left_out.len()).sum();
    println!(
        "left out: {tests} tests, each of which took over {FAST_SECONDS} s in the last whole run"
    );
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
        .args(["--show-output", "-Zunstable-options", "--report-time", "--exact"])
        .args(program.left_out.iter().flat_map(|name| ["--skip", name]))
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
