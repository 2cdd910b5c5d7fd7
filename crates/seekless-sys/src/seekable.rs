//! Opens files that can be read at any offset, without waiting for the other end of a pipe.

use rustix::fs::{FileType, Mode, OFlags};
use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a regular file or a block device for reading. A pipe, which would wait for a writer, is
/// refused at once.
///
/// # Errors
/// The file cannot be opened, or is of a kind that has no offsets.
pub fn open_seekable(path: &Path) -> io::Result<File> {
    open(path, OFlags::RDONLY, Mode::empty())
}

/// As [`open_seekable`], for reading and writing. A file that is absent is made.
///
/// # Errors
/// As [`open_seekable`], and if it may not be written to or made.
pub fn open_to_write(path: &Path) -> io::Result<File> {
    open(path, OFlags::RDWR | OFlags::CREATE, Mode::from_raw_mode(0o666))
}

fn open(path: &Path, flags: OFlags, mode: Mode) -> io::Result<File> {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, mode)?);
    match FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) {
        FileType::RegularFile | FileType::BlockDevice => {
            // If the flag stayed, io_uring would answer EAGAIN for bytes that are not in memory.
            rustix::fs::fcntl_setfl(&file, OFlags::empty())?;
            Ok(file)
        }
        FileType::Directory => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::new(
            io::ErrorKind::NotSeekable,
            "is a pipe, terminal or device without offsets: copy it to a file first",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_opens_and_a_pipe_does_not_hang() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, Mode::RUSR).unwrap();
        assert_eq!(open_seekable(&pipe).unwrap_err().kind(), io::ErrorKind::NotSeekable);
        assert_eq!(open_seekable(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        let file = folder.path().join("file");
        std::fs::write(&file, "bytes").unwrap();
        assert_eq!(open_seekable(&file).unwrap().metadata().unwrap().len(), 5);
        assert_eq!(
            open_seekable(&folder.path().join("absent")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
