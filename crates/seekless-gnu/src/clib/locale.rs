//! The C library's functions that follow the user's locale and time zone: shell patterns and dates.
//! A program that must answer as GNU's tools do calls the same library.

use crate::clib::ctype::{Ctype, Encoding};
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;

/// Takes the locale of the environment (LC_ALL, LC_CTYPE, LANG) for [`glob_matches`] and
/// [`format_time`]; call it once, before threads start. Returns whether its characters are UTF-8.
#[must_use]
pub(crate) fn use_environments_locale() -> bool {
    // SAFETY: an empty name asks for the environment's locale; the caller has started no thread
    // yet.
    unsafe { libc::setlocale(libc::LC_ALL, c"".as_ptr()) };
    Ctype::from_environment().is_some_and(|locale| locale.encoding() == Encoding::Utf8)
}

/// Whether `text` matches the shell pattern (fnmatch(3), no flags: `*` also matches slashes and
/// leading dots).
#[must_use]
pub(crate) fn glob_matches(pattern: &CStr, text: &CStr, ignore_case: bool) -> bool {
    /// GNU's extension, in every C library of Linux.
    const FNM_CASEFOLD: libc::c_int = 1 << 4;
    let flags = if ignore_case { FNM_CASEFOLD } else { 0 };
    // SAFETY: both strings end with their NUL and live through the call.
    unsafe { libc::fnmatch(pattern.as_ptr(), text.as_ptr(), flags) == 0 }
}

/// All of the text as a number by strtod(3): the locale's decimal point, exponents, hexadecimal,
/// infinity; blanks may come first.
#[must_use]
pub(crate) fn real_number(text: &CStr) -> Option<f64> {
    let mut end = std::ptr::null_mut();
    // SAFETY: the string ends with its NUL and lives through the call, after which `end` points
    // into it.
    let (value, read) = unsafe {
        let value = libc::strtod(text.as_ptr(), &raw mut end);
        (value, end.offset_from(text.as_ptr()))
    };
    (read > 0 && usize::try_from(read) == Ok(text.count_bytes())).then_some(value)
}

/// Whether an answer means yes in the user's language: rpmatch(3), `^[yY]` where nothing else is
/// configured.
#[must_use]
pub(crate) fn is_yes(answer: &CStr) -> bool {
    unsafe extern "C" {
        fn rpmatch(answer: *const libc::c_char) -> libc::c_int;
    }
    // SAFETY: the string ends with its NUL and lives through the call.
    unsafe { rpmatch(answer.as_ptr()) > 0 }
}

/// Writes `seconds` since 1970 in the local time zone as strftime(3)'s `format` says; empty where
/// the format gives nothing, it passes 1 KiB, or the year passes an int.
#[must_use]
pub(crate) fn format_time(format: &CStr, seconds: i64) -> Vec<u8> {
    broken_down(seconds).map_or_else(Vec::new, |time| time.write(format))
}

/// A time by the calendar and the clock of a time zone.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct BrokenDown {
    /// Since 1900.
    pub year: i32,
    /// From 0.
    pub month: i32,
    /// Of the month, from 1.
    pub day: i32,
    /// From 0.
    pub hour: i32,
    /// From 0.
    pub minute: i32,
    /// From 0.
    pub second: i32,
    /// From 0, which is Sunday.
    pub weekday: i32,
    /// Of the year, from 0.
    pub year_day: i32,
    /// More than 0 in summer time, 0 out of it, less than 0 where that is not known.
    pub daylight: i32,
    /// What local clocks are ahead of Greenwich's.
    pub east_seconds: i64,
    /// The zone's short name.
    pub zone: CString,
}

impl BrokenDown {
    fn of(time: &libc::tm) -> Self {
        let zone = match time.tm_zone.is_null() {
            true => CString::default(),
            // SAFETY: the C library points to a string of its own, which lasts until the time zone
            // is changed.
            false => unsafe { CStr::from_ptr(time.tm_zone) }.to_owned(),
        };
        BrokenDown {
            year: time.tm_year,
            month: time.tm_mon,
            day: time.tm_mday,
            hour: time.tm_hour,
            minute: time.tm_min,
            second: time.tm_sec,
            weekday: time.tm_wday,
            year_day: time.tm_yday,
            daylight: time.tm_isdst,
            east_seconds: time.tm_gmtoff,
            zone,
        }
    }

    /// The C library's form, which must not outlive `self`.
    fn to_c(&self) -> libc::tm {
        // SAFETY: all zeros is a time: numbers, and no name of a zone.
        let mut time: libc::tm = unsafe { std::mem::zeroed() };
        (time.tm_year, time.tm_mon, time.tm_mday) = (self.year, self.month, self.day);
        (time.tm_hour, time.tm_min, time.tm_sec) = (self.hour, self.minute, self.second);
        (time.tm_wday, time.tm_yday, time.tm_isdst) = (self.weekday, self.year_day, self.daylight);
        time.tm_gmtoff = self.east_seconds;
        time.tm_zone = self.zone.as_ptr();
        time
    }

    /// Writes it as strftime(3)'s `format` says; empty where the format gives nothing or it passes
    /// 1 KiB.
    #[must_use]
    pub(crate) fn write(&self, format: &CStr) -> Vec<u8> {
        let time = self.to_c();
        let mut text = vec![0_u8; 1024];
        // SAFETY: the buffer has the length given; the format ends with NUL; the time and its
        // zone's name live.
        let length = unsafe {
            libc::strftime(text.as_mut_ptr().cast(), text.len(), format.as_ptr(), &raw const time)
        };
        text.truncate(length);
        text
    }

    /// Converts it to seconds since 1970 in the local time zone, and brings its parts into their
    /// ranges (the 32nd of May is the 1st of June). Weekday, day of the year and zone are ignored.
    /// `None` if the time cannot be represented.
    #[must_use]
    pub(crate) fn settled(&self) -> Option<(i64, BrokenDown)> {
        let mut time = self.to_c();
        // The weekday is filled in unless it failed; -1 by itself is a second before 1970.
        time.tm_wday = -1;
        // SAFETY: a live time of the C library's layout, which it may put into its ranges.
        let seconds = unsafe { libc::mktime(&raw mut time) };
        (time.tm_wday >= 0).then(|| (seconds, BrokenDown::of(&time)))
    }
}

/// A time since 1970 by the local calendar; `None` where the year passes an int.
#[must_use]
pub(crate) fn broken_down(seconds: i64) -> Option<BrokenDown> {
    let mut time = MaybeUninit::<libc::tm>::uninit();
    // SAFETY: both point to live values; the second is written whole where the answer is not null.
    let found = unsafe { libc::localtime_r(&raw const seconds, time.as_mut_ptr()) };
    // SAFETY: as just said.
    (!found.is_null()).then(|| BrokenDown::of(unsafe { time.assume_init_ref() }))
}

/// Seconds since the last local midnight at `seconds` since 1970.
#[must_use]
pub(crate) fn seconds_of_day(seconds: i64) -> i64 {
    broken_down(seconds).map_or(seconds.rem_euclid(86_400), |time| {
        i64::from(time.hour) * 3600 + i64::from(time.minute) * 60 + i64::from(time.second)
    })
}

/// Bytes as a C string; what follows a NUL, which no path or argument holds, is left out.
#[must_use]
pub(crate) fn c_string(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_find() {
        for (pattern, text, matches) in [
            (c"*.rs", c"lib.rs", true),
            (c"*.rs", c".rs", true),
            (c"a*z", c"a/b/z", true),
            (c"[!a]", c"a", false),
        ] {
            assert_eq!(glob_matches(pattern, text, false), matches, "{pattern:?} {text:?}");
        }
        assert!(glob_matches(c"READ*", c"readme", true));
        assert!(!glob_matches(c"READ*", c"readme", false));
    }

    #[test]
    fn the_calendar_goes_both_ways() {
        for seconds in [0, -1, 1_577_934_245, 1_600_000_000] {
            let time = broken_down(seconds).unwrap();
            assert_eq!(time.settled(), Some((seconds, time.clone())));
        }
        assert_eq!(broken_down(i64::MAX), None);
        let time =
            BrokenDown { year: 70, month: 0, day: 32, daylight: -1, ..BrokenDown::default() };
        let (_, settled) = time.settled().unwrap();
        assert_eq!((settled.month, settled.day, settled.weekday), (1, 1, 0));
        assert_eq!(BrokenDown { year: i32::MAX, month: i32::MAX, ..time }.settled(), None);
    }

    #[test]
    fn a_number_is_all_of_the_text() {
        for (text, number) in [
            (c"1.5", Some(1.5)),
            (c" -2e3", Some(-2000.0)),
            (c"0x10", Some(16.0)),
            (c"inf", Some(f64::INFINITY)),
            (c"", None),
            (c"1 ", None),
            (c"x", None),
        ] {
            assert_eq!(real_number(text), number, "{text:?}");
        }
    }

    #[test]
    fn an_answer_is_yes_by_its_first_letter() {
        for (answer, yes) in [
            (c"y", true),
            (c"Yes", true),
            (c" y", false),
            (c"", false),
            (c"n", false),
            (c"ja", false),
        ] {
            assert_eq!(is_yes(answer), yes, "{answer:?}");
        }
    }

    #[test]
    fn a_time_is_written_by_its_parts() {
        assert_eq!(format_time(c"%s", 1_577_934_245), b"1577934245");
        assert!((0..86_401).contains(&seconds_of_day(1_577_934_245)));
        assert_eq!(c_string(b"ab\0c").as_bytes(), b"ab");
    }
}
