//! Programs that benches start, with files that are made for them.

pub(crate) mod cases;
pub(crate) mod copied;
pub(crate) mod headers;
pub(crate) mod modules;
pub(crate) mod repository;
pub(crate) mod sources;

use std::ffi::OsString;
use std::path::Path;

/// A program and its arguments.
pub(crate) type Words = Vec<OsString>;

/// The words of a program, of which the first is a file.
pub(crate) fn words<const N: usize>(file: &Path, words: [&str; N]) -> Words {
    std::iter::once(file.as_os_str().to_owned()).chain(words.map(OsString::from)).collect()
}
