//! The kernel's type information as bytes: mapped, where the kernel allows it (Linux 6.16), else
//! read. A read gives a page at a time, and there are more than a thousand.

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::ptr;

/// Bytes that never change.
pub(super) enum Published {
    Read(Vec<u8>),
    /// Its address, which is not null, and its length.
    Mapped(*mut c_void, usize),
}

impl Published {
    /// # Errors
    /// There is no such file, or it cannot be read.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        // SAFETY: a fresh mapping at an address of the kernel's choice.
        let mapped =
            unsafe { mmap(ptr::null_mut(), length, ProtFlags::READ, MapFlags::PRIVATE, &file, 0) };
        match mapped {
            Ok(address) => Ok(Self::Mapped(address, length)),
            Err(_) => std::fs::read(path).map(Self::Read),
        }
    }
}

impl Deref for Published {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            // SAFETY: mapped readable for that length as long as `self`. The kernel's types are
            // part of its own read-only data: nothing changes them while it runs.
            Self::Mapped(address, length) => unsafe {
                std::slice::from_raw_parts(address.cast::<u8>(), *length)
            },
        }
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        if let Self::Mapped(address, length) = self {
            // SAFETY: exactly the mapping made in `open`, into which no reference outlives `self`.
            let unmapped = unsafe { munmap(*address, *length) };
            debug_assert!(unmapped.is_ok());
        }
    }
}
