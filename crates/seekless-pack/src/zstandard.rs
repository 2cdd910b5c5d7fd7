//! Zstandard, the method 93: smaller than deflate and faster to decode, but older tools cannot open
//! such entries.

use std::cell::RefCell;
use std::fmt;
use std::io;
use std::str::FromStr;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::{CParameter, DParameter, WriteBuf};

/// The largest window that is written, and that is kept while content is only summed: 8 MiB, what
/// level 19 uses. It bounds the memory of a reader that decodes in pieces.
const WINDOW_LOG_MAX: u32 = 23;

/// How hard zstd tries, 1 to 19. Higher levels pack slower; decoding is as fast after all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(i32);

impl Level {
    /// The highest.
    pub const MAX: Level = Level(19);

    pub(crate) fn number(self) -> i32 {
        self.0
    }
}

impl Default for Level {
    /// Level 9: a pack is written once and read often.
    fn default() -> Self {
        Level(9)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(level @ 1..=19) => Ok(Level(level)),
            _ => Err(format!("{text:?} is no level of zstd; give 1 to 19")),
        }
    }
}

thread_local! {
    static CODER: RefCell<Option<(Level, Compressor<'static>)>> = const { RefCell::new(None) };
    static DECODER: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The coded content, unless it is larger than `limit` bytes.
pub(crate) fn code_below(bytes: &[u8], level: Level, limit: u64) -> Option<Vec<u8>> {
    if bytes.is_empty() {
        return None;
    }
    let coded = CODER.with_borrow_mut(|kept| {
        let coder = match kept {
            Some((of, coder)) if *of == level => coder,
            _ => &mut kept.insert((level, coder(level).ok()?)).1,
        };
        coder.compress(bytes).ok()
    })?;
    (coded.len() as u64 <= limit).then_some(coded)
}

fn coder(level: Level) -> io::Result<Compressor<'static>> {
    let mut coder = Compressor::new(level.0)?;
    coder.set_parameter(CParameter::ContentSizeFlag(true))?;
    Ok(coder)
}

/// Decodes all of `data` into `out`, which has room for it. Returns how many bytes that were.
pub(crate) fn decode(data: &[u8], out: &mut (impl WriteBuf + ?Sized)) -> io::Result<usize> {
    DECODER.with_borrow_mut(|kept| {
        let decoder = match kept {
            Some(decoder) => decoder,
            None => kept.insert(Decompressor::new()?),
        };
        decoder.decompress_to_buffer(data, out)
    })
}

/// A coder of files too large for memory.
pub(crate) fn encoder<W: io::Write>(
    sink: W,
    level: Level,
) -> io::Result<zstd::stream::write::Encoder<'static, W>> {
    zstd::stream::write::Encoder::new(sink, level.number())
}

/// A decoder of content that is not kept.
pub(crate) fn decoder<W: io::Write>(
    sink: W,
) -> io::Result<zstd::stream::write::Decoder<'static, W>> {
    let mut decoder = zstd::stream::write::Decoder::new(sink)?;
    decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))?;
    Ok(decoder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_1_to_19() {
        assert_eq!("19".parse(), Ok(Level::MAX));
        assert_eq!("9".parse(), Ok(Level::default()));
        for text in ["0", "20", "-1", "", "x"] {
            assert!(text.parse::<Level>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_grows_is_not_kept() {
        assert_eq!(code_below(b"", Level::MAX, u64::MAX), None);
        assert_eq!(code_below(b"xyz", Level::MAX, 3), None);
        let coded = code_below(&[7; 10_000], Level::default(), 100).expect("it shrinks");
        let mut out = Vec::with_capacity(10_000);
        decode(&coded, &mut out).expect("our own");
        assert_eq!(out, [7; 10_000]);
    }
}
