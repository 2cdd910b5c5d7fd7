//! What formats of text cannot carry, and the writer of those with a name a line.

use std::io::{self, Write};
use std::str::from_utf8;

/// A name in UTF-8, as JSON needs it.
pub(in super::super) fn not_text(name: &[u8]) -> Option<&'static str> {
    from_utf8(name).is_err().then_some("with a name that is not UTF-8")
}

/// A name without line breaks.
pub(in super::super) fn broken(name: &[u8]) -> Option<&'static str> {
    name.iter().any(|byte| matches!(byte, b'\n' | b'\r')).then_some("with a line break in the name")
}

/// A name that stays the same where the tool drops white space around it.
pub(in super::super) fn trimmed(name: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(name);
    broken(name).or_else(|| (text.trim() != text).then_some("with white space around the name"))
}

/// The text of a name that [`not_text`] does not refuse.
pub(super) fn text(name: &[u8]) -> &str {
    from_utf8(name).unwrap_or_default()
}

/// Writes a line.
pub(super) fn line(out: &mut dyn Write, parts: &[&[u8]]) -> io::Result<()> {
    parts.iter().try_for_each(|part| out.write_all(part))?;
    out.write_all(b"\n")
}
