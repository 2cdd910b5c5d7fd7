//! Rivals take turns, run by run, so that a disturbance affects all of them. `wc`, `grep` and
//! `find` share this.

use anyhow::{Context, ensure};
use seekless_results::{Figure, Table};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A round reads about this many bytes, so the start of a process is measured many times.
const BYTES_PER_ROUND: u64 = 32 << 20;
const RUNS_MOST: u64 = 100;

/// A program to measure.
pub(crate) struct Rival {
    pub(crate) name: String,
    path: PathBuf,
    words: Vec<String>,
}

/// The folder in which `./run` put the rivals that it built from the registry.
const BUILT: &str = "SEEKLESS_RIVALS";

impl Rival {
    /// The rival `program` that `./run` built, else the system's. Prints which one is used, or that
    /// there is none.
    pub(crate) fn installed(name: &str, program: &str, system: &str) -> Option<Self> {
        let built = std::env::var_os(BUILT).map(|folder| Path::new(&folder).join(program));
        let found = built.into_iter().chain([PathBuf::from(system)]).find(|path| path.exists());
        match &found {
            Some(path) => eprintln!("bench: {name} is {}: {}", path.display(), version(path)),
            None => eprintln!("bench: no {name}: left out"),
        }
        found.map(|path| Rival::new(name, &path, &[]))
    }

    pub(crate) fn new(name: &str, path: &Path, words: &[&str]) -> Self {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        Rival { name: name.to_owned(), path: path.to_owned(), words }
    }

    /// Runs once. Returns the output, and the seconds from before its start until after its end.
    pub(crate) fn run<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        locale: &str,
    ) -> anyhow::Result<(Vec<u8>, f64)> {
        let mut command = Command::new(&self.path);
        command.args(&self.words).args(arguments).env("LC_ALL", locale).stdin(Stdio::null());
        let started = Instant::now();
        let output =
            command.output().with_context(|| format!("cannot run {}", self.path.display()))?;
        let seconds = started.elapsed().as_secs_f64();
        ensure!(
            output.status.success(),
            "{} failed: {}",
            self.name,
            String::from_utf8_lossy(&output.stderr)
        );
        Ok((output.stdout, seconds))
    }
}

/// The first line of a program's version text.
fn version(path: &Path) -> String {
    let said = Command::new(path).arg("--version").stdin(Stdio::null()).output();
    let text =
        said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("of an unknown version").to_owned()
}

/// How often a file of this size is read in a round.
pub(crate) fn runs(bytes: u64) -> u32 {
    (BYTES_PER_ROUND / bytes.max(1)).clamp(1, RUNS_MOST) as u32
}

/// The seconds of each run over one file, for each rival. The first round is discarded.
pub(crate) fn alternate(
    rivals: &[Rival],
    flags: &[&str],
    locale: &str,
    file: &Path,
    rounds: usize,
    runs: u32,
) -> anyhow::Result<Vec<Vec<f64>>> {
    let arguments: Vec<&OsStr> = flags.iter().map(OsStr::new).chain([file.as_os_str()]).collect();
    let mut seconds = vec![Vec::new(); rivals.len()];
    for round in 0..=rounds {
        for _ in 0..runs {
            let mut answer: Option<Vec<u8>> = None;
            for (rival, seconds) in rivals.iter().zip(&mut seconds) {
                let (printed, took) = rival.run(arguments.iter().copied(), locale)?;
                let first = answer.get_or_insert_with(|| printed.clone());
                ensure!(*first == printed, "{} and {} disagree", rivals[0].name, rival.name);
                if round > 0 {
                    seconds.push(took);
                }
            }
        }
    }
    Ok(seconds)
}

/// The median of each rival's runs.
pub(crate) fn medians(seconds: &[Vec<f64>]) -> Vec<f64> {
    seconds.iter().map(|seconds| median(&mut seconds.clone())).collect()
}

/// Enters the runs of each rival, of which the first is ours, in milliseconds.
pub(crate) fn enter(table: &mut Table, case: &str, rivals: &[Rival], seconds: &[Vec<f64>]) {
    for (rival, seconds) in rivals.iter().zip(seconds) {
        let ms: Vec<f64> = seconds.iter().map(|seconds| seconds * 1e3).collect();
        table.set(case, &rival.name, Figure::of_rounds(&ms));
    }
}

pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => values[odd / 2],
        even => (values[even / 2 - 1] + values[even / 2]) / 2.0,
    }
}

/// The load average of the last minute; not a number where the kernel does not report it.
pub(crate) fn load_average() -> f64 {
    let told = std::fs::read_to_string("/proc/loadavg").ok();
    told.and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_files_are_counted_often() {
        assert_eq!((runs(1 << 10), runs(16 << 20), runs(2 << 30), runs(0)), (100, 2, 1, 100));
    }

    #[test]
    fn medians() {
        assert_eq!((median(&mut [3.0, 1.0, 2.0]), median(&mut [4.0, 1.0])), (2.0, 2.5));
    }
}
