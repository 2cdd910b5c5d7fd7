//! UTF-8 as the C library reads it (RFC 2279, not 3629): up to six bytes, no surrogates, no
//! overlong forms.
//!
//! A malformed sequence skips its first byte only, which counts as no character.

/// The most continuation bytes of a character.
pub(crate) const FOLLOWING: usize = 5;

/// The beginning of some bytes, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decoded {
    /// The number of a character and its length in bytes.
    Character(u32, usize),
    /// A byte that begins no character.
    Invalid,
    /// The beginning of a character that the bytes cut off.
    Incomplete,
}

/// Whether a byte is a continuation byte.
#[inline]
pub(crate) fn follows(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Decodes the first character of `bytes`, which must not be empty.
#[inline]
pub(crate) fn decode(bytes: &[u8]) -> Decoded {
    let first = bytes[0];
    let length = match first {
        0..0x80 => return Decoded::Character(first.into(), 1),
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf8 => 4,
        0xf8..0xfc => 5,
        0xfc..0xfe => 6,
        _ => return Decoded::Invalid,
    };
    let mut code = u32::from(first) & (0x7f >> length);
    for step in 1..length {
        let Some(&byte) = bytes.get(step) else { return Decoded::Incomplete };
        if !follows(byte) {
            return Decoded::Invalid;
        }
        code = code << 6 | u32::from(byte & 0x3f);
    }
    let longer_than_needed = length > 2 && code >> (5 * length - 4) == 0;
    let surrogate = (0xd800..0xe000).contains(&code);
    if longer_than_needed || surrogate {
        Decoded::Invalid
    } else {
        Decoded::Character(code, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_std_reads() {
        for character in (0..=0x10ffff).step_by(7).filter_map(char::from_u32) {
            let mut bytes = [0; 4];
            let text = character.encode_utf8(&mut bytes).as_bytes();
            assert_eq!(decode(text), Decoded::Character(character.into(), text.len()));
            if text.len() > 1 {
                assert_eq!(decode(&text[..text.len() - 1]), Decoded::Incomplete);
            }
        }
    }

    #[test]
    fn goes_to_six_bytes_and_no_further() {
        assert_eq!(decode(b"\xf4\x90\x80\x80"), Decoded::Character(0x110000, 4));
        assert_eq!(decode(b"\xfd\xbf\xbf\xbf\xbf\xbf"), Decoded::Character(0x7fff_ffff, 6));
        for wrong in [
            &b"\x80"[..],
            b"\xc1\xbf",
            b"\xe0\x9f\xbf",
            b"\xed\xa0\x80",
            b"\xf8\x87\x80\x80\x80",
            b"\xfe",
            b"\xe2a",
        ] {
            assert_eq!(decode(wrong), Decoded::Invalid, "{wrong:x?}");
        }
    }
}
