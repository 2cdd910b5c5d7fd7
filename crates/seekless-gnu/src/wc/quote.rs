//! Quotes file names in messages for a shell, as the GNU tools do.

use super::charset::Charset;
use super::utf8::{self, Decoded};

/// Quotes a name if a shell needs it. A colon is quoted too, because a colon follows the name in
/// messages.
pub(crate) fn name(name: &[u8], charset: &mut Charset) -> Vec<u8> {
    let plain = !name.is_empty()
        && !name.contains(&b':')
        && parts(name, charset).iter().all(|part| !part.special);
    if plain { name.to_vec() } else { always(name, charset) }
}

/// Puts a name between quotes.
pub(crate) fn always(name: &[u8], charset: &mut Charset) -> Vec<u8> {
    let parts = parts(name, charset);
    if name.contains(&b'\'') && parts.iter().all(|part| part.in_double_quotes) {
        return [b"\"", name, b"\""].concat();
    }
    let mut quoted = vec![b'\''];
    // GNU's tools go over a name with a single quote twice, and forget between that an escape at
    // its end is over.
    let ends_escaped = parts.last().is_some_and(|part| !part.escape.is_empty());
    let mut escaping = name.contains(&b'\'') && ends_escaped;
    for part in parts {
        if part.bytes == b"'" {
            // This sequence closes the quotes and opens them again, so an escape before it need not
            // do so.
            quoted.extend_from_slice(b"'\\''");
            escaping = false;
        } else if part.escape.is_empty() {
            if escaping {
                quoted.extend_from_slice(b"''");
                escaping = false;
            }
            quoted.extend_from_slice(part.bytes);
        } else {
            if !escaping {
                quoted.extend_from_slice(b"'$'");
                escaping = true;
            }
            quoted.extend_from_slice(part.escape.as_bytes());
        }
    }
    quoted.push(b'\'');
    quoted
}

/// A character of a name, or a byte that is not part of one.
struct Part<'a> {
    bytes: &'a [u8],
    /// Its form in `$'...'`; empty if it needs no escape.
    escape: String,
    /// The name needs quotes because of it.
    special: bool,
    /// Means the same in double quotes as in single quotes.
    in_double_quotes: bool,
}

fn parts<'a>(name: &'a [u8], charset: &mut Charset) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < name.len() {
        let (length, printable) = character(&name[at..], charset);
        let bytes = &name[at..at + length];
        let escape = if printable {
            String::new()
        } else {
            bytes.iter().map(|&byte| escape(byte)).collect()
        };
        let lone = name.len() == 1;
        let special = !printable
            || match bytes[0] {
                b' ' | b'!' | b'"' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b';' | b'<'
                | b'=' | b'>' | b'?' | b'[' | b'\\' | b'^' | b'`' | b'|' => true,
                b'#' | b'~' => at == 0,
                b'{' | b'}' => lone,
                _ => false,
            };
        let in_double_quotes = printable
            && !matches!(
                bytes[0],
                b'!' | b'"'
                    | b'$'
                    | b'&'
                    | b'('
                    | b')'
                    | b'*'
                    | b';'
                    | b'<'
                    | b'='
                    | b'>'
                    | b'?'
                    | b'['
                    | b'\\'
                    | b'^'
                    | b'`'
                    | b'|'
            );
        parts.push(Part { bytes, escape, special, in_double_quotes });
        at += length;
    }
    parts
}

/// The length of the first character of `bytes`, and whether it is printable.
fn character(bytes: &[u8], charset: &mut Charset) -> (usize, bool) {
    if bytes[0] < 0x80 {
        return (1, (0x20..0x7f).contains(&bytes[0]));
    }
    if !charset.is_utf8() {
        let class = charset.bytes()[bytes[0] as usize];
        return (1, class.is_printable() || class.is_separator());
    }
    match utf8::decode(bytes) {
        Decoded::Character(code, length) => {
            let class = charset.class(code);
            (length, class.is_printable() || class.is_separator())
        }
        Decoded::Invalid | Decoded::Incomplete => (1, false),
    }
}

fn escape(byte: u8) -> String {
    match byte {
        7 => "\\a".to_owned(),
        8 => "\\b".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\n' => "\\n".to_owned(),
        0x0b => "\\v".to_owned(),
        0x0c => "\\f".to_owned(),
        b'\r' => "\\r".to_owned(),
        _ => format!("\\{byte:03o}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected names come from GNU wc 9.1 in the C locale.
    #[test]
    fn names_are_quoted_as_gnu_does() {
        let charset = &mut Charset::of(None, false);
        for (plain, quoted) in [
            (&b"small"[..], &b"small"[..]),
            (b"no such", b"'no such'"),
            (b"n'o", b"\"n'o\""),
            (b"n'o\"", b"'n'\\''o\"'"),
            (b"no\nnl", b"'no'$'\\n''nl'"),
            (b"\xff", b"''$'\\377'"),
            (b"no\n'", b"'no'$'\\n'\\'''"),
            (b"'we ird\n", b"''\\''we ird'$'\\n'"),
            (b"we ird'\n", b"'''we ird'\\'''$'\\n'"),
            (b"\xff'\n", b"'\\377'\\'''$'\\n'"),
            (b"no:x", b"'no:x'"),
            (b"~x", b"'~x'"),
            (b"x~", b"x~"),
            (b"", b"''"),
        ] {
            let found = name(plain, charset);
            assert_eq!(found, quoted, "{}", String::from_utf8_lossy(&found));
        }
    }
}
