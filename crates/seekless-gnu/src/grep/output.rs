//! Gathers lines into large writes. Lines are written before a message that follows them, since
//! both may go to one terminal. After a write error, nothing more is written.

use std::io::{self, Write};

/// How many bytes of output are gathered before they are written.
const WRITE_BYTES: usize = 64 << 10;

pub(super) struct Output<'o> {
    out: &'o mut dyn Write,
    err: &'o mut dyn Write,
    gathered: Vec<u8>,
    refused: Option<io::Error>,
}

impl<'o> Output<'o> {
    pub(super) fn new(out: &'o mut dyn Write, err: &'o mut dyn Write) -> Self {
        Output { out, err, gathered: Vec::new(), refused: None }
    }

    pub(super) fn print(&mut self, text: &[u8]) {
        if self.gathered.len() + text.len() < WRITE_BYTES {
            self.gathered.extend_from_slice(text);
        } else if self.refused.is_none() {
            let written =
                self.out.write_all(&self.gathered).and_then(|()| self.out.write_all(text));
            self.refused = written.err();
            self.gathered.clear();
        }
    }

    /// Prints a message after the program's name.
    pub(super) fn say(&mut self, message: &[u8]) {
        self.flush();
        if self.refused.is_none() {
            self.refused = self.err.write_all(&[b"grep: ", message, b"\n"].concat()).err();
        }
    }

    pub(super) fn flush(&mut self) {
        if self.refused.is_none() {
            let written = self.out.write_all(&self.gathered).and_then(|()| self.out.flush());
            self.refused = written.err();
        }
        self.gathered.clear();
    }

    /// # Errors
    ///
    /// The first write error; it is returned once.
    pub(super) fn check(&mut self) -> io::Result<()> {
        self.refused.take().map_or(Ok(()), Err)
    }
}
