//! SOCI: a JSON array of paths, from which the index builder makes the prefetch artifact of each
//! layer (`loadPrefetchFilesFromJSON` in cmd/soci of awslabs/soci-snapshotter). The artifact itself
//! names spans of a compressed layer, which only the builder knows. Paths have no slash in front
//! (issue 1944).

use super::super::Listed;
use super::lines::text;
use serde_json::json;
use std::io::{self, Write};

pub(in super::super) fn write(listed: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")?;
    for (number, file) in listed.iter().enumerate() {
        write!(out, "{}\n{}", if number > 0 { "," } else { "" }, json!(text(&file.name)))?;
    }
    out.write_all(b"\n]\n")
}
