//! Expressions beyond an automaton: Perl's are matched by PCRE2. Those that GNU grep leaves to the
//! C library, such as back-references, are matched by that library.

use super::{Locale, Options, Syntax};
use crate::clib::perl::{Perl, PerlOptions};
use crate::clib::regex::{Dialect, Regex, Search};
use std::ops::Range;

/// Compiles the pattern of `-P`.
///
/// # Errors
///
/// PCRE2's message.
pub(super) fn perl(pattern: &[u8], options: &Options) -> Result<Perl, String> {
    let (word, whole_line) = (options.word_regexp && !options.line_regexp, options.line_regexp);
    let asked = PerlOptions {
        ignore_case: options.ignore_case,
        utf8: options.locale == Locale::Utf8,
        whole_line,
    };
    match word {
        true => Perl::new(&[br"(?<!\w)(?:", pattern, br")(?!\w)"].concat(), asked),
        false => Perl::new(pattern, asked),
    }
}

/// The C library's error for a POSIX expression, if any.
pub(super) fn wrong(pattern: &[u8], options: &Options) -> Option<String> {
    Regex::new(pattern, Language::from(options).dialect(), options.ignore_case).err()
}

/// What the C library must know besides a pattern.
#[derive(Clone, Copy, Debug)]
struct Language {
    locale: Locale,
    extended: bool,
    ignore_case: bool,
    whole_line: bool,
}

impl From<&Options> for Language {
    fn from(options: &Options) -> Self {
        Language {
            locale: options.locale,
            extended: options.syntax == Syntax::Extended,
            ignore_case: options.ignore_case,
            whole_line: options.line_regexp,
        }
    }
}

impl Language {
    /// The dialect of the expressions. Also sets the C library's locale.
    fn dialect(self) -> Dialect {
        if self.locale == Locale::Utf8 {
            let _ = crate::clib::locale::use_environments_locale();
        }
        Dialect::named(if self.extended { "egrep" } else { "grep" }).unwrap_or_default()
    }

    fn compile(self, pattern: &[u8]) -> Result<Library, String> {
        let search = Search::new(pattern, self.dialect(), self.ignore_case)?;
        Ok(Library { search, whole_line: self.whole_line })
    }
}

/// A POSIX expression that the C library matches. A newline separates alternatives.
#[derive(Debug)]
pub(super) struct Library {
    search: Search,
    whole_line: bool,
}

impl Library {
    /// # Errors
    ///
    /// The C library's message.
    pub(super) fn new(pattern: &[u8], options: &Options) -> Result<Self, String> {
        Language::from(options).compile(pattern)
    }

    /// The leftmost-longest match at `from` or after. With whole lines, only a match of the whole
    /// line.
    pub(super) fn find(
        &mut self,
        line: &[u8],
        from: usize,
    ) -> Result<Option<Range<usize>>, String> {
        let found = self.search.find(line, from)?;
        Ok(found.filter(|found| !self.whole_line || *found == (0..line.len())))
    }

    /// The end of the longest match that begins where `found` does and ends at `limit` or before.
    pub(super) fn end(
        &mut self,
        line: &[u8],
        found: &Range<usize>,
        limit: usize,
    ) -> Result<Option<usize>, String> {
        if found.end <= limit {
            Ok(Some(found.end))
        } else {
            self.search.end_before(line, found.start, limit)
        }
    }
}

/// An expression for lines that are not UTF-8. It is compiled when the first such line comes: most
/// files have none, and the C library's locale takes a while to load.
#[derive(Debug)]
pub(super) struct Spare {
    pattern: Vec<u8>,
    language: Language,
    /// Whether it selects lines; if not, it only shows where they match.
    pub(super) selects: bool,
}

impl Spare {
    pub(super) fn new(pattern: Vec<u8>, options: &Options, selects: bool) -> Self {
        Spare { pattern, language: options.into(), selects }
    }

    /// # Errors
    ///
    /// The C library's message.
    pub(super) fn compile(&self) -> Result<Library, String> {
        self.language.compile(&self.pattern)
    }
}
