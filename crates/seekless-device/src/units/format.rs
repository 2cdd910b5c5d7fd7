//! Numbers to text, short enough for a table and never more exact than they are.

use crate::Nanos;

const SIZES: [(&str, u64); 5] = [
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("PB", 1_000_000_000_000_000),
];

/// A size in powers of 1000 with one decimal: `"141.2 MB"`, `"812 B"`.
#[must_use]
pub fn format_bytes(bytes: u64) -> String {
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    for (name, scale) in SIZES {
        let tenths = rounded(bytes, scale, 10);
        if tenths < 10_000 || name == "PB" {
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
    }
    unreachable!("the last unit takes what is left")
}

/// A rate in bytes per second that [`parse_rate`](super::parse_rate) reads back exactly:
/// `"150MB/s"`, `"1234B/s"`.
#[must_use]
pub fn format_rate(bytes_per_second: u64) -> String {
    let fits = |&(_, scale): &(&str, u64)| {
        bytes_per_second >= scale && bytes_per_second.is_multiple_of(scale)
    };
    match SIZES[..4].iter().rev().find(|unit| fits(unit)) {
        Some((name, scale)) => format!("{}{name}/s", bytes_per_second / scale),
        None => format!("{bytes_per_second}B/s"),
    }
}

/// A duration with about three figures: `"1.23 s"`, `"45.6 ms"`, `"7.8 µs"`, `"95 ns"`; from ten
/// minutes on `"12 min 5 s"`.
#[must_use]
pub fn format_duration(nanos: Nanos) -> String {
    if nanos < 1_000 {
        return format!("{nanos} ns");
    }
    for (name, scale) in [("µs", 1_000), ("ms", 1_000_000)] {
        let tenths = rounded(nanos, scale, 10);
        if tenths < 10_000 {
            return format!("{}.{} {name}", tenths / 10, tenths % 10);
        }
    }
    let hundredths = rounded(nanos, 1_000_000_000, 100);
    if hundredths < 60_000 {
        return format!("{}.{:02} s", hundredths / 100, hundredths % 100);
    }
    let seconds = rounded(nanos, 1_000_000_000, 1);
    format!("{} min {} s", seconds / 60, seconds % 60)
}

/// A whole number with its thousands apart: `"36,266"`.
#[must_use]
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun, whose singular is `one`: `"1 load"`, `"2,936 loads"`, `"0 entries"`,
/// `"3 accesses"`.
#[must_use]
pub fn counted(count: u64, one: &str) -> String {
    let number = format_count(count);
    if count == 1 {
        return format!("{number} {one}");
    }
    match one.strip_suffix('y') {
        Some(stem) => format!("{number} {stem}ies"),
        None if one.ends_with('s') => format!("{number} {one}es"),
        None => format!("{number} {one}s"),
    }
}

/// `value / scale` in steps of `1 / steps`, rounded to the nearest.
fn rounded(value: u64, scale: u64, steps: u64) -> u64 {
    let value = u128::from(value) * u128::from(steps);
    let scale = u128::from(scale);
    u64::try_from((value + scale / 2) / scale).unwrap_or(u64::MAX)
}
