//! Unix seconds to DOS date and time and back, both taken as UTC (the archive also carries the
//! exact UTC second).

/// DOS times start here.
const FIRST_YEAR: i64 = 1980;
/// Seven bits of years.
const LAST_YEAR: i64 = FIRST_YEAR + 127;
const DAY_S: i64 = 86_400;

/// `(time, date)` as the two 16-bit DOS fields; clamped to 1980..=2107, odd seconds rounded down.
pub(crate) fn to_dos(unix_s: i64) -> (u16, u16) {
    let (year, month, day) = civil_from_days(unix_s.div_euclid(DAY_S));
    if year < FIRST_YEAR {
        return (0, date(FIRST_YEAR, 1, 1));
    }
    if year > LAST_YEAR {
        return (time(23, 59, 58), date(LAST_YEAR, 12, 31));
    }
    let second = unix_s.rem_euclid(DAY_S);
    (time(second / 3600, second / 60 % 60, second % 60), date(year, month, day))
}

/// Unix seconds of a DOS time; `None` where the fields are no date.
pub(crate) fn from_dos(time: u16, date: u16) -> Option<i64> {
    let (year, month, day) =
        (FIRST_YEAR + i64::from(date >> 9), i64::from(date >> 5 & 15), i64::from(date & 31));
    let (hour, minute, second) =
        (i64::from(time >> 11), i64::from(time >> 5 & 63), i64::from(time & 31) * 2);
    let valid = (1..=12).contains(&month) && day >= 1 && hour < 24 && minute < 60 && second < 60;
    valid.then(|| days_from_civil(year, month, day) * DAY_S + hour * 3600 + minute * 60 + second)
}

fn time(hour: i64, minute: i64, second: i64) -> u16 {
    (hour << 11 | minute << 5 | (second / 2)) as u16
}

fn date(year: i64, month: i64, day: i64) -> u16 {
    ((year - FIRST_YEAR) << 9 | month << 5 | day) as u16
}

/// Days since 1970-01-01 to year, month, day. Eras of 400 years, each year starting in March, so
/// that a leap day is the last day of its year (Howard Hinnant, "chrono-compatible low-level date
/// algorithms").
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_year - (153 * march_month + 2) / 5 + 1)
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let march_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * march_month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_times() {
        assert_eq!(to_dos(0), (0, date(1980, 1, 1)));
        assert_eq!(from_dos(0, date(1980, 1, 1)), Some(315_532_800));
        assert_eq!(to_dos(951_782_400), (0, date(2000, 2, 29)), "2000 is a leap year");
        assert_eq!(to_dos(i64::from(u32::MAX) * 2), (time(23, 59, 58), date(2107, 12, 31)));
        assert_eq!(from_dos(0, 0), None);
    }

    proptest! {
        #[test]
        fn round_trip_to_two_seconds(unix_s in 315_532_800i64..4_354_819_198) {
            let (time, date) = to_dos(unix_s);
            prop_assert_eq!(from_dos(time, date), Some(unix_s & !1));
        }
    }
}
