//! How long programs and tests took when all ran last: kept in a file, and read from what the test
//! programs printed.

use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const FILE: &str = "target/test-times.json";
const SHOWN: usize = 10;

/// Seconds of each program, and of each of its tests.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Times {
    programs: BTreeMap<String, f64>,
    tests: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Times {
    /// Those of the last run; none if there was none.
    pub(super) fn last() -> Self {
        let text = fs::read(Path::new(FILE)).ok();
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    pub(super) fn keep(&self) -> anyhow::Result<()> {
        fs::write(FILE, serde_json::to_vec_pretty(self)?).context(FILE)
    }

    /// Unknown ones count as the longest, so that they start first.
    pub(super) fn of(&self, program: &str) -> f64 {
        self.programs.get(program).copied().unwrap_or(f64::MAX)
    }

    pub(super) fn ran(&mut self, program: &str, seconds: f64, printed: &[u8]) {
        self.programs.insert(program.to_owned(), seconds);
        let tests = self.tests.entry(program.to_owned()).or_default();
        let printed = String::from_utf8_lossy(printed);
        tests.extend(printed.lines().filter_map(timed).map(|(name, time)| (name.to_owned(), time)));
    }

    /// The tests of a program that took longer than this.
    pub(super) fn over(&self, seconds: f64, program: &str) -> Vec<&str> {
        let tests = self.tests.get(program).into_iter().flatten();
        tests.filter(|(_, time)| **time > seconds).map(|(name, _)| name.as_str()).collect()
    }

    /// Prints the slowest tests: their seconds, program and name.
    pub(super) fn print_slowest(&self) {
        let of = |(program, tests): (&String, &BTreeMap<String, f64>)| {
            let tests = tests.iter().map(|(name, time)| (*time, format!("{program} {name}")));
            tests.collect::<Vec<_>>()
        };
        let mut tests: Vec<(f64, String)> = self.tests.iter().flat_map(of).collect();
        tests.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (seconds, name) in tests.iter().take(SHOWN) {
            println!("slow: {seconds:5.1} s {name}");
        }
    }
}

/// Reads a line such as `test a::b ... ok <1.234s>`.
fn timed(line: &str) -> Option<(&str, f64)> {
    let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let (_, seconds) = result.strip_suffix("s>")?.rsplit_once('<')?;
    Some((name, seconds.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_test_is_read() {
        assert_eq!(timed("test a::b ... ok <1.250s>"), Some(("a::b", 1.25)));
        assert_eq!(timed("test a::b ... FAILED <0.002s>"), Some(("a::b", 0.002)));
        assert_eq!(timed("test a::b ... ignored"), None);
        assert_eq!(timed("test result: ok. 3 passed; finished in 0.01s"), None);
    }

    #[test]
    fn slow_tests_are_those_over_the_limit() {
        let mut times = Times::default();
        times.ran("io", 3.0, b"test quick ... ok <0.900s>\ntest slow::one ... ok <2.100s>\n");
        assert_eq!(times.over(1.0, "io"), ["slow::one"]);
        assert!(times.over(1.0, "sim").is_empty());
        assert_eq!((times.of("io"), times.of("sim")), (3.0, f64::MAX));
    }
}
