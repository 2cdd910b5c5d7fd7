//! Memory that goes over the border: the caller's buffers, and arrays for the caller.

use crate::border::given;
use crate::failure::Failure;
use std::ffi::c_void;

/// The caller's buffer.
///
/// # Safety
/// `buffer` is null, or `bytes` of it may be written to and nothing else writes to them while the
/// slice lives.
pub(crate) unsafe fn lent<'a>(buffer: *mut c_void, bytes: usize) -> Result<&'a mut [u8], Failure> {
    if bytes == 0 {
        return Ok(&mut []);
    }
    given(buffer, "buffer")?;
    if isize::try_from(bytes).is_err() {
        return Err(Failure::argument(format!(
            "a buffer of {bytes} bytes is larger than any buffer can be"
        )));
    }
    // SAFETY: not null, of a length that a slice may have, and the caller's for as long as it
    // lasts; bytes need no alignment.
    Ok(unsafe { std::slice::from_raw_parts_mut(buffer.cast(), bytes) })
}

/// Copies the items into an array from `malloc`, which `free` releases without a length; null if
/// there are no items.
pub(crate) fn allocated<T: Copy>(
    items: impl ExactSizeIterator<Item = T>,
) -> Result<*mut T, Failure> {
    let count = items.len();
    if count == 0 {
        return Ok(std::ptr::null_mut());
    }
    // SAFETY: calloc checks the product; its memory is aligned for every type without special
    // wishes, as those here.
    let array = unsafe { libc::calloc(count, size_of::<T>()) }.cast::<T>();
    if array.is_null() {
        return Err(Failure::new(libc::ENOMEM, format!("no memory for {count} SLEDs")));
    }
    for (index, item) in items.take(count).enumerate() {
        // SAFETY: `index` is below `count`, for which the memory was asked.
        unsafe { array.add(index).write(item) };
    }
    Ok(array)
}
