//! The order as a text file, one path a line, which appears whole or not at all.

use crate::{Error, ErrorKind, Result};
use seekless_trace::unescape_path;
use std::fs::{File, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::NamedTempFile;

/// Writes `order` (names escaped as a trace's are) to `path`, in the bytes that the file system knows, replacing what was
/// there.
///
/// # Errors
/// A name contains a line break, or the file cannot be written.
pub fn write(path: &Path, order: &[String]) -> Result<()> {
    let failed = |error| Error::because(ErrorKind::Io, format!("cannot write {}", path.display()), error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside = tempfile::Builder::new();
    beside.prefix(".seekless-order-").permissions(Permissions::from_mode(0o666)); // the umask takes its part
    let mut file = beside.tempfile_in(folder).map_err(failed)?;
    write_lines(&mut file, order, path)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

fn write_lines(file: &mut NamedTempFile, order: &[String], path: &Path) -> Result<()> {
    let failed = |error| Error::because(ErrorKind::Io, format!("cannot write {}", path.display()), error);
    let mut out = BufWriter::new(file);
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
