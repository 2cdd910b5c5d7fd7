//! What programs in the kernel must know of the architecture: where a thread that enters a call has
//! its arguments, and how a 32-bit call is distinguished from a 64-bit one.

/// Of one architecture.
pub(crate) struct Convention {
    /// The field of `struct thread_info` whose low 32 bits mark a 32-bit call.
    pub(crate) status: &'static str,
    /// The bit in it.
    pub(crate) foreign_bit: i32,
    /// Where the six arguments of a 64-bit call are in `struct pt_regs`.
    pub(crate) native: [i16; 6],
    /// Where those of a 32-bit call are; 32 bits of each count.
    pub(crate) foreign: [i16; 6],
    /// Where the number of a 64-bit call is, and its first argument, at the exit too.
    pub(crate) number: i16,
    pub(crate) first: i16,
    /// The first and the last number of x32, if there is such a thing.
    pub(crate) x32: Option<(i32, i32)>,
}

impl Convention {
    /// How much of the registers has all arguments.
    pub(crate) fn registers_bytes(&self) -> i32 {
        let last = self.native.into_iter().chain(self.foreign).max().unwrap_or(0);
        i32::from(last) + 8
    }
}

/// Arguments of 64-bit calls are in di, si, dx, r10, r8, r9, those of 32-bit ones in bx, cx, dx,
/// si, di, bp. The bit is TS_COMPAT.
#[cfg(target_arch = "x86_64")]
pub(crate) const HERE: Convention = Convention {
    status: "status",
    foreign_bit: 1 << 1,
    native: [112, 104, 96, 56, 72, 64],
    foreign: [40, 88, 96, 104, 112, 32],
    number: 120,
    first: 112,
    x32: Some((0x4000_0000, 0x4000_03ff)),
};

/// Arguments are in x0 to x5; the kernel keeps r0 to r5 of 32-bit threads there, too. The bit is
/// TIF_32BIT.
#[cfg(target_arch = "aarch64")]
pub(crate) const HERE: Convention = Convention {
    status: "flags",
    foreign_bit: 1 << 22,
    native: [0, 8, 16, 24, 32, 40],
    foreign: [0, 8, 16, 24, 32, 40],
    number: 280,
    first: 272,
    x32: None,
};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!(
    "seekless-sys knows where x86-64 and aarch64 have the arguments of calls; another architecture \
     needs a `Convention` of its own here"
);

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    /// `struct pt_regs` begins like the registers that ptrace hands out.
    #[test]
    fn arguments_lie_where_ptrace_has_them() {
        type Registers = libc::user_regs_struct;
        #[cfg(target_arch = "x86_64")]
        let (native, foreign) = (
            [
                offset_of!(Registers, rdi),
                offset_of!(Registers, rsi),
                offset_of!(Registers, rdx),
                offset_of!(Registers, r10),
                offset_of!(Registers, r8),
                offset_of!(Registers, r9),
            ],
            [
                offset_of!(Registers, rbx),
                offset_of!(Registers, rcx),
                offset_of!(Registers, rdx),
                offset_of!(Registers, rsi),
                offset_of!(Registers, rdi),
                offset_of!(Registers, rbp),
            ],
        );
        #[cfg(target_arch = "aarch64")]
        let (native, foreign) = {
            let places: [usize; 6] =
                std::array::from_fn(|argument| offset_of!(Registers, regs) + 8 * argument);
            (places, places)
        };
        assert_eq!(HERE.native.map(|place| place as usize), native);
        assert_eq!(HERE.foreign.map(|place| place as usize), foreign);
    }
}
