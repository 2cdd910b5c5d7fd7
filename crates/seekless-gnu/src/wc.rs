//! Counts lines, words, characters, bytes and columns of files whose pieces arrive in any order.
//!
//! The answer is GNU wc's. The counts of a piece are an element of a monoid (see `tally`). So
//! pieces are counted as they arrive, the cheapest first, and neighbours are joined by their
//! offsets.

mod charset;
mod columns;
mod job;
mod pieces;
mod plain;
mod print;
mod quote;
mod size;
mod tally;
mod utf8;
mod words;

pub(crate) use plain::newlines;

pub use charset::Charset;
pub use job::{Figures, Input, Job, Report, Statistics, Total, run};

use serde::Serialize;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// A file name for a message. It is quoted for a shell if a shell needs that or if it holds a
/// colon.
#[must_use]
pub fn quoted(name: &OsStr, charset: &mut Charset) -> Vec<u8> {
    quote::name(name.as_bytes(), charset)
}

/// A file name for a message, always quoted.
#[must_use]
pub fn quoted_always(name: &OsStr, charset: &mut Charset) -> Vec<u8> {
    quote::always(name.as_bytes(), charset)
}

/// The counts to print, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Newlines.
    pub lines: bool,
    /// Words.
    pub words: bool,
    /// Characters of the locale.
    pub characters: bool,
    /// Bytes.
    pub bytes: bool,
    /// The longest line, in columns.
    pub columns: bool,
}

impl Wanted {
    /// The number of counts on a line.
    #[must_use]
    pub fn figures(self) -> usize {
        [self.lines, self.words, self.characters, self.bytes, self.columns]
            .iter()
            .filter(|&&wanted| wanted)
            .count()
    }

    /// Whether the text must be read for more than its newlines.
    fn text(self) -> bool {
        self.words || self.characters || self.columns
    }

    /// Whether the sizes of files answer the question, so that no text is read. `single` says
    /// whether each byte is a character in the locale.
    fn only_size(self, single: impl FnOnce() -> bool) -> bool {
        let counted = self.lines || self.words || self.columns;
        !counted && (!self.characters || single())
    }
}

/// The counts of one file; a count that was not requested is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// Newlines.
    pub lines: u64,
    /// Words: stretches between white space that hold a printable character.
    pub words: u64,
    /// Characters of the locale.
    pub characters: u64,
    /// Bytes.
    pub bytes: u64,
    /// The longest line, in columns.
    pub columns: u64,
}

impl Counts {
    /// Adds the counts of another file.
    fn add(&mut self, other: &Counts) {
        self.lines += other.lines;
        self.words += other.words;
        self.characters += other.characters;
        self.bytes += other.bytes;
        self.columns = self.columns.max(other.columns);
    }
}
