//! x86-64: the calls that we follow, and the registers of a stopped thread.

use super::i386;
use super::when::{
    CONTROLS, FSTATAT_OF_A_PATH, MAPS_A_FILE, MOVES, STATX_OF_A_PATH, UNSHARES, UNTRACED,
};
use super::{Convention, Row};
use crate::call::{Call, Flags, Offset, Path};
use nix::sys::ptrace;
use nix::unistd::Pid;
use seekless_watch::seccomp::When::Always;
use std::io;
use std::ops::Range;

pub(crate) use i386::CONVENTION as FOREIGN;

pub(crate) const NATIVE: Convention = Convention {
    audit: 62 | 0x8000_0000 | 0x4000_0000, // AUDIT_ARCH_X86_64: EM_X86_64, 64 bits, little-endian
    calls: CALLS,
    vectors: &[
        libc::SYS_readv,
        libc::SYS_writev,
        libc::SYS_preadv,
        libc::SYS_pwritev,
        libc::SYS_preadv2,
        libc::SYS_pwritev2,
    ],
    clone: libc::SYS_clone,
    clone3: libc::SYS_clone3,
    fork: Some(libc::SYS_fork),
    vfork: Some(libc::SYS_vfork),
    x32: X32,
};

/// The call numbers of x32, which is 64-bit code with 32-bit addresses.
const X32: Range<u32> = 0x4000_0000..0x4000_0400;

/// What a call returns that a signal has interrupted: it ends with EINTR, or begins again if the
/// handler was installed so. And what it returns if it is to begin again in any case.
const ERESTARTSYS: i64 = 512;
const ERESTARTNOINTR: i64 = 513;
/// The code segment of 64-bit programs; 32-bit ones have 0x23.
const USER_CS: u64 = 0x33;

/// The crate libc does not have it for GNU.
const SYS_IO_PGETEVENTS: libc::c_long = 333;

const CALLS: &[Row] = &[
    (libc::SYS_read, Always, Call::Read(Offset::Position)),
    (libc::SYS_pread64, Always, Call::Read(Offset::Argument)),
    (libc::SYS_write, Always, Call::Write(Offset::Position)),
    (libc::SYS_close, Always, Call::Close),
    (libc::SYS_openat, Always, Call::Open(Path::AT, Flags::Argument(2))),
    (libc::SYS_newfstatat, FSTATAT_OF_A_PATH, Call::Stat(Path::AT)),
    (libc::SYS_lseek, MOVES, Call::Seek),
    (libc::SYS_mmap, MAPS_A_FILE, Call::Map(1)),
    (libc::SYS_munmap, Always, Call::Unmap),
    (libc::SYS_stat, Always, Call::Stat(Path::HERE)),
    (libc::SYS_lstat, Always, Call::Stat(Path::HERE)),
    (libc::SYS_statx, STATX_OF_A_PATH, Call::Stat(Path::AT)),
    (libc::SYS_open, Always, Call::Open(Path::HERE, Flags::Argument(1))),
    (libc::SYS_fcntl, CONTROLS, Call::Control),
    (libc::SYS_getdents64, Always, Call::List),
    (libc::SYS_pwrite64, Always, Call::Write(Offset::Argument)),
    (libc::SYS_readv, Always, Call::Read(Offset::Position)),
    (libc::SYS_writev, Always, Call::Write(Offset::Position)),
    (libc::SYS_access, Always, Call::Stat(Path::HERE)),
    (libc::SYS_msync, Always, Call::SyncMapped),
    (libc::SYS_dup, Always, Call::Duplicate),
    (libc::SYS_dup2, Always, Call::DuplicateTo),
    (libc::SYS_sendfile, Always, Call::SendFile),
    (libc::SYS_clone, UNTRACED, Call::CloneUntraced),
    (libc::SYS_fsync, Always, Call::Sync),
    (libc::SYS_fdatasync, Always, Call::Sync),
    (libc::SYS_getdents, Always, Call::List),
    (libc::SYS_chdir, Always, Call::ChangeDirectory),
    (libc::SYS_fchdir, Always, Call::ChangeDirectory),
    (libc::SYS_chroot, Always, Call::ChangeRoot),
    (libc::SYS_pivot_root, Always, Call::ChangeRoot),
    (libc::SYS_setns, Always, Call::ChangeRoot),
    (libc::SYS_creat, Always, Call::Open(Path::HERE, Flags::Absent)),
    (libc::SYS_readlink, Always, Call::Stat(Path::HERE)),
    (libc::SYS_io_submit, Always, Call::Submit),
    (libc::SYS_io_getevents, Always, Call::Reap),
    (libc::SYS_readlinkat, Always, Call::Stat(Path::AT)),
    (libc::SYS_faccessat, Always, Call::Stat(Path::AT)),
    (libc::SYS_unshare, UNSHARES, Call::Unshare),
    (libc::SYS_splice, Always, Call::Splice),
    (libc::SYS_sync_file_range, Always, Call::Sync),
    (libc::SYS_dup3, Always, Call::DuplicateTo),
    (libc::SYS_preadv, Always, Call::Read(Offset::Argument)),
    (libc::SYS_pwritev, Always, Call::Write(Offset::Argument)),
    (libc::SYS_open_by_handle_at, Always, Call::OpenHandle),
    (libc::SYS_copy_file_range, Always, Call::CopyRange),
    (libc::SYS_preadv2, Always, Call::Read(Offset::ArgumentOrPosition)),
    (libc::SYS_pwritev2, Always, Call::Write(Offset::ArgumentOrPosition)),
    (SYS_IO_PGETEVENTS, Always, Call::Reap),
    (libc::SYS_io_uring_setup, Always, Call::RingSetup),
    (libc::SYS_io_uring_enter, Always, Call::RingEnter),
    (libc::SYS_io_uring_register, Always, Call::RingRegister),
    (libc::SYS_clone3, Always, Call::CloneBySize),
    (libc::SYS_close_range, Always, Call::CloseRange),
    (libc::SYS_openat2, Always, Call::Open(Path::AT, Flags::Pointed(2))),
    (libc::SYS_faccessat2, Always, Call::Stat(Path::AT)),
];

/// A stopped thread's registers.
pub(crate) struct Registers(libc::user_regs_struct);

impl Registers {
    pub(crate) fn of(tid: i32) -> io::Result<Self> {
        Ok(Self(ptrace::getregs(Pid::from_raw(tid))?))
    }

    /// The call that the thread is in: calling convention, number and arguments.
    pub(super) fn call(&self) -> (&'static Convention, u64, [u64; 6]) {
        let (of, number) = (&self.0, self.0.orig_rax);
        if of.cs == USER_CS {
            (&NATIVE, number, [of.rdi, of.rsi, of.rdx, of.r10, of.r8, of.r9])
        } else {
            (&FOREIGN, number, [of.rbx, of.rcx, of.rdx, of.rsi, of.rdi, of.rbp])
        }
    }

    /// The call that a signal has interrupted before it could begin, or that it would interrupt for
    /// the program (ERESTARTSYS): calling convention, number and arguments.
    pub(crate) fn interrupted(&self) -> Option<(u32, u64, [u64; 6])> {
        let (convention, number, arguments) = self.call();
        (self.0.rax as i64 == -ERESTARTSYS).then_some((convention.audit, number, arguments))
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
        let is_foreign = architecture == FOREIGN.audit;
        let flags = if is_foreign { &mut self.0.rbx } else { &mut self.0.rdi };
        *flags &= !(libc::CLONE_UNTRACED as u64);
        Ok(ptrace::setregs(Pid::from_raw(tid), self.0)?)
    }
}
