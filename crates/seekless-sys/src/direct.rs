//! Opens files past the page cache (O_DIRECT), and finds the alignment that such reads need.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The alignment to assume if the kernel does not say. It is right for every block device with
/// sectors of up to 4096 bytes.
const ASSUMED_BYTES: u32 = 4096;

/// The alignment of direct reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// Of the buffer's address, in bytes; a power of two.
    pub memory_bytes: u32,
    /// Of the file offset and the length, in bytes; a power of two.
    pub offset_bytes: u32,
}

impl Default for Alignment {
    fn default() -> Self {
        Self { memory_bytes: ASSUMED_BYTES, offset_bytes: ASSUMED_BYTES }
    }
}

/// Opens `path` for reading with O_DIRECT; `None` where the file system refuses that.
///
/// Some file systems accept the flag here and refuse the first read with EINVAL: treat that as
/// `None` too.
///
/// # Errors
/// The other errors of `open`: not found, no permission.
pub fn open_direct(path: &Path) -> io::Result<Option<File>> {
    match OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP)) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The alignment for direct reads of an open file: statx's DIOALIGN (Linux 6.1), otherwise 4096 for
/// both.
///
/// # Errors
/// The file cannot be examined.
pub fn alignment(file: impl AsFd) -> io::Result<Alignment> {
    use rustix::fs::{AtFlags, StatxFlags, statx};
    let mask = StatxFlags::from_bits_retain(libc::STATX_DIOALIGN);
    let answer = match statx(file.as_fd(), "", AtFlags::EMPTY_PATH, mask) {
        Ok(answer) => answer,
        Err(rustix::io::Errno::NOSYS) => return Ok(Alignment::default()),
        Err(error) => return Err(error.into()),
    };
    let known = answer.stx_mask & libc::STATX_DIOALIGN != 0
        && answer.stx_dio_mem_align.is_power_of_two()
        && answer.stx_dio_offset_align.is_power_of_two();
    Ok(if known {
        Alignment {
            memory_bytes: answer.stx_dio_mem_align,
            offset_bytes: answer.stx_dio_offset_align,
        }
    } else {
        Alignment::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alignment_is_a_power_of_two_on_any_file() {
        let file = tempfile::tempfile().unwrap();
        let found = alignment(&file).unwrap();
        assert!(found.memory_bytes.is_power_of_two() && found.offset_bytes.is_power_of_two());
    }

    #[test]
    fn a_direct_file_reads_what_was_written_or_is_refused() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = directory.path().join("direct");
        std::fs::write(&path, vec![7_u8; 8192]).unwrap();
        let Some(file) = open_direct(&path).unwrap() else {
            eprintln!("skipped: the file system refuses O_DIRECT");
            return;
        };
        let mut buffer = vec![0_u8; 4096 * 2];
        let start = buffer.as_ptr().align_offset(4096);
        let read = std::os::unix::fs::FileExt::read_at(&file, &mut buffer[start..start + 4096], 0)
            .unwrap();
        assert_eq!(&buffer[start..start + read], &vec![7_u8; 4096][..]);
    }

    #[test]
    fn a_missing_file_is_an_error_and_not_a_refusal() {
        let error = open_direct(Path::new("/nonexistent/file")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
