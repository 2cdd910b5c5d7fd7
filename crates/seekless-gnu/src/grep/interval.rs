//! Reads intervals such as `{2,3}` as GNU grep's automaton does.

/// The most repetitions that are accepted: glibc's `RE_DUP_MAX`.
const REPEAT_MAX: u32 = 0x7fff;

/// How often an expression is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    /// Its length in the pattern, in bytes.
    pub length: usize,
    pub low: u32,
    /// `None`: without limit.
    pub high: Option<u32>,
}

/// Reads the interval at the start of `text`. Returns `None` if its brace is an ordinary character.
pub(super) fn interval(text: &[u8], extended: bool) -> Option<Result<Interval, String>> {
    let (opening, closing): (&[u8], &[u8]) = if extended { (b"{", b"}") } else { (b"\\{", b"\\}") };
    let body = text.strip_prefix(opening)?;
    match bounds(body).and_then(|(low, high, rest)| Some((low, high, rest.strip_prefix(closing)?)))
    {
        Some((low, high, rest)) if high.is_none_or(|high| low <= high) => {
            let length = text.len() - rest.len();
            Some(match high.unwrap_or(low) > REPEAT_MAX {
                true => Err("regular expression too big".to_owned()),
                false => Ok(Interval { length, low, high }),
            })
        }
        _ if extended => None,
        _ => Some(Err("invalid content of \\{\\}".to_owned())),
    }
}

/// Reads the bounds between the braces, and returns them with the rest of the text. Returns `None`
/// if there are no bounds.
fn bounds(body: &[u8]) -> Option<(u32, Option<u32>, &[u8])> {
    let (low, rest) = number(body);
    match rest.strip_prefix(b",") {
        Some(rest) => {
            let (high, rest) = number(rest);
            Some((low.unwrap_or(0), high, rest))
        }
        None => low.map(|low| (low, Some(low), rest)),
    }
}

/// Reads the number at the start of a text and returns it with the rest. Numbers above the limit
/// are cut off.
fn number(text: &[u8]) -> (Option<u32>, &[u8]) {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(digits);
    let value = digits
        .iter()
        .fold(0, |value: u32, digit| (value * 10 + u32::from(digit - b'0')).min(REPEAT_MAX + 1));
    ((!digits.is_empty()).then_some(value), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes read, least and most repetitions.
    type Bounds = (usize, u32, Option<u32>);

    fn read(text: &str, extended: bool) -> Option<Result<Bounds, String>> {
        let found = interval(text.as_bytes(), extended)?;
        Some(found.map(|interval| (interval.length, interval.low, interval.high)))
    }

    #[test]
    fn bounds_are_read() {
        for (text, length, low, high) in [
            ("{2}x", 3, 2, Some(2)),
            ("{2,}", 4, 2, None),
            ("{,3}", 4, 0, Some(3)),
            ("{,}", 3, 0, None),
            ("{1,2}{3}", 5, 1, Some(2)),
        ] {
            assert_eq!(read(text, true), Some(Ok((length, low, high))), "{text}");
        }
        assert_eq!(read(r"\{1,2\}a", false), Some(Ok((7, 1, Some(2)))));
    }

    #[test]
    fn what_is_no_interval_is_ordinary_or_wrong() {
        for text in ["{", "{}", "{2", "{x}", "{2,1}", "{,2,}", "{1 }", "a{1}"] {
            assert_eq!(read(text, true), None, "{text}");
        }
        for text in [r"\{\}", r"\{2}", r"\{2,1\}", r"\{,2,\}"] {
            assert_eq!(read(text, false), Some(Err(r"invalid content of \{\}".into())), "{text}");
        }
        assert_eq!(read("{32768}", true), Some(Err("regular expression too big".into())));
        assert_eq!(read("{99999999999}", true), Some(Err("regular expression too big".into())));
        assert!(matches!(read("{32767}", true), Some(Ok(_))));
    }
}
