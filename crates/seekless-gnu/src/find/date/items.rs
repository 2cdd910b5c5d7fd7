//! Parses the items of a date by GNU's grammar. Where two readings are possible, the longer is
//! taken; there is no backtracking.

use super::SECOND_NS;
use super::token::{Meridian, Number, Token, Unit};
use crate::clib::locale::BrokenDown;

/// The parts of a date. Parts that are not given come from the current time.
#[derive(Clone, Debug)]
pub(super) struct Items {
    year: Number,
    pub(super) month: i64,
    pub(super) day: i64,
    hour: i64,
    meridian: Option<Meridian>,
    pub(super) minute: i64,
    /// Seconds with their fraction, in nanoseconds.
    pub(super) second_ns: i128,
    /// Which one (`next` is 1), and the day, counted from Sunday.
    pub(super) weekday: Option<(i64, i32)>,
    /// The offset of the named zone.
    pub(super) east_seconds: Option<i64>,
    /// The local zone was named; the value says whether it is summer time.
    pub(super) local_daylight: Option<i32>,
    pub(super) added: Added,
    /// A span was given, even an empty one (`today`).
    pub(super) shifted: bool,
    pub(super) dates: u32,
    pub(super) times: u32,
    weekdays: u32,
    zones: u32,
    summers: u32,
}

/// The spans to add.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Added {
    pub(super) years: i64,
    pub(super) months: i64,
    pub(super) days: i64,
    pub(super) hours: i64,
    pub(super) minutes: i64,
    pub(super) seconds: i64,
    pub(super) ns: i128,
}

impl Items {
    /// Parses all tokens; `None` if they are not a date. `part_ns` is the fraction of the current
    /// second.
    pub(super) fn read(tokens: &[Token], now: &BrokenDown, part_ns: i128) -> Option<Items> {
        let year = i64::from(now.year) + 1900;
        let mut items = Items {
            year: Number { value: year, digits: 0, signed: false, negative: false },
            month: i64::from(now.month) + 1,
            day: now.day.into(),
            hour: now.hour.into(),
            meridian: None,
            minute: now.minute.into(),
            second_ns: i128::from(now.second) * SECOND_NS + part_ns,
            weekday: None,
            east_seconds: None,
            local_daylight: None,
            added: Added::default(),
            shifted: false,
            dates: 0,
            times: 0,
            weekdays: 0,
            zones: 0,
            summers: 0,
        };
        let mut rest = tokens;
        while !rest.is_empty() {
            rest = items.item(rest)?;
        }
        Some(items)
    }

    /// Whether some kind of item was given twice.
    pub(super) fn seen_twice(&self) -> bool {
        [self.dates, self.times, self.weekdays, self.zones, self.summers]
            .iter()
            .any(|&seen| seen > 1)
    }

    /// The hour on a 24-hour clock.
    pub(super) fn hour(&self) -> Option<i32> {
        let hour = i32::try_from(self.hour).ok()?;
        match self.meridian {
            None => Some(hour).filter(|hour| (0..24).contains(hour)),
            Some(half) => {
                let after = if half == Meridian::After { 12 } else { 0 };
                Some(hour).filter(|hour| (1..=12).contains(hour)).map(|hour| hour % 12 + after)
            }
        }
    }

    /// The year. One of two digits is from 1969 to 2068.
    pub(super) fn year_since_1900(&self) -> Option<i32> {
        let Number { value, digits, .. } = self.year;
        let year = match value {
            ..0 => value.checked_neg()?,
            0..69 if digits == 2 => value + 2000,
            69.. if digits == 2 => value + 1900,
            _ => value,
        };
        i32::try_from(year.checked_sub(1900)?).ok()
    }

    /// Parses the first item and returns the remaining tokens.
    fn item<'a>(&mut self, tokens: &'a [Token]) -> Option<&'a [Token]> {
        let (first, rest) = tokens.split_first()?;
        match *first {
            Token::Number(number) if !number.signed => self.after_number(number, rest),
            Token::Number(number) => {
                let (unit, rest) = unit(rest)?;
                self.relative(unit, number.value, rest)
            }
            Token::Decimal { ns, .. } => {
                let (unit, rest) = unit(rest)?;
                let seconds = i64::try_from(ns.div_euclid(SECOND_NS)).ok()?;
                let added = Added { seconds, ns: ns.rem_euclid(SECOND_NS), ..Added::default() };
                if unit == Unit::Second { self.add_turned(added, rest) } else { None }
            }
            Token::Ordinal(ordinal) => match rest {
                [Token::Weekday(day), rest @ ..] => self.weekday(ordinal, *day, rest),
                [Token::Unit(unit), rest @ ..] => self.relative(*unit, ordinal, rest),
                _ => None,
            },
            Token::Unit(unit) => self.relative(unit, 1, rest),
            Token::DayShift(days) => {
                self.add(Added { days, ..Added::default() }, 1)?;
                Some(rest)
            }
            Token::Weekday(day) => {
                self.weekday(0, day, rest.strip_prefix(&[Token::Sign(b',')]).unwrap_or(rest))
            }
            Token::Month(month) => self.after_month(month, rest),
            Token::LocalZone(daylight) => {
                self.zones += 1;
                let (daylight, rest) = match rest {
                    [Token::SummerTime, rest @ ..] => {
                        self.summers += 1;
                        (1, rest)
                    }
                    _ => (daylight, rest),
                };
                self.local_daylight = Some(daylight);
                Some(rest)
            }
            Token::Zone(zone) if zone.summer => {
                self.zones += 1;
                self.east_seconds = Some(zone.east_seconds + 3600);
                Some(rest)
            }
            Token::Zone(zone) => self.zone(zone.east_seconds, true, rest),
            Token::T => self.zone(-7 * 3600, false, rest),
            _ => None,
        }
    }

    /// Parses an item that begins with an unsigned number: a time, a day, a span, or a number by
    /// itself.
    fn after_number<'a>(&mut self, number: Number, rest: &'a [Token]) -> Option<&'a [Token]> {
        match rest {
            [Token::Meridian(meridian), rest @ ..] => {
                self.times += 1;
                self.set_time(number.value, 0, 0, Some(*meridian));
                Some(rest)
            }
            [Token::Sign(b':'), Token::Number(minute), rest @ ..] if !minute.signed => {
                self.times += 1;
                self.time(number.value, minute.value, true, rest)
            }
            [Token::Sign(b'/'), Token::Number(second), rest @ ..] if !second.signed => {
                self.dates += 1;
                self.slashed(number, *second, rest)
            }
            [Token::Number(month), Token::Number(day), rest @ ..] if month.signed && day.signed => {
                self.year = number;
                (self.month, self.day) = (month.value.checked_neg()?, day.value.checked_neg()?);
                self.dates += 1;
                match rest {
                    [Token::T, rest @ ..] => self.time_after_t(rest),
                    _ => Some(rest),
                }
            }
            [Token::Number(count), Token::Unit(unit), rest @ ..] if count.signed => {
                self.number(number);
                self.add(span(*unit, count.value)?, 1)?;
                Some(rest)
            }
            [Token::Number(offset), ..] if offset.signed => {
                self.times += 1;
                self.set_time(number.value, 0, 0, None);
                self.zone_offset(0, rest)
            }
            [Token::Month(month), rest @ ..] => {
                self.dates += 1;
                (self.day, self.month) = (number.value, *month);
                match rest {
                    [Token::Number(year), rest @ ..] => {
                        let value =
                            if year.signed { year.value.checked_neg()? } else { year.value };
                        self.year = Number { value, ..*year };
                        Some(rest)
                    }
                    _ => Some(rest),
                }
            }
            [Token::Weekday(day), rest @ ..] => self.weekday(number.value, *day, rest),
            [Token::Unit(unit), rest @ ..] => self.relative(*unit, number.value, rest),
            _ => {
                self.number(number);
                Some(rest)
            }
        }
    }

    /// Parses what follows hours and minutes: seconds, AM or PM, or a zone.
    fn time<'a>(
        &mut self,
        hour: i64,
        minute: i64,
        halves: bool,
        rest: &'a [Token],
    ) -> Option<&'a [Token]> {
        let (second_ns, rest) = match rest {
            [Token::Sign(b':'), Token::Number(second), rest @ ..] if !second.signed => {
                (i128::from(second.value) * SECOND_NS, rest)
            }
            [Token::Sign(b':'), Token::Decimal { ns, signed: false }, rest @ ..] => (*ns, rest),
            [Token::Sign(b':'), ..] => return None,
            _ => (0, rest),
        };
        if let ([Token::Meridian(meridian), rest @ ..], true) = (rest, halves) {
            self.set_time(hour, minute, second_ns, Some(*meridian));
            return Some(rest);
        }
        self.set_time(hour, minute, second_ns, None);
        match rest {
            [Token::Number(offset), ..] if offset.signed => self.zone_offset(0, rest),
            _ => Some(rest),
        }
    }

    /// `2026-11-21T09:30`
    fn time_after_t<'a>(&mut self, rest: &'a [Token]) -> Option<&'a [Token]> {
        self.times += 1;
        match rest {
            [Token::Number(hour), Token::Sign(b':'), Token::Number(minute), rest @ ..]
                if !hour.signed && !minute.signed =>
            {
                self.time(hour.value, minute.value, false, rest)
            }
            [Token::Number(hour), rest @ ..] if !hour.signed => {
                self.set_time(hour.value, 0, 0, None);
                self.zone_offset(0, rest)
            }
            _ => None,
        }
    }

    fn set_time(&mut self, hour: i64, minute: i64, second_ns: i128, meridian: Option<Meridian>) {
        (self.hour, self.minute, self.second_ns, self.meridian) =
            (hour, minute, second_ns, meridian);
    }

    /// `11/21`, `11/21/2026`, `2026/11/21`
    fn slashed<'a>(
        &mut self,
        first: Number,
        second: Number,
        rest: &'a [Token],
    ) -> Option<&'a [Token]> {
        let [Token::Sign(b'/'), rest @ ..] = rest else {
            (self.month, self.day) = (first.value, second.value);
            return Some(rest);
        };
        let [Token::Number(third), rest @ ..] = rest else { return None };
        if third.signed {
            return None;
        }
        match first.digits {
            4.. => (self.year, self.month, self.day) = (first, second.value, third.value),
            _ => (self.month, self.day, self.year) = (first.value, second.value, *third),
        }
        Some(rest)
    }

    /// `nov 21`, `nov 21, 2026`, `nov-21-2026`
    fn after_month<'a>(&mut self, month: i64, rest: &'a [Token]) -> Option<&'a [Token]> {
        self.dates += 1;
        self.month = month;
        match rest {
            [Token::Number(day), Token::Number(year), rest @ ..] if day.signed && year.signed => {
                self.day = day.value.checked_neg()?;
                self.year = Number { value: year.value.checked_neg()?, ..*year };
                Some(rest)
            }
            [Token::Number(day), Token::Sign(b','), Token::Number(year), rest @ ..]
                if !day.signed && !year.signed =>
            {
                (self.day, self.year) = (day.value, *year);
                Some(rest)
            }
            [Token::Number(_), Token::Sign(b','), ..] => None,
            [Token::Number(day), rest @ ..] if !day.signed => {
                self.day = day.value;
                Some(rest)
            }
            _ => None,
        }
    }

    fn weekday<'a>(&mut self, ordinal: i64, day: i32, rest: &'a [Token]) -> Option<&'a [Token]> {
        self.weekdays += 1;
        self.weekday = Some((ordinal, day));
        Some(rest)
    }

    /// Parses what follows a named zone: summer time, an offset or a span.
    fn zone<'a>(
        &mut self,
        east_seconds: i64,
        named: bool,
        rest: &'a [Token],
    ) -> Option<&'a [Token]> {
        self.zones += 1;
        self.east_seconds = Some(east_seconds);
        match rest {
            [Token::Number(count), Token::Unit(unit), rest @ ..] if count.signed => {
                self.add(span(*unit, count.value)?, 1)?;
                Some(rest)
            }
            [Token::Number(offset), ..] if offset.signed && named => {
                self.zones -= 1;
                self.zone_offset(east_seconds, rest)
            }
            [Token::SummerTime, rest @ ..] if named => {
                self.east_seconds = Some(east_seconds + 3600);
                Some(rest)
            }
            _ => Some(rest),
        }
    }

    /// `+5`, `+0530`, `+05:30`, at most a day.
    fn zone_offset<'a>(&mut self, from: i64, rest: &'a [Token]) -> Option<&'a [Token]> {
        let [Token::Number(offset), rest @ ..] = rest else { return None };
        if !offset.signed {
            return None;
        }
        let (minutes, rest) = match rest {
            [Token::Sign(b':'), Token::Number(minutes), rest @ ..] if !minutes.signed => {
                let more =
                    if offset.negative { minutes.value.checked_neg()? } else { minutes.value };
                (offset.value.checked_mul(60)?.checked_add(more)?, rest)
            }
            [Token::Sign(b':'), ..] => return None,
            _ => {
                let value = if offset.digits <= 2 { offset.value * 100 } else { offset.value };
                (value / 100 * 60 + value % 100, rest)
            }
        };
        if !(-24 * 60..=24 * 60).contains(&minutes) {
            return None; // before it is multiplied
        }
        self.zones += 1;
        self.east_seconds = Some(from + minutes * 60);
        Some(rest)
    }

    /// Interprets a number by itself: a year after a day, a day (`20261121`) or a time (`0930`,
    /// `9`).
    fn number(&mut self, number: Number) {
        let Number { value, digits, .. } = number;
        if self.dates > 0
            && self.year.digits == 0
            && !self.shifted
            && (self.times > 0 || digits > 2)
        {
            self.year = number;
        } else if digits > 4 {
            self.dates += 1;
            (self.day, self.month) = (value % 100, value / 100 % 100);
            self.year = Number { value: value / 10_000, digits: digits - 4, ..number };
        } else {
            self.times += 1;
            let (hour, minute) = if digits <= 2 { (value, 0) } else { (value / 100, value % 100) };
            self.set_time(hour, minute, 0, None);
        }
    }

    fn relative<'a>(&mut self, unit: Unit, count: i64, rest: &'a [Token]) -> Option<&'a [Token]> {
        self.add_turned(span(unit, count)?, rest)
    }

    /// Adds a span, or subtracts it if `ago` follows.
    fn add_turned<'a>(&mut self, added: Added, rest: &'a [Token]) -> Option<&'a [Token]> {
        let (sign, rest) = match rest {
            [Token::Ago(sign), rest @ ..] => (*sign, rest),
            _ => (1, rest),
        };
        self.add(added, sign)?;
        Some(rest)
    }

    fn add(&mut self, more: Added, sign: i64) -> Option<()> {
        let sum = |part: &mut i64, more: i64| {
            *part = part.checked_add(more.checked_mul(sign)?)?;
            Some(())
        };
        let added = &mut self.added;
        sum(&mut added.years, more.years)?;
        sum(&mut added.months, more.months)?;
        sum(&mut added.days, more.days)?;
        sum(&mut added.hours, more.hours)?;
        sum(&mut added.minutes, more.minutes)?;
        sum(&mut added.seconds, more.seconds)?;
        added.ns += more.ns * i128::from(sign);
        self.shifted = true;
        Some(())
    }
}

fn unit(tokens: &[Token]) -> Option<(Unit, &[Token])> {
    match tokens {
        [Token::Unit(unit), rest @ ..] => Some((*unit, rest)),
        _ => None,
    }
}

fn span(unit: Unit, count: i64) -> Option<Added> {
    let none = Added::default();
    Some(match unit {
        Unit::Year => Added { years: count, ..none },
        Unit::Month => Added { months: count, ..none },
        Unit::Days(days) => Added { days: count.checked_mul(days)?, ..none },
        Unit::Hour => Added { hours: count, ..none },
        Unit::Minute => Added { minutes: count, ..none },
        Unit::Second => Added { seconds: count, ..none },
    })
}
