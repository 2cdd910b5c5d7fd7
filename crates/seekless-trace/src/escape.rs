//! Paths are bytes, and a trace's `path` column is text. A byte that is not UTF-8 becomes `\xHH`,
//! and a backslash is doubled, so that the original can be restored exactly.

/// The text for `path` in a trace.
#[must_use]
pub fn escape_path(path: &[u8]) -> String {
    seekless_sys::names::escape(path, |char| char == '\\')
}

/// The path that `text` stands for. A backslash that `escape_path` cannot have written is kept, so
/// that names from other tools survive.
#[must_use]
pub fn unescape_path(text: &str) -> Vec<u8> {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let (byte, used) = match after {
            [b'\\', ..] if first == b'\\' => (b'\\', 2),
            [b'x', high, low, ..] if first == b'\\' => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, 4),
                _ => (first, 1),
            },
            _ => (first, 1),
        };
        path.push(byte);
        rest = &rest[used..];
    }
    path
}

fn digit(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bad_bytes_and_backslashes() {
        assert_eq!(escape_path(b"a\xff\\b\xc3\xa9"), "a\\xff\\\\b\u{e9}");
        assert_eq!(unescape_path("C:\\dir\\xzz"), b"C:\\dir\\xzz");
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(path in proptest::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(unescape_path(&escape_path(&path)), path);
        }
    }
}
