//! The system call that a stopped tracee stands before or behind.

use std::io;

/// A system call that a tracee stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// Whose calling convention it is: an AUDIT_ARCH number.
    pub architecture: u32,
    /// Its number there.
    pub number: u64,
    /// Its arguments.
    pub arguments: [u64; 6],
    /// What the filter that stopped it says of itself: [`MARK`](crate::seccomp::MARK) is ours.
    pub mark: u32,
}

/// The system call that a tracee stands before, at a [`Stop::Seccomp`].
///
/// # Errors
/// ESRCH when it was killed meanwhile; EIO before Linux 5.3.
///
/// [`Stop::Seccomp`]: super::Stop::Seccomp
pub fn entered(pid: i32) -> io::Result<Entered> {
    let info = call_info(pid)?;
    if info.op != libc::PTRACE_SYSCALL_INFO_SECCOMP {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: `op` says that the kernel has filled this part of the union.
    let call = unsafe { info.u.seccomp };
    Ok(Entered {
        architecture: info.arch,
        number: call.nr,
        arguments: call.args,
        mark: call.ret_data,
    })
}

/// The system call that a tracee stands before, at a [`Stop::Syscall`]; `None` at a call's exit.
///
/// # Errors
/// As [`entered`].
///
/// [`Stop::Syscall`]: super::Stop::Syscall
pub fn entered_unfiltered(pid: i32) -> io::Result<Option<Entered>> {
    let info = call_info(pid)?;
    if info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
        return Ok(None);
    }
    // SAFETY: `op` says that the kernel has filled this part of the union.
    let call = unsafe { info.u.entry };
    let mark = crate::seccomp::MARK;
    Ok(Some(Entered { architecture: info.arch, number: call.nr, arguments: call.args, mark }))
}

/// What the system call returned at whose exit a tracee stands ([`Stop::Syscall`]), or minus the
/// error number.
///
/// # Errors
/// As [`entered`].
///
/// [`Stop::Syscall`]: super::Stop::Syscall
pub fn result(pid: i32) -> io::Result<i64> {
    let info = call_info(pid)?;
    if info.op != libc::PTRACE_SYSCALL_INFO_EXIT {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: as above.
    Ok(unsafe { info.u.exit.sval })
}

fn call_info(pid: i32) -> io::Result<libc::ptrace_syscall_info> {
    let mut info = std::mem::MaybeUninit::<libc::ptrace_syscall_info>::zeroed();
    // SAFETY: the kernel writes at most the structure's size to a live one, which all zeroes
    // already makes valid.
    unsafe {
        let size = size_of::<libc::ptrace_syscall_info>();
        if libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, pid, size, info.as_mut_ptr()) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(info.assume_init())
    }
}
