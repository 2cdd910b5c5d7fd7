//! Finds the slowest tests in what test programs printed.

const SHOWN: usize = 10;

/// Prints the slowest tests of these programs: their seconds, program and name.
pub(super) fn print<'a>(programs: impl Iterator<Item = (&'a str, &'a [u8])>) {
    let mut tests: Vec<(f64, String)> = Vec::new();
    for (program, printed) in programs {
        let printed = String::from_utf8_lossy(printed);
        let timed = printed.lines().filter_map(timed);
        tests.extend(timed.map(|(name, seconds)| (seconds, format!("{program} {name}"))));
    }
    tests.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (seconds, name) in tests.iter().take(SHOWN) {
        println!("slow: {seconds:5.1} s {name}");
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
}
