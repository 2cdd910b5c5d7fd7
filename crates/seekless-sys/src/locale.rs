//! What the C library does by the user's locale and time zone: matching shell patterns, writing dates. Programs that must
//! answer as GNU's do ask the same library.

use crate::ctype::{Ctype, Encoding};
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;

/// Takes the locale of the environment (LC_ALL, LC_CTYPE, LANG) for [`glob_matches`] and [`format_time`]; call it once, before
/// threads start. Returns whether its characters are UTF-8.
#[must_use]
pub fn use_environments_locale() -> bool {
    // SAFETY: an empty name asks for the environment's locale; the caller has started no thread yet.
    unsafe { libc::setlocale(libc::LC_ALL, c"".as_ptr()) };
    Ctype::from_environment().is_some_and(|locale| locale.encoding() == Encoding::Utf8)
}

/// Whether `text` matches the shell pattern (fnmatch(3), no flags: `*` also matches slashes and leading dots).
#[must_use]
pub fn glob_matches(pattern: &CStr, text: &CStr, ignore_case: bool) -> bool {
    /// GNU's extension, in every C library of Linux.
    const FNM_CASEFOLD: libc::c_int = 1 << 4;
    let flags = if ignore_case { FNM_CASEFOLD } else { 0 };
    // SAFETY: both strings end with their NUL and live through the call.
    unsafe { libc::fnmatch(pattern.as_ptr(), text.as_ptr(), flags) == 0 }
}

/// Writes `seconds` since 1970 in the local time zone as strftime(3)'s `format` says; empty where the format gives nothing, it
/// passes 1 KiB, or the year passes an int.
#[must_use]
pub fn format_time(format: &CStr, seconds: i64) -> Vec<u8> {
    let mut broken_down = MaybeUninit::<libc::tm>::uninit();
    // SAFETY: both point to live values; the second is written whole where the answer is not null.
    let told = unsafe { libc::localtime_r(&raw const seconds, broken_down.as_mut_ptr()) };
    if told.is_null() {
        return Vec::new();
    }
    let mut text = vec![0_u8; 1024];
    // SAFETY: the buffer has the length given; the format ends with NUL; localtime_r filled the time.
    let length = unsafe {
        libc::strftime(text.as_mut_ptr().cast(), text.len(), format.as_ptr(), broken_down.as_ptr())
    };
    text.truncate(length);
    text
}

/// A time by the calendar and the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenDown {
    /// As written: 2026.
    pub year: i32,
    /// From 1.
    pub month: i32,
    /// Of the month, from 1.
    pub day: i32,
    /// From 0.
    pub hour: i32,
    /// From 0.
    pub minute: i32,
    /// From 0.
    pub second: i32,
}

/// A time since 1970 by the local calendar; `None` where the year passes an int.
#[must_use]
pub fn broken_down(seconds: i64) -> Option<BrokenDown> {
    let mut time = MaybeUninit::<libc::tm>::uninit();
    // SAFETY: both point to live values; the second is written whole where the answer is not null.
    let told = unsafe { libc::localtime_r(&raw const seconds, time.as_mut_ptr()) };
    if told.is_null() {
        return None;
    }
    // SAFETY: as just said.
    let time = unsafe { time.assume_init() };
    Some(BrokenDown {
        year: time.tm_year.checked_add(1900)?,
        month: time.tm_mon + 1,
        day: time.tm_mday,
        hour: time.tm_hour,
        minute: time.tm_min,
        second: time.tm_sec,
    })
}

/// The other way round, in the local time zone or in Greenwich's; parts beyond their range count on (the 32nd of May is the 1st of
/// June). `None` where that cannot be said.
#[must_use]
pub fn seconds_of(time: &BrokenDown, greenwich: bool) -> Option<i64> {
    // SAFETY: all zeros is a time: numbers, and no name of a zone.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    parts.tm_year = time.year.checked_sub(1900)?;
    parts.tm_mon = time.month.checked_sub(1)?;
    (parts.tm_mday, parts.tm_hour, parts.tm_min) = (time.day, time.hour, time.minute);
    (parts.tm_sec, parts.tm_isdst, parts.tm_wday) = (time.second, -1, -1);
    // SAFETY: a live time of the C library's layout, which it may put into its ranges.
    let seconds =
        unsafe { if greenwich { libc::timegm(&raw mut parts) } else { libc::mktime(&raw mut parts) } };
    // The weekday is filled in unless it failed; -1 by itself is a second before 1970.
    (parts.tm_wday >= 0).then_some(seconds)
}

/// Seconds since the last local midnight at `seconds` since 1970.
#[must_use]
pub fn seconds_of_day(seconds: i64) -> i64 {
    let part = |format: &CStr| String::from_utf8_lossy(&format_time(format, seconds)).parse().unwrap_or(0);
    let (hours, minutes, seconds): (i64, i64, i64) = (part(c"%H"), part(c"%M"), part(c"%S"));
    hours * 3600 + minutes * 60 + seconds
}

/// Bytes as a C string; what follows a NUL, which no path or argument holds, is left out.
#[must_use]
pub fn c_string(bytes: &[u8]) -> CString {
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
        for seconds in [0, 1_577_934_245, 1_600_000_000] {
            let time = broken_down(seconds).unwrap();
            assert_eq!(seconds_of(&time, false), Some(seconds));
        }
        let time = BrokenDown { year: 1970, month: 1, day: 32, hour: 0, minute: 0, second: 0 };
        assert_eq!(seconds_of(&time, true), Some(31 * 86_400));
    }

    #[test]
    fn a_time_is_written_by_its_parts() {
        assert_eq!(format_time(c"%s", 1_577_934_245), b"1577934245");
        assert!((0..86_401).contains(&seconds_of_day(1_577_934_245)));
        assert_eq!(c_string(b"ab\0c").as_bytes(), b"ab");
    }
}
