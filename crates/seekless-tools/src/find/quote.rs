//! Names as messages and terminals show them.

/// Writes a name between the quotes of the locale: ‘name’ in UTF-8, 'name' else; control characters as octal escapes.
pub(super) fn quoted(name: &[u8], utf8: bool) -> String {
    let (open, close) = if utf8 { ("‘", "’") } else { ("'", "'") };
    let mut text = open.to_owned();
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\n' => text += "\\n",
                '\t' => text += "\\t",
                '\r' => text += "\\r",
                '\\' => text += "\\\\",
                '\'' if !utf8 => text += "\\'",
                _ if character.is_control() || (!utf8 && !character.is_ascii()) => {
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
    text + close
}

/// A name for a terminal: control characters become question marks.
pub(super) fn printable(name: &[u8]) -> Vec<u8> {
    name.iter().map(|&byte| if byte < 0x20 || byte == 0x7f { b'?' } else { byte }).collect()
}
