//! The border between C and Rust: results and error text in one direction, pointers in the other.
//! No panic crosses it.

use crate::failure::Failure;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// Why the last failed call of this thread failed.
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs a call. If it fails or panics, sets `errno` and the error text and returns `failed`.
pub(crate) fn shielded<T>(failed: T, call: impl FnOnce() -> Result<T, Failure>) -> T {
    // A call either replaces its state as a whole or leaves it consistent.
    let failure = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => return value,
        Ok(Err(failure)) => failure,
        Err(_) => {
            Failure::new(libc::ENOTRECOVERABLE, "a defect of seekless: please report it".to_owned())
        }
    };
    let text = CString::new(failure.message.replace('\0', "\\0")).unwrap_or_default();
    // While a thread ends, its text may be gone already. Then only `errno` is set.
    let _ = LAST.try_with(|last| last.replace(text));
    // SAFETY: the C library's own `errno` of this thread.
    unsafe { *libc::__errno_location() = failure.errno };
    failed
}

/// The error text; valid until the thread's next failure.
pub(crate) fn last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Refuses a null pointer; `name` is that of the argument.
pub(crate) fn given<T>(pointer: *mut T, name: &str) -> Result<(), Failure> {
    if pointer.is_null() { Err(Failure::argument(format!("{name} is NULL"))) } else { Ok(()) }
}

/// Writes a result to the caller's pointer.
///
/// # Safety
/// `pointer` is null or may be written to.
pub(crate) unsafe fn put<T>(pointer: *mut T, name: &str, value: T) -> Result<(), Failure> {
    given(pointer, name)?;
    // SAFETY: not null, and the caller lets it be written to.
    unsafe { pointer.write(value) };
    Ok(())
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn text() -> String {
        // SAFETY: the text of this thread, and nothing fails before it is copied.
        unsafe { CStr::from_ptr(last_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_failure_leaves_text_and_errno_in_its_thread_only() {
        assert_eq!(text(), "");
        assert_eq!(shielded(-1, || Err(Failure::closed(7))), -1);
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EBADF));
        assert_eq!(text(), "descriptor 7 is not open");
        assert_eq!(shielded(-1, || Ok(3)), 3);
        assert_eq!(text(), "descriptor 7 is not open", "success leaves it");
        assert_eq!(std::thread::spawn(text).join().unwrap(), "");
    }

    #[test]
    fn a_panic_stays_on_this_side() {
        assert_eq!(shielded(-1.0, || -> Result<f64, Failure> { panic!("on purpose") }), -1.0);
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::ENOTRECOVERABLE));
        assert!(text().contains("defect"));
    }
}
