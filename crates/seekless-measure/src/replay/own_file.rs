//! Whether a file or device may be overwritten: only if the user named it for that, and nothing
//! else can want its bytes. Asked of open descriptors, so that what was examined is what is
//! written.

use crate::{Error, ErrorKind};
use rustix::fs::{FlockOperation, flock};
use seekless_device::SplitMix64;
use seekless_sys::in_use;
use seekless_sys::output::{Content, Destination};
use std::fs::{self, File};
use std::io;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files that a trace reads from, and trees that they lie in: none of it may be overwritten.
#[derive(Clone, Debug, Default)]
pub struct Protected {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Protected {
    /// Protects files, and everything in the folders that they lie in and below; but not all of the
    /// machine for a file in its root.
    #[must_use]
    pub fn trees_of<P: AsRef<Path>>(files: &[P]) -> Self {
        let files: Vec<PathBuf> = files.iter().map(|file| file.as_ref().to_owned()).collect();
        let folders = files.iter().filter_map(|file| file.parent());
        let folders = folders.filter(|folder| folder.parent().is_some());
        let mut folders: Vec<PathBuf> =
            folders.filter_map(|folder| folder.canonicalize().ok()).collect();
        folders.sort_unstable();
        folders.dedup();
        Protected { files, folders }
    }

    /// Protects also this file alone, such as the trace.
    #[must_use]
    pub fn and(mut self, file: &Path) -> Self {
        self.files.push(file.to_owned());
        self
    }
}

/// Refuses what is not a regular file of its own.
pub(super) fn check_file(path: &Path, file: &File, protected: &Protected) -> Result<(), Error> {
    let metadata = file.metadata().map_err(failed(path, "cannot be examined"))?;
    if !metadata.is_file() {
        let why = "not a regular file; a device is overwritten with --destroy-data DEVICE";
        return Err(refused(path, why));
    }
    if metadata.nlink() != 1 {
        let why = match metadata.nlink() {
            0 => "it was deleted".to_owned(),
            links => format!("it has {links} names (hard links), and would change under all"),
        };
        return Err(refused(path, &why));
    }
    let same = |other: &PathBuf| {
        fs::metadata(other)
            .is_ok_and(|other| (other.dev(), other.ino()) == (metadata.dev(), metadata.ino()))
    };
    if protected.files.iter().any(same) {
        return Err(refused(path, "the trace reads from it, or it is the trace"));
    }
    let lies = path.canonicalize().map_err(failed(path, "cannot be examined"))?;
    if let Some(folder) = protected.folders.iter().find(|folder| lies.starts_with(folder)) {
        let why = format!("it lies in {}, from which the trace reads", folder.display());
        return Err(refused(path, &why));
    }
    if let Some(used) = in_use::of_file(file).map_err(failed(path, "cannot be examined"))? {
        return Err(refused(path, &format!("it is {used}")));
    }
    // Against a second replay that begins at the same time.
    flock(file, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| refused(path, "another process has locked it"))
}

/// Refuses a device that anything uses.
pub(super) fn check_device(path: &Path, file: &File) -> Result<(), Error> {
    match in_use::of_device(file).map_err(failed(path, "cannot be examined"))? {
        Some(used) => Err(refused(path, &format!("it is {used}"))),
        None => Ok(()),
    }
}

fn refused(path: &Path, why: &str) -> Error {
    let message = format!("{}: refused, and not written to: {why}", path.display());
    Error::new(ErrorKind::Refused, message)
}

/// Makes a file of this size, filled with bytes that no device compresses, under a name that must
/// be free. `progress` gets the bytes written and wanted; when it says `false`, no file is left
/// behind.
///
/// # Errors
/// There is a file of this name, the disk is too small, or the caller asked to stop.
pub fn create_file(
    path: &Path,
    bytes: u64,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<(), Error> {
    let message =
        |error: seekless_sys::output::Error| Error::new(ErrorKind::Refused, error.to_string());
    let mut output = Destination::new(path).create(Content::Binary).map_err(message)?;
    let mut random = SplitMix64::new(bytes);
    let mut block = vec![0_u8; 1 << 20];
    let mut written = 0;
    while written < bytes {
        block
            .chunks_exact_mut(8)
            .for_each(|word| word.copy_from_slice(&random.bits().to_le_bytes()));
        let piece = (bytes - written).min(block.len() as u64);
        output.write_all(&block[..piece as usize]).map_err(failed(path, "cannot be made"))?;
        written += piece;
        if !progress(written, bytes) {
            let message = "the replay was interrupted".to_owned();
            return Err(Error::new(ErrorKind::Interrupted, message));
        }
    }
    output.publish().map_err(message)
}

/// The error of a file that cannot be made or examined.
pub(super) fn failed(path: &Path, doing: &str) -> impl Fn(io::Error) -> Error {
    let (path, doing) = (path.to_owned(), doing.to_owned());
    move |error| Error::io(&path, &doing, error)
}
