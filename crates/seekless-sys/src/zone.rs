//! This machine's time zone.

/// The second since 1970 UTC at which the clocks of this zone show the time that `shown` would be
/// in UTC. `shown` itself where the zone has no such time or the C library does not know it.
#[must_use]
pub fn of_local(shown: i64) -> i64 {
    // SAFETY: all fields are numbers, or a pointer that may be null.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to values of this function.
    if unsafe { libc::gmtime_r(&raw const shown, &raw mut parts) }.is_null() {
        return shown;
    }
    parts.tm_isdst = -1; // the C library finds out
    // SAFETY: the pointer is to a value of this function.
    match unsafe { libc::mktime(&raw mut parts) } {
        -1 => shown,
        seconds => seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const SHOWN: &str = "SEEKLESS_TEST_SHOWN";

    /// Run in a process of its own, since a zone is of the whole process.
    #[test]
    fn in_a_zone() {
        if let Some(shown) = std::env::var(SHOWN).ok().and_then(|shown| shown.parse().ok()) {
            println!("it is {}", of_local(shown));
        }
    }

    #[test]
    fn summer_and_winter_differ() {
        for (zone, shown, expected) in [
            ("UTC", 1_717_415_652_i64, 1_717_415_652_i64),
            ("CET-1CEST,M3.5.0,M10.5.0/3", 1_717_415_652, 1_717_415_652 - 7200),
            ("CET-1CEST,M3.5.0,M10.5.0/3", 1_705_320_000, 1_705_320_000 - 3600),
            ("PST8", 1_705_320_000, 1_705_320_000 + 28_800),
        ] {
            let output = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "zone::tests::in_a_zone", "--nocapture"])
                .env("TZ", zone)
                .env(SHOWN, shown.to_string())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains(&format!("it is {expected}\n")), "{zone}: {said}");
        }
    }
}
