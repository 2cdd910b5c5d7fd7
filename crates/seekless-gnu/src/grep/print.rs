//! Prints a line as GNU does: name, number and offset, then the line. With `-o` only the matches
//! follow; with colours the matches stand out.

use super::matcher::Matcher;
use super::{BinaryFiles, Colors, Locale, Options};

/// The mark after each field before a selected line.
pub(super) const SELECTED: u8 = b':';
/// The mark after each field before a context line.
pub(super) const CONTEXT: u8 = b'-';

/// A line with its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Without its terminator.
    pub text: &'a [u8],
    pub offset: u64,
    /// Counted from 1. It is right only if numbers are printed.
    pub number: u64,
    /// The least width of numbers.
    pub width: usize,
    /// [`SELECTED`] or [`CONTEXT`].
    pub mark: u8,
}

/// The line holds bytes that are not characters. It is not shown, and the file is binary.
#[derive(Debug)]
pub(super) struct EncodingError;

/// Prints the lines of one file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Printer<'a> {
    pub options: &'a Options,
    /// File names are printed before lines.
    pub with_filename: bool,
}

impl Printer<'_> {
    /// Prints a line, or only its matches.
    pub(super) fn line(
        self,
        out: &mut Vec<u8>,
        name: &[u8],
        line: Line<'_>,
        matcher: &mut Matcher,
    ) -> Result<(), EncodingError> {
        let options = self.options;
        if !options.only_matching {
            self.head(out, name, line)?;
        }
        let matching = (line.mark == SELECTED) != options.invert_match;
        let mut shown = 0;
        if let Some(colors) = &options.colors {
            let (line_color, match_color) = self.line_colors(colors, line.mark);
            if matching && (options.only_matching || !match_color.is_empty()) {
                shown = self.middle(out, name, line, matcher, line_color, match_color)?;
            }
            if !options.only_matching && !line_color.is_empty() {
                shown = tail(out, line.text, shown, colors, line_color);
            }
        } else if options.only_matching && matching {
            self.middle(out, name, line, matcher, "", "")?;
        }
        if !options.only_matching {
            out.extend_from_slice(&line.text[shown..]);
            out.push(options.terminator());
        }
        Ok(())
    }

    fn line_colors(self, colors: &Colors, mark: u8) -> (&str, &str) {
        let as_selected = (mark == SELECTED) != (self.options.invert_match && colors.reverse);
        let line = if as_selected { &colors.selected_line } else { &colors.context_line };
        let found = if mark == SELECTED { &colors.selected_match } else { &colors.context_match };
        (line, found)
    }

    /// Prints the matches of a line; with colours, also the text between them. Returns how many
    /// bytes of the line were printed.
    fn middle(
        self,
        out: &mut Vec<u8>,
        name: &[u8],
        line: Line<'_>,
        matcher: &mut Matcher,
        line_color: &str,
        match_color: &str,
    ) -> Result<usize, EncodingError> {
        let none = Colors::default();
        let colors = self.options.colors.as_ref().unwrap_or(&none);
        let (mut shown, mut from) = (0, 0);
        while from < line.text.len() {
            let Some(found) = matcher.span(line.text, from) else { break };
            if found.start == line.text.len() {
                break;
            }
            if found.is_empty() {
                from = found.start + 1;
                continue;
            }
            let text = &line.text[found.clone()];
            if self.options.only_matching {
                let mark = if self.options.invert_match { CONTEXT } else { SELECTED };
                self.head(
                    out,
                    name,
                    Line { text, offset: line.offset + found.start as u64, mark, ..line },
                )?;
            } else {
                colors.start(out, line_color);
                out.extend_from_slice(&line.text[shown..found.start]);
            }
            colors.start(out, match_color);
            out.extend_from_slice(text);
            colors.end(out, match_color);
            if self.options.only_matching {
                out.push(self.options.terminator());
            }
            (shown, from) = (found.end, found.end);
        }
        Ok(shown)
    }

    fn head(self, out: &mut Vec<u8>, name: &[u8], line: Line<'_>) -> Result<(), EncodingError> {
        let options = self.options;
        let checked = options.binary_files != BinaryFiles::Text && options.locale == Locale::Utf8;
        if checked && std::str::from_utf8(line.text).is_err() {
            return Err(EncodingError);
        }
        if self.with_filename {
            self.name(out, name);
            self.after_name(out, line.mark);
        }
        let number_color = options.colors.as_ref().map_or("", |colors| &colors.line_number);
        let byte_color = options.colors.as_ref().map_or("", |colors| &colors.byte_number);
        if options.line_number {
            self.number(out, line.number, line.width, number_color, line.mark);
        }
        if options.byte_offset {
            self.number(out, line.offset, line.width, byte_color, line.mark);
        }
        let headed = self.with_filename || options.line_number || options.byte_offset;
        if options.initial_tab && headed && !line.text.is_empty() {
            out.push(b'\t');
        }
        Ok(())
    }

    fn number(self, out: &mut Vec<u8>, number: u64, width: usize, color: &str, mark: u8) {
        self.colored(out, color, |out| {
            let mut digits = [0; 20];
            let mut at = digits.len();
            let mut rest = number;
            loop {
                at -= 1;
                digits[at] = b'0' + (rest % 10) as u8;
                rest /= 10;
                if rest == 0 {
                    break;
                }
            }
            out.extend(std::iter::repeat_n(b' ', width.saturating_sub(digits.len() - at)));
            out.extend_from_slice(&digits[at..]);
        });
        self.separator(out, &[mark]);
    }

    /// Prints the mark after a name, or a NUL if names end in NUL.
    pub(super) fn after_name(self, out: &mut Vec<u8>, mark: u8) {
        match self.options.null_names {
            true => out.push(0),
            false => self.separator(out, &[mark]),
        }
    }

    /// Prints a file name.
    pub(super) fn name(self, out: &mut Vec<u8>, name: &[u8]) {
        let color = self.options.colors.as_ref().map_or("", |colors| &colors.file_name);
        self.colored(out, color, |out| out.extend_from_slice(name));
    }

    /// Prints a separator.
    pub(super) fn separator(self, out: &mut Vec<u8>, text: &[u8]) {
        let color = self.options.colors.as_ref().map_or("", |colors| &colors.separator);
        self.colored(out, color, |out| out.extend_from_slice(text));
    }

    fn colored(self, out: &mut Vec<u8>, color: &str, write: impl FnOnce(&mut Vec<u8>)) {
        match &self.options.colors {
            Some(colors) => {
                colors.start(out, color);
                write(out);
                colors.end(out, color);
            }
            None => write(out),
        }
    }
}

/// Prints the rest of a line in the line's colour, except for a carriage return at its end. Returns
/// the end of the printed text.
fn tail(out: &mut Vec<u8>, text: &[u8], shown: usize, colors: &Colors, color: &str) -> usize {
    let end = text.len() - usize::from(text.len() > shown && text.ends_with(b"\r"));
    if end > shown {
        colors.start(out, color);
        out.extend_from_slice(&text[shown..end]);
        colors.end(out, color);
    }
    end.max(shown)
}
