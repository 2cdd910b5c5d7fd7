//! A file that has no name until it is whole, so that even a kill leaves nothing behind; where the file system cannot do
//! that, a temporary name that is removed on failure. Every job writes its output through this.

use crate::error::{Error, ErrorKind, Result};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// An output on its way; dropped before it is published, it leaves nothing.
#[derive(Debug)]
pub struct Output {
    file: File,
    /// Its temporary name, if it has one.
    name: Option<TempPath>,
    path: PathBuf,
    force: bool,
}

impl Output {
    /// Begins a file that will stand at `path`. Without `force`, nothing may stand there, now or when it is published.
    ///
    /// # Errors
    /// Something is there that may not be replaced: a file without `force`; a folder, device or pipe ever. Or nothing can be
    /// written there.
    pub fn create(path: &Path, force: bool) -> Result<Self> {
        match fs::metadata(path) {
            Ok(found) if !found.is_file() => return Err(no_file(path, &found)),
            _ if !force && fs::symlink_metadata(path).is_ok() => return Err(exists(path)),
            _ => {}
        }
        let said = |error| Error::because(ErrorKind::Io, format!("cannot write {}", path.display()), error);
        let (file, name) = match unnamed(folder(path)) {
            Some(file) => (file, None),
            None => named(path).map(|(file, name)| (file, Some(name))).map_err(said)?,
        };
        Ok(Self { file, name, path: path.to_owned(), force })
    }

    /// Where to write.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Where it will stand.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Syncs the file and gives it its name.
    ///
    /// # Errors
    /// The bytes cannot be synced, or somebody else has put a file there meanwhile.
    pub fn publish(self) -> Result<()> {
        let Self { file, name, path, force } = self;
        let said = |error| {
            Error::because(ErrorKind::Io, format!("cannot put {} in its place", path.display()), error)
        };
        file.sync_all().map_err(said)?;
        let result = match name {
            Some(name) if force => name.persist(&path).map_err(io::Error::from),
            Some(name) => name.persist_noclobber(&path).map_err(io::Error::from),
            None => link(&file, &path, force),
        };
        match result {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(exists(&path)),
            other => other.map_err(said)?,
        }
        match File::open(folder(&path)) {
            Ok(folder) => folder.sync_all().map_err(said),
            Err(_) => Ok(()), // writable but not readable: the file is there all the same
        }
    }
}

fn no_file(path: &Path, found: &fs::Metadata) -> Error {
    let what = if found.is_dir() { "a folder" } else { "a device or pipe, which the output would replace" };
    Error::new(ErrorKind::Invalid, format!("{} is {what}; name a file to write", path.display()))
}

fn exists(path: &Path) -> Error {
    let why = format!("{} exists already; give --force to replace it", path.display());
    Error::new(ErrorKind::Invalid, why)
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn unnamed(folder: &Path) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = open(folder, flags, Mode::from_raw_mode(0o666)).ok()?;
    // It gets its name through /proc, which a sandbox may hide.
    Path::new(&by_descriptor(&file)).exists().then(|| File::from(file))
}

fn by_descriptor(file: &impl AsFd) -> String {
    format!("/proc/self/fd/{}", file.as_fd().as_raw_fd())
}

fn named(path: &Path) -> io::Result<(File, TempPath)> {
    use std::os::unix::fs::PermissionsExt;
    let file = tempfile::Builder::new()
        .prefix(".seekless-")
        .permissions(fs::Permissions::from_mode(0o666)) // the umask takes its part
        .tempfile_in(folder(path));
    match file {
        Ok(file) => Ok(file.into_parts()),
        // Without the temporary name, which would only confuse.
        Err(error) => Err(fs::metadata(folder(path)).err().unwrap_or_else(|| error.kind().into())),
    }
}

/// A link never replaces a file, so replacing takes a name beside it and a rename.
fn link(file: &File, path: &Path, force: bool) -> io::Result<()> {
    let give_name = |name: &Path| {
        linkat(CWD, by_descriptor(file), CWD, name, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from)
    };
    if !force || fs::symlink_metadata(path).is_err() {
        return give_name(path);
    }
    let beside = folder(path).join(format!(".seekless-{}", std::process::id()));
    let _ = fs::remove_file(&beside); // of a process of that number that was killed here
    give_name(&beside)?;
    fs::rename(&beside, path).inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// As where the file system has no unnamed files.
    fn with_a_name(path: &Path, force: bool) -> Output {
        let (file, name) = named(path).expect("a temporary file");
        Output { file, name: Some(name), path: path.to_owned(), force }
    }

    #[test]
    fn a_folder_that_is_not_there_is_said_without_the_temporary_name() {
        use std::error::Error as _;
        let error = Output::create(Path::new("/nowhere/x.zip"), false).expect_err("no such folder");
        let cause = error.source().expect("the kernel's word").to_string();
        assert_eq!(cause, "No such file or directory (os error 2)");
    }

    #[test]
    fn neither_a_folder_nor_a_device_is_replaced() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link).expect("a link");
        for path in [folder.path(), &link, Path::new("/dev/null")] {
            let error = Output::create(path, true).expect_err("not a file");
            assert!(error.to_string().contains("name a file to write"), "{error}");
        }
    }

    #[test]
    fn a_temporary_name_serves_as_well_as_none() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("out");
        drop(with_a_name(&path, false));
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 0, "given up: nothing is left");

        for (output, content) in [
            (with_a_name(&path, false), "first"),
            (with_a_name(&path, true), "second"),
            (Output::create(&path, true).expect("forced"), "third"),
        ] {
            output.file().write_all(content.as_bytes()).expect("room");
            output.publish().expect("published");
            assert_eq!(fs::read_to_string(&path).expect("it is there"), content);
        }
        assert!(with_a_name(&path, false).publish().is_err(), "somebody else was first");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "third");
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1, "nothing else is left");
    }
}
