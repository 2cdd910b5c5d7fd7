//! What differs between architectures: the numbers and arguments of calls, and registers. Each has
//! one table of the calls that its programs make, and one of those that its 32-bit programs make.

#[cfg(not(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_pointer_width = "64",
    target_endian = "little"
)))]
compile_error!(
    "seekless-record knows the system calls of x86-64 and of aarch64 (64 bits, little-endian) only; \
     another architecture needs a table of its own in src/arch"
);

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "aarch64")]
mod arm;
#[cfg(target_arch = "x86_64")]
mod i386;
mod when;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::{FOREIGN, NATIVE, Registers};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{FOREIGN, NATIVE, Registers};

use crate::call::Call;
use libc::c_long;
use seekless_watch::seccomp::When;
use std::ops::Range;

/// A call that we follow: number, condition, meaning.
pub(crate) type Row = (c_long, When, Call);

/// A calling convention: how its programs name calls.
#[derive(Debug)]
pub(crate) struct Convention {
    /// Its AUDIT_ARCH number.
    pub(crate) audit: u32,
    /// The calls that we follow. The commonest come first, since the filter compares in this order.
    pub(crate) calls: &'static [Row],
    /// The calls that read and write several parts of memory, which their second argument names.
    pub(crate) vectors: &'static [c_long],
    /// The calls that make a task.
    clone: c_long,
    clone3: c_long,
    fork: Option<c_long>,
    vfork: Option<c_long>,
    /// The numbers of x32, if there is such a thing. We read none of its calls.
    pub(crate) x32: Range<u32>,
}

impl Convention {
    /// The CLONE flags of a call that makes a task; `None` of another call. `read` fetches a word
    /// of the thread's memory.
    fn clone_flags(
        &self,
        number: u64,
        first: u64,
        read: impl Fn(u64) -> Option<u64>,
    ) -> Option<u64> {
        const OF_VFORK: u64 = (libc::CLONE_VM | libc::CLONE_VFORK) as u64;
        let number = c_long::try_from(number & !u64::from(self.x32.start)).ok()?;
        match number {
            _ if number == self.clone => Some(first),
            _ if number == self.clone3 => read(first),
            _ if self.vfork == Some(number) => Some(OF_VFORK),
            _ if self.fork == Some(number) => Some(0),
            _ => None,
        }
    }
}

impl Registers {
    /// As [`Convention::clone_flags`], of the call that the thread is in.
    pub(crate) fn clone_flags(&self, read: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        let (convention, number, arguments) = self.call();
        convention.clone_flags(number, arguments[0], read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_of_a_new_task_are_found() {
        let read = |address| (address == 4096).then_some(7);
        for convention in [&NATIVE, &FOREIGN] {
            let flags = |number: c_long, first| convention.clone_flags(number as u64, first, read);
            assert_eq!(flags(convention.clone, 5), Some(5));
            assert_eq!(flags(convention.clone3, 4096), Some(7));
            assert_eq!(flags(convention.clone3, 8192), None, "memory that cannot be read");
            assert_eq!(convention.fork.and_then(|fork| flags(fork, 5)), convention.fork.map(|_| 0));
            assert_eq!(flags(convention.calls[0].0, 5), None, "read");
        }
        assert_eq!(NATIVE.clone_flags(u64::MAX, 0, read), None);
    }
}
