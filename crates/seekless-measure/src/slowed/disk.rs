//! The disk that a path lies on, which is what can be limited. Under a loop device that reads its
//! file past the page cache, that is the disk of the file: the loop device hands on requests that
//! are merged already, as a volume sees them.

use crate::Error;
use rustix::fs::{major, minor};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A whole block device.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Disk {
    /// Major and minor number.
    pub(super) number: (u32, u32),
    /// Name of the partition, or of the disk, that the file system lies on.
    pub(super) name: String,
    /// Whether requests come to the throttle after neighbours were merged.
    pub(super) merges: bool,
}

impl Disk {
    /// The disk that stores what lies at a path: of a loop device with direct I/O the one below.
    pub(super) fn of(path: &Path) -> Result<Self, Error> {
        let (disk, place) = Self::found(path)?;
        match below_loop(&place) {
            Some(below) => Ok(Disk { name: disk.name, merges: true, ..Disk::of(&below)? }),
            None => Ok(disk),
        }
    }

    /// The device that a path lies on.
    pub(super) fn itself(path: &Path) -> Result<Self, Error> {
        Self::found(path).map(|(disk, _)| disk)
    }

    /// The device, and the place of the whole disk in /sys.
    fn found(path: &Path) -> Result<(Self, PathBuf), Error> {
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
        Ok((Disk { number, name, merges: false }, whole.to_owned()))
    }
}

/// The file that holds what the device at this place in /sys stores, if it is a loop device with
/// direct I/O.
fn below_loop(device: &Path) -> Option<PathBuf> {
    let attribute = |name: &str| fs::read(device.join("loop").join(name)).ok();
    let mut path =
        attribute("dio").filter(|dio| dio.starts_with(b"1")).and(attribute("backing_file"))?;
    path.pop_if(|last| *last == b'\n');
    Some(PathBuf::from(OsString::from_vec(path)))
}

/// `254:0`.
fn numbers(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_a_loop_device_with_direct_io_lies_its_file() {
        let device = tempfile::tempdir().unwrap();
        assert_eq!(below_loop(device.path()), None, "no loop device");
        let of_loop = device.path().join("loop");
        fs::create_dir(&of_loop).unwrap();
        fs::write(of_loop.join("backing_file"), "/images/a disk\n").unwrap();
        fs::write(of_loop.join("dio"), "0\n").unwrap();
        assert_eq!(below_loop(device.path()), None, "it reads through the page cache");
        fs::write(of_loop.join("dio"), "1\n").unwrap();
        assert_eq!(below_loop(device.path()), Some(PathBuf::from("/images/a disk")));
    }

    #[test]
    fn the_device_itself_is_what_the_file_system_lies_on() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (Ok(disk), Ok((_, place))) = (Disk::itself(here), Disk::found(here)) else {
            println!("skipped: this folder lies on no block device");
            return;
        };
        assert!(!disk.merges);
        assert_eq!(
            Some(disk.number),
            numbers(fs::read_to_string(place.join("dev")).unwrap().trim())
        );
    }
}
