//! x86-64: the numbers of the calls that we follow, and the registers of a stopped thread.

use super::i386;
use super::when::{
    CONTROLS, FSTATAT_OF_A_PATH, MAPS_A_FILE, MOVES, STATX_OF_A_PATH, UNSHARES, UNTRACED,
};
use crate::call::{Call, Flags, Offset, Path};
use nix::sys::ptrace;
use nix::unistd::Pid;
use seekless_sys::seccomp::When::{self, Always};
use std::io;
use std::ops::Range;

pub(crate) const SUPPORTED: bool = true;
/// AUDIT_ARCH_X86_64: EM_X86_64, 64 bits, little-endian.
pub(crate) const AUDIT: u32 = 62 | 0x8000_0000 | 0x4000_0000;
/// AUDIT_ARCH_I386: EM_386, 32 bits, little-endian.
pub(crate) const FOREIGN_AUDIT: u32 = 3 | 0x4000_0000;
/// The call numbers of x32, which is 64-bit code with 32-bit addresses.
pub(crate) const X32: Range<u32> = 0x4000_0000..0x4000_0400;

const SYS_CLONE: u64 = 56;
const SYS_FORK: u64 = 57;
const SYS_VFORK: u64 = 58;
const SYS_CLONE3: u64 = 435;
/// What a call returns that a signal has interrupted: it ends with EINTR, or begins again if the
/// handler was installed so. And what it returns if it is to begin again in any case.
const ERESTARTSYS: i64 = 512;
const ERESTARTNOINTR: i64 = 513;
/// The code segment of 64-bit programs; 32-bit ones have 0x23.
const USER_CS: u64 = 0x33;

/// The calls that read and write several parts of memory, which their second argument names.
pub(crate) const VECTORS: &[u32] = &[19, 20, 295, 296, 327, 328];
/// As [`VECTORS`], of 32-bit calls.
pub(crate) const FOREIGN_VECTORS: &[u32] = &[145, 146, 333, 334, 378, 379];

/// Number, condition, meaning. The commonest come first, since the filter compares in this order.
pub(crate) const TABLE: &[(u32, When, Call)] = &[
    (0, Always, Call::Read(Offset::Position)),
    (17, Always, Call::Read(Offset::Argument)),
    (1, Always, Call::Write(Offset::Position)),
    (3, Always, Call::Close),
    (257, Always, Call::Open(Path::AT, Flags::Argument(2))),
    (262, FSTATAT_OF_A_PATH, Call::Stat(Path::AT)),
    (8, MOVES, Call::Seek),
    (9, MAPS_A_FILE, Call::Map(1)),
    (11, Always, Call::Unmap),
    (4, Always, Call::Stat(Path::HERE)),
    (6, Always, Call::Stat(Path::HERE)),
    (332, STATX_OF_A_PATH, Call::Stat(Path::AT)),
    (2, Always, Call::Open(Path::HERE, Flags::Argument(1))),
    (72, CONTROLS, Call::Control),
    (217, Always, Call::List),
    (18, Always, Call::Write(Offset::Argument)),
    (19, Always, Call::Read(Offset::Position)),
    (20, Always, Call::Write(Offset::Position)),
    (21, Always, Call::Stat(Path::HERE)),
    (26, Always, Call::SyncMapped),
    (32, Always, Call::Duplicate),
    (33, Always, Call::DuplicateTo),
    (40, Always, Call::SendFile),
    (SYS_CLONE as u32, UNTRACED, Call::CloneUntraced),
    (74, Always, Call::Sync),
    (75, Always, Call::Sync),
    (78, Always, Call::List),
    (80, Always, Call::ChangeDirectory),
    (81, Always, Call::ChangeDirectory),
    (85, Always, Call::Open(Path::HERE, Flags::Absent)),
    (89, Always, Call::Stat(Path::HERE)),
    (209, Always, Call::Blind("io_submit")),
    (267, Always, Call::Stat(Path::AT)),
    (269, Always, Call::Stat(Path::AT)),
    (272, UNSHARES, Call::Unshare),
    (275, Always, Call::Splice),
    (277, Always, Call::Sync),
    (292, Always, Call::DuplicateTo),
    (295, Always, Call::Read(Offset::Argument)),
    (296, Always, Call::Write(Offset::Argument)),
    (304, Always, Call::OpenHandle),
    (326, Always, Call::CopyRange),
    (327, Always, Call::Read(Offset::ArgumentOrPosition)),
    (328, Always, Call::Write(Offset::ArgumentOrPosition)),
    (425, Always, Call::Blind("io_uring_setup")),
    (426, Always, Call::Blind("io_uring_enter")),
    (SYS_CLONE3 as u32, Always, Call::CloneBySize),
    (436, Always, Call::CloseRange),
    (437, Always, Call::Open(Path::AT, Flags::Pointed(2))),
    (439, Always, Call::Stat(Path::AT)),
];

/// A stopped thread's registers.
pub(crate) struct Registers(libc::user_regs_struct);

impl Registers {
    pub(crate) fn of(tid: i32) -> io::Result<Self> {
        Ok(Self(ptrace::getregs(Pid::from_raw(tid))?))
    }

    /// The CLONE flags of a call that makes a task. `read` fetches a word of the thread's memory.
    pub(crate) fn clone_flags(&self, read: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        const OF_VFORK: u64 = (libc::CLONE_VM | libc::CLONE_VFORK) as u64;
        if self.0.cs != USER_CS {
            return match self.0.orig_rax {
                i386::SYS_CLONE => Some(self.0.rbx),
                i386::SYS_CLONE3 => read(self.0.rbx),
                i386::SYS_VFORK => Some(OF_VFORK),
                i386::SYS_FORK => Some(0),
                _ => None,
            };
        }
        match self.0.orig_rax & !u64::from(X32.start) {
            SYS_CLONE => Some(self.0.rdi),
            SYS_CLONE3 => read(self.0.rdi),
            SYS_VFORK => Some(OF_VFORK),
            SYS_FORK => Some(0),
            _ => None,
        }
    }

    /// The call that a signal has interrupted before it could begin, or that it would interrupt for
    /// the program (ERESTARTSYS): calling convention, number and arguments.
    pub(crate) fn interrupted(&self) -> Option<(u32, u64, [u64; 6])> {
        if self.0.rax as i64 != -ERESTARTSYS {
            return None;
        }
        let (of, number) = (&self.0, self.0.orig_rax);
        Some(if of.cs == USER_CS {
            (AUDIT, number, [of.rdi, of.rsi, of.rdx, of.r10, of.r8, of.r9])
        } else {
            (FOREIGN_AUDIT, number, [of.rbx, of.rcx, of.rdx, of.rsi, of.rdi, of.rbp])
        })
    }

    /// After [`Registers::interrupted`]: the call begins again after the signal's handler.
    pub(crate) fn with_call_again(mut self, tid: i32) -> io::Result<()> {
        self.0.rax = -ERESTARTNOINTR as u64;
        Ok(ptrace::setregs(Pid::from_raw(tid), self.0)?)
    }

    /// Before a call: makes it fail with ENOSYS.
    pub(crate) fn without_call(mut self, tid: i32) -> io::Result<()> {
        self.0.orig_rax = u64::MAX;
        self.0.rax = -i64::from(libc::ENOSYS) as u64;
        Ok(ptrace::setregs(Pid::from_raw(tid), self.0)?)
    }

    /// Before clone: removes CLONE_UNTRACED from its flags. An untraced child would still be under
    /// the filter, and its opens would fail.
    pub(crate) fn without_untraced(mut self, tid: i32, architecture: u32) -> io::Result<()> {
        let flags = if architecture == FOREIGN_AUDIT { &mut self.0.rbx } else { &mut self.0.rdi };
        *flags &= !(libc::CLONE_UNTRACED as u64);
        Ok(ptrace::setregs(Pid::from_raw(tid), self.0)?)
    }
}
