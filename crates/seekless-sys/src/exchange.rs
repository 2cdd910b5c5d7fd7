//! Exchanges blocks of two files of one ext4: `EXT4_IOC_MOVE_EXT` (Linux 2.6.31). The first file
//! keeps its bytes, its inode and its times, and lies where the second lay. The kernel copies the
//! data and journals the exchange: after a crash each block is in its old or in its new place.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// `_IOWR('f', 15, struct move_extent)`.
const EXT4_IOC_MOVE_EXT: u64 = 0xC028_660F;

/// Which blocks to exchange, in blocks of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// The first block in the file that keeps its bytes.
    pub file_first: u64,
    /// The first block in the donor.
    pub donor_first: u64,
    /// How many.
    pub count: u64,
}

/// `struct move_extent` of fs/ext4/ext4.h.
#[repr(C)]
struct Request {
    reserved: u32,
    donor: u32,
    file_first: u64,
    donor_first: u64,
    count: u64,
    moved: u64,
}

const _: () = assert!(size_of::<Request>() == 40);

/// Exchanges blocks of `file`, which is open for reading and writing, with those of `donor`, which
/// is open for writing. The donor's blocks may be reserved and unwritten; the file must have no
/// hole there. Returns how many blocks were exchanged, also where not all could be.
///
/// # Errors
/// The kernel refused: the files are of two file systems or of another kind than ext4 with extents,
/// or one of them is encrypted, immutable or swapped to; or there is no space for the block map.
pub fn exchange(file: impl AsFd, donor: impl AsFd, blocks: Blocks) -> (u64, io::Result<()>) {
    let donor = donor.as_fd().as_raw_fd() as u32;
    let mut done = 0;
    while done < blocks.count {
        let mut request = Request {
            reserved: 0,
            donor,
            file_first: blocks.file_first + done,
            donor_first: blocks.donor_first + done,
            count: blocks.count - done,
            moved: 0,
        };
        let descriptor = file.as_fd().as_raw_fd();
        // SAFETY: both descriptors are open, and the kernel writes only to the request, a live
        // structure of its layout.
        let result = unsafe { libc::ioctl(descriptor, EXT4_IOC_MOVE_EXT as _, &raw mut request) };
        done += request.moved.min(blocks.count - done);
        if result != 0 {
            return (done, Err(io::Error::last_os_error()));
        }
        if request.moved == 0 {
            return (done, Err(io::ErrorKind::WriteZero.into()));
        }
    }
    (done, Ok(()))
}

/// Whether anybody has a file open or mapped for writing, seen by a read lease, which the kernel
/// refuses then. `file` must be open for reading only.
///
/// # Errors
/// The file is another user's, or its file system has no leases.
pub fn is_open_for_writing(file: impl AsFd) -> io::Result<bool> {
    let lease = |kind: libc::c_int| {
        // SAFETY: the descriptor is open, and the call touches no memory of ours.
        unsafe { libc::fcntl(file.as_fd().as_raw_fd(), libc::F_SETLEASE, kind) }
    };
    if lease(libc::F_RDLCK) == 0 {
        lease(libc::F_UNLCK);
        return Ok(false);
    }
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::EAGAIN) => Ok(true),
        error => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, OpenOptions};

    #[test]
    fn a_writer_is_seen_until_it_closes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "x").unwrap();
        let reader = File::open(&path).unwrap();
        let Ok(before) = is_open_for_writing(&reader) else {
            eprintln!("skipped: the file system has no leases");
            return;
        };
        let writer = OpenOptions::new().append(true).open(&path).unwrap();
        let while_open = is_open_for_writing(&reader).unwrap();
        drop(writer);
        let after = is_open_for_writing(&reader).unwrap();
        assert_eq!((before, while_open, after), (false, true, false));
    }

    #[test]
    fn files_that_cannot_exchange_are_refused_with_nothing_moved() {
        let file = tempfile::tempfile().unwrap();
        let blocks = Blocks { file_first: 0, donor_first: 0, count: 1 };
        let (moved, result) = exchange(&file, &file, blocks);
        assert!(moved == 0 && result.is_err());
    }
}
