//! How a name of any bytes is written as text: in traces, and where it is shown to a person.
//!
//! A byte that is not UTF-8 becomes `\xHH`, and so does each byte of a character that must not
//! stand there. The same rule serves all, so that a name looks the same everywhere.

use std::fmt::Write;

/// `name` as text. Of a character for which `is_odd`, a backslash is doubled, and any other becomes
/// `\xHH` for each of its bytes in UTF-8.
#[must_use]
pub fn escape(name: &[u8], is_odd: impl Fn(char) -> bool) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                char if !is_odd(char) => text.push(char),
                '\\' => text.push_str("\\\\"),
                char => push_bytes(&mut text, char.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        push_bytes(&mut text, chunk.invalid());
    }
    text
}

fn push_bytes(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(text, "\\x{byte:02x}"); // writing to a string cannot fail
    }
}

/// Whether a terminal does something else with a character than show it in its place: control
/// characters (a line feed too), and those of Unicode that are invisible, end a line, or change the
/// direction of what follows. The two joiners (U+200C, U+200D) stay: scripts and emoji need them.
#[must_use]
pub fn misleads(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A message on one line, as a terminal may show it. Backslashes stay: names in it were escaped
/// already, or had no need.
#[must_use]
pub fn line(message: &str) -> String {
    escape(message.as_bytes(), misleads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_odd_character_is_written_by_its_bytes() {
        let odd = |char| misleads(char) || char == '\\';
        assert_eq!(escape("é\t\u{9b}".as_bytes(), odd), "é\\x09\\xc2\\x9b");
        assert_eq!(escape(b"a\xff\\\x1b", odd), "a\\xff\\\\\\x1b");
        assert_eq!(escape(b"C:\\dir", misleads), "C:\\dir");
        assert_eq!(line("two\nlines \u{202e}"), "two\\x0alines \\xe2\\x80\\xae");
    }

    #[test]
    fn what_people_write_is_shown_as_it_is() {
        for name in ["plain name.txt", "絵/壁.dds", "می\u{200c}خواهم", "👩\u{200d}🚀", "e\u{301}"]
        {
            assert_eq!(line(name), name);
        }
    }
}
