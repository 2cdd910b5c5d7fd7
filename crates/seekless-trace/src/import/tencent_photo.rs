//! Tencent's traces of photos (Zhou and others 2018): time as YYYYMMDDHHMMSS, checksum of the
//! photo, format (0 or 5), size (l, a, o, m, c or b), bytes, whether it was a hit, the device, and
//! the milliseconds of the answer; between blanks or commas. A photo in another format or size is
//! another object.

use super::accesses::{Fields, Form, Row};
use crate::Op;
use crate::foreign::SECOND_NS;

pub(super) const FORM: Form =
    Form { holds: "request of Tencent's traces of photos", from_1970: true, parse };

fn parse(line: &[u8]) -> Result<Option<Row<'_>>, String> {
    let fields = match line.contains(&b',') {
        true => Fields::of_commas(line),
        false => Fields::of_blanks(line),
    };
    if fields.len() < 8 {
        return Err(fields.wrong(fields.len(), "8 fields, the last the time of the answer,"));
    }
    let seconds = seconds(fields.get(0)).ok_or_else(|| fields.wrong(0, "YYYYMMDDHHMMSS"))?;
    let bytes = fields.whole(4, "a size in bytes")?;
    let name = [1, 2, 3].map(|at| fields.text(at)).join("/");
    Ok(Some(Row {
        time_ns: seconds * SECOND_NS,
        bytes,
        file_bytes: Some(bytes),
        ..Row::new(Op::Load, name)
    }))
}

/// Seconds from 1970 to a time of the years up to 2199, as if the clock were that of Greenwich.
fn seconds(text: &[u8]) -> Option<u64> {
    if text.len() != 14 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |range: std::ops::Range<usize>| {
        text[range].iter().fold(0, |all, digit| all * 10 + u64::from(digit - b'0'))
    };
    let (year, month, day) = (number(0..4), number(4..6), number(6..8));
    let (hour, minute, second) = (number(8..10), number(10..12), number(12..14));
    let is_time = hour < 24 && minute < 60 && second < 61;
    if !is_time || !(1970..2200).contains(&year) {
        return None;
    }
    let leap = |year: u64| {
        let every = |years| year.is_multiple_of(years);
        every(4) && (!every(100) || every(400))
    };
    let february = if leap(year) { 29 } else { 28 };
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let month = usize::try_from(month).ok()?.checked_sub(1)?;
    if day == 0 || day > *months.get(month)? {
        return None;
    }
    let years: u64 = (1970..year).map(|year| if leap(year) { 366 } else { 365 }).sum();
    let days = years + months[..month].iter().sum::<u64>() + day - 1;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        // By `date -u -d '2016-03-01 00:00:01' +%s` and the like.
        for (text, expected) in [
            ("19700101000000", Some(0)),
            ("20160301000001", Some(1_456_790_401)),
            ("20001231235959", Some(978_307_199)),
            ("20150229000000", None),
            ("20151301000000", None),
            ("20151201240000", None),
            ("2015120100000", None),
        ] {
            assert_eq!(seconds(text.as_bytes()), expected, "{text}");
        }
    }
}
