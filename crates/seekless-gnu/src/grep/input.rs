//! A pattern as characters: what both the expressions and the brackets in them are read from.

use super::Locale;

/// What parsing found, apart from the expressions.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub warnings: Vec<String>,
    /// The first error that GNU's automaton finds and glibc does not. No warning follows it.
    pub error: Option<String>,
    /// glibc may still refuse the pattern, so it must be asked.
    pub doubtful: bool,
    /// An operator repeats an anchor, or an interval has nothing to repeat. glibc then skips the
    /// operator, or its first character, and reads the rest as an expression. GNU grep's automaton
    /// repeats the empty expression.
    pub engines_differ: bool,
    /// A set names a collating element, which only glibc knows.
    pub collates: bool,
    /// The expression would take glibc more memory than there is.
    pub too_big: bool,
}

impl Notes {
    pub(super) fn warn(&mut self, warning: String) {
        if self.error.is_none() {
            self.warnings.push(warning);
        }
    }
}

/// A pattern being parsed, one character or stray byte at a time.
pub(super) struct Input<'a> {
    bytes: &'a [u8],
    position: usize,
    locale: Locale,
}

/// One element of a pattern's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Char(char),
    Byte(u8),
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8], locale: Locale) -> Self {
        Input { bytes, position: 0, locale }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    pub(super) fn locale(&self) -> Locale {
        self.locale
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.position += bytes;
    }

    pub(super) fn next(&mut self) -> Option<Unit> {
        let rest = self.rest();
        let (unit, bytes) = first_unit(rest, self.locale)?;
        self.position += bytes;
        Some(unit)
    }

    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let found = self.rest().starts_with(text);
        self.position += if found { text.len() } else { 0 };
        found
    }
}

/// The first character of a text and its length. Returns the first byte if no character begins
/// there.
pub(super) fn first_unit(text: &[u8], locale: Locale) -> Option<(Unit, usize)> {
    let first = *text.first()?;
    if first.is_ascii() {
        return Some((Unit::Char(char::from(first)), 1));
    }
    if locale == Locale::C {
        return Some((Unit::Byte(first), 1));
    }
    let width = text.len().min(4);
    let valid = match std::str::from_utf8(&text[..width]) {
        Ok(valid) => valid,
        Err(error) => std::str::from_utf8(&text[..error.valid_up_to()]).unwrap_or(""),
    };
    Some(match valid.chars().next() {
        Some(character) => (Unit::Char(character), character.len_utf8()),
        None => (Unit::Byte(first), 1),
    })
}
