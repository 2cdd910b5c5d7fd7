//! The conditions under which calls stop the tracer, shared by the tables of all architectures.

use seekless_watch::seccomp::When::{
    self, ArgumentIn, ArgumentWith, ArgumentWithout, UnlessWithZero,
};

/// fcntl with F_DUPFD, F_SETFL or F_DUPFD_CLOEXEC. Other commands change nothing that we follow.
pub(super) const CONTROLS: When = ArgumentIn(1, &[0, 4, 1030]);
/// mmap of a file, not of anonymous memory.
pub(super) const MAPS_A_FILE: When = ArgumentWithout(3, libc::MAP_ANONYMOUS as u32);
/// fstatat of a path. With AT_EMPTY_PATH it is fstat as the C library makes it today, which is
/// about a descriptor.
pub(super) const FSTATAT_OF_A_PATH: When = ArgumentWithout(3, libc::AT_EMPTY_PATH as u32);
/// As [`FSTATAT_OF_A_PATH`], of statx.
pub(super) const STATX_OF_A_PATH: When = ArgumentWithout(2, libc::AT_EMPTY_PATH as u32);
/// lseek that moves the position. `lseek(fd, 0, SEEK_CUR)` only returns it; C's buffered files call
/// it at every open.
pub(super) const MOVES: When = UnlessWithZero(2, libc::SEEK_CUR as u32, 1);
/// unshare of the descriptor table, the current directory or the mounts.
pub(super) const UNSHARES: When =
    ArgumentWith(0, (libc::CLONE_FILES | libc::CLONE_FS | libc::CLONE_NEWNS) as u32);
/// clone of a child that is not to be traced.
pub(super) const UNTRACED: When = ArgumentWith(0, libc::CLONE_UNTRACED as u32);
