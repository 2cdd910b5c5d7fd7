//! Ranges of files that stay in memory as long as a value lives. Their bytes are never looked at,
//! so that nothing goes wrong if a file is cut short.

use crate::memory::page_bytes;
use rustix::mm::{MapFlags, ProtFlags, mlock, mmap, munmap};
use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::ptr;

/// A range of a file that is locked in memory.
#[derive(Debug)]
pub struct Locked {
    address: *mut c_void,
    bytes: usize,
}

// SAFETY: the mapping belongs to the process; no reference into it exists.
unsafe impl Send for Locked {}

impl Locked {
    /// Reads a range, in whole pages, and locks it.
    ///
    /// # Errors
    /// `PermissionDenied` or `OutOfMemory`: the user may lock no more (RLIMIT_MEMLOCK), or there is
    /// too little memory, or there are too many mappings. Others are of reading.
    pub fn new(file: &File, offset: u64, bytes: u64) -> io::Result<Self> {
        let first = offset / page_bytes() * page_bytes();
        let bytes = usize::try_from(bytes + (offset - first)).map_err(io::Error::other)?;
        // SAFETY: a fresh mapping at an address of the kernel's choice, to which no reference is
        // formed.
        let address = unsafe {
            mmap(ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, file, first)?
        };
        let locked = Self { address, bytes };
        // SAFETY: exactly the mapping made above.
        unsafe { mlock(address, bytes)? };
        Ok(locked)
    }

    /// Its length in whole pages, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.bytes as u64).next_multiple_of(page_bytes())
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`, to which no reference exists.
        let unmapped = unsafe { munmap(self.address, self.bytes) };
        debug_assert!(unmapped.is_ok());
    }
}

/// Lets this process lock as much as its hard limit allows. Gives that limit in bytes; `None` is
/// none.
pub fn raise_limit() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Memlock);
    let _ = setrlimit(Resource::Memlock, Rlimit { current: maximum, maximum });
    maximum
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_locked_range_does_not_leave_memory() {
        const BYTES: usize = 16 << 20;
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        io::Write::write_all(&mut &file, &vec![1; BYTES]).unwrap();
        file.sync_all().unwrap();
        let cached = || crate::residency::resident_bytes(file.as_fd()).unwrap().unwrap_or(0);
        // Pages that another processor is about to put into its lists are not dropped at once.
        let left = |expected: u64| {
            for _ in 0..200 {
                crate::residency::drop_cached(file.as_fd()).unwrap();
                if cached() <= expected {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            cached()
        };
        assert_eq!(left(0), 0);
        let locked = match Locked::new(&file, 10_000, 5_000) {
            Ok(locked) => locked,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        assert_eq!(locked.bytes(), 8192);
        // The page cache may hold larger pieces than pages.
        assert!((8192..BYTES as u64).contains(&left(BYTES as u64 / 2)));
        drop(locked);
        assert_eq!(left(0), 0);
    }
}
