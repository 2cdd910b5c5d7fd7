//! The border between C and Rust: results and error text in one direction, pointers in the other.
//! No panic crosses it. All our libraries for C share this file.

use crate::failure::Failure;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
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

/// The version of this library: major * 1000000 + minor * 1000 + patch.
pub(crate) fn version() -> c_int {
    let mut version = 0;
    for number in env!("CARGO_PKG_VERSION").split(['.', '-']).take(3) {
        version = version * 1000 + number.parse().unwrap_or(0);
    }
    version
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
        let failure = || Failure::new(libc::EBADF, "it is not open".to_owned());
        assert_eq!(shielded(-1, || Err(failure())), -1);
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EBADF));
        assert_eq!(text(), "it is not open");
        assert_eq!(shielded(-1, || Ok(3)), 3);
        assert_eq!(text(), "it is not open", "success leaves it");
        assert_eq!(std::thread::spawn(text).join().unwrap(), "");
    }

    #[test]
    fn a_panic_stays_on_this_side() {
        assert_eq!(shielded(-1.0, || -> Result<f64, Failure> { panic!("on purpose") }), -1.0);
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::ENOTRECOVERABLE));
        assert!(text().contains("defect"));
    }
}
