//! eStargz: a line of JSON for each file that goes before the landmark, in order. The path is
//! relative to the image's root. Defined by `Entry` in analyzer/recorder of
//! containerd/stargz-snapshotter, and shown in its docs/ctr-remote.md.

use super::super::Listed;
use super::lines::text;
use serde_json::json;
use std::io::{self, Write};

pub(in super::super) fn write(listed: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    listed.iter().try_for_each(|file| writeln!(out, "{}", json!({ "path": text(&file.name) })))
}
