//! Counts lines, words, characters, bytes and columns, whatever the order in which a file's pieces come.
//!
//! The answer is GNU wc's. A piece's counts are an element of a monoid (`tally`), so pieces are counted as they come, the
//! cheapest first, and joined by where they lie.

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

/// A name for a message, quoted as a shell needs it, where it does or a colon stands in it.
#[must_use]
pub fn quoted(name: &OsStr, charset: &mut Charset) -> Vec<u8> {
    quote::name(name.as_bytes(), charset)
}

/// A name for a message, always quoted.
#[must_use]
pub fn quoted_always(name: &OsStr, charset: &mut Charset) -> Vec<u8> {
    quote::always(name.as_bytes(), charset)
}

/// Which counts are asked for; printed in this order.
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
    /// How many counts a line has.
    #[must_use]
    pub fn figures(self) -> usize {
        [self.lines, self.words, self.characters, self.bytes, self.columns]
            .iter()
            .filter(|&&wanted| wanted)
            .count()
    }

    /// Whether more is asked than bytes and newlines.
    fn text(self) -> bool {
        self.words || self.characters || self.columns
    }

    /// Whether a file's size is the whole answer, in a locale where characters are bytes if `single`.
    fn only_size(self, single: impl FnOnce() -> bool) -> bool {
        let counted = self.lines || self.words || self.columns;
        !counted && (!self.characters || single())
    }
}

/// What a file holds; what was not asked for is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// Newlines.
    pub lines: u64,
    /// Words: what white space parts, and holds something printable.
    pub words: u64,
    /// Characters of the locale.
    pub characters: u64,
    /// Bytes.
    pub bytes: u64,
    /// The longest line, in columns.
    pub columns: u64,
}

impl Counts {
    /// Adds another file's.
    fn add(&mut self, other: &Counts) {
        self.lines += other.lines;
        self.words += other.words;
        self.characters += other.characters;
        self.bytes += other.bytes;
        self.columns = self.columns.max(other.columns);
    }
}
