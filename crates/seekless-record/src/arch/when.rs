//! When a call matters, for calls that take the same arguments in every convention of this architecture.

use seekless_sys::seccomp::When::{self, ArgumentIn, ArgumentWith, ArgumentWithout, UnlessWithZero};

/// fcntl with F_DUPFD, F_SETFL or F_DUPFD_CLOEXEC: the other commands change nothing that is followed.
pub(super) const CONTROLS: When = ArgumentIn(1, &[0, 4, 1030]);
/// mmap of a file.
pub(super) const MAPS_A_FILE: When = ArgumentWithout(3, libc::MAP_ANONYMOUS as u32);
/// `fstatat(fd, "", .., AT_EMPTY_PATH)` is how fstat is spelled today: it asks about a descriptor, not about a path.
pub(super) const FSTATAT_OF_A_PATH: When = ArgumentWithout(3, libc::AT_EMPTY_PATH as u32);
/// As [`FSTATAT_OF_A_PATH`], of statx.
pub(super) const STATX_OF_A_PATH: When = ArgumentWithout(2, libc::AT_EMPTY_PATH as u32);
/// lseek(fd, 0, SEEK_CUR) only asks, and buffered files ask it at every open.
pub(super) const MOVES: When = UnlessWithZero(2, libc::SEEK_CUR as u32, 1);
/// unshare of the descriptors or the directory.
pub(super) const UNSHARES: When = ArgumentWith(0, (libc::CLONE_FILES | libc::CLONE_FS) as u32);
/// clone of a child that nobody traces.
pub(super) const UNTRACED: When = ArgumentWith(0, libc::CLONE_UNTRACED as u32);
