//! The order as a text file, one path a line, which appears whole or not at all.

use crate::output::Output;
use crate::{Error, ErrorKind, Result};
use seekless_trace::unescape_path;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes `order` (names escaped as a trace's are) to `path`, in the bytes that the file system knows, replacing what was
/// there.
///
/// # Errors
/// A name contains a line break, or the file cannot be written.
pub fn write(path: &Path, order: &[String]) -> Result<()> {
    let output = Output::create(path, true)?;
    write_lines(&output, order)?;
    output.publish()
}

fn write_lines(output: &Output, order: &[String]) -> Result<()> {
    let path = output.path().display();
    let failed = |error| Error::because(ErrorKind::Io, format!("cannot write {path}"), error);
    let mut out = BufWriter::new(output.file());
    for name in order {
        let bytes = unescape_path(name);
        if bytes.contains(&b'\n') {
            let why = format!(
                "{name:?} contains a line break, and an order holds one path a line; rename that file"
            );
            return Err(Error::new(ErrorKind::Invalid, why));
        }
        out.write_all(&bytes).and_then(|()| out.write_all(b"\n")).map_err(failed)?;
    }
    out.flush().map_err(failed)
}
