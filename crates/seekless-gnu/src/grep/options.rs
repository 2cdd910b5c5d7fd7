//! What a search is asked: the flags of GNU grep 3.8 as a struct, and the two of our own.

use super::Colors;
use super::text::heeds_nuls;
use seekless_read::Records;

/// What the copies of one long line may take together.
const HELD_BYTES_MAX: usize = 48 << 20;

/// Which language the patterns are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// POSIX basic expressions with GNU's additions (`-G`).
    Basic,
    /// POSIX extended expressions with GNU's additions (`-E`).
    Extended,
    /// Fixed strings (`-F`).
    Fixed,
    /// Perl's expressions, by PCRE2 (`-P`).
    Perl,
}

/// What a character is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locale {
    /// A byte each, and only ASCII's letters are letters.
    C,
    /// UTF-8; what is not well formed matches nothing.
    Utf8,
}

/// What to do with a file that is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryFiles {
    /// Say that it matches and show nothing of it.
    Binary,
    /// Take it for text (`-a`).
    Text,
    /// Take it for a file without a match (`-I`).
    WithoutMatch,
}

/// Whether to print names instead of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// No: lines or counts.
    None,
    /// Names of files with a selected line (`-l`).
    Matching,
    /// Names of files without one (`-L`).
    NonMatching,
}

/// Patterns as they were given, one of `-e`, `-f` or the operand; a newline parts several in one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The text, without a last newline.
    pub text: Vec<u8>,
    /// The file it came from, for messages.
    pub file: Option<Vec<u8>>,
}

/// All a search is asked. Fields without a word of their own are the flag of that name.
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
    /// Nobody sees what is printed (`/dev/null`): one selected line of a file is enough.
    pub discard: bool,
    /// Stop a file after so many selected lines.
    pub max_count: Option<u64>,
    /// Files are read though no line can be selected: `max_count` is 0 because GNU's count is negative and `invert_match` set.
    pub reads_in_vain: bool,
    pub byte_offset: bool,
    pub line_number: bool,
    pub only_matching: bool,
    pub before: u64,
    pub after: u64,
    /// Any of -A, -B, -C was given: groups are parted.
    pub context: bool,
    /// What parts groups of lines; `None` for nothing.
    pub group_separator: Option<Vec<u8>>,
    /// `None`: only when there are several files.
    pub with_filename: Option<bool>,
    /// What standard input is called.
    pub label: Vec<u8>,
    /// Records end in NUL (`-z`).
    pub null_data: bool,
    /// NUL after a file name (`-Z`).
    pub null_names: bool,
    pub binary_files: BinaryFiles,
    pub initial_tab: bool,
    pub colors: Option<Colors>,
    /// The value of the variable GREP_COLOR where it is heeded: a search says that it is deprecated.
    pub old_color: Option<String>,
    pub line_buffered: bool,
    pub no_messages: bool,
    /// Only what is in memory; what is left out is told on the error stream.
    pub cached_only: bool,
    /// How many cached bytes are held in memory until they are searched.
    pub hold_bytes: u64,
    /// File by file, from first byte to last.
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
            cached_only: false,
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

    /// What must not be cut apart: lines, which a NUL ends too where it makes a file binary.
    pub(super) fn records(&self) -> Records {
        match heeds_nuls(self) {
            true => Records::Either(b'\n', 0),
            false => Records::Delimiter(self.terminator()),
        }
    }

    /// How long a line may be: it is held once to be searched, once more to be printed, and again for the context.
    pub(super) fn line_bytes_max(&self) -> usize {
        match (self.prints_lines(), self.before > 0) {
            (false, _) => HELD_BYTES_MAX,
            (true, false) => HELD_BYTES_MAX / 2,
            (true, true) => HELD_BYTES_MAX / 3,
        }
    }

    /// One selected line decides about a file.
    pub(super) fn first_match_decides(&self) -> bool {
        self.quiet || self.discard || self.listing != Listing::None
    }

    /// Lines are printed, neither counts nor names.
    #[must_use]
    pub fn prints_lines(&self) -> bool {
        !self.first_match_decides() && !self.count
    }

    /// The answer depends on what stands before in the file: lines are printed, or a NUL ends the search of a file.
    pub(super) fn needs_order(&self) -> bool {
        self.prints_lines() || (self.binary_files == BinaryFiles::WithoutMatch && !self.null_data)
    }
}
