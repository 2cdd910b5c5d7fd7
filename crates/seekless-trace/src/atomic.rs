//! An output file that appears whole or not at all: written beside its place, synced, renamed.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file being written beside `path`; dropping it removes it.
#[derive(Debug)]
pub(crate) struct OutputFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl OutputFile {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let file = beside(path)?;
        Ok(OutputFile { file, path: path.to_owned() })
    }

    /// A second handle on what has been written, which outlives the name.
    pub(crate) fn reopen(&self) -> Result<File> {
        self.file
            .reopen()
            .map_err(|error| Error::io(&self.path, "its temporary file could not be opened", error))
    }

    /// Syncs the bytes, moves the file to its place and syncs the folder, so that a crash leaves old or new.
    pub(crate) fn finish(self) -> Result<()> {
        let OutputFile { file, path } = self;
        file.as_file()
            .sync_all()
            .map_err(|error| Error::io(&path, "could not be synced to its device", error))?;
        file.persist(&path)
            .map_err(|error| Error::io(&path, "could not be put in its place", error.error))?;
        match File::open(folder(&path)) {
            Ok(folder) => {
                folder.sync_all().map_err(|error| Error::io(&path, "its folder could not be synced", error))
            }
            Err(_) => Ok(()), // a folder may be writable and not readable: the file is there all the same
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A temporary file in the folder of `path`, with the mode that a plain `File::create` would give it.
fn beside(path: &Path) -> Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let Some(name) = path.file_name() else {
        let message = "is not the name of a file; name the trace to write, such as run.parquet";
        return Err(Error::new(crate::ErrorKind::Usage, path, message));
    };
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    tempfile::Builder::new()
        .prefix(&prefix)
        .permissions(std::fs::Permissions::from_mode(0o666)) // the umask takes its part
        .tempfile_in(folder(path))
        .map_err(|error| Error::io(path, "could not be created", error))
}

/// An unnamed temporary file in the folder of `path`: the system removes it, come what may.
pub(crate) fn scratch_beside(path: &Path) -> Result<File> {
    tempfile::tempfile_in(folder(path))
        .map_err(|error| Error::io(path, "no temporary file could be made beside it", error))
}
