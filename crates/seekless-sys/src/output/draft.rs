//! A file on its way to its place: without a name where the file system has such files, else under
//! a temporary one.

use super::StandardOutput;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, Seek};
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use tempfile::TempPath;

/// Names that are tried for the passing link of a file that replaces another.
const ATTEMPTS: u32 = 1000;

/// The mode of a file that anyone may read; the umask takes its part.
pub(super) const SHARED: u32 = 0o666;
/// The mode of a file for this user alone.
pub(super) const PRIVATE: u32 = 0o600;

/// The bytes so far; dropping it leaves nothing.
#[derive(Debug)]
pub(super) struct Draft {
    file: File,
    name: Name,
}

#[derive(Debug)]
enum Name {
    /// It goes with its last descriptor.
    Unnamed,
    Temporary(TempPath),
    /// It is standard output itself.
    StandardOutput,
}

impl Draft {
    /// For a file that will stand at `path`.
    pub(super) fn beside(path: &Path, mode: u32) -> io::Result<Self> {
        match unnamed(folder(path), mode) {
            Some(file) => Ok(Self { file, name: Name::Unnamed }),
            None => Self::named(path, mode),
        }
    }

    /// Under a temporary name.
    pub(super) fn named(path: &Path, mode: u32) -> io::Result<Self> {
        use std::os::unix::fs::PermissionsExt;
        let made = tempfile::Builder::new()
            .prefix(".seekless-")
            .permissions(fs::Permissions::from_mode(mode))
            .tempfile_in(folder(path));
        match made {
            Ok(made) => {
                let (file, name) = made.into_parts();
                Ok(Self { file, name: Name::Temporary(name) })
            }
            // Without the temporary name, which would only confuse.
            Err(error) => {
                Err(fs::metadata(folder(path)).err().unwrap_or_else(|| error.kind().into()))
            }
        }
    }

    /// For a file that will have no name.
    pub(super) fn nowhere() -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile()?, name: Name::Unnamed })
    }

    /// For a file that will have no name, in a folder.
    pub(super) fn unnamed_in(folder: &Path) -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile_in(folder)?, name: Name::Unnamed })
    }

    /// Standard output, a descriptor of our own.
    pub(super) fn standard_output() -> io::Result<Self> {
        let own = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Self { file: own.into(), name: Name::StandardOutput })
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Syncs the bytes, gives the file its name and syncs the folder, so that a crash leaves old or
    /// new.
    pub(super) fn place(self, path: &Path, replace: bool) -> io::Result<()> {
        self.file.sync_all()?;
        match self.name {
            Name::Temporary(name) if replace => name.persist(path)?,
            Name::Temporary(name) => name.persist_noclobber(path)?,
            _ => link(&self.file, path, replace)?,
        }
        match File::open(folder(path)) {
            Ok(folder) => folder.sync_all(),
            Err(_) => Ok(()), // writable but not readable: the file is there all the same
        }
    }

    pub(super) fn copy_to_standard_output(mut self) -> io::Result<()> {
        if let Name::StandardOutput = self.name {
            return Ok(());
        }
        self.file.rewind()?;
        io::copy(&mut self.file, &mut StandardOutput).map(drop)
    }
}

pub(super) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn unnamed(folder: &Path, mode: u32) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = open(folder, flags, Mode::from_raw_mode(mode)).ok()?;
    // It gets its name through /proc, which a sandbox may hide.
    Path::new(&by_descriptor(&file)).exists().then(|| File::from(file))
}

fn by_descriptor(file: &impl AsFd) -> String {
    format!("/proc/self/fd/{}", file.as_fd().as_raw_fd())
}

/// A link never replaces a file, so replacing takes a passing name beside it and a rename.
fn link(file: &File, path: &Path, replace: bool) -> io::Result<()> {
    let give_name =
        |name: &Path| linkat(CWD, by_descriptor(file), CWD, name, AtFlags::SYMLINK_FOLLOW);
    match give_name(path) {
        Err(Errno::EXIST) if replace => {}
        linked => return Ok(linked?),
    }
    for attempt in 0..ATTEMPTS {
        let passing = folder(path).join(format!(".seekless-{}-{attempt}", std::process::id()));
        match give_name(&passing) {
            Err(Errno::EXIST) => continue, // of a process of that number that was killed here
            linked => linked?,
        }
        return fs::rename(&passing, path).inspect_err(|_| drop(fs::remove_file(&passing)));
    }
    Err(io::Error::other("no free name beside it"))
}
