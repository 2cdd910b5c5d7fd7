//! Formats names for messages and terminals.

use crate::clib::ctype::is_printable;

/// Joins texts and bytes into a message.
macro_rules! say {
    ($($part:expr),+ $(,)?) => {{
        let mut text: Vec<u8> = Vec::new();
        $(text.extend_from_slice(AsRef::<[u8]>::as_ref(&$part));)+
        text
    }};
}
pub(super) use say;

/// Puts a name between the locale's quotes, ‘name’ in UTF-8 and 'name' otherwise. Control
/// characters become octal escapes.
pub(super) fn quoted(name: &[u8], utf8: bool) -> String {
    let (open, close) = if utf8 { ('‘', '’') } else { ('\'', '\'') };
    let mut text = String::from(open);
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\x07' => text += "\\a",
                '\x08' => text += "\\b",
                '\x0b' => text += "\\v",
                '\x0c' => text += "\\f",
                '\n' => text += "\\n",
                '\t' => text += "\\t",
                '\r' => text += "\\r",
                '\\' => text += "\\\\",
                _ if character == close => text.extend(['\\', close]),
                _ if !is_printable(character, utf8) => {
                    let mut buffer = [0; 4];
                    for byte in character.encode_utf8(&mut buffer).bytes() {
                        text += &format!("\\{byte:03o}");
                    }
                }
                _ => text.push(character),
            }
        }
        for byte in chunk.invalid() {
            text += &format!("\\{byte:03o}");
        }
    }
    text.push(close);
    text
}

/// A name for a terminal. A question mark replaces each character that cannot be printed, and each
/// byte that is not part of a character.
pub(super) fn printable(name: &[u8], utf8: bool) -> Vec<u8> {
    if !utf8 {
        return name
            .iter()
            .map(|byte| if (b' '..=b'~').contains(byte) { *byte } else { b'?' })
            .collect();
    }
    let mut text = String::new();
    for chunk in name.utf8_chunks() {
        let shown = |character| if is_printable(character, utf8) { character } else { '?' };
        text.extend(chunk.valid().chars().map(shown));
        // A character that is cut off at the end of the name counts once, however many bytes it
        // has.
        let cut =
            std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
        let ends = name.ends_with(chunk.invalid())
            && std::ptr::eq(name.as_ptr_range().end, chunk.invalid().as_ptr_range().end);
        let marks = if cut && ends { 1 } else { chunk.invalid().len() };
        text.extend(std::iter::repeat_n('?', marks));
    }
    text.into_bytes()
}
