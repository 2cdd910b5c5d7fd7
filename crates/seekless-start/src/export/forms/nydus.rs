//! nydus: JSON with the ranges of each file, which `nydus-image optimize` puts into a blob of their
//! own (`PrefetchJson` in builder/src/optimize_prefetch.rs of dragonflyoss/nydus), or a path a line
//! (`get_patterns` in builder/src/core/prefetch.rs). Paths are absolute in the image.

use super::super::Listed;
use super::lines::{line, text};
use serde_json::json;
use std::io::{self, Write};

/// Ranges as pairs of offset and size. A file that is needed whole has no ranges.
pub(in super::super) fn ranges(listed: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"version\":\"v1\",\"files\":[")?;
    for (number, file) in listed.iter().enumerate() {
        let path = format!("/{}", text(&file.name));
        let entry = match file.needed_bytes() == file.file_bytes {
            true => json!({ "path": path }),
            false => {
                let pairs: Vec<[u64; 2]> =
                    file.ranges.iter().map(|range| [range.offset, range.bytes]).collect();
                json!({ "path": path, "ranges": pairs })
            }
        };
        write!(out, "{}\n{entry}", if number > 0 { "," } else { "" })?;
    }
    out.write_all(b"\n]}\n")
}

pub(in super::super) fn patterns(listed: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    listed.iter().try_for_each(|file| line(out, &[b"/", &file.name]))
}
