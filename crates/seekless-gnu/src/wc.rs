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

    /// The counts that are in this or in another one.
    fn or(self, other: Wanted) -> Wanted {
        Wanted {
            lines: self.lines || other.lines,
            words: self.words || other.words,
            characters: self.characters || other.characters,
            bytes: self.bytes || other.bytes,
            columns: self.columns || other.columns,
        }
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
    /// Adds the counts of another file. A sum beyond 64 bits becomes their greatest number, as in
    /// GNU wc 9.2. Returns which sums that is.
    fn add(&mut self, other: &Counts) -> Wanted {
        let mut beyond = Wanted::default();
        for (sum, count, is_beyond) in [
            (&mut self.lines, other.lines, &mut beyond.lines),
            (&mut self.words, other.words, &mut beyond.words),
            (&mut self.characters, other.characters, &mut beyond.characters),
            (&mut self.bytes, other.bytes, &mut beyond.bytes),
        ] {
            let exact = sum.checked_add(count);
            *is_beyond = exact.is_none();
            *sum = exact.unwrap_or(u64::MAX);
        }
        self.columns = self.columns.max(other.columns);
        beyond
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_beyond_64_bits_do_not_wrap() {
        let counts = |lines, words, characters, bytes| Counts {
            lines,
            words,
            characters,
            bytes,
            ..Counts::default()
        };
        let half = 1 << 63;
        let mut sum = counts(half, half, 1, u64::MAX);
        let beyond = sum.add(&counts(half, half - 1, half, 0));
        assert_eq!(sum, counts(u64::MAX, u64::MAX, half + 1, u64::MAX));
        assert_eq!(beyond, Wanted { lines: true, ..Wanted::default() });
        assert_eq!(
            sum.add(&counts(0, 1, 0, 1)),
            Wanted { words: true, bytes: true, ..Wanted::default() }
        );
    }
}
