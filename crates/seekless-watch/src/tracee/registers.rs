//! The registers of a stopped tracee as an aarch64 kernel hands them out: as a set for 64-bit
//! threads, and as a smaller one for threads that run 32-bit code.

use std::io;
use std::ptr;

/// `struct user_pt_regs`: x0 to x30, sp, pc, pstate.
const WIDE: usize = 34;
/// The same of 32-bit ARM: r0 to r15, cpsr, and r0 as the call found it.
const NARROW: usize = 18;
/// The set with the number of the call that the thread stands before.
const NT_ARM_SYSTEM_CALL: i32 = 0x404;

/// The registers of a thread, in the kernel's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Words of 32 bits; a 64-bit register is two, its lower half first.
    words: [u32; 2 * WIDE],
    is_narrow: bool,
}

impl Registers {
    /// Those of a stopped tracee.
    ///
    /// # Errors
    /// ESRCH when it was killed meanwhile; InvalidData if the kernel's set has an unknown size.
    pub fn of(tid: i32) -> io::Result<Self> {
        let mut words = [0; 2 * WIDE];
        let bytes = exchange(libc::PTRACE_GETREGSET, tid, libc::NT_PRSTATUS, &mut words)?;
        Self::parse(words, bytes).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn parse(words: [u32; 2 * WIDE], bytes: usize) -> Option<Self> {
        match bytes / size_of::<u32>() {
            NARROW => Some(Self { words, is_narrow: true }),
            count if count == 2 * WIDE => Some(Self { words, is_narrow: false }),
            _ => None,
        }
    }

    /// Whether the thread runs 32-bit code.
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        self.is_narrow
    }

    /// A register by its number, below 16; one of 32 bits with zeroes above.
    #[must_use]
    pub fn get(&self, register: usize) -> u64 {
        if self.is_narrow {
            return self.words[register].into();
        }
        u64::from(self.words[2 * register]) | u64::from(self.words[2 * register + 1]) << 32
    }

    /// Changes a register; a thread that runs 32-bit code gets the lower half of `value`.
    pub fn set(&mut self, register: usize, value: u64) {
        if self.is_narrow {
            self.words[register] = value as u32;
        } else {
            self.words[2 * register] = value as u32;
            self.words[2 * register + 1] = (value >> 32) as u32;
        }
    }

    /// Gives them to the stopped tracee.
    ///
    /// # Errors
    /// ESRCH when it was killed meanwhile.
    pub fn put(mut self, tid: i32) -> io::Result<()> {
        let count = if self.is_narrow { NARROW } else { 2 * WIDE };
        let words = &mut self.words[..count];
        exchange(libc::PTRACE_SETREGSET, tid, libc::NT_PRSTATUS, words).map(drop)
    }
}

/// Changes the number of the call that a tracee stands before. With −1 the kernel leaves the call
/// out, and register 0 is its result.
///
/// # Errors
/// ESRCH when it was killed meanwhile.
pub fn set_call(tid: i32, number: i32) -> io::Result<()> {
    let mut words = [number as u32];
    exchange(libc::PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, &mut words).map(drop)
}

/// Fetches or changes a set of registers; returns how many bytes the kernel has read or written.
fn exchange(
    request: libc::c_uint,
    tid: i32,
    set: libc::c_int,
    words: &mut [u32],
) -> io::Result<usize> {
    let mut part = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: size_of_val(words) };
    // SAFETY: the kernel reads or writes at most the part's length, which is all ours; any bits are
    // valid in it; it sets the length to what it has used.
    let result = unsafe {
        libc::ptrace(
            request,
            tid,
            ptr::without_provenance_mut::<libc::c_void>(set as usize),
            &raw mut part,
        )
    };
    if result == 0 { Ok(part.iov_len) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_the_set_tells_whose_it_is() {
        let mut words = [0; 2 * WIDE];
        words[..4].copy_from_slice(&[1, 2, 3, 4]);
        let wide = Registers::parse(words, size_of::<libc::user_regs_struct>()).unwrap();
        assert!(!wide.is_narrow());
        assert_eq!((wide.get(0), wide.get(1)), (1 | 2 << 32, 3 | 4 << 32));
        let narrow = Registers::parse(words, 72).unwrap();
        assert!(narrow.is_narrow());
        assert_eq!((narrow.get(0), narrow.get(1)), (1, 2));
        assert_eq!(Registers::parse(words, 80), None);
    }

    #[test]
    fn a_register_is_changed_alone() {
        for bytes in [size_of::<libc::user_regs_struct>(), 72] {
            let mut registers = Registers::parse([9; 2 * WIDE], bytes).unwrap();
            let others = (registers.get(0), registers.get(2));
            registers.set(1, -38_i64 as u64);
            let expected =
                if registers.is_narrow() { -38_i32 as u32 as u64 } else { -38_i64 as u64 };
            assert_eq!(registers.get(1), expected);
            assert_eq!((registers.get(0), registers.get(2)), others);
        }
    }
}
