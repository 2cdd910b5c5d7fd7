//! A file mapped into memory for reading. It hands out copies only: bytes that another process may
//! change at any moment must not be a `&[u8]`.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::ptr;

/// A whole file, mapped shared and read-only.
///
/// Reading a page that cannot be read (the file was cut short, the device failed) raises SIGBUS, as
/// with any mapped file. Map only files that no process cuts short.
#[derive(Debug)]
pub struct Map {
    address: *mut c_void,
    bytes: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is only ever read.
unsafe impl Send for Map {}
// SAFETY: as above; `read_at` takes no state but the address.
unsafe impl Sync for Map {}

impl Map {
    /// Maps all of `file` at its present size. Nothing is read before it is asked for.
    ///
    /// # Errors
    /// It is not a regular file, or there is no room in the address space.
    pub fn new(file: &File) -> io::Result<Self> {
        use rustix::mm::{MapFlags, ProtFlags, mmap};
        let bytes =
            usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        if bytes == 0 {
            return Ok(Self { address: ptr::null_mut(), bytes }); // an empty mapping is refused by the kernel
        }
        // SAFETY: a fresh mapping at an address of the kernel's choice; no reference to it is ever
        // formed.
        let address =
            unsafe { mmap(ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, file, 0)? };
        Ok(Self { address, bytes })
    }

    /// How many bytes are mapped.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether the file was empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Copies `buffer.len()` bytes at `offset`.
    ///
    /// # Errors
    /// The range does not lie in the file.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).ok();
        let Some(start) = start
            .filter(|&start| start.checked_add(buffer.len()).is_some_and(|end| end <= self.bytes))
        else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        if !buffer.is_empty() {
            // SAFETY: the source lies in the mapping, which lives as long as `self`, and the buffer
            // is ours alone. What others write to the file meanwhile changes which bytes are copied
            // and nothing else.
            unsafe {
                ptr::copy_nonoverlapping(
                    self.address.cast::<u8>().add(start),
                    buffer.as_mut_ptr(),
                    buffer.len(),
                );
            }
        }
        Ok(())
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: exactly the mapping made in `new`, into which no reference points.
            let unmapped = unsafe { rustix::mm::munmap(self.address, self.bytes) };
            debug_assert!(unmapped.is_ok());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_map_reads_what_the_file_holds_and_not_beyond() {
        let mut file = tempfile::tempfile().unwrap();
        let content: Vec<u8> = (0..10_000_u32).map(|number| (number % 251) as u8).collect();
        file.write_all(&content).unwrap();
        let map = Map::new(&file).unwrap();
        assert_eq!(map.len(), 10_000);
        let mut part = [0; 100];
        map.read_exact_at(&mut part, 9_900).unwrap();
        assert_eq!(part, content[9_900..]);
        for offset in [9_901, 10_001, u64::MAX] {
            assert_eq!(
                map.read_exact_at(&mut part, offset).unwrap_err().kind(),
                io::ErrorKind::UnexpectedEof
            );
        }
    }

    #[test]
    fn an_empty_file_maps_to_nothing() {
        let map = Map::new(&tempfile::tempfile().unwrap()).unwrap();
        assert!(map.is_empty());
        map.read_exact_at(&mut [], 0).unwrap();
        assert!(map.read_exact_at(&mut [0], 0).is_err());
    }
}
