//! What of a name, a message or a text reaches a terminal: nothing that the terminal would obey
//! instead of showing it.
//!
//! Names come from files, traces, archives and programs of others. A name may hold the bytes that
//! move the cursor, set the window's title, or turn the rest of a line around; with a line feed it
//! may pretend to be a row of a table.

use seekless_sys::names::{escape, misleads};
use std::borrow::Cow;
use std::ffi::OsStr;

/// A name, in one line: as it is if that shows it, else as a trace has it, with control characters
/// as `\xHH` too. Whoever prints a name takes this function.
#[must_use]
pub fn shown<N: AsRef<OsStr> + ?Sized>(name: &N) -> Cow<'_, str> {
    let name = name.as_ref();
    match name.to_str() {
        Some(text) if !text.contains(misleads) => Cow::Borrowed(text),
        _ => Cow::Owned(escape(name.as_encoded_bytes(), |char| misleads(char) || char == '\\')),
    }
}

/// A message, or a cell of a table, in one line. The names in it may be shown already.
#[must_use]
pub fn line(message: &str) -> Cow<'_, str> {
    match message.contains(misleads) {
        true => Cow::Owned(seekless_sys::names::line(message)),
        false => Cow::Borrowed(message),
    }
}

/// A text of our own, of several lines. Each name in it must have passed through [`shown`] or
/// [`line()`], since only its line feeds would be left.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    let is_odd = |char| misleads(char) && char != '\n';
    match text.contains(is_odd) {
        true => Cow::Owned(escape(text.as_bytes(), is_odd)),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_name_is_one_line_that_a_terminal_shows() {
        assert_eq!(shown("art/wall 1.dds"), "art/wall 1.dds");
        assert_eq!(shown("C:\\new"), "C:\\new");
        assert_eq!(shown(OsStr::from_bytes(b"C:\\\xff")), "C:\\\\\\xff");
        let odd = "a\x1b[2J\r\n\t\u{202e}\u{9b}";
        let escaped = "a\\x1b[2J\\x0d\\x0a\\x09\\xe2\\x80\\xae\\xc2\\x9b";
        assert_eq!(shown(odd), escaped);
        assert_eq!(shown(escaped), escaped, "what is shown stays as it is");
        assert_eq!(line(escaped), escaped);
    }

    #[test]
    fn a_text_keeps_its_line_feeds_and_nothing_else() {
        assert_eq!(lines("one\ntwo\n"), "one\ntwo\n");
        assert_eq!(lines("one\r\n\ttwo\x07"), "one\\x0d\n\\x09two\\x07");
        assert_eq!(line("one\ntwo"), "one\\x0atwo");
    }
}
