//! Reads numbers with units exactly: `1.153597` seconds is 1,153,597,000 ns. A float would round
//! it.

/// `text` times `scale`, rounded down. `None` if it is not a number, is negative or does not fit.
pub(crate) fn scaled(text: &[u8], scale: u64) -> Option<u64> {
    let text = text.trim_ascii();
    if text.iter().any(|byte| matches!(byte, b'e' | b'E')) {
        return scaled_float(text, scale);
    }
    let (whole, fraction) = match text.iter().position(|&byte| byte == b'.') {
        Some(dot) => (&text[..dot], &text[dot + 1..]),
        None => (text, &text[..0]),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole = digits(whole)?.checked_mul(scale)?;
    // Places beyond a billionth of the unit do not count, but must be digits.
    let (counted, rest) = fraction.split_at(fraction.len().min(18));
    rest.iter().all(u8::is_ascii_digit).then_some(())?;
    let part = u128::from(digits(counted)?) * u128::from(scale) / 10_u128.pow(counted.len() as u32);
    whole.checked_add(u64::try_from(part).ok()?)
}

/// A whole number: `3139` or, as pandas writes it, `3139.0`.
pub(crate) fn whole(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let text = match text.iter().position(|&byte| byte == b'.') {
        Some(dot) if text[dot + 1..].iter().all(|&byte| byte == b'0') => &text[..dot],
        _ => text,
    };
    if text.is_empty() { None } else { digits(text) }
}

/// As [`whole`], with a sign.
pub(crate) fn signed(text: &[u8]) -> Option<i64> {
    match text.trim_ascii() {
        [b'-', rest @ ..] => 0_i64.checked_sub_unsigned(whole(rest)?),
        text => whole(text)?.try_into().ok(),
    }
}

fn digits(text: &[u8]) -> Option<u64> {
    text.iter().try_fold(0_u64, |sum, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

fn scaled_float(text: &[u8], scale: u64) -> Option<u64> {
    let value = std::str::from_utf8(text).ok()?.parse::<f64>().ok()? * scale as f64;
    (value >= 0.0 && value < u64::MAX as f64).then_some(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_decimals() {
        let s = 1_000_000_000;
        assert_eq!(scaled(b"1.153597", s), Some(1_153_597_000));
        assert_eq!(scaled(b"0.1", s), Some(100_000_000));
        assert_eq!(scaled(b" .5 ", 1024), Some(512));
        assert_eq!(scaled(b"2.", s), Some(2 * s));
        assert_eq!(scaled(b"1e-3", s), Some(1_000_000));
        assert_eq!(scaled(b"18446744073709551615", 1), Some(u64::MAX));
        for bad in [
            "",
            ".",
            "-1",
            "1.2.3",
            "0x10",
            "1 2",
            "nan",
            "inf",
            "1e400",
            "18446744073709551616",
            "1.0000000000000000000x",
        ] {
            assert_eq!(scaled(bad.as_bytes(), 1), None, "{bad}");
        }
        assert_eq!(scaled(b"18446744073709551615", 2), None);
    }

    #[test]
    fn whole_numbers() {
        assert_eq!(whole(b"3139.0"), Some(3139));
        assert_eq!(whole(b"3139.5"), None);
        assert_eq!(whole(b".0"), None);
        assert_eq!(signed(b"-1"), Some(-1));
        assert_eq!(signed(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(signed(b"9223372036854775808"), None);
    }
}
