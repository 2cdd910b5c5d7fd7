//! An output file that appears whole or not at all: written beside its place without a name, synced, then named.
//! Until then nothing shows, so that not even a kill leaves half a file.

use crate::error::{Error, ErrorKind, Result};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Where an output and its temporary files lie.
#[derive(Clone, Debug)]
pub(crate) enum Home {
    /// In the place of this name, temporary files beside it.
    Beside(PathBuf),
    /// Without a name, in the system's temporary folder; this name is for messages.
    Temporary(PathBuf),
}

impl Home {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Home::Beside(path) | Home::Temporary(path) => path,
        }
    }

    pub(crate) fn output(&self) -> Result<OutputFile> {
        match self {
            Home::Beside(path) => OutputFile::create(path),
            Home::Temporary(path) => {
                Ok(OutputFile { file: Draft::Unnamed(self.scratch()?), path: path.clone() })
            }
        }
    }

    /// An unnamed temporary file: the system removes it, come what may.
    pub(crate) fn scratch(&self) -> Result<File> {
        let made = match self {
            Home::Beside(path) => tempfile::tempfile_in(folder(path)),
            Home::Temporary(_) => tempfile::tempfile(),
        };
        made.map_err(|error| Error::io(self.path(), "no temporary file could be made for it", error))
    }
}

/// A file being written beside `path`; dropping it leaves nothing.
#[derive(Debug)]
pub(crate) struct OutputFile {
    file: Draft,
    path: PathBuf,
}

#[derive(Debug)]
enum Draft {
    Unnamed(File),
    /// Where the file system has no unnamed files: dropping removes it, a kill does not.
    Named(NamedTempFile),
}

impl OutputFile {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        if path.file_name().is_none() || path.is_dir() {
            let message = "is not the name of a file; name the trace to write, such as run.parquet";
            return Err(Error::new(ErrorKind::Usage, path, message));
        }
        if path.metadata().is_ok_and(|there| !there.is_file()) {
            let message = "is a device or pipe, which the output would replace; name a file";
            return Err(Error::new(ErrorKind::Usage, path, message));
        }
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = match rustix::fs::open(folder(path), flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => Draft::Unnamed(file.into()),
            Err(_) => Draft::Named(named(path)?), // whatever is truly wrong, it will say too
        };
        Ok(OutputFile { file, path: path.to_owned() })
    }

    /// A second handle on what has been written, which outlives the name.
    pub(crate) fn reopen(&self) -> Result<File> {
        let reopened = self.file().try_clone();
        reopened.map_err(|error| Error::io(&self.path, "its temporary file could not be opened", error))
    }

    /// Syncs the bytes, puts the file in its place and syncs the folder, so that a crash leaves old or new.
    pub(crate) fn finish(self) -> Result<()> {
        let path = self.path.clone();
        self.file()
            .sync_all()
            .map_err(|error| Error::io(&path, "could not be synced to its device", error))?;
        let placed = match self.file {
            Draft::Unnamed(file) => place(&file, &path),
            Draft::Named(file) => file.persist(&path).map(drop).map_err(|error| error.error),
        };
        placed.map_err(|error| Error::io(&path, "could not be put in its place", error))?;
        match File::open(folder(&path)) {
            Ok(folder) => {
                folder.sync_all().map_err(|error| Error::io(&path, "its folder could not be synced", error))
            }
            Err(_) => Ok(()), // a folder may be writable and not readable: the file is there all the same
        }
    }

    fn file(&self) -> &File {
        match &self.file {
            Draft::Unnamed(file) => file,
            Draft::Named(file) => file.as_file(),
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Gives an unnamed file a passing name beside `path` (a link cannot replace what is there), and renames it.
fn place(file: &File, path: &Path) -> io::Result<()> {
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    for attempt in 0..1000 {
        let mut name = std::ffi::OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}-{attempt}", std::process::id()));
        let passing = path.with_file_name(name);
        match rustix::fs::linkat(CWD, &link, CWD, &passing, AtFlags::SYMLINK_FOLLOW) {
            Err(rustix::io::Errno::EXIST) => continue,
            linked => linked?,
        }
        return std::fs::rename(&passing, path).inspect_err(|_| drop(std::fs::remove_file(&passing)));
    }
    Err(io::Error::other("no free name beside it"))
}

/// A named temporary file beside `path`, with the mode that a plain `File::create` would give it.
fn named(path: &Path) -> Result<NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    tempfile::Builder::new()
        .prefix(&prefix)
        .permissions(std::fs::Permissions::from_mode(0o666)) // the umask takes its part
        .tempfile_in(folder(path))
        .map_err(|error| Error::io(path, "could not be created", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<std::ffi::OsString> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn appears_whole_and_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        for text in ["old", "new"] {
            let mut out = OutputFile::create(&path).unwrap();
            out.write_all(text.as_bytes()).unwrap();
            assert!(text == "old" || std::fs::read(&path).unwrap() == b"old");
            out.finish().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    fn a_named_draft_serves_as_well() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut out = OutputFile { file: Draft::Named(named(&path).unwrap()), path: path.clone() };
        out.write_all(b"text").unwrap();
        drop(OutputFile { file: Draft::Named(named(&path).unwrap()), path: path.clone() });
        out.finish().unwrap();
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    fn a_folder_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(OutputFile::create(folder.path()).unwrap_err().kind(), ErrorKind::Usage);
    }

    #[test]
    fn a_device_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        assert_eq!(OutputFile::create(&link).unwrap_err().kind(), ErrorKind::Usage);
    }
}
