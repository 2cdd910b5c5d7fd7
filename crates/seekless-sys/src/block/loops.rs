//! Loop devices, and what they store their data in.

use rustix::fs::makedev;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What a loop device stores its data in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    /// The block device of this number.
    Device(u64),
    /// The file of this device and inode.
    File { device: u64, inode: u64 },
}

impl Store {
    /// The file or device that `found` describes.
    pub(crate) fn of(found: &fs::Metadata) -> Self {
        match found.file_type().is_block_device() {
            true => Self::Device(found.rdev()),
            false => Self::File { device: found.dev(), inode: found.ino() },
        }
    }
}

/// What the loop device `name` stores its data in, if it has been set up. The kernel knows it by
/// number, also where the file's path has become another one, or leads elsewhere in another mount
/// namespace. To ask the kernel needs leave to open the device; without it the path must do.
pub(super) fn store(name: &str, folder: &Path) -> Option<Store> {
    let mut path = fs::read(folder.join("loop/backing_file")).ok()?;
    path.pop_if(|last| *last == b'\n');
    let by_path = || fs::metadata(as_path(path)).ok().map(|found| Store::of(&found));
    asked(&Path::new("/dev").join(name)).or_else(by_path)
}

/// `struct loop_info64` of linux/loop.h.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    others: [u64; 26],
}

const _: () = assert!(size_of::<LoopInfo>() == 232);

const LOOP_GET_STATUS64: libc::Ioctl = 0x4C05 as libc::Ioctl;

fn asked(node: &Path) -> Option<Store> {
    let file = File::open(node).ok()?;
    let mut info = LoopInfo { device: 0, inode: 0, rdevice: 0, others: [0; 26] };
    // SAFETY: the descriptor is open, and the kernel writes a `loop_info64`, which has the size of
    // `info` and takes any bytes.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), LOOP_GET_STATUS64, &raw mut info) };
    (done == 0).then_some(match info.rdevice {
        0 => Store::File { device: decoded(info.device), inode: info.inode },
        number => Store::Device(decoded(number)),
    })
}

/// A device number as the kernel writes it in such structures (`huge_encode_dev`).
fn decoded(number: u64) -> u64 {
    let (major, minor) = (number >> 8 & 0xFFF, number & 0xFF | number >> 12 & 0xF_FF00);
    makedev(major as u32, minor as u32)
}

fn as_path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_stat() {
        assert_eq!(decoded(0x07_01), makedev(7, 1));
        assert_eq!(decoded(0xFD_00), makedev(253, 0));
        assert_eq!(decoded(0x0010_FD05), makedev(253, 0x105));
    }
}
