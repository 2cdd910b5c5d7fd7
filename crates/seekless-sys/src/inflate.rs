//! Inflates deflate data into memory that was not filled before. The crate `libdeflater` needs a
//! filled buffer: the size that an archive merely claims would be paid for before the first byte is
//! decoded.

use libdeflate_sys::{
    libdeflate_alloc_decompressor, libdeflate_decompressor, libdeflate_deflate_decompress,
    libdeflate_free_decompressor, libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE,
    libdeflate_result_LIBDEFLATE_SUCCESS,
};
use std::alloc::{Layout, handle_alloc_error};
use std::fmt;
use std::ptr::NonNull;

/// The size of the decompressor's tables, named only when there is no memory for them.
const TABLE_BYTES: usize = 11 << 10;

/// A decompressor. Keep it where many small contents are inflated: its tables are worth it.
pub struct Inflater(NonNull<libdeflate_decompressor>);

// SAFETY: the decompressor is owned by this value alone, and belongs to no thread.
unsafe impl Send for Inflater {}

/// Why data was not inflated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The data is not a deflate stream, or ends early.
    Broken,
    /// The content is longer than was said.
    Longer,
    /// There is no memory for the content.
    Memory,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Broken => "it is not a deflate stream, or ends early",
            Self::Longer => "it holds more than it claims",
            Self::Memory => "there is no memory for it",
        })
    }
}

impl Inflater {
    /// A decompressor; aborts, as `Vec` does, when memory runs out.
    #[must_use]
    pub fn new() -> Self {
        // SAFETY: takes nothing; null says that there is no memory.
        let decompressor = unsafe { libdeflate_alloc_decompressor() };
        let no_memory = || handle_alloc_error(Layout::new::<[u8; TABLE_BYTES]>());
        Self(NonNull::new(decompressor).unwrap_or_else(no_memory))
    }

    /// Replaces `out` by the content of `data`, of at most `bytes`. What follows the stream in
    /// `data` is left alone.
    ///
    /// # Errors
    /// See [`Fault`]; `out` is then empty.
    pub fn inflate(&mut self, data: &[u8], bytes: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
        out.clear();
        out.try_reserve_exact(bytes).map_err(|_| Fault::Memory)?;
        // SAFETY: `out` is empty and owns at least `bytes` bytes.
        let written = unsafe { self.write(data, out.as_mut_ptr(), bytes)? };
        // SAFETY: the first `written` bytes have been written, which is within the capacity.
        unsafe { out.set_len(written) };
        Ok(())
    }

    /// Writes the content of `data` to the beginning of `out`, and returns its length.
    ///
    /// # Errors
    /// See [`Fault`]; what `out` then holds is not said.
    pub fn inflate_to(&mut self, data: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
        // SAFETY: the borrow of `out` is exclusive.
        unsafe { self.write(data, out.as_mut_ptr(), out.len()) }
    }

    /// # Safety
    /// `bytes` bytes from `out` on may be written.
    unsafe fn write(&mut self, data: &[u8], out: *mut u8, bytes: usize) -> Result<usize, Fault> {
        let mut written = 0;
        // SAFETY: the decompressor lives as long as `self`, which is borrowed exclusively. `data`
        // is readable for its length, and the caller lets `bytes` bytes of `out` be written.
        let result = unsafe {
            libdeflate_deflate_decompress(
                self.0.as_ptr(),
                data.as_ptr().cast(),
                data.len(),
                out.cast(),
                bytes,
                &raw mut written,
            )
        };
        #[expect(non_upper_case_globals, reason = "the library's own names")]
        match result {
            libdeflate_result_LIBDEFLATE_SUCCESS => {
                assert!(written <= bytes);
                Ok(written)
            }
            libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => Err(Fault::Longer),
            _ => Err(Fault::Broken),
        }
    }
}

impl Default for Inflater {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Inflater {
    fn drop(&mut self) {
        // SAFETY: allocated by `new`, and freed only here.
        unsafe { libdeflate_free_decompressor(self.0.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One block that is stored: last, type 0, length, its complement, content.
    const ABC: [u8; 8] = [1, 3, 0, 0xfc, 0xff, b'a', b'b', b'c'];

    #[test]
    fn the_content_replaces_what_was_there() {
        let (mut inflater, mut out) = (Inflater::new(), vec![9; 100]);
        for bytes in [3, 4, 1000] {
            assert_eq!(inflater.inflate(&ABC, bytes, &mut out), Ok(()));
            assert_eq!(out, b"abc");
        }
        let mut memory = [9; 5];
        assert_eq!((inflater.inflate_to(&ABC, &mut memory), &memory), (Ok(3), b"abc\x09\x09"));
        assert_eq!(inflater.inflate_to(&ABC, &mut memory[..2]), Err(Fault::Longer));
        let longer = [&ABC[..], b"behind"].concat();
        assert_eq!((inflater.inflate(&longer, 3, &mut out), &out[..]), (Ok(()), &b"abc"[..]));
    }

    #[test]
    fn a_fault_leaves_nothing() {
        let (mut inflater, mut out) = (Inflater::new(), Vec::new());
        let mut fault = |data: &[u8], bytes| {
            out = vec![9];
            let fault = inflater.inflate(data, bytes, &mut out);
            assert_eq!(out, []);
            fault
        };
        assert_eq!(fault(&ABC, 2), Err(Fault::Longer));
        assert_eq!(fault(&ABC[..6], 3), Err(Fault::Broken));
        assert_eq!(fault(&[0xff; 9], 20), Err(Fault::Broken));
        assert_eq!(fault(&[], 0), Err(Fault::Broken));
        assert_eq!(fault(&ABC, isize::MAX as usize), Err(Fault::Memory));
        assert_eq!(fault(&ABC, usize::MAX), Err(Fault::Memory));
    }
}
