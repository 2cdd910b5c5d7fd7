//! What a signal does in this process.

use std::mem::MaybeUninit;
use std::ptr;

/// The action of a signal; `None` if there is no such signal.
pub(crate) fn current(signal: i32) -> Option<libc::sigaction> {
    let mut action = MaybeUninit::uninit();
    // SAFETY: a null new action only asks; on success the kernel has filled the structure.
    unsafe {
        (libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0)
            .then(|| action.assume_init())
    }
}

/// Whether this process ignores the signal.
pub(crate) fn is_ignored(signal: i32) -> bool {
    current(signal).is_some_and(|action| action.sa_sigaction == libc::SIG_IGN)
}
