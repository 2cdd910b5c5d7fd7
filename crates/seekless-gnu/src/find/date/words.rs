//! The words of dates and their meanings.

use super::Zone;
use super::token::{Meridian, Token, Unit};
use crate::clib::locale::{BrokenDown, broken_down};

const HOUR: i64 = 3600;
const DAY: i64 = 86_400;

/// The short names of the local time zone.
#[derive(Clone, Debug)]
pub(super) struct LocalZones(Vec<(Vec<u8>, i32)>);

impl LocalZones {
    /// The names now and within the next three quarters of a year, so that summer time is included.
    /// If both names are the same, the name does not decide which is meant.
    pub(super) fn at(now: &BrokenDown, seconds: i64) -> Self {
        let mut zones = vec![(now.zone.to_bytes().to_vec(), now.daylight)];
        let later =
            (1..=3).filter_map(|quarter| broken_down(seconds.checked_add(quarter * 90 * DAY)?));
        if let Some(other) = later.into_iter().find(|time| time.daylight != now.daylight) {
            match other.zone == now.zone {
                true => zones[0].1 = -1,
                false => zones.push((other.zone.to_bytes().to_vec(), other.daylight)),
            }
        }
        LocalZones(zones)
    }
}

const MERIDIANS: [(&[u8], Meridian); 4] = [
    (b"AM", Meridian::Before),
    (b"A.M.", Meridian::Before),
    (b"PM", Meridian::After),
    (b"P.M.", Meridian::After),
];

const MONTHS: [(&[u8], i64); 13] = [
    (b"JANUARY", 1),
    (b"FEBRUARY", 2),
    (b"MARCH", 3),
    (b"APRIL", 4),
    (b"MAY", 5),
    (b"JUNE", 6),
    (b"JULY", 7),
    (b"AUGUST", 8),
    (b"SEPTEMBER", 9),
    (b"SEPT", 9),
    (b"OCTOBER", 10),
    (b"NOVEMBER", 11),
    (b"DECEMBER", 12),
];

const WEEKDAYS: [(&[u8], i32); 11] = [
    (b"SUNDAY", 0),
    (b"MONDAY", 1),
    (b"TUESDAY", 2),
    (b"TUES", 2),
    (b"WEDNESDAY", 3),
    (b"WEDNES", 3),
    (b"THURSDAY", 4),
    (b"THUR", 4),
    (b"THURS", 4),
    (b"FRIDAY", 5),
    (b"SATURDAY", 6),
];

const UNITS: [(&[u8], Unit); 10] = [
    (b"YEAR", Unit::Year),
    (b"MONTH", Unit::Month),
    (b"FORTNIGHT", Unit::Days(14)),
    (b"WEEK", Unit::Days(7)),
    (b"DAY", Unit::Days(1)),
    (b"HOUR", Unit::Hour),
    (b"MINUTE", Unit::Minute),
    (b"MIN", Unit::Minute),
    (b"SECOND", Unit::Second),
    (b"SEC", Unit::Second),
];

/// `second` is a unit, so it is not listed.
const ORDINALS: [(&[u8], i64); 14] = [
    (b"LAST", -1),
    (b"THIS", 0),
    (b"NEXT", 1),
    (b"FIRST", 1),
    (b"THIRD", 3),
    (b"FOURTH", 4),
    (b"FIFTH", 5),
    (b"SIXTH", 6),
    (b"SEVENTH", 7),
    (b"EIGHTH", 8),
    (b"NINTH", 9),
    (b"TENTH", 10),
    (b"ELEVENTH", 11),
    (b"TWELFTH", 12),
];

const SHIFTS: [(&[u8], i64); 4] =
    [(b"TOMORROW", 1), (b"YESTERDAY", -1), (b"TODAY", 0), (b"NOW", 0)];

/// Zones in half hours ahead of Greenwich. The flag marks summer time, which is one hour more.
const ZONES: [(&[u8], i64, bool); 47] = [
    (b"WET", 0, false),
    (b"WEST", 0, true),
    (b"BST", 0, true),
    (b"ART", -6, false),
    (b"BRT", -6, false),
    (b"BRST", -6, true),
    (b"NST", -7, false),
    (b"NDT", -7, true),
    (b"AST", -8, false),
    (b"ADT", -8, true),
    (b"CLT", -8, false),
    (b"CLST", -8, true),
    (b"EST", -10, false),
    (b"EDT", -10, true),
    (b"CST", -12, false),
    (b"CDT", -12, true),
    (b"MST", -14, false),
    (b"MDT", -14, true),
    (b"PST", -16, false),
    (b"PDT", -16, true),
    (b"AKST", -18, false),
    (b"AKDT", -18, true),
    (b"HST", -20, false),
    (b"HAST", -20, false),
    (b"HADT", -20, true),
    (b"SST", -24, false),
    (b"WAT", 2, false),
    (b"CET", 2, false),
    (b"CEST", 2, true),
    (b"MET", 2, false),
    (b"MEZ", 2, false),
    (b"MEST", 2, true),
    (b"MESZ", 2, true),
    (b"EET", 4, false),
    (b"EEST", 4, true),
    (b"CAT", 4, false),
    (b"SAST", 4, false),
    (b"EAT", 6, false),
    (b"MSK", 6, false),
    (b"MSD", 6, true),
    (b"IST", 11, false),
    (b"SGT", 16, false),
    (b"KST", 18, false),
    (b"JST", 18, false),
    (b"GST", 20, false),
    (b"NZST", 24, false),
    (b"NZDT", 24, true),
];

/// The token of a word in capitals; `None` if the word is unknown.
pub(super) fn token(word: &[u8], local: &LocalZones) -> Option<Token> {
    let exactly = |name: &[u8]| name == word;
    // Months and weekdays may be shortened to three letters, with or without a dot.
    let short = word.len() == 3 || word.len() == 4 && word[3] == b'.';
    let abbreviated = |name: &[u8]| if short { name[..3] == word[..3] } else { name == word };
    find(&MERIDIANS, exactly)
        .map(Token::Meridian)
        .or_else(|| find(&MONTHS, abbreviated).map(Token::Month))
        .or_else(|| find(&WEEKDAYS, abbreviated).map(Token::Weekday))
        .or_else(|| zone(word, local))
        .or_else(|| (word == b"DST").then_some(Token::SummerTime))
        .or_else(|| find(&UNITS, exactly).map(Token::Unit))
        .or_else(|| {
            let one = word.strip_suffix(b"S")?;
            find(&UNITS, |name| name == one).map(Token::Unit)
        })
        .or_else(|| find(&SHIFTS, exactly).map(Token::DayShift))
        .or_else(|| find(&ORDINALS, exactly).map(Token::Ordinal))
        .or_else(|| match word {
            b"AGO" => Some(Token::Ago(-1)),
            b"HENCE" => Some(Token::Ago(1)),
            [letter] => military(*letter),
            _ if word.contains(&b'.') => {
                let plain: Vec<u8> = word.iter().copied().filter(|&byte| byte != b'.').collect();
                zone(&plain, local)
            }
            _ => None,
        })
}

fn find<T: Copy>(table: &[(&[u8], T)], is: impl Fn(&[u8]) -> bool) -> Option<T> {
    table.iter().find(|(name, _)| is(name)).map(|(_, value)| *value)
}

fn zone(word: &[u8], local: &LocalZones) -> Option<Token> {
    if matches!(word, b"GMT" | b"UT" | b"UTC") {
        return Some(Token::Zone(Zone { east_seconds: 0, summer: false }));
    }
    if let Some((_, daylight)) = local.0.iter().find(|(name, _)| name == word) {
        return Some(Token::LocalZone(*daylight));
    }
    let (_, half_hours, summer) = ZONES.iter().find(|(name, ..)| *name == word)?;
    Some(Token::Zone(Zone { east_seconds: half_hours * HOUR / 2, summer: *summer }))
}

/// The military zones, which are single letters. T also separates a day from a time.
fn military(letter: u8) -> Option<Token> {
    let hours = match letter {
        b'A'..=b'I' => i64::from(letter - b'A') + 1,
        b'K'..=b'M' => i64::from(letter - b'K') + 10,
        b'N'..=b'S' => -(i64::from(letter - b'N') + 1),
        b'T' => return Some(Token::T),
        b'U'..=b'Y' => -(i64::from(letter - b'U') + 8),
        b'Z' => 0,
        _ => return None,
    };
    Some(Token::Zone(Zone { east_seconds: hours * HOUR, summer: false }))
}
