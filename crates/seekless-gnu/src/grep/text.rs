//! A piece of a file, ready for searching. NULs are replaced by line ends where they count as such,
//! and the places are marked where a match may be.

use super::sweep::Marks;
use super::{BinaryFiles, Options};
use std::borrow::Cow;

/// Whole lines of a file.
#[derive(Debug)]
pub(super) struct Text<'t> {
    pub bytes: Cow<'t, [u8]>,
    /// The place of the first NUL; `None` if there is none or if NULs have no meaning.
    pub nul: Option<usize>,
    pub marks: Marks,
}

/// Whether a NUL makes a file binary and ends a line.
pub(super) fn heeds_nuls(options: &Options) -> bool {
    !options.null_data && options.binary_files != BinaryFiles::Text
}

impl<'t> Text<'t> {
    /// `has_nul` says that the bytes hold a NUL that counts.
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
