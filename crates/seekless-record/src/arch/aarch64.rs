//! aarch64: the calls that we follow, and the registers of a stopped thread. The architecture began
//! with the newest form of each call, so there is no open, stat, dup2 or fork.

use super::arm;
use super::when::{
    CONTROLS, FSTATAT_OF_A_PATH, MAPS_A_FILE, MOVES, STATX_OF_A_PATH, UNSHARES, UNTRACED,
};
use super::{Convention, Row};
use crate::call::{Call, Flags, Offset, Path};
use seekless_watch::seccomp::When::Always;
use seekless_watch::tracee::{self, Registers as Held};
use std::io;

pub(crate) use arm::CONVENTION as FOREIGN;

pub(crate) const NATIVE: Convention = Convention {
    audit: 183 | 0x8000_0000 | 0x4000_0000, // AUDIT_ARCH_AARCH64: EM_AARCH64, 64 bits, little-endian
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
    fork: None,
    vfork: None,
    x32: 0..0,
};

/// The crate libc does not have it for GNU.
const SYS_IO_PGETEVENTS: libc::c_long = 292;

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
    (libc::SYS_statx, STATX_OF_A_PATH, Call::Stat(Path::AT)),
    (libc::SYS_fcntl, CONTROLS, Call::Control),
    (libc::SYS_getdents64, Always, Call::List),
    (libc::SYS_pwrite64, Always, Call::Write(Offset::Argument)),
    (libc::SYS_readv, Always, Call::Read(Offset::Position)),
    (libc::SYS_writev, Always, Call::Write(Offset::Position)),
    (libc::SYS_msync, Always, Call::SyncMapped),
    (libc::SYS_dup, Always, Call::Duplicate),
    (libc::SYS_sendfile, Always, Call::SendFile),
    (libc::SYS_clone, UNTRACED, Call::CloneUntraced),
    (libc::SYS_fsync, Always, Call::Sync),
    (libc::SYS_fdatasync, Always, Call::Sync),
    (libc::SYS_chdir, Always, Call::ChangeDirectory),
    (libc::SYS_fchdir, Always, Call::ChangeDirectory),
    (libc::SYS_chroot, Always, Call::ChangeRoot),
    (libc::SYS_pivot_root, Always, Call::ChangeRoot),
    (libc::SYS_setns, Always, Call::ChangeRoot),
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

/// The register with a call's number; of 32-bit programs r7. Arguments are in registers 0 to 5, the
/// result is in register 0.
const NUMBER: usize = 8;
const NUMBER_NARROW: usize = 7;
/// The number that makes the kernel leave a call out (NO_SYSCALL).
const NO_CALL: i32 = -1;

/// A stopped thread's registers.
pub(crate) struct Registers(Held);

impl Registers {
    pub(crate) fn of(tid: i32) -> io::Result<Self> {
        Ok(Self(Held::of(tid)?))
    }

    /// The call that the thread is in: calling convention, number and arguments.
    pub(super) fn call(&self) -> (&'static Convention, u64, [u64; 6]) {
        let arguments = std::array::from_fn(|at| self.0.get(at));
        if self.0.is_narrow() {
            (&FOREIGN, self.0.get(NUMBER_NARROW), arguments)
        } else {
            (&NATIVE, self.0.get(NUMBER), arguments)
        }
    }

    /// Always `None`: before the kernel reports a signal, it has decided whether the call that the
    /// signal interrupts begins again, and registers do not show it. So a call whose notification
    /// was not read yet ends with EINTR, unless the handler was installed with SA_RESTART.
    pub(crate) fn interrupted(&self) -> Option<(u32, u64, [u64; 6])> {
        None
    }

    /// Has nothing to do, see [`Registers::interrupted`].
    pub(crate) fn with_call_again(self, _: i32) -> io::Result<()> {
        Ok(())
    }

    /// Before a call: makes it fail with ENOSYS. Its number is not among the registers that can be
    /// written, but a set of its own.
    pub(crate) fn without_call(mut self, tid: i32) -> io::Result<()> {
        self.0.set(0, -i64::from(libc::ENOSYS) as u64);
        self.0.put(tid)?;
        tracee::set_call(tid, NO_CALL)
    }

    /// Before clone: removes CLONE_UNTRACED from its flags. An untraced child would still be under
    /// the filter, and its opens would fail.
    pub(crate) fn without_untraced(mut self, tid: i32, _: u32) -> io::Result<()> {
        self.0.set(0, self.0.get(0) & !(libc::CLONE_UNTRACED as u64));
        self.0.put(tid)
    }
}
