//! Counts one piece of a file, and joins neighbouring pieces. Words, lines and characters that the
//! cut split come out right.

use super::charset::{ASCII, Charset, Class};
use super::columns::Columns;
use super::plain;
use super::utf8::{self, Decoded, FOLLOWING};
use super::words::Words;
use super::{Counts, Wanted};

/// The counts of a piece of a file: an element of a monoid, joined in order of offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    /// The first bytes, if they may belong to a character that began before the piece.
    head: Edge,
    /// The text between the edges. It is `None` if the piece is only a head, which could be the
    /// middle of one character.
    body: Option<Body>,
    bytes: u64,
}

/// A few bytes of a character that was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Edge {
    bytes: [u8; FOLLOWING + 1],
    length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Body {
    lines: u64,
    characters: u64,
    words: Words,
    columns: Columns,
    /// The last bytes, if they begin a character.
    tail: Edge,
}

impl Edge {
    fn of(bytes: &[u8]) -> Edge {
        let mut edge = Edge::default();
        edge.length = bytes.len().min(edge.bytes.len());
        edge.bytes[..edge.length].copy_from_slice(&bytes[..edge.length]);
        edge
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Appends `next`, which holds continuation bytes only. Bytes beyond the longest character are
    /// dropped.
    fn join(self, next: Edge) -> Edge {
        let mut both = self;
        for &byte in next.bytes().iter().take(both.bytes.len() - both.length) {
            both.bytes[both.length] = byte;
            both.length += 1;
        }
        both
    }
}

impl Tally {
    /// Counts `bytes`, a piece from anywhere in a file.
    pub(crate) fn of(bytes: &[u8], wanted: Wanted, charset: &mut Charset) -> Tally {
        let total = bytes.len() as u64;
        if !wanted.text() {
            let lines = if wanted.lines { plain::newlines(bytes) } else { 0 };
            return Tally {
                body: Some(Body { lines, ..Body::default() }),
                bytes: total,
                ..Tally::default()
            };
        }
        // Only bytes beyond ASCII depend on the locale, and loading it costs more than counting a
        // small file.
        let head = match bytes.first() {
            Some(&first) if utf8::follows(first) && charset.is_utf8() => {
                bytes.iter().take(FOLLOWING).take_while(|&&byte| utf8::follows(byte)).count()
            }
            _ => 0,
        };
        let (head, rest) = bytes.split_at(head);
        let mut body = Body::default();
        if wanted.lines {
            body.lines = plain::newlines(rest);
        }
        let counted = Counter { wanted, charset, body }.count(rest);
        let body = if rest.is_empty() { None } else { Some(counted) };
        Tally { head: Edge::of(head), body, bytes: total }
    }

    /// Joins this piece with its successor.
    pub(crate) fn join(self, next: Tally, wanted: Wanted, charset: &mut Charset) -> Tally {
        let bytes = self.bytes + next.bytes;
        let Some(body) = self.body else {
            let head = self.head.join(next.head);
            // No character has this many continuation bytes, so the rest of them form no character,
            // whatever comes before.
            let body = next.body.or((head.length > FOLLOWING).then(Body::default));
            return Tally { head, body, bytes };
        };
        let middle = body.tail.join(next.head);
        let mut body = Body { tail: Edge::default(), ..body };
        if next.head.length == 0 && next.body.is_none() {
            body.tail = middle;
            return Tally { body: Some(body), bytes, ..self };
        }
        match middle.bytes() {
            [] => {}
            cut => match utf8::decode(cut) {
                Decoded::Character(code, _) => {
                    Counter { wanted, charset, body }.add(&mut body, code)
                }
                Decoded::Incomplete if next.body.is_none() => body.tail = middle,
                Decoded::Incomplete | Decoded::Invalid => {}
            },
        }
        let body = match next.body {
            None => body,
            Some(next) => Body {
                lines: body.lines + next.lines,
                characters: body.characters + next.characters,
                words: body.words.join(next.words),
                columns: body.columns.join(next.columns),
                tail: next.tail,
            },
        };
        Tally { body: Some(body), bytes, ..self }
    }

    /// Joins `times` copies of this piece.
    pub(crate) fn repeated(self, times: u64, wanted: Wanted, charset: &mut Charset) -> Tally {
        let (mut all, mut power, mut left) = (Tally::of(&[], wanted, charset), self, times);
        while left > 0 {
            if left & 1 == 1 {
                all = all.join(power, wanted, charset);
            }
            left >>= 1;
            if left > 0 {
                power = power.join(power, wanted, charset);
            }
        }
        all
    }

    /// The counts, once all neighbours are joined.
    pub(crate) fn counts(&self) -> Counts {
        let body = self.body.unwrap_or_default();
        Counts {
            lines: body.lines,
            words: body.words.total(),
            characters: body.characters,
            bytes: self.bytes,
            columns: body.columns.longest(),
        }
    }
}

/// Counts the text of one piece.
struct Counter<'a> {
    wanted: Wanted,
    charset: &'a mut Charset,
    body: Body,
}

impl Counter<'_> {
    fn count(mut self, bytes: &[u8]) -> Body {
        if !self.wanted.words && !self.wanted.columns {
            self.characters_only(bytes);
            return self.body;
        }
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            match rest.first_chunk::<{ plain::UNIT }>() {
                Some(unit) if self.plain(unit) => at += unit.len(),
                _ => at += self.text(rest),
            }
        }
        self.body
    }

    /// Counts a unit if it is printable ASCII and white space; otherwise returns `false`.
    fn plain(&mut self, unit: &[u8; plain::UNIT]) -> bool {
        if !plain::words(unit, &mut self.body.words) {
            return false;
        }
        self.body.characters += unit.len() as u64;
        if self.wanted.columns {
            lines(unit, &mut self.body.columns);
        }
        true
    }

    /// Counts a unit of any text. Returns its length, which ends between characters.
    fn text(&mut self, rest: &[u8]) -> usize {
        let unit = &rest[..rest.len().min(plain::UNIT)];
        if unit.is_ascii() || !self.charset.is_utf8() {
            self.body.characters += unit.len() as u64;
            bytes_of(unit, self.charset.bytes(), self.wanted, &mut self.body);
            return unit.len();
        }
        let mut at = 0;
        let mut body = self.body;
        while at < unit.len() {
            match utf8::decode(&rest[at..]) {
                Decoded::Character(code, length) => {
                    self.add(&mut body, code);
                    at += length;
                }
                Decoded::Invalid => at += 1,
                Decoded::Incomplete => {
                    body.tail = Edge::of(&rest[at..]);
                    at = rest.len();
                }
            }
        }
        self.body = body;
        at
    }

    #[inline]
    fn add(&mut self, body: &mut Body, code: u32) {
        body.characters += 1;
        let class = if code < 0x80 { ASCII[code as usize] } else { self.charset.class(code) };
        step(body, code, class, self.wanted.columns);
    }

    fn characters_only(&mut self, bytes: &[u8]) {
        if bytes.is_ascii() || !self.charset.is_utf8() {
            self.body.characters = bytes.len() as u64;
            return;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            // Text that std accepts is valid for the C library too. The few bytes that std rejects
            // are decoded as the C library does.
            let valid = match std::str::from_utf8(rest) {
                Ok(text) => text,
                Err(error) => std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default(),
            };
            self.body.characters += plain::characters(valid);
            rest = &rest[valid.len()..];
            rest = match rest.is_empty() {
                true => break,
                false => match utf8::decode(rest) {
                    Decoded::Character(_, length) => {
                        self.body.characters += 1;
                        &rest[length..]
                    }
                    Decoded::Invalid => &rest[1..],
                    Decoded::Incomplete => {
                        self.body.tail = Edge::of(rest);
                        break;
                    }
                },
            };
        }
    }
}

/// Counts text in which each byte is a character.
fn bytes_of(unit: &[u8], classes: &[Class; 256], wanted: Wanted, body: &mut Body) {
    if wanted.columns {
        for &byte in unit {
            step(body, byte.into(), classes[byte as usize], true);
        }
        return;
    }
    for &byte in unit {
        step(body, byte.into(), classes[byte as usize], false);
    }
}

/// Counts one character by its class; lines are counted elsewhere.
#[inline(always)]
fn step(body: &mut Body, code: u32, class: Class, columns: bool) {
    if class.is_separator() {
        body.words.separator();
    } else {
        body.words.open |= class.is_printable();
    }
    if columns {
        match code {
            0x0a | 0x0c | 0x0d => body.columns.end_line(),
            0x09 => body.columns.tab(),
            _ => body.columns.add(class.columns()),
        }
    }
}

/// Counts the columns of plain text. Most lines are all printable, so their length in bytes is
/// their length in columns.
fn lines(text: &[u8], columns: &mut Columns) {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
        let line = &text[start..end];
        if line.iter().fold(true, |plain, &byte| plain & (byte >= b' ')) {
            columns.add(line.len() as u64);
        } else {
            for &byte in line {
                match byte {
                    b'\r' | 0x0c => columns.end_line(),
                    b'\t' => columns.tab(),
                    _ => columns.add((byte >= b' ').into()),
                }
            }
        }
        if end < text.len() {
            columns.end_line();
        }
        start = end + 1;
    }
}

#[cfg(test)]
mod tests;
