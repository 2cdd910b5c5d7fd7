//! How far the kernel reads ahead on the device of a file, which a comparison with the kernel must
//! know, and may set for its time (root).

use crate::Error;
use rustix::fs::{FlockOperation, flock, major, minor};
use seekless_sys::undo::{Step, Undo};
use std::fs::{self, File, OpenOptions};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The kernel's largest window on one device, set to another size until this is dropped. It is put
/// back also if this process is killed.
#[derive(Debug)]
pub struct KernelWindow {
    /// Before the lock, so that the lock lasts until the setting is put back.
    _undo: Undo,
    _lock: File,
}

impl KernelWindow {
    /// The largest window in bytes for files on the device of `path`; `None` where the kernel does
    /// not say.
    #[must_use]
    pub fn of(path: &Path) -> Option<u64> {
        let text = fs::read_to_string(setting(path)?).ok()?;
        Some(text.trim().parse::<u64>().ok()? << 10)
    }

    /// Sets it to `bytes`, rounded down to KiB, for files that are opened from now on.
    ///
    /// # Errors
    /// Without root, where the file lies on no block device, while another measurement has set it,
    /// or where it cannot be written down what will be changed.
    pub fn set(path: &Path, bytes: u64) -> Result<Self, Error> {
        let nowhere = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let file =
            setting(path).ok_or_else(|| Error::io(path, "lies on no block device", nowhere()))?;
        let refused = |error| Error::io(&file, "cannot be set, which needs root", error);
        let lock = OpenOptions::new().read(true).write(true).open(&file).map_err(refused)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|error| Error::io(&file, "is held by another measurement", error.into()))?;
        let before = fs::read_to_string(&file).map_err(refused)?;
        let undo = Step::write(before.trim(), &file)
            .and_then(|step| Undo::prepare(vec![step], &[lock.as_fd()]))
            .map_err(refused)?;
        lock.write_all_at((bytes >> 10).to_string().as_bytes(), 0).map_err(refused)?;
        Ok(Self { _undo: undo, _lock: lock })
    }
}

/// The setting of the device that a file lies on. A partition has that of its disk.
fn setting(path: &Path) -> Option<PathBuf> {
    let device = fs::metadata(path).ok()?.dev();
    let place = PathBuf::from(format!("/sys/dev/block/{}:{}", major(device), minor(device)));
    let place = fs::canonicalize(place).ok()?;
    [place.join("bdi"), place.parent()?.join("bdi")]
        .into_iter()
        .map(|folder| folder.join("read_ahead_kb"))
        .find(|file| file.exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_set_and_put_back() {
        let file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let Some(before) = KernelWindow::of(file.path()) else {
            return eprintln!("skipped: the kernel does not say how far it reads ahead here");
        };
        // The same size, so that nothing else on this machine is disturbed.
        match KernelWindow::set(file.path(), before) {
            Err(error) => eprintln!("skipped: {error}"),
            Ok(set) => {
                assert_eq!(KernelWindow::of(file.path()), Some(before));
                let again = KernelWindow::set(file.path(), before);
                assert!(again.is_err(), "two measurements at once");
                drop(set);
                assert_eq!(KernelWindow::of(file.path()), Some(before));
            }
        }
        assert!(KernelWindow::set(Path::new("/proc/self/status"), 4096).is_err());
    }
}
