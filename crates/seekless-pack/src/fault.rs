//! What can be wrong with the bytes of an entry, in words that name it and say what to do.

use crate::entry::Entry;
use crate::error::{Error, ErrorKind, Result};
use std::fmt::Display;

pub(crate) fn short(entry: &Entry, name: &str, extent_bytes: u64) -> Error {
    let why = format!(
        "it does not fit into its {extent_bytes} bytes; the archive is damaged, copy it again"
    );
    Error::of(entry, name, ErrorKind::Truncated, why)
}

pub(crate) fn disagrees(entry: &Entry, name: &str, what: &str) -> Error {
    let why = format!(
        "its own header has another {what} than the directory; the archive is damaged or hostile"
    );
    Error::of(entry, name, ErrorKind::Disagrees, why)
}

pub(crate) fn no_memory(entry: &Entry, name: &str) -> Error {
    let why = format!("there is no memory for its {} bytes", entry.bytes);
    Error::of(entry, name, ErrorKind::Limit, why)
}

pub(crate) fn corrupt(entry: &Entry, name: &str, why: impl Display) -> Error {
    Error::of(entry, name, ErrorKind::Corrupt, why)
}

pub(crate) fn broken(entry: &Entry, name: &str, fault: impl Display) -> Error {
    corrupt(entry, name, format_args!("its data is broken ({fault}); copy the archive again"))
}

pub(crate) fn ends_early(entry: &Entry, name: &str, found: u64) -> Error {
    let why =
        format!("its data ends after {found} of {} bytes; copy the archive again", entry.bytes);
    corrupt(entry, name, why)
}

pub(crate) fn check_crc(entry: &Entry, name: &str, crc: u32) -> Result<()> {
    if crc == entry.crc { Ok(()) } else { Err(other_crc(entry, name, crc, entry.crc)) }
}

pub(crate) fn other_crc(entry: &Entry, name: &str, crc: u32, recorded: u32) -> Error {
    let why = format!(
        "its content has CRC {crc:08x}, not {recorded:08x} as recorded; the archive is damaged, copy it again"
    );
    Error::of(entry, name, ErrorKind::Crc, why)
}
