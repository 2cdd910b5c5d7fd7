//! Text that is shown as it is and never becomes a tag, a script or another direction of writing.

use serde_json::Value;
use std::fmt::Write as _;

/// Letters of a text that are shown; of a longer one the middle is left out.
const LETTERS: usize = 1_000;

/// Letters of a command that are shown.
const COMMAND_LETTERS: usize = 20_000;

/// The text with what cannot be seen as an escape, at most [`LETTERS`] letters of it.
pub(super) fn shown(text: &str) -> String {
    visible(&shortened(text, LETTERS))
}

/// The same of a command, which may be longer and have lines.
pub(super) fn shown_command(text: &str) -> String {
    let text = shortened(text, COMMAND_LETTERS);
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

fn shortened(text: &str, letters: usize) -> String {
    if text.len() <= letters || text.chars().count() <= letters {
        return text.to_owned();
    }
    let end = text.chars().count() - letters / 3;
    let first = text.chars().take(letters - letters / 3 - 1);
    first.chain(['…']).chain(text.chars().skip(end)).collect()
}

/// The text with the bytes of what misleads a reader as `\xHH`, as names have them elsewhere:
/// controls, separators of lines, marks that turn the direction of writing or take no room.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if is_hidden(char) {
            for byte in char.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(out, "\\x{byte:02x}");
            }
        } else {
            out.push(char);
        }
    }
    out
}

/// The same characters that a terminal is not sent.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// The text in HTML, between tags or in an attribute with quotes.
pub(super) fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

/// JSON that no HTML parser mistakes for tags or comments.
pub(super) fn json_in_html(value: &Value) -> String {
    let json = value.to_string();
    let mut out = String::with_capacity(json.len() + json.len() / 64);
    for char in json.chars() {
        match char {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", char as u32);
            }
            _ => out.push(char),
        }
    }
    out
}

/// Bytes that a shown text takes in the data, between its quotes.
pub(super) fn json_bytes(text: &str) -> usize {
    let bytes = |char: char| match char {
        '<' | '>' | '&' => 6,
        '"' | '\\' => 2,
        _ => char.len_utf8(),
    };
    text.chars().map(bytes).sum()
}
