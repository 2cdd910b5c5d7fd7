//! How a verb speaks: text to standard output, JSON when asked, progress on a terminal.

use serde::Serialize;
use std::io::Write;

/// Writes `value` to standard output as one indented JSON document.
pub fn json<T: Serialize>(value: &T) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

/// Writes `text` to standard output.
pub fn text(text: &str) -> anyhow::Result<()> {
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}
