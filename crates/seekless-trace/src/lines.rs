//! Reads the lines of a text file that may be compressed, with their numbers. A limit on their
//! length keeps a file without line ends from filling the memory.

use crate::compressed::{self, Input};
use crate::error::{Error, ErrorKind, Place, Result};
use std::io::BufRead;
use std::path::{Path, PathBuf};

/// The limit on a line. A path has at most 4,096 bytes, so a longer line is not from a trace.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 10;
/// A longer line is malformed, and its rest is skipped. A file with a line over this limit is no
/// text: a disk image would be read to its end, and /dev/zero has none.
const SKIPPED_BYTES_MAX: u64 = 1 << 20;

/// The lines of a file.
pub(crate) struct Lines {
    input: Input,
    path: PathBuf,
    line: Vec<u8>,
    number: u64,
    start: u64,
    end: u64,
    too_long: bool,
    /// A line was found that no text has: there are no more lines.
    is_no_text: bool,
    ended: bool,
    end_byte: u8,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self::of(compressed::open(path)?, path))
    }

    /// The lines of a file that is open.
    pub(crate) fn of(input: Input, path: &Path) -> Self {
        Lines {
            input,
            path: path.to_owned(),
            line: Vec::new(),
            number: 0,
            start: 0,
            end: 0,
            too_long: false,
            is_no_text: false,
            ended: true,
            end_byte: b'\n',
        }
    }

    /// The same file, whose lines end in this byte.
    pub(crate) fn ending_in(self, end_byte: u8) -> Self {
        Self { end_byte, ..self }
    }

    /// Whether it is text, as opposed to names with a NUL behind each.
    pub(crate) fn ends_in_newlines(&self) -> bool {
        self.end_byte == b'\n'
    }

    /// Goes to the next line that is not blank; false at the end of the file.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        while self.advance_any()? {
            if !self.line.trim_ascii().is_empty() || self.too_long {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes to the next line, even a blank one.
    ///
    /// # Errors
    /// The file cannot be read, or the line is so long that the file is no text. Every later call
    /// fails then.
    pub(crate) fn advance_any(&mut self) -> Result<bool> {
        if self.is_no_text {
            return Err(self.no_text());
        }
        self.line.clear();
        self.start = self.end;
        self.too_long = false;
        loop {
            let buffer = match self.input.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.input.unreadable(&self.path, self.end, error)),
            };
            if buffer.is_empty() {
                self.number += u64::from(self.end > self.start);
                self.ended = false;
                return Ok(self.end > self.start);
            }
            let found = buffer.iter().position(|&byte| byte == self.end_byte);
            let part = &buffer[..found.unwrap_or(buffer.len())];
            self.too_long |= self.line.len() + part.len() > LINE_BYTES_MAX;
            if !self.too_long {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(found.is_some());
            self.input.reader.consume(used);
            self.end += used as u64;
            if found.is_none() && self.end - self.start > SKIPPED_BYTES_MAX {
                self.is_no_text = true;
                self.number += 1;
                return Err(self.no_text());
            }
            if found.is_some() {
                self.ended = true;
                self.number += 1;
                self.drop_marks();
                return Ok(true);
            }
        }
    }

    fn no_text(&self) -> Error {
        let message = format!(
            "line {} has over {SKIPPED_BYTES_MAX} bytes, so this is no text: name another file or, \
             if it is a trace, its format (--format)",
            self.number
        );
        Error::new(ErrorKind::Limit, &self.path, message).at(Place::Byte(self.start))
    }

    /// Drops a carriage return before the line's end, and a byte order mark before the first line.
    fn drop_marks(&mut self) {
        if self.end_byte == b'\n' && self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        if self.number == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
            self.line.drain(..3);
        }
    }

    /// The current line, without its end.
    pub(crate) fn text(&self) -> &[u8] {
        &self.line
    }

    /// Whether the current line has its end; only the last of a file may lack it.
    pub(crate) fn has_end(&self) -> bool {
        self.ended
    }

    /// The current line's number, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Refuses a line over the limit. The rest of it has been skipped.
    pub(crate) fn check_length(&self) -> Result<()> {
        if !self.too_long {
            return Ok(());
        }
        let message = format!(
            "line {} has over {LINE_BYTES_MAX} bytes, expected a line of text",
            self.number
        );
        Err(Error::new(ErrorKind::Limit, &self.path, message).at(Place::Byte(self.start)))
    }

    /// An error about the current line.
    pub(crate) fn malformed(&self, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Malformed, &self.path, message).at(Place::Line(self.number))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes of the file itself have been read.
    pub(crate) fn consumed(&self) -> u64 {
        self.input.consumed()
    }
}
