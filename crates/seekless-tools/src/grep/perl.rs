//! What an automaton cannot do: Perl's expressions, and back-references put into Perl's words. Both by PCRE2.

use super::Locale;
use super::classes::Characters;
use super::syntax::Ast;
use pcre2::bytes::{Regex, RegexBuilder};
use regex_syntax::hir::Class;
use std::fmt::Write;
use std::ops::Range;

/// A pattern of `-P`.
#[derive(Debug)]
pub(super) struct Perl(Regex);

/// A POSIX expression with back-references. The engine finds where the first match starts; the longest is sought by trying
/// each end, the farthest first.
#[derive(Debug)]
pub(super) struct BackReferences {
    anywhere: Regex,
    /// Ends where the text ends, which is the line's end.
    to_line_end: Regex,
    /// Ends where the text ends, which is cut off before the line's end.
    to_cut: Regex,
}

impl Perl {
    /// # Errors
    ///
    /// PCRE2's message.
    pub(super) fn new(pattern: &str, characters: Characters, word: bool, line: bool) -> Result<Self, String> {
        let pattern = match (line, word) {
            (true, _) => format!("^(?:{pattern})$"),
            (_, true) => format!(r"(?<!\w)(?:{pattern})(?!\w)"),
            _ => pattern.to_string(),
        };
        let utf = characters.locale == Locale::Utf8;
        let built = RegexBuilder::new()
            .caseless(characters.ignore_case)
            .utf(utf)
            .jit_if_available(true)
            .build(&pattern);
        built.map(Perl).map_err(|error| words(&error))
    }

    /// The first match from `from` on.
    pub(super) fn find(&self, line: &[u8], from: usize) -> Result<Option<Range<usize>>, String> {
        find(&self.0, line, from)
    }
}

impl BackReferences {
    pub(super) fn new(ast: &Ast, characters: Characters, whole_line: bool) -> Result<Self, String> {
        let spoken = |end: &'static str| {
            let mut text = String::new();
            Speaker { characters, end, text: &mut text }.say(ast);
            if whole_line { format!(r"\A(?:{text}){end}") } else { text }
        };
        let (line_end, nowhere) = (spoken(r"\z"), spoken("(?!)"));
        Ok(BackReferences {
            anywhere: build(&line_end, characters)?,
            to_line_end: build(&format!(r"\G(?:{line_end})\z"), characters)?,
            to_cut: build(&format!(r"\G(?:{nowhere})\z"), characters)?,
        })
    }

    /// The first match from `from` on: where it starts is right.
    pub(super) fn start(&self, line: &[u8], from: usize) -> Result<Option<Range<usize>>, String> {
        find(&self.anywhere, line, from)
    }

    /// The end of the longest match that begins where `found` does and ends at most at `limit`.
    pub(super) fn end(
        &self,
        line: &[u8],
        found: &Range<usize>,
        limit: usize,
    ) -> Result<Option<usize>, String> {
        let start = found.start;
        for end in (start..=limit).rev() {
            let regex = if end == line.len() { &self.to_line_end } else { &self.to_cut };
            if find(regex, &line[..end], start)?.is_some() {
                return Ok(Some(end));
            }
        }
        // Where a word ends cannot be seen at a cut: then the match that was found has to do.
        Ok(Some(found.end).filter(|&end| end <= limit))
    }
}

fn build(pattern: &str, characters: Characters) -> Result<Regex, String> {
    let utf = characters.locale == Locale::Utf8;
    let built = RegexBuilder::new().utf(utf).ucp(utf).jit_if_available(true).build(pattern);
    built.map_err(|error| words(&error))
}

/// PCRE2's message without the place in a pattern that the user did not write as it stands.
fn words(error: &pcre2::Error) -> String {
    let text = error.to_string();
    text.rsplit(": ").next().unwrap_or_default().to_string()
}

fn find(regex: &Regex, line: &[u8], from: usize) -> Result<Option<Range<usize>>, String> {
    let found = regex.find_at(line, from).map_err(|error| words(&error))?;
    Ok(found.map(|found| found.start()..found.end()))
}

/// Puts an expression into Perl's words.
struct Speaker<'a> {
    characters: Characters,
    end: &'static str,
    text: &'a mut String,
}

impl Speaker<'_> {
    fn say(&mut self, ast: &Ast) {
        match ast {
            Ast::Empty => {}
            Ast::Char(character) => self.alternatives(&self.characters.one(*character)),
            Ast::Byte(byte) if self.characters.locale == Locale::C => self.code(u32::from(*byte)),
            Ast::Byte(_) => self.text.push_str("(?!)"),
            Ast::Any => self.class(&self.characters.any()),
            Ast::Set(set) => self.class(&self.characters.class(set)),
            Ast::LineStart => self.text.push_str(r"\A"),
            Ast::LineEnd => self.text.push_str(self.end),
            Ast::WordStart => self.text.push_str(r"\b(?=\w)"),
            Ast::WordEnd => self.text.push_str(r"\b(?<=\w)"),
            Ast::WordEdge => self.text.push_str(r"\b"),
            Ast::NotWordEdge => self.text.push_str(r"\B"),
            Ast::Group(_, inner) => self.enclosed("(", inner, ")"),
            Ast::Back(group) if self.characters.ignore_case => {
                let _ = write!(self.text, r"(?i:\g{{{group}}})");
            }
            Ast::Back(group) => {
                let _ = write!(self.text, r"\g{{{group}}}");
            }
            Ast::Repeat(inner, low, high) => {
                self.enclosed("(?:", inner, ")");
                let high = high.map_or(String::new(), |high| high.to_string());
                let _ = write!(self.text, "{{{low},{high}}}");
            }
            Ast::Concat(parts) => parts.iter().for_each(|part| self.say(part)),
            Ast::Either(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    self.text.push_str(if index == 0 { "(?:" } else { "|" });
                    self.say(part);
                }
                self.text.push(')');
            }
        }
    }

    fn enclosed(&mut self, open: &str, inner: &Ast, close: &str) {
        self.text.push_str(open);
        self.say(inner);
        self.text.push_str(close);
    }

    fn alternatives(&mut self, characters: &[char]) {
        self.text.push('[');
        characters.iter().for_each(|&character| self.code(u32::from(character)));
        self.text.push(']');
    }

    fn code(&mut self, code: u32) {
        let _ = write!(self.text, r"\x{{{code:x}}}");
    }

    fn class(&mut self, class: &Class) {
        let ranges: Vec<(u32, u32)> = match class {
            Class::Bytes(class) => {
                class.iter().map(|range| (range.start().into(), range.end().into())).collect()
            }
            Class::Unicode(class) => {
                class.iter().map(|range| (range.start().into(), range.end().into())).collect()
            }
        };
        if ranges.is_empty() {
            return self.text.push_str("(?!)");
        }
        self.text.push('[');
        for (first, last) in ranges {
            self.code(first);
            self.text.push('-');
            self.code(last);
        }
        self.text.push(']');
    }
}
