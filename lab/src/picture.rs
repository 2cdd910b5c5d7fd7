//! Pictures of figures. The ending of the file's name gives the format.

use anyhow::Context;
use seekless::report::{Drawing, Format};
use seekless::sys::output::{Content, Destination};
use std::io::Write;
use std::path::Path;

/// Refuses a name that is neither SVG nor PNG. Called before a long run.
pub(crate) fn check(path: Option<&Path>) -> anyhow::Result<()> {
    path.map_or(Ok(()), |path| Format::of(path).map(|_| ()).map_err(anyhow::Error::msg))
}

/// Writes the picture, and replaces an older one.
pub(crate) fn save(path: &Path, drawing: &Drawing) -> anyhow::Result<()> {
    let format = Format::of(path).map_err(anyhow::Error::msg)?;
    let output = Destination::new(path).replacing(true).create(Content::Binary)?;
    let written = output.file().write_all(&drawing.encode(format));
    written.with_context(|| format!("cannot write {}", path.display()))?;
    Ok(output.publish()?)
}
