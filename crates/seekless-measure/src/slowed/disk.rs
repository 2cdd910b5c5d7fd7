//! The disk that a path lies on, which is what can be limited.

use crate::Error;
use rustix::fs::{major, minor};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A whole block device.
#[derive(Debug)]
pub(super) struct Disk {
    /// Major and minor number.
    pub(super) number: (u32, u32),
    /// Name of the partition, or of the disk, that the file system lies on.
    pub(super) name: String,
}

impl Disk {
    pub(super) fn of(path: &Path) -> Result<Self, Error> {
        let lies =
            fs::metadata(path).map_err(|error| Error::io(path, "cannot be examined", error))?.dev();
        let (major, minor) = (major(lies), minor(lies));
        let link = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
        let place = fs::canonicalize(&link).map_err(|error| {
            let doing = "lies on no block device that could be limited (tmpfs, overlay, network): choose a folder on a disk";
            Error::io(path, doing, error)
        })?;
        let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let whole = if place.join("partition").exists() {
            place.parent().unwrap_or(&place)
        } else {
            &place
        };
        let file = whole.join("dev");
        let text =
            fs::read_to_string(&file).map_err(|error| Error::io(&file, "cannot be read", error))?;
        let number = numbers(text.trim()).unwrap_or((major, minor));
        Ok(Disk { number, name })
    }
}

/// `254:0`.
fn numbers(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
