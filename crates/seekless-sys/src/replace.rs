//! Replaces this process by another program, as execv(3) does, with everything that this process
//! was started with.

use crate::inherited;
use std::ffi::{CStr, CString, c_char};
use std::io;
use std::ptr;

/// Becomes `program`, which gets `arguments` (the first is its name for itself), this process's
/// environment, and SIGPIPE's action and closed standard streams as they were before Rust's
/// start-up changed them. Returns only on failure. Call it before threads start.
#[must_use]
pub fn become_program(program: &CStr, arguments: &[CString]) -> io::Error {
    let mut pointers: Vec<*const c_char> =
        arguments.iter().map(|argument| argument.as_ptr()).collect();
    pointers.push(ptr::null());
    let closed = inherited::closed_streams();
    // SAFETY: plain calls; each string ends with its NUL, and the vector of them with a null
    // pointer. The closed streams are /dev/null, which Rust's start-up opened; nothing reads or
    // writes them after a successful execv.
    unsafe {
        for fd in &closed {
            libc::fcntl(*fd, libc::F_SETFD, libc::FD_CLOEXEC);
        }
        if !inherited::pipe_was_ignored() {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        }
        libc::execv(program.as_ptr(), pointers.as_ptr());
    }
    io::Error::last_os_error()
}
