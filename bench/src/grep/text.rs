//! A text with a line here and there that matches the patterns.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The distance of matching lines.
const APART_BYTES: u64 = 4 << 20;

const NEEDLE: &[u8] = b"\nthe needle 7 in the hay\n";

/// Writes the matching lines over the text, the first near its start.
pub(super) fn hide_needles(path: &Path, bytes: u64) -> io::Result<()> {
    let file = File::options().write(true).open(path)?;
    let last = bytes.saturating_sub(NEEDLE.len() as u64);
    for offset in (0..=last).step_by(APART_BYTES as usize) {
        file.write_all_at(NEEDLE, offset)?;
    }
    file.sync_all()
}
