//! A handle of a file, by which its file system finds it again whatever it is called by then:
//! name_to_handle_at(2) and open_by_handle_at(2). Opening by a handle needs CAP_DAC_READ_SEARCH.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// MAX_HANDLE_SZ.
const BYTES_MAX: usize = 128;

/// `struct file_handle`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Raw {
    bytes: u32,
    kind: i32,
    data: [u8; BYTES_MAX],
}

/// A file's handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handle {
    kind: i32,
    data: Box<[u8]>,
}

impl Handle {
    /// The handle of an open file.
    ///
    /// # Errors
    /// The file system has no handles.
    pub fn of(file: impl AsFd) -> io::Result<Self> {
        let mut raw = Raw { bytes: BYTES_MAX as u32, kind: 0, data: [0; BYTES_MAX] };
        let mut mount = 0;
        // SAFETY: the name is empty and ends in a zero; `raw` has the kernel's layout with room for
        // the bytes that it states, and both places outlive the call.
        let result = unsafe {
            libc::syscall(
                libc::SYS_name_to_handle_at,
                file.as_fd().as_raw_fd(),
                c"".as_ptr(),
                &raw mut raw,
                &raw mut mount as *mut libc::c_int,
                libc::AT_EMPTY_PATH,
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        let bytes = (raw.bytes as usize).min(BYTES_MAX);
        Ok(Self { kind: raw.kind, data: raw.data[..bytes].into() })
    }

    /// Opens the file for reading. `mount` is any open file or folder of the same file system.
    ///
    /// # Errors
    /// The file is gone (`ESTALE`), or this process may not open files so (`EPERM`).
    pub fn open(&self, mount: impl AsFd) -> io::Result<File> {
        let mut raw = Raw { bytes: self.data.len() as u32, kind: self.kind, data: [0; BYTES_MAX] };
        raw.data[..self.data.len()].copy_from_slice(&self.data);
        let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let mount = mount.as_fd().as_raw_fd();
        // SAFETY: `raw` has the kernel's layout and outlives the call, which only reads it.
        let opened =
            unsafe { libc::syscall(libc::SYS_open_by_handle_at, mount, &raw mut raw, flags) };
        if opened < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a descriptor that the kernel has just made for us.
        Ok(unsafe { OwnedFd::from_raw_fd(opened as i32) }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::time::{Duration, Instant};

    #[test]
    fn a_file_is_found_after_a_move_and_not_after_its_end() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        std::fs::write(&old, "text").unwrap();
        let Ok(handle) = Handle::of(File::open(&old).unwrap()) else {
            eprintln!("skipped: this file system has no handles");
            return;
        };
        std::fs::rename(&old, &new).unwrap();
        let mount = File::open(folder.path()).unwrap();
        let mut found = match handle.open(&mount) {
            Ok(found) => found,
            Err(error) => return eprintln!("skipped: handles cannot be opened here: {error}"),
        };
        let mut text = String::new();
        found.read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        drop(found);
        std::fs::remove_file(&new).unwrap();
        // A child of another test may hold what it has inherited for a moment.
        let patience = Instant::now() + Duration::from_secs(5);
        while handle.open(&mount).is_ok() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(handle.open(&mount).unwrap_err().raw_os_error(), Some(libc::ESTALE));
    }
}
