//! Dates as `-newerXt` takes them: of what GNU find understands, a day with or without a time, seconds since 1970, and so many
//! days, hours or the like from now.

use seekless_sys::locale::{BrokenDown, broken_down, seconds_of};

const SECOND_NS: i128 = 1_000_000_000;

/// Reads a date; nanoseconds since 1970. `now` is when find started. `None` for what is no date, or one in words not known here.
pub(super) fn parse(text: &str, now: i128) -> Option<i128> {
    let text = text.trim_ascii();
    if let Some(seconds) = text.strip_prefix('@') {
        return fraction(seconds);
    }
    let words: Vec<_> = text.split_ascii_whitespace().collect();
    match words[..] {
        ["now" | "today"] => Some(now),
        ["yesterday"] => moved(now, -1, "day"),
        ["tomorrow"] => moved(now, 1, "day"),
        [count, unit] if count.parse::<i32>().is_ok() => moved(now, count.parse().ok()?, unit),
        [count, unit, "ago"] => moved(now, count.parse::<i32>().ok()?.checked_neg()?, unit),
        [day] => match day.split_once('T') {
            Some((day, time)) if time.contains(':') => at(day, time),
            _ => at(day, "0:00"),
        },
        [day, time] => at(day, time),
        _ => None,
    }
}

/// `2026-11-21` and `9:30`, `09:30:15.5`, in the local time zone; in that of Greenwich with a `Z`.
fn at(day: &str, time: &str) -> Option<i128> {
    let mut parts = day.splitn(3, '-').map(whole);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let (time, zulu) = match time.strip_suffix('Z') {
        Some(time) => (time, true),
        None => (time, false),
    };
    let (hours, rest) = time.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':').unwrap_or((rest, "0"));
    let part_ns = fraction(seconds).filter(|ns| (0..60 * SECOND_NS).contains(ns))?;
    let time = BrokenDown {
        year,
        month,
        day,
        hour: whole(hours)?,
        minute: whole(minutes)?,
        second: i32::try_from(part_ns / SECOND_NS).ok()?,
    };
    let right = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&time.hour)
        && (0..60).contains(&time.minute);
    let seconds = if right { seconds_of(&time, zulu)? } else { return None };
    // A day that the month does not have comes out as one of the next.
    let same = zulu || broken_down(seconds)?.day == day;
    same.then_some(i128::from(seconds) * SECOND_NS + part_ns % SECOND_NS)
}

fn moved(now: i128, count: i32, unit: &str) -> Option<i128> {
    let seconds = i64::try_from(now.div_euclid(SECOND_NS)).ok()?;
    let mut time = broken_down(seconds)?;
    let unit = unit.strip_suffix('s').unwrap_or(unit);
    let seconds = match unit {
        "sec" | "second" => return Some(now + i128::from(count) * SECOND_NS),
        "min" | "minute" => return Some(now + i128::from(count) * 60 * SECOND_NS),
        "hour" => return Some(now + i128::from(count) * 3600 * SECOND_NS),
        "day" => &mut time.day,
        "week" => {
            time.day = time.day.checked_add(count.checked_mul(7)?)?;
            return Some(i128::from(seconds_of(&time, false)?) * SECOND_NS + now.rem_euclid(SECOND_NS));
        }
        "month" => &mut time.month,
        "year" => &mut time.year,
        _ => return None,
    };
    *seconds = seconds.checked_add(count)?;
    Some(i128::from(seconds_of(&time, false)?) * SECOND_NS + now.rem_euclid(SECOND_NS))
}

/// Seconds with a fraction, in nanoseconds; what is finer is dropped.
fn fraction(text: &str) -> Option<i128> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let numeric = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !numeric(whole) || !numeric(part) {
        return None;
    }
    let part: String = part.chars().chain("000000000".chars()).take(9).collect();
    Some(sign * (whole.parse::<i128>().ok()? * SECOND_NS + part.parse::<i128>().ok()?))
}

fn whole(digits: &str) -> Option<i32> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}
