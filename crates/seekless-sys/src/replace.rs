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
    // SAFETY: both strings and the vector end as execv needs it.
    become_by(arguments, |arguments| unsafe { libc::execv(program.as_ptr(), arguments) })
}

/// As [`become_program`], for the program that the first argument names, searched along PATH.
#[must_use]
pub fn become_found(arguments: &[CString]) -> io::Error {
    let Some(program) = arguments.first() else { return io::ErrorKind::InvalidInput.into() };
    // SAFETY: as above.
    become_by(arguments, |arguments| unsafe { libc::execvp(program.as_ptr(), arguments) })
}

fn become_by(
    arguments: &[CString],
    execute: impl FnOnce(*const *const c_char) -> i32,
) -> io::Error {
    let mut pointers: Vec<*const c_char> =
        arguments.iter().map(|argument| argument.as_ptr()).collect();
    pointers.push(ptr::null());
    // SAFETY: plain calls. The closed streams are /dev/null, which Rust's start-up opened; nothing
    // reads or writes them after the program has been executed.
    unsafe {
        for fd in &inherited::closed_streams() {
            libc::fcntl(*fd, libc::F_SETFD, libc::FD_CLOEXEC);
        }
        if !inherited::pipe_was_ignored() {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        }
    }
    execute(pointers.as_ptr());
    io::Error::last_os_error()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let error = become_found(&[c"/nonexistent/program".to_owned()]);
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert_eq!(become_found(&[]).kind(), io::ErrorKind::InvalidInput);
    }
}
