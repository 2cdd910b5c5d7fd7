//! Writes an order as text, one path a line.

use crate::{Error, ErrorKind, Result};
use seekless_sys::output::{Content, Destination, Output};
use seekless_trace::unescape_path;
use std::io::{BufWriter, Write};

/// Writes `order` to `out`. Its names are escaped as in a trace, and are written unescaped, as the
/// file system has them.
///
/// # Errors
/// A name contains a line break; `out` exists and may not be replaced, or cannot be written.
pub fn write(out: impl Into<Destination>, order: &[String]) -> Result<()> {
    let output = out.into().create(Content::Text)?;
    write_lines(&output, order)?;
    Ok(output.publish()?)
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
