//! The options of a search: the flags of GNU grep 3.8 and two of our own.

use super::Colors;
use super::text::heeds_nuls;
use seekless_read::{Reach, Records};

/// The most memory for the copies of one long line.
const HELD_BYTES_MAX: usize = 48 << 20;

/// The language of the patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// POSIX basic expressions with GNU's additions (`-G`).
    Basic,
    /// POSIX extended expressions with GNU's additions (`-E`).
    Extended,
    /// Fixed strings (`-F`).
    Fixed,
    /// Perl's expressions, matched by PCRE2 (`-P`).
    Perl,
}

/// How bytes are read as characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locale {
    /// Each byte is a character, and only ASCII letters are letters.
    C,
    /// UTF-8; malformed bytes match nothing.
    Utf8,
}

/// How to treat a file that is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryFiles {
    /// Print that it matches, but none of its lines.
    Binary,
    /// Treat it as text (`-a`).
    Text,
    /// Treat it as a file without a match (`-I`).
    WithoutMatch,
}

/// Whether to print file names instead of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// No: lines or counts.
    None,
    /// Names of files with a selected line (`-l`).
    Matching,
    /// Names of files without a selected line (`-L`).
    NonMatching,
}

/// The patterns of one `-e`, one `-f` or the operand; newlines separate them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The text, without a last newline.
    pub text: Vec<u8>,
    /// The file that they came from, for messages.
    pub file: Option<Vec<u8>>,
}

/// The options of a search. A field without a comment is the flag of that name.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "a field is the flag of its name in GNU's manual")]
pub struct Options {
    pub patterns: Vec<Pattern>,
    pub syntax: Syntax,
    pub locale: Locale,
    pub ignore_case: bool,
    pub word_regexp: bool,
    pub line_regexp: bool,
    pub invert_match: bool,
    pub count: bool,
    pub listing: Listing,
    pub quiet: bool,
    /// Output is discarded (`/dev/null`): one selected line in any file is enough.
    pub discard: bool,
    /// Stop searching a file after this many selected lines.
    pub max_count: Option<u64>,
    /// Read files although no line can be selected. This is set if GNU's count is negative and
    /// `invert_match` is set; `max_count` is then 0.
    pub reads_in_vain: bool,
    pub byte_offset: bool,
    pub line_number: bool,
    pub only_matching: bool,
    pub before: u64,
    pub after: u64,
    /// Whether any of -A, -B, -C was given: groups are separated.
    pub context: bool,
    /// The line between groups; `None` for no line.
    pub group_separator: Option<Vec<u8>>,
    /// `None`: only if there are several files.
    pub with_filename: Option<bool>,
    /// The name of standard input in the output.
    pub label: Vec<u8>,
    /// Records end in NUL (`-z`).
    pub null_data: bool,
    /// File names end in NUL (`-Z`).
    pub null_names: bool,
    pub binary_files: BinaryFiles,
    pub initial_tab: bool,
    pub colors: Option<Colors>,
    /// The value of the variable GREP_COLOR, if it takes effect. The search then warns that it is
    /// deprecated.
    pub old_color: Option<String>,
    pub line_buffered: bool,
    pub no_messages: bool,
    /// How far to go for the bytes; skipped parts are reported on the error stream.
    pub reach: Reach,
    /// The most cached bytes to hold in memory until they are searched.
    pub hold_bytes: u64,
    /// Read file by file, each from its first byte to its last.
    pub linear: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            patterns: Vec::new(),
            syntax: Syntax::Basic,
            locale: Locale::C,
            ignore_case: false,
            word_regexp: false,
            line_regexp: false,
            invert_match: false,
            count: false,
            listing: Listing::None,
            quiet: false,
            discard: false,
            max_count: None,
            reads_in_vain: false,
            byte_offset: false,
            line_number: false,
            only_matching: false,
            before: 0,
            after: 0,
            context: false,
            group_separator: Some(b"--".to_vec()),
            with_filename: None,
            label: b"(standard input)".to_vec(),
            null_data: false,
            null_names: false,
            binary_files: BinaryFiles::Binary,
            initial_tab: false,
            colors: None,
            old_color: None,
            line_buffered: false,
            no_messages: false,
            reach: Reach::default(),
            hold_bytes: 0,
            linear: false,
        }
    }
}

impl Options {
    /// The byte that ends a line.
    #[must_use]
    pub fn terminator(&self) -> u8 {
        if self.null_data { 0 } else { b'\n' }
    }

    /// The units that must not be cut: lines. A NUL ends a line too where it makes a file binary.
    pub(super) fn records(&self) -> Records {
        match heeds_nuls(self) {
            true => Records::Either(b'\n', 0),
            false => Records::Delimiter(self.terminator()),
        }
    }

    /// The longest line. A line is held once for searching, again for printing, and again for the
    /// context.
    pub(super) fn line_bytes_max(&self) -> usize {
        match (self.prints_lines(), self.before > 0) {
            (false, _) => HELD_BYTES_MAX,
            (true, false) => HELD_BYTES_MAX / 2,
            (true, true) => HELD_BYTES_MAX / 3,
        }
    }

    /// Whether one selected line decides about a file.
    pub(super) fn first_match_decides(&self) -> bool {
        self.quiet || self.discard || self.listing != Listing::None
    }

    /// Whether lines are printed, rather than counts or names.
    #[must_use]
    pub fn prints_lines(&self) -> bool {
        !self.first_match_decides() && !self.count
    }

    /// Whether the answer depends on earlier parts of the file. It does if lines are printed, or if
    /// a NUL ends the search of a file.
    pub(super) fn needs_order(&self) -> bool {
        self.prints_lines() || (self.binary_files == BinaryFiles::WithoutMatch && !self.null_data)
    }
}
