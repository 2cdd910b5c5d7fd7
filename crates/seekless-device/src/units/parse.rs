//! Text to numbers, in exact integer arithmetic; what falls below the smallest unit is cut off.

use crate::{Error, ErrorKind, Nanos};

const SIZES: &[(&str, u64)] = &[
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

const DURATIONS: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

const SIZE_FORMS: &str = "write a size as 4096B, 512KiB, 64MiB, 10MB or 1.5GB";
const RATE_FORMS: &str = "write a rate as 150MB/s, 64MiB/s or 1.5GB/s";
const DURATION_FORMS: &str = "write a duration as 500ns, 20us, 2.5ms, 1.5s, 3min or 1h";

/// A size in bytes: `"4096B"`, `"512KiB"`, `"64MiB"`, `"10MB"` (10⁷), `"1.5GB"`. Units in any case,
/// a space before them allowed. The unit is needed, but for `"0"`: who writes 64 may mean MB.
///
/// # Errors
/// When the text is no number with such a unit, or over `u64::MAX`; the message shows the accepted
/// forms.
pub fn parse_bytes(text: &str) -> Result<u64, Error> {
    if text.trim() == "0" {
        return Ok(0);
    }
    parse(text, text, SIZES, SIZE_FORMS)
}

/// A place in a file, or a length of a part of it: a size, or a number of bytes.
///
/// # Errors
/// As [`parse_bytes`].
pub fn parse_offset(text: &str) -> Result<u64, Error> {
    let is_number =
        !text.trim().is_empty() && text.trim().bytes().all(|byte| byte.is_ascii_digit());
    if is_number { parse_bytes(&format!("{}B", text.trim())) } else { parse_bytes(text) }
}

/// A rate in bytes per second: a size with or without `/s` after it, as `"150MB/s"`.
///
/// # Errors
/// As [`parse_bytes`].
pub fn parse_rate(text: &str) -> Result<u64, Error> {
    let size = text.trim_end();
    parse(size.strip_suffix("/s").unwrap_or(size), text, SIZES, RATE_FORMS)
}

/// A duration in nanoseconds: `"500ns"`, `"20us"`, `"2.5ms"`, `"1.5s"`, `"3min"`, `"1h"`. The unit
/// is needed, but for `"0"`.
///
/// # Errors
/// As [`parse_bytes`].
pub fn parse_duration(text: &str) -> Result<Nanos, Error> {
    if text.trim() == "0" {
        return Ok(0);
    }
    parse(text, text, DURATIONS, DURATION_FORMS)
}

/// `number` is the part of `whole` that is a number and a unit; errors quote the whole.
fn parse(number: &str, whole: &str, units: &[(&str, u64)], forms: &str) -> Result<u64, Error> {
    let fail = |kind, what: &str| Error::new(kind, format!("{whole:?} {what}: {forms}"));
    let number = number.trim();
    let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
    let (digits, unit) = number.split_at(end);
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    if before.is_empty() || after.contains('.') || (digits.contains('.') && after.is_empty()) {
        return Err(fail(ErrorKind::NotANumber, "does not start with a number"));
    }
    let unit = unit.trim_start().to_lowercase();
    let Some(&(_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        let what = if unit.is_empty() { "has no unit" } else { "has no unit that is known here" };
        return Err(fail(ErrorKind::UnknownUnit, what));
    };
    scaled(before, after, scale).ok_or_else(|| fail(ErrorKind::TooLarge, "is too large"))
}

/// `before.after × scale`, rounded down; `None` when it does not fit.
fn scaled(before: &str, after: &str, scale: u64) -> Option<u64> {
    let whole = before.parse::<u64>().ok()?.checked_mul(scale)?;
    // 19 digits keep the product below u128 and the cut below one unit, as no scale reaches 10^19.
    let after = &after[..after.len().min(19)];
    let fraction = match after {
        "" => 0,
        digits => {
            let digits_value: u128 = digits.parse().ok()?;
            digits_value * u128::from(scale) / 10u128.pow(u32::try_from(after.len()).ok()?)
        }
    };
    whole.checked_add(u64::try_from(fraction).ok()?)
}
