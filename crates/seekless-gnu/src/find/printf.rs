//! `-printf`: GNU's directives and four of our own: `%{latency}`, `%{cost}`, `%{resident}`,
//! `%{level}`.

mod date;
mod number;
mod write;

use super::quote::say;
pub(super) use write::Context;

/// A parsed format.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Format {
    pieces: Vec<Piece>,
}

#[derive(Debug, PartialEq)]
enum Piece {
    Text(Vec<u8>),
    /// `\c`: ends the output.
    Stop,
    Directive {
        shape: Shape,
        what: What,
    },
}

/// The width, alignment and precision of a directive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Shape {
    left: bool,
    zero: bool,
    alternate: bool,
    plus: bool,
    blank: bool,
    width: usize,
    precision: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    /// A letter of GNU's.
    Letter(u8),
    /// A time: which one (`A`, `C`, `T`) and its format.
    Time(u8, u8),
    /// The seconds to deliver the file.
    Latency,
    /// The seconds that devices need for it.
    Cost,
    /// The percentage of it in memory.
    Resident,
    /// The costliest level that holds part of it.
    Level,
}

/// The letters that are complete directives.
const LETTERS: &[u8] = b"abcdDfFgGhHiklmMnpPsStuUyYZ";

impl Format {
    /// Parses a format. Unknown directives stay as text and are named in `warnings`.
    pub(super) fn parse(text: &[u8], warnings: &mut Vec<Vec<u8>>) -> Result<Self, Vec<u8>> {
        let mut format = Format::default();
        let mut rest = text;
        while let Some((&first, after)) = rest.split_first() {
            rest = match (first, after) {
                (b'\\', [b'c', ..]) => {
                    format.pieces.push(Piece::Stop);
                    return Ok(format);
                }
                (b'\\', _) => format.escape(after, warnings),
                (b'%', _) => format.directive(after, warnings)?,
                _ => {
                    format.text(first);
                    after
                }
            };
        }
        Ok(format)
    }

    /// Whether output is flushed after each file: `\c` does that too.
    pub(super) fn flushes(&self) -> bool {
        self.pieces.last() == Some(&Piece::Stop)
    }

    /// Whether the format needs a file's cost.
    pub(super) fn asks_latency(&self) -> bool {
        self.pieces.iter().any(|piece| {
            matches!(
                piece,
                Piece::Directive {
                    what: What::Latency | What::Cost | What::Resident | What::Level,
                    ..
                }
            )
        })
    }

    /// Whether the format needs more of a file than its path.
    pub(super) fn asks_stat(&self) -> bool {
        let of_path =
            |what: &What| matches!(what, What::Letter(b'p' | b'f' | b'h' | b'H' | b'P' | b'd'));
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Directive { what, .. } if !of_path(what)))
    }

    fn text(&mut self, byte: u8) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(byte),
            _ => self.pieces.push(Piece::Text(vec![byte])),
        }
    }

    fn escape<'a>(&mut self, rest: &'a [u8], warnings: &mut Vec<Vec<u8>>) -> &'a [u8] {
        let Some((&letter, after)) = rest.split_first() else {
            warnings.push(say!("warning: escape `\\' followed by nothing at all"));
            self.text(b'\\');
            return rest;
        };
        let byte = match letter {
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'\\' => b'\\',
            b'0'..=b'7' => {
                let digits =
                    rest.iter().take(3).take_while(|digit| (b'0'..=b'7').contains(digit)).count();
                let value = rest[..digits]
                    .iter()
                    .fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
                self.text(value as u8);
                return &rest[digits..];
            }
            other => {
                warnings.push(say!("warning: unrecognized escape `\\", [other], "'"));
                self.text(b'\\');
                other
            }
        };
        self.text(byte);
        after
    }

    fn directive<'a>(
        &mut self,
        rest: &'a [u8],
        warnings: &mut Vec<Vec<u8>>,
    ) -> Result<&'a [u8], Vec<u8>> {
        if rest.is_empty() {
            return Err(say!("error: % at end of format string"));
        }
        let (shape, after_shape) = Shape::parse(rest);
        let Some((&letter, after)) = after_shape.split_first() else {
            return Err(say!("error: the format directive `%\0' is reserved for future use"));
        };
        let (what, after) = match (letter, after) {
            (b'%', _) => {
                // With flags or a width, GNU find prints them and drops the second `%`. This is a
                // bug of its own.
                self.text(b'%');
                rest[..rest.len() - after_shape.len()].iter().for_each(|&byte| self.text(byte));
                return Ok(after);
            }
            (b'A' | b'B' | b'C' | b'T', [how, after @ ..]) => (What::Time(letter, *how), after),
            _ if LETTERS.contains(&letter) => (What::Letter(letter), after),
            (b'{', name) if name.contains(&b'}') => What::of_cost(name)?,
            (b'{' | b'[' | b'(', _) => {
                return Err(say!(
                    "error: the format directive `%",
                    [letter],
                    "' is reserved for future use"
                ));
            }
            _ => {
                warnings.push(match letter {
                    b'A' | b'B' | b'C' | b'T' => say!(
                        "warning: format directive `%",
                        [letter],
                        "' should be followed by another character"
                    ),
                    _ => say!("warning: unrecognized format directive `%", [letter], "'"),
                });
                self.text(b'%');
                rest[..rest.len() - after.len()].iter().for_each(|&byte| self.text(byte));
                return Ok(after);
            }
        };
        self.pieces.push(Piece::Directive { shape, what });
        Ok(after)
    }
}

impl What {
    /// Parses our directives in braces; returns the text after them.
    fn of_cost(text: &[u8]) -> Result<(What, &[u8]), Vec<u8>> {
        let end = text.iter().position(|&byte| byte == b'}').unwrap_or(text.len());
        let what = match &text[..end] {
            b"latency" => What::Latency,
            b"cost" => What::Cost,
            b"resident" => What::Resident,
            b"level" => What::Level,
            name => {
                return Err(say!(
                    "%{",
                    name,
                    "} is no directive: there are %{latency}, %{cost}, %{resident} and %{level}"
                ));
            }
        };
        Ok((what, &text[(end + 1).min(text.len())..]))
    }
}

impl Shape {
    /// Parses flags, width and precision as printf(3) does. A zero is a flag, but other flags may
    /// not follow it.
    fn parse(mut rest: &[u8]) -> (Self, &[u8]) {
        let mut shape = Shape::default();
        while let Some((&flag, after)) = rest.split_first() {
            match flag {
                b'-' => shape.left = true,
                b'#' => shape.alternate = true,
                b'+' => shape.plus = true,
                b' ' => shape.blank = true,
                _ => break,
            }
            rest = after;
        }
        shape.zero = rest.first() == Some(&b'0');
        (shape.width, rest) = number(rest);
        if let Some(after) = rest.strip_prefix(b".") {
            let (precision, after) = number(after);
            (shape.precision, rest) = (Some(precision), after);
        }
        (shape, rest)
    }
}

/// Reads leading digits as a number. The value is limited, because a width becomes blanks in the
/// output.
fn number(text: &[u8]) -> (usize, &[u8]) {
    const WIDTH_MAX: usize = 1 << 16;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = text[..digits]
        .iter()
        .fold(0_usize, |value, digit| (value * 10 + usize::from(digit - b'0')).min(WIDTH_MAX));
    (value, &text[digits..])
}
