//! A piece of a file as it is searched: NULs have become line ends where they do, and it is known where a match may lie.

use super::sweep::Marks;
use super::{BinaryFiles, Options};
use std::borrow::Cow;

/// Whole lines.
#[derive(Debug)]
pub(super) struct Text<'t> {
    pub bytes: Cow<'t, [u8]>,
    /// Where the first NUL was; none where NULs mean nothing.
    pub nul: Option<usize>,
    pub marks: Marks,
}

/// Whether a NUL makes a file binary and ends a line.
pub(super) fn heeds_nuls(options: &Options) -> bool {
    !options.null_data && options.binary_files != BinaryFiles::Text
}

impl<'t> Text<'t> {
    /// `has_nul`: there is one that is to be heeded.
    pub(super) fn new(bytes: &'t [u8], marks: Marks, has_nul: bool) -> Self {
        let nul = if has_nul { memchr::memchr(0, bytes) } else { None };
        let bytes = match nul {
            Some(_) => Cow::Owned(without_nuls(bytes)),
            None => Cow::Borrowed(bytes),
        };
        Text { bytes, nul, marks }
    }
}

fn without_nuls(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|&byte| if byte == 0 { b'\n' } else { byte }).collect()
}
