//! How many lines of one piece are selected, without a thought of what stands before it.

use super::matcher::Matcher;
use super::{BinaryFiles, Options};
use memchr::{memchr, memchr_iter};
use std::borrow::Cow;

/// A piece of which only this is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Summary {
    pub bytes: u64,
    pub lines: u64,
    /// It holds no selected line and no NUL.
    pub plain: bool,
}

/// A text in which NULs have become line ends, where binary files are not taken for text, and where the first NUL was.
pub(super) fn zapped<'t>(options: &Options, bytes: &'t [u8]) -> (Cow<'t, [u8]>, Option<usize>) {
    if options.null_data || options.binary_files == BinaryFiles::Text {
        return (Cow::Borrowed(bytes), None);
    }
    match memchr(0, bytes) {
        None => (Cow::Borrowed(bytes), None),
        Some(nul) => (Cow::Owned(without_nuls(bytes)), Some(nul)),
    }
}

fn without_nuls(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|&byte| if byte == 0 { b'\n' } else { byte }).collect()
}

/// Selected lines of a piece, at most `most`, and where the last of them ends.
pub(super) fn count(matcher: &mut Matcher, options: &Options, bytes: &[u8], most: u64) -> (u64, usize) {
    if most == 0 {
        return (0, 0);
    }
    // Whether there is a NUL matters only to the bounds of lines that match.
    let lazy = matcher.is_blind_to_nul() && !options.invert_match;
    if !lazy {
        return count_lines(matcher, options, &zapped(options, bytes).0, most, false).unwrap_or_default();
    }
    let checked = !options.null_data && options.binary_files != BinaryFiles::Text && most > 1;
    match count_lines(matcher, options, bytes, most, checked) {
        Some(counted) => counted,
        None => count_lines(matcher, options, &without_nuls(bytes), most, false).unwrap_or_default(),
    }
}

/// The same for a text as it is; `None` if a NUL in a matching line is to be refused and there is one.
fn count_lines(
    matcher: &mut Matcher,
    options: &Options,
    text: &[u8],
    most: u64,
    refuse_nul: bool,
) -> Option<(u64, usize)> {
    let (mut at, mut counted, mut last) = (0, 0, 0);
    while at < text.len() && counted < most {
        let found = matcher.next_line(text, at);
        if options.invert_match {
            let stop = found.as_ref().map_or(text.len(), |line| line.start);
            let (lines, end) = lines_forward(&text[at..stop], most - counted, options.terminator());
            counted += lines;
            last = if lines > 0 { at + end } else { last };
            at = found.map_or(text.len(), |line| line.end);
            continue;
        }
        let Some(line) = found else { break };
        if refuse_nul && memchr(0, &text[line.clone()]).is_some() {
            return None;
        }
        counted += 1;
        (at, last) = (line.end, line.end);
    }
    Some((counted, last))
}

/// How many lines a text has, at most `most`, and where the last of them ends.
fn lines_forward(text: &[u8], most: u64, terminator: u8) -> (u64, usize) {
    let mut lines = 0;
    let mut end = 0;
    for at in memchr_iter(terminator, text) {
        lines += 1;
        end = at + 1;
        if lines == most {
            return (lines, end);
        }
    }
    if end < text.len() { (lines + 1, text.len()) } else { (lines, end) }
}

pub(super) fn summary(matcher: &mut Matcher, options: &Options, bytes: &[u8]) -> Summary {
    let (text, nul) = zapped(options, bytes);
    let hit = count_lines(matcher, options, &text, 1, false).is_some_and(|(found, _)| found > 0);
    let terminator = options.terminator();
    let lines = if options.line_number { memchr_iter(terminator, bytes).count() as u64 } else { 0 };
    Summary { bytes: bytes.len() as u64, lines, plain: !hit && nul.is_none() }
}
