//! Reads one CSV record (RFC 4180). A field with a delimiter in it is quoted with `"`; within
//! quotes, `""` is a quote. A quoted field may contain line ends.

use crate::error::Result;
use crate::lines::{LINE_BYTES_MAX, Lines};

/// The fields of one record. The next record uses the same buffers.
#[derive(Debug, Default)]
pub(crate) struct Record {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Record {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of field `at`, counted from 0.
    pub(crate) fn get(&self, at: usize) -> Option<&[u8]> {
        let end = *self.ends.get(at)?;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        Some(&self.text[start..end])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// Takes `fields` fields, whose text `write` adds to the end of what it is given.
    pub(crate) fn fill(&mut self, mut write: impl FnMut(&mut Vec<u8>, usize), fields: usize) {
        self.text.clear();
        self.ends.clear();
        for field in 0..fields {
            write(&mut self.text, field);
            self.ends.push(self.text.len());
        }
    }

    /// Splits the current line of `lines`. Takes more lines while a quoted field is open.
    pub(crate) fn read(&mut self, lines: &mut Lines, delimiter: u8) -> Result<()> {
        self.text.clear();
        self.ends.clear();
        lines.check_length()?;
        let mut open = self.split(lines.text(), delimiter, false);
        let first = lines.number();
        while open {
            self.text.push(b'\n');
            if self.text.len() > LINE_BYTES_MAX || !lines.advance_any()? {
                let message = format!(
                    "a quote that opens on line {first} never closes; expected `\"` before the delimiter"
                );
                return Err(lines.malformed(message));
            }
            lines.check_length()?;
            open = self.split(lines.text(), delimiter, true);
        }
        Ok(())
    }

    /// Adds the fields of `line`. Returns whether a quoted field is still open at its end.
    fn split(&mut self, line: &[u8], delimiter: u8, mut quoted: bool) -> bool {
        let mut rest = line;
        let mut field_start = !quoted;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'"' if quoted && after.first() == Some(&b'"') => {
                    self.text.push(b'"');
                    rest = &after[1..];
                }
                b'"' if quoted => quoted = false,
                b'"' if field_start => quoted = true,
                _ if byte == delimiter && !quoted => {
                    self.ends.push(self.text.len());
                    field_start = true;
                    continue;
                }
                _ => self.text.push(byte),
            }
            field_start = false;
        }
        if !quoted {
            self.ends.push(self.text.len());
        }
        quoted
    }
}
