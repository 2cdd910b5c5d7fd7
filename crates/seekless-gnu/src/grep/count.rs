//! Counts the selected lines of one piece, whatever comes before it.

use super::matcher::Matcher;
use super::text::{Text, heeds_nuls};
use super::{Options, near};
use memchr::memchr_iter;

/// All that is kept of a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Summary {
    pub bytes: u64,
    pub lines: u64,
    /// It holds no selected line and no NUL.
    pub plain: bool,
}

impl Summary {
    /// Joins this summary with that of the next piece.
    pub(super) fn and(self, next: Summary) -> Summary {
        let plain = self.plain && next.plain;
        Summary { bytes: self.bytes + next.bytes, lines: self.lines + next.lines, plain }
    }
}

/// Counts the selected lines of a piece, at most `most`. Also returns the end of the last of them.
pub(super) fn count(
    matcher: &mut Matcher,
    options: &Options,
    bytes: &[u8],
    most: u64,
) -> (u64, usize) {
    if most == 0 {
        return (0, 0);
    }
    // NULs matter only for the bounds of matching lines.
    let lazy = matcher.is_blind_to_nul() && !options.invert_match;
    if lazy {
        let refuse_nul = heeds_nuls(options) && most > 1;
        let text = matcher.text_as_it_is(bytes);
        if let Some(counted) = count_lines(matcher, options, &text, most, refuse_nul) {
            return counted;
        }
    }
    let text = matcher.text(options, bytes);
    count_lines(matcher, options, &text, most, false).unwrap_or_default()
}

/// Counts in a text whose NULs were not replaced. Returns `None` if `refuse_nul` is set and a
/// matching line holds a NUL.
fn count_lines(
    matcher: &mut Matcher,
    options: &Options,
    text: &Text<'_>,
    most: u64,
    refuse_nul: bool,
) -> Option<(u64, usize)> {
    let (mut at, mut counted, mut last) = (0, 0, 0);
    let bytes = &*text.bytes;
    while at < bytes.len() && counted < most {
        let found = matcher.next_line(text, at);
        if options.invert_match {
            let stop = found.as_ref().map_or(bytes.len(), |line| line.start);
            let (lines, end) =
                lines_forward(&bytes[at..stop], most - counted, options.terminator());
            counted += lines;
            last = if lines > 0 { at + end } else { last };
            at = found.map_or(bytes.len(), |line| line.end);
            continue;
        }
        let Some(line) = found else { break };
        if refuse_nul && bytes[line.clone()].contains(&0) {
            return None;
        }
        counted += 1;
        (at, last) = (line.end, line.end);
    }
    Some((counted, last))
}

/// Counts the lines of a text, at most `most`. Also returns the end of the last of them.
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
    let text = matcher.text(options, bytes);
    let hit = count_lines(matcher, options, &text, 1, false).is_some_and(|(found, _)| found > 0);
    let lines = if options.line_number { near::count(options.terminator(), bytes) } else { 0 };
    Summary { bytes: bytes.len() as u64, lines, plain: !hit && text.nul.is_none() }
}
