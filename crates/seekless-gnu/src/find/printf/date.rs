//! Formats times of files as GNU find does: seconds have a fraction.

use crate::clib::locale::{BrokenDown, broken_down, c_string};

const SECOND_NS: i128 = 1_000_000_000;
const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The whole time in English, as ctime(3) formats it. `ns` is nanoseconds since 1970.
pub(super) fn whole(ns: i128) -> Vec<u8> {
    let Some(time) = local(ns) else { return seconds(ns, true) };
    let name = |names: &[&'static str], at: i32| {
        usize::try_from(at).ok().and_then(|at| names.get(at).copied())
    };
    format!(
        "{} {} {:2} {:02}:{:02}:{:02}{} {:04}",
        name(&WEEKDAYS, time.weekday).unwrap_or_default(),
        name(&MONTHS, time.month).unwrap_or_default(),
        time.day,
        time.hour,
        time.minute,
        time.second,
        fraction(ns),
        i64::from(time.year) + 1900
    )
    .into_bytes()
}

/// One part of a time: a letter of strftime(3), or `@` or `+`.
pub(super) fn part(ns: i128, how: u8) -> Vec<u8> {
    let fractional = matches!(how, b'S' | b'T' | b'X' | b'+' | b'@');
    let Some(time) = local(ns).filter(|_| how != b'@') else { return seconds(ns, fractional) };
    let format: &[u8] = if how == b'+' { b"%Y-%m-%d+%T" } else { &[b'%', how] };
    let mut text = time.write(&c_string(format));
    if fractional && let Some(end) = end_of_seconds(&time, format, &text) {
        text.splice(end..end, fraction(ns).into_bytes());
    }
    text
}

fn local(ns: i128) -> Option<BrokenDown> {
    broken_down(i64::try_from(ns.div_euclid(SECOND_NS)).ok()?)
}

/// Seconds since 1970.
fn seconds(ns: i128, fractional: bool) -> Vec<u8> {
    let fraction = if fractional { fraction(ns) } else { String::new() };
    format!("{}{fraction}", ns.div_euclid(SECOND_NS)).into_bytes()
}

/// Nanoseconds followed by a zero, so that programs do not rely on nine digits.
fn fraction(ns: i128) -> String {
    format!(".{:09}0", ns.rem_euclid(SECOND_NS))
}

/// The end of the seconds in a formatted time. It is found by changing both digits of the second
/// and comparing the results. `None` if other digits change too, or if a digit follows.
fn end_of_seconds(time: &BrokenDown, format: &[u8], text: &[u8]) -> Option<usize> {
    let second = if time.second >= 11 { time.second - 11 } else { time.second + 11 };
    let other = BrokenDown { second, ..time.clone() }.write(&c_string(format));
    let differs = |at: &usize| text[*at] != other[*at];
    if text.len() != other.len() {
        return None;
    }
    let first = (0..text.len()).find(differs)?;
    let end = first + 2;
    let digits = text.get(first..end)?.iter().all(u8::is_ascii_digit);
    let only = (0..text.len()).filter(differs).eq(first..end);
    (digits && only && !text.get(end).is_some_and(u8::is_ascii_digit)).then_some(end)
}
