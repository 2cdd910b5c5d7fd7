//! squashfs: `PATH PRIORITY` a line, relative to the source folder; files of a higher priority are
//! written first, and files without a line have 0. A backslash takes the meaning from white space,
//! backslashes, and the hash that begins a comment. Defined by `read_sort_file` and `add_sort_list`
//! in squashfs-tools/sort.c of plougher/squashfs-tools.

use super::super::Listed;
use super::lines::broken;
use std::io::{self, Write};

/// The highest priority.
const PRIORITY_MAX: usize = 32_767;
/// A line with its end.
const LINE_BYTES_MAX: usize = 16_384;

/// `/*` at the end stands for a folder.
pub(in super::super) fn refuses(name: &[u8]) -> Option<&'static str> {
    let too_long = 2 * name.len() + 8 > LINE_BYTES_MAX;
    broken(name)
        .or_else(|| name.ends_with(b"/*").then_some("with a star as the name"))
        .or_else(|| too_long.then_some("with a name that is too long"))
}

/// If there are more files than priorities, files that follow each other share one.
pub(in super::super) fn write(listed: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    let share = listed.len().div_ceil(PRIORITY_MAX).max(1);
    for (number, file) in listed.iter().enumerate() {
        for &byte in &file.name {
            if byte.is_ascii_whitespace() || matches!(byte, b'\\' | b'#' | 0x0b) {
                out.write_all(b"\\")?;
            }
            out.write_all(&[byte])?;
        }
        writeln!(out, " {}", PRIORITY_MAX - number / share)?;
    }
    Ok(())
}
