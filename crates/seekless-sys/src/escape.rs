//! Bytes within a line of text, as the kernel writes them in /proc: odd ones as a backslash and
//! three octal digits.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// `bytes` with every byte but printable ASCII as `\ooo`, and backslashes too. Blanks stay.
#[cfg_attr(not(feature = "outputs"), allow(dead_code, reason = "journals have it"))]
#[must_use]
pub fn escaped(bytes: &OsStr) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes.as_bytes() {
        match byte {
            b' '..=b'~' if byte != b'\\' => text.push(char::from(byte)),
            _ => text += &format!("\\{byte:03o}"),
        }
    }
    text
}

/// The bytes of a field that the kernel, or [`escaped`], has written. A backslash without three
/// octal digits stands for itself.
#[must_use]
pub fn unescaped(field: &str) -> OsString {
    let bytes = field.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = (bytes[at] == b'\\').then(|| field.get(at + 1..at + 4)).flatten();
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(byte);
                at += 4;
            }
            None => {
                plain.push(bytes[at]);
                at += 1;
            }
        }
    }
    OsString::from_vec(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let all: Vec<u8> = (0..=255).collect();
        let all = OsString::from_vec(all);
        let text = escaped(&all);
        assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{text}");
        assert_eq!(unescaped(&text), all);
    }

    #[test]
    fn what_is_no_escape_stands_for_itself() {
        assert_eq!(unescaped(r"a\0é\9\"), r"a\0é\9\");
        assert_eq!(unescaped(r"two\040words"), "two words");
    }
}
