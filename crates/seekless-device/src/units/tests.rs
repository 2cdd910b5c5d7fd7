//! The forms that the help shows, the ones that it refuses, and that what is printed can be read
//! back.

use super::*;
use crate::ErrorKind;
use proptest::prelude::*;

#[test]
fn sizes_in_the_forms_that_the_help_shows() {
    let good = [
        ("0", 0),
        ("4096B", 4096),
        ("812 B", 812),
        ("10MB", 10_000_000),
        ("64MiB", 64 << 20),
        ("512KiB", 512 << 10),
        ("1.5GB", 1_500_000_000),
        (" 2 kb ", 2_000),
        ("0.1KiB", 102),
        ("18446744073709551615B", u64::MAX),
    ];
    for (text, bytes) in good {
        assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
    }
}

#[test]
fn what_is_no_size_is_refused_and_the_forms_are_shown() {
    let bad = [
        ("", ErrorKind::NotANumber),
        ("MB", ErrorKind::NotANumber),
        ("-1", ErrorKind::NotANumber),
        ("1..5MB", ErrorKind::NotANumber),
        ("1.MB", ErrorKind::NotANumber),
        ("10M", ErrorKind::UnknownUnit),
        ("64", ErrorKind::UnknownUnit),
        ("10MB/s", ErrorKind::UnknownUnit),
        ("10 MB 3", ErrorKind::UnknownUnit),
        ("18446744073709551616B", ErrorKind::TooLarge),
        ("99999999999TiB", ErrorKind::TooLarge),
    ];
    for (text, kind) in bad {
        let error = parse_bytes(text).expect_err(text);
        assert_eq!(error.kind(), kind, "{text}");
        assert!(error.to_string().contains("64MiB"), "{error}");
    }
}

#[test]
fn rates_and_durations() {
    assert_eq!(parse_rate("150MB/s"), Ok(150_000_000));
    assert_eq!(parse_rate("64MiB"), Ok(64 << 20));
    let error = parse_rate("150").unwrap_err().to_string();
    assert_eq!(error, "\"150\" has no unit: write a rate as 150MB/s, 64MiB/s or 1.5GB/s");
    assert_eq!((parse_offset("4096"), parse_offset(" 1MiB")), (Ok(4096), Ok(1 << 20)));
    assert!(parse_offset("").is_err() && parse_offset("-1").is_err());
    assert_eq!(parse_duration("2.5ms"), Ok(2_500_000));
    assert_eq!(parse_duration("20 µs"), Ok(20_000));
    assert_eq!(parse_duration("3min"), Ok(180_000_000_000));
    assert_eq!(parse_duration("0"), Ok(0));
    assert_eq!(parse_duration("5").map_err(|error| error.kind()), Err(ErrorKind::UnknownUnit));
}

#[test]
fn figures_as_people_read_them() {
    assert_eq!(format_bytes(812), "812 B");
    assert_eq!(format_bytes(141_249_999), "141.2 MB");
    assert_eq!(format_bytes(999_949), "999.9 KB");
    assert_eq!(format_bytes(999_950), "1.0 MB");
    assert_eq!(format_bytes(u64::MAX), "18446.7 PB");
    assert_eq!(format_duration(95), "95 ns");
    assert_eq!(format_duration(7_800), "7.8 µs");
    assert_eq!(format_duration(45_600_000), "45.6 ms");
    assert_eq!(format_duration(999_960_000), "1.00 s");
    assert_eq!(format_duration(1_230_000_000), "1.23 s");
    assert_eq!(format_duration(725_000_000_000), "12 min 5 s");
    assert_eq!(format_count(0), "0");
    assert_eq!(format_count(999), "999");
    assert_eq!(format_count(36_266), "36,266");
    assert_eq!(format_count(1_000_000), "1,000,000");
    assert_eq!(format_rate(1_500_000_000), "1500MB/s");
}

#[test]
fn one_is_said_as_one() {
    assert_eq!(
        [0, 1, 2_936].map(|count| counted(count, "load")),
        ["0 loads", "1 load", "2,936 loads"]
    );
    assert_eq!(
        [1, 2].map(|count| counted(count, "empty directory")),
        ["1 empty directory", "2 empty directories"]
    );
    assert_eq!([1, 2].map(|count| counted(count, "access")), ["1 access", "2 accesses"]);
}

proptest! {
    #[test]
    fn a_printed_rate_reads_back(rate in any::<u64>(), zeros in 0u32..12) {
        let rate = rate / 10u64.pow(zeros) * 10u64.pow(zeros);
        prop_assert_eq!(parse_rate(&format_rate(rate)), Ok(rate));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,24}") {
        let _ = (parse_bytes(&text), parse_rate(&text), parse_duration(&text));
    }
}
