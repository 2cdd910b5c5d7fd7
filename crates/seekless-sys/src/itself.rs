//! A program that has the kernel read all of it at once, when it is cold. Else each part that is
//! touched costs a request of the device, one after the other: what a program touches until `main`
//! lies all over it.

use std::ffi::{CStr, c_char, c_int};

/// Has the kernel read all of this program, before its `main`, if its first argument is this word.
/// For the file of a program's `main`, once.
#[macro_export]
macro_rules! read_itself_for {
    ($verb:literal) => {
        // SAFETY: functions in this section are called once, before all others of the program, with
        // its arguments, in the only thread; `ask_if` makes system calls alone.
        #[used]
        #[unsafe(link_section = ".preinit_array")]
        static READ_ITSELF: extern "C" fn(::std::ffi::c_int, *const *const ::std::ffi::c_char) = {
            extern "C" fn ask(count: ::std::ffi::c_int, words: *const *const ::std::ffi::c_char) {
                // SAFETY: the C library passes on what the kernel gave the program.
                unsafe { $crate::itself::ask_if(count, words, $verb) }
            }
            ask
        };
    };
}

/// Asks the kernel for all of this program, if its first argument is `verb`, and does not wait.
///
/// # Safety
/// `words` points to `count` strings that end with a zero byte.
pub unsafe fn ask_if(count: c_int, words: *const *const c_char, verb: &CStr) {
    // SAFETY: the second of at least two.
    if count < 2 || unsafe { CStr::from_ptr(*words.add(1)) } != verb {
        return;
    }
    // SAFETY: a path that ends with a zero byte; then plain calls on the descriptor.
    unsafe {
        let file = libc::open(c"/proc/self/exe".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file >= 0 {
            // Without it the kernel reads what is touched.
            libc::posix_fadvise(file, 0, 0, libc::POSIX_FADV_WILLNEED);
            libc::close(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_arguments_will_do() {
        let words = [c"seekless".as_ptr(), c"run".as_ptr()];
        for count in 0..=2 {
            for verb in [c"run", c"other"] {
                // SAFETY: two strings.
                unsafe { ask_if(count, words.as_ptr(), verb) }
            }
        }
    }
}
