//! Names as messages and terminals show them.

use crate::clib::ctype::is_printable;

/// A message of texts and bytes, one after the other.
macro_rules! say {
    ($($part:expr),+ $(,)?) => {{
        let mut text: Vec<u8> = Vec::new();
        $(text.extend_from_slice(AsRef::<[u8]>::as_ref(&$part));)+
        text
    }};
}
pub(super) use say;

/// Writes a name between the quotes of the locale: ‘name’ in UTF-8, 'name' else; control characters as octal escapes.
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

/// A name for a terminal: control characters become question marks.
pub(super) fn printable(name: &[u8]) -> Vec<u8> {
    name.iter().map(|&byte| if byte < 0x20 || byte == 0x7f { b'?' } else { byte }).collect()
}
