//! Parses dates for `-newerXt`, as GNU's parse_datetime does.
//!
//! A date is a list of items in any order, each at most once: a day, a time of day, a weekday, a
//! zone. Spans may be added: `2026-11-21 09:30 +0100`, `last week`, `next monday 10am`, `3 days
//! ago`, `@1577934245.5`.

mod items;
mod lex;
mod token;
mod words;

use crate::clib::locale::{BrokenDown, broken_down};
use items::Items;
use words::LocalZones;

const SECOND_NS: i128 = 1_000_000_000;

/// A named time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Zone {
    east_seconds: i64,
    /// It is a zone of summer time, which is one hour ahead of `east_seconds`.
    summer: bool,
}

/// Parses a date and returns nanoseconds since 1970, or `None` if it is malformed. `now` is when
/// find started.
pub(super) fn parse(text: &[u8], now: i128) -> Option<i128> {
    let start = i64::try_from(now.div_euclid(SECOND_NS)).ok()?;
    let today = broken_down(start)?;
    let local = LocalZones::at(&today, start);
    // An empty text means midnight.
    let text = if text.trim_ascii_start().is_empty() { b"0" } else { text };
    let tokens = lex::tokens(text, &local)?;
    if let [token::Token::Sign(b'@'), seconds] = tokens[..] {
        return match seconds {
            token::Token::Number(number) => Some(i128::from(number.value) * SECOND_NS),
            token::Token::Decimal { ns, .. } => Some(ns),
            _ => None,
        };
    }
    settle(&Items::read(&tokens, &today, now.rem_euclid(SECOND_NS))?, today)
}

/// The moment that the items denote.
fn settle(items: &Items, today: BrokenDown) -> Option<i128> {
    if items.seen_twice() {
        return None;
    }
    let has_day = items.dates > 0 || items.weekday.is_some();
    let keeps_time = items.times > 0 || items.shifted && !has_day;
    let (hour, minute, second_ns) =
        if keeps_time { (items.hour()?, items.minute, items.second_ns) } else { (0, 0, 0) };
    let asked = BrokenDown {
        year: items.year_since_1900()?,
        month: i32::try_from(items.month.checked_sub(1)?).ok()?,
        day: i32::try_from(items.day).ok()?,
        hour,
        minute: i32::try_from(minute).ok()?,
        second: i32::try_from(second_ns.div_euclid(SECOND_NS)).ok()?,
        daylight: match items.local_daylight {
            Some(daylight) => daylight,
            None if has_day || items.times > 0 => -1,
            None => today.daylight,
        },
        ..BrokenDown::default()
    };
    let (mut start, mut time) = match asked.settled().filter(|(_, time)| same_clock(time, &asked)) {
        Some(settled) => settled,
        // A time that local clocks skip is valid in another zone.
        None => elsewhere(&asked, items.east_seconds?)?,
    };
    if let (Some((ordinal, weekday)), 0) = (items.weekday, items.dates) {
        let weeks = ordinal.checked_sub(i64::from(ordinal > 0 && time.weekday != weekday))?;
        let days =
            weeks.checked_mul(7)?.checked_add(i64::from((weekday - time.weekday).rem_euclid(7)))?;
        time.day = i32::try_from(i64::from(time.day).checked_add(days)?).ok()?;
        time.daylight = -1;
        (start, time) = time.settled()?;
    }
    let added = &items.added;
    if (added.years, added.months, added.days) != (0, 0, 0) {
        let sum = |part: i32, more: i64| i32::try_from(i64::from(part).checked_add(more)?).ok();
        let moved = BrokenDown {
            year: sum(time.year, added.years)?,
            month: sum(time.month, added.months)?,
            day: sum(time.day, added.days)?,
            ..asked
        };
        (start, time) = moved.settled()?;
    }
    if let Some(east_seconds) = items.east_seconds {
        start = start.checked_sub(east_seconds.checked_sub(time.east_seconds)?)?;
    }
    let seconds = start
        .checked_add(added.hours.checked_mul(3600)?)?
        .checked_add(added.minutes.checked_mul(60)?)?
        .checked_add(added.seconds)?;
    let ns = i128::from(seconds) * SECOND_NS + second_ns.rem_euclid(SECOND_NS) + added.ns;
    i64::try_from(ns.div_euclid(SECOND_NS)).ok().map(|_| ns)
}

/// Whether date and time are the requested ones. They differ if the request does not exist, such as
/// the 31st of April.
fn same_clock(found: &BrokenDown, asked: &BrokenDown) -> bool {
    let parts =
        |time: &BrokenDown| (time.year, time.month, time.day, time.hour, time.minute, time.second);
    parts(found) == parts(asked)
}

/// The time on a clock that is `east_seconds` ahead of Greenwich, as if local clocks were as far
/// behind it. The caller later subtracts the difference between the two.
fn elsewhere(asked: &BrokenDown, east_seconds: i64) -> Option<(i64, BrokenDown)> {
    let year = i64::from(asked.year) + 1900;
    let leap = year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    let days_of = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let month = usize::try_from(asked.month).ok()?;
    let right = (1..=*days_of.get(month)?).contains(&asked.day)
        && (0..60).contains(&asked.minute)
        && (0..60).contains(&asked.second);
    if !right {
        return None;
    }
    let before = year - 1;
    let leaps = |year: i64| year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = (year - 1970) * 365 + leaps(before) - leaps(1969)
        + days_of[..month].iter().map(|&days| i64::from(days)).sum::<i64>()
        + i64::from(asked.day - 1);
    let clock =
        i64::from(asked.hour) * 3600 + i64::from(asked.minute) * 60 + i64::from(asked.second);
    let time = BrokenDown {
        weekday: i32::try_from((days + 4).rem_euclid(7)).ok()?,
        east_seconds: -east_seconds,
        ..asked.clone()
    };
    Some((days * 86_400 + clock + east_seconds, time))
}
