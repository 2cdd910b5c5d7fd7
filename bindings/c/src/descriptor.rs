//! A C program's descriptor as a file, for the duration of one call. It is not duplicated, because
//! closing the duplicate would release the program's record locks on the file.

use crate::failure::Failure;
use std::ffi::c_int;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

/// Lends the open file to `call`.
///
/// # Errors
/// The descriptor is not open, or what `call` says.
pub(crate) fn with<T, E: Into<Failure>>(
    fd: c_int,
    call: impl FnOnce(&File) -> Result<T, E>,
) -> Result<T, Failure> {
    // SAFETY: only asks for the descriptor's flags, which fails if it is not open.
    if fd < 0 || unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
        return Err(Failure::closed(fd));
    }
    // SAFETY: the descriptor is open, the caller keeps it open during the call, and `ManuallyDrop`
    // does not close it.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
    call(&file).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn an_open_descriptor_stays_open_and_a_closed_one_is_refused() {
        let file = tempfile::tempfile().unwrap();
        for _ in 0..2 {
            assert_eq!(
                with(file.as_raw_fd(), |file| file
                    .metadata()
                    .map(|about| about.len())
                    .map_err(|_| Failure::closed(0)))
                .unwrap(),
                0
            );
        }
        for fd in [-1, i32::MAX] {
            let failure = with(fd, |_| Ok::<(), Failure>(())).unwrap_err();
            assert_eq!(failure.errno, libc::EBADF);
        }
    }
}
