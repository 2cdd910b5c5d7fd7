//! Takes a line of strace apart: process, time, name of the call, arguments, result.

use crate::errno::number_of;
use crate::foreign::SECOND_NS;
use crate::import::number;

/// When a line was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stamp {
    /// Since 1970, as `-ttt` prints.
    Epoch(u64),
    /// Since midnight, as `-t` and `-tt` print.
    Day(u64),
    /// Since the line before it, as `-r` prints.
    Step(u64),
    /// There is none.
    None,
}

/// A line without its process and time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// 0 if it is not printed.
    pub(super) pid: u32,
    pub(super) stamp: Stamp,
    pub(super) what: &'a [u8],
}

/// Which part of a call a line holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Whole(&'a [u8]),
    Begin(&'a [u8]),
    /// What follows the begin.
    End(&'a [u8]),
}

impl<'a> Line<'a> {
    /// `None` for what is no call: signals, exits and messages.
    pub(super) fn parse(line: &'a [u8]) -> Option<Self> {
        let mut rest = line.trim_ascii();
        let mut pid = 0;
        if let Some(after) = rest.strip_prefix(b"[pid") {
            let end = after.iter().position(|&byte| byte == b']')?;
            pid = whole(&after[..end])?;
            rest = after[end + 1..].trim_ascii_start();
        } else if let Some((found, after)) =
            word(rest).and_then(|(word, after)| Some((whole(word)?, after)))
        {
            (pid, rest) = (found, after);
        }
        let mut stamp = Stamp::None;
        if let Some((found, after)) =
            word(rest).and_then(|(word, after)| Some((stamp_of(word)?, after)))
        {
            (stamp, rest) = (found, after);
        }
        let starts = rest.first().is_some_and(|&byte| byte.is_ascii_lowercase() || byte == b'_');
        (starts || rest.starts_with(b"<... ")).then_some(Line { pid, stamp, what: rest })
    }

    /// Which part of a call it is.
    pub(super) fn join(&self) -> Part<'a> {
        if let Some(rest) = self.what.strip_prefix(b"<... ") {
            const RESUMED: &[u8] = b" resumed>";
            let at = find(rest, RESUMED).map_or(rest.len(), |at| at + RESUMED.len());
            return Part::End(&rest[at..]);
        }
        match self.what.strip_suffix(b"<unfinished ...>") {
            Some(begin) => Part::Begin(begin.trim_ascii_end()),
            None => Part::Whole(self.what),
        }
    }
}

/// The process that a line says to have ended.
pub(super) fn ended(line: &[u8]) -> Option<u32> {
    let line = line.strip_prefix(b"[pid").unwrap_or(line).trim_ascii_start();
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (pid, rest) = line.split_at(digits);
    (find(rest, b"+++ exited").is_some() || find(rest, b"+++ killed").is_some())
        .then(|| whole(pid))?
}

/// The first word of a text, and what follows it.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(u8::is_ascii_whitespace)?;
    Some((&text[..end], text[end..].trim_ascii_start()))
}

fn whole(text: &[u8]) -> Option<u32> {
    let text = text.trim_ascii();
    let plain = text.iter().all(u8::is_ascii_digit);
    number::whole(text).filter(|_| plain)?.try_into().ok()
}

fn stamp_of(word: &[u8]) -> Option<Stamp> {
    let parts: Vec<&[u8]> = word.split(|&byte| byte == b':').collect();
    match parts.as_slice() {
        [seconds] => {
            let digits = seconds.first()?.is_ascii_digit() && seconds.contains(&b'.');
            let time_ns = number::scaled(seconds, SECOND_NS).filter(|_| digits)?;
            // What -r prints is far less than a year.
            let is_step = time_ns < 365 * 86_400 * SECOND_NS;
            Some(if is_step { Stamp::Step(time_ns) } else { Stamp::Epoch(time_ns) })
        }
        [hours, minutes, seconds] => {
            let minutes = u64::from(whole(hours)?) * 60 + u64::from(whole(minutes)?);
            let seconds = number::scaled(seconds, SECOND_NS)?;
            Some(Stamp::Day(minutes.checked_mul(60 * SECOND_NS)?.checked_add(seconds)?))
        }
        _ => None,
    }
}

/// Whether a call that begins so makes a process.
pub(super) fn makes_process(text: &[u8]) -> bool {
    [&b"clone("[..], b"clone3(", b"fork(", b"vfork("].iter().any(|name| text.starts_with(name))
}

/// Whether the flags of a clone share the table of descriptors.
pub(super) fn shares_files(text: &[u8]) -> bool {
    find(text, b"CLONE_FILES").is_some()
}

/// A call that has ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call<'a> {
    pub(super) name: &'a [u8],
    pub(super) arguments: Vec<&'a [u8]>,
    pub(super) result: i64,
    /// The path that `-y` prints behind the result.
    pub(super) result_path: Option<&'a [u8]>,
    pub(super) error: Option<i32>,
    pub(super) took_ns: Option<u64>,
}

impl<'a> Call<'a> {
    /// `None` if it is no call, or one without a result.
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let open = text.iter().position(|&byte| byte == b'(')?;
        let name = &text[..open];
        if !name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            return None;
        }
        let (close, equals) = end_of(&text[open..])?;
        let arguments = split(&text[open + 1..open + close]);
        let (mut rest, mut took_ns) = (text[open + equals..].trim_ascii(), None);
        if let Some(at) = rest.iter().rposition(|&byte| byte == b'<') {
            let seconds = rest[at + 1..].strip_suffix(b">");
            took_ns = seconds.and_then(|seconds| number::scaled(seconds, SECOND_NS));
            if took_ns.is_some() {
                rest = rest[..at].trim_ascii_end();
            }
        }
        let end = rest.iter().position(|&byte| byte == b'<' || byte.is_ascii_whitespace());
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        let result = number_of_word(word)?;
        let error = match result {
            -1 => after.trim_ascii_start().split(|&byte| byte == b' ').next().and_then(number_of),
            _ => None,
        };
        let result_path = path_of(after);
        Some(Call { name, arguments, result, result_path, error, took_ns })
    }

    /// Argument `at`, from 0; nothing if there are fewer.
    pub(super) fn argument(&self, at: usize) -> &'a [u8] {
        self.arguments.get(at).copied().unwrap_or_default()
    }

    /// Whether argument `at` contains a word.
    pub(super) fn has(&self, at: usize, word: &[u8]) -> bool {
        find(self.argument(at), word).is_some()
    }

    /// Argument `at` as a number.
    pub(super) fn number(&self, at: usize) -> Option<i64> {
        number_of_word(self.argument(at))
    }

    /// Argument `at` as a descriptor, and the path that `-y` prints behind it.
    pub(super) fn descriptor(&self, at: usize) -> Option<(i64, Option<&'a [u8]>)> {
        let text = self.argument(at);
        let end = text.iter().position(|&byte| byte == b'<').unwrap_or(text.len());
        Some((number_of_word(&text[..end])?, path_of(&text[end..])))
    }

    /// Argument `at` as a path, without its quotes.
    pub(super) fn path(&self, at: usize) -> Option<Vec<u8>> {
        let text = self.argument(at).strip_prefix(b"\"")?;
        text.strip_suffix(b"\"").map(unescape) // what was cut short ends in dots
    }
}

/// What stands in angle brackets.
fn path_of(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii().strip_prefix(b"<")?;
    text.strip_suffix(b">").or_else(|| {
        let end = text.iter().rposition(|&byte| byte == b'>')?;
        text.get(..end)
    })
}

/// A decimal, hexadecimal or octal number.
fn number_of_word(word: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(word).ok()?.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(u64::cast_signed),
        None => text.parse().ok(),
    }
}

/// Where the parenthesis that ends the arguments is, and what follows the sign behind it. Strings
/// and paths may hold parentheses too. `text` begins with the one that opens.
fn end_of(text: &[u8]) -> Option<(usize, usize)> {
    let mut scan = Scan::default();
    for (at, &byte) in text.iter().enumerate() {
        scan.step(byte);
        if scan.depth == 0 && byte == b')' && !scan.quoted {
            let rest = &text[at + 1..];
            let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
            return rest[blanks..].starts_with(b"= ").then_some((at, at + 1 + blanks + 2));
        }
    }
    None
}

/// The arguments between commas that are in no brackets and no string.
fn split(text: &[u8]) -> Vec<&[u8]> {
    let (mut scan, mut start, mut found) = (Scan::default(), 0, Vec::new());
    for (at, &byte) in text.iter().enumerate() {
        scan.step(byte);
        if byte == b',' && scan.depth == 0 && !scan.quoted {
            found.push(text[start..at].trim_ascii());
            start = at + 1;
        }
    }
    found.push(text[start..].trim_ascii());
    found
}

/// Follows brackets and strings.
#[derive(Default)]
struct Scan {
    depth: usize,
    quoted: bool,
    escaped: bool,
    /// The byte before, which distinguishes `->` and `<<` from brackets.
    before: u8,
    /// How many angle brackets are open; in them, other brackets are of a path.
    angles: usize,
}

impl Scan {
    fn step(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.quoted || self.angles > 0 => self.escaped = true,
            // In the paths that -y prints, quotes are escaped, by older versions not.
            b'"' if self.angles == 0 => self.quoted = !self.quoted,
            _ if self.quoted => {}
            b'<' if self.before.is_ascii_alphanumeric() || self.angles > 0 => {
                self.angles += 1;
                self.depth += 1;
            }
            b'>' if self.angles > 0 && self.before != b'-' => {
                self.angles -= 1;
                self.depth = self.depth.saturating_sub(1);
            }
            _ if self.angles > 0 => {}
            b'(' | b'[' | b'{' => self.depth += 1,
            b')' | b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.before = byte;
    }
}

/// Takes the meaning of C's backslashes: `\n`, `\"`, `\ooo`, `\xhh`.
pub(super) fn unescape(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'\\' {
            plain.push(first);
            continue;
        }
        let Some((&kind, after)) = rest.split_first() else { break };
        rest = after;
        let (digits, radix, most) = match kind {
            b'x' => (after, 16, 2),
            b'0'..=b'7' => (&text[text.len() - after.len() - 1..], 8, 3),
            _ => {
                plain.push(match kind {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'v' => 0x0b,
                    b'f' => 0x0c,
                    other => other,
                });
                continue;
            }
        };
        let is_digit = |byte: &&u8| (**byte as char).is_digit(radix);
        let count = digits.iter().take(most).take_while(is_digit).count();
        let value = digits[..count]
            .iter()
            .fold(0_u32, |sum, &byte| sum * radix + (byte as char).to_digit(radix).unwrap_or(0));
        plain.push(value as u8);
        rest = &digits[count..];
    }
    plain
}

/// Where `part` begins in `text`.
fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
