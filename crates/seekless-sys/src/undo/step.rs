//! One step that puts something back.

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use std::ffi::{CString, OsStr};
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// A folder of the kernel's stays busy until the last process that was in it has been cleared away.
const TRIES: u32 = 500;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// Puts one thing back. To take it again changes nothing, and what is already gone is no error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step(pub(super) Kind);

/// Paths are kept as the kernel takes them: a step is also taken by a forked process, which must
/// not allocate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Write { text: Vec<u8>, path: CString },
    RemoveFolder(CString),
    Unmount(CString),
}

impl Step {
    /// Writes `text` into the file `path`, as a setting of the kernel is set. If the kernel calls
    /// it busy, others have come to need what was set, and it is left to them.
    ///
    /// # Errors
    /// The path holds a NUL.
    pub fn write(text: impl AsRef<str>, path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Step(Kind::Write { text: text.as_ref().as_bytes().to_vec(), path: c_path(path)? }))
    }

    /// Removes the empty folder `path`, such as a control group. While it is busy this is tried for
    /// ten seconds.
    ///
    /// # Errors
    /// The path holds a NUL.
    pub fn remove_folder(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Step(Kind::RemoveFolder(c_path(path)?)))
    }

    /// Unmounts what is mounted at `path`.
    ///
    /// # Errors
    /// The path holds a NUL.
    pub fn unmount(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Step(Kind::Unmount(c_path(path)?)))
    }

    /// Takes the step. Allocates nothing and takes no lock.
    fn take(&self) -> Result<(), Errno> {
        match &self.0 {
            Kind::Write { text, path } => match write(path, text) {
                Err(Errno::BUSY) => Ok(()),
                other => gone_is_fine(other),
            },
            Kind::RemoveFolder(path) => gone_is_fine(remove_folder(path)),
            Kind::Unmount(path) => {
                match rustix::mount::unmount(path.as_c_str(), UnmountFlags::DETACH) {
                    // Nothing is mounted there.
                    Err(Errno::INVAL) => Ok(()),
                    other => gone_is_fine(other),
                }
            }
        }
    }
}

impl fmt::Display for Step {
    /// What the step does: `write 32 to /sys/fs/ext4/sda1/inode_readahead_blks`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path =
            |path: &CString| OsStr::from_bytes(path.as_bytes()).to_string_lossy().into_owned();
        match &self.0 {
            Kind::Write { text, path: at } => {
                write!(f, "write {} to {}", String::from_utf8_lossy(text), path(at))
            }
            Kind::RemoveFolder(at) => write!(f, "remove the folder {}", path(at)),
            Kind::Unmount(at) => write!(f, "unmount {}", path(at)),
        }
    }
}

/// Takes all steps; the number and error of the first that failed. Allocates nothing and takes no
/// lock.
pub(super) fn take_all(steps: &[Step]) -> Result<(), (usize, Errno)> {
    let mut failed = None;
    for (number, step) in steps.iter().enumerate() {
        if let Err(error) = step.take() {
            failed.get_or_insert((number, error));
        }
    }
    failed.map_or(Ok(()), Err)
}

/// A step that failed, in words.
pub(super) fn failure(step: &Step, error: Errno) -> io::Error {
    let error = io::Error::from(error);
    io::Error::new(
        error.kind(),
        format!("cannot {step}, which puts back what was changed: {error}"),
    )
}

fn c_path(path: impl AsRef<Path>) -> io::Result<CString> {
    Ok(CString::new(path.as_ref().as_os_str().as_bytes())?)
}

fn gone_is_fine(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::NOENT | Errno::NODEV) => Ok(()),
        other => other,
    }
}

fn write(path: &CString, text: &[u8]) -> Result<(), Errno> {
    let file = rustix::fs::open(path.as_c_str(), OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text).map(drop)
}

fn remove_folder(path: &CString) -> Result<(), Errno> {
    let pause =
        rustix::thread::Timespec { tv_sec: 0, tv_nsec: i64::from(BETWEEN_TRIES.subsec_nanos()) };
    for _ in 1..TRIES {
        match rustix::fs::unlinkat(CWD, path.as_c_str(), AtFlags::REMOVEDIR) {
            Err(Errno::BUSY) => drop(rustix::thread::nanosleep(&pause)),
            other => return other,
        }
    }
    rustix::fs::unlinkat(CWD, path.as_c_str(), AtFlags::REMOVEDIR)
}
