//! Inspects a stopped thread through /proc and its memory.
//!
//! These functions must not wait for a file system, since a process of the recorded program may
//! serve it and be stopped. So statx does not sync, names come from links in /proc, and memory is
//! read only after the kernel itself has just used it.

use hashbrown::HashMap;
use nix::sys::ptrace;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Statx, StatxFlags};
use rustix::io::Errno;
use rustix::process::{Pid as Process, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use seekless_sys::memory::page_bytes;
use std::io::{self, IoSliceMut};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

const PATH_BYTES_MAX: usize = libc::PATH_MAX as usize;
/// How much of a path is copied first. Most paths are shorter, and a smaller copy is faster.
const FIRST_BYTES: u64 = 256;

/// The file that a descriptor refers to.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The kernel's name for it: an absolute path without links, or `pipe:[123]` for a pipe.
    pub(crate) name: Vec<u8>,
    pub(crate) kind: FileType,
    pub(crate) bytes: u64,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// Permissions and owner.
    pub(crate) mode: u32,
    pub(crate) owner: u32,
}

impl Found {
    /// Whether a program of this user may open it with these flags, as far as the permissions of
    /// owner and others show.
    pub(crate) fn is_permitted(&self, flags: i32) -> bool {
        const READ: u32 = 4;
        const WRITE: u32 = 2;
        let wanted = match flags & libc::O_ACCMODE {
            libc::O_RDONLY => READ,
            libc::O_WRONLY => WRITE,
            _ => READ | WRITE,
        };
        let of_all = self.mode & self.mode >> 3 & self.mode >> 6;
        if of_all & wanted == wanted {
            return true; // most files may be read by everybody
        }
        let user = rustix::process::geteuid();
        let of_owner = self.mode >> 6 & wanted == wanted;
        let of_any = (self.mode | self.mode >> 3) & wanted == wanted; // may be a member of the group
        user.is_root() || if user.as_raw() == self.owner { of_owner } else { of_any }
    }
}

/// The file that descriptor `fd` of thread `tid` refers to.
pub(crate) fn descriptor(tid: i32, fd: i32) -> io::Result<Found> {
    let link = format!("/proc/{tid}/fd/{fd}");
    let mut name =
        rustix::fs::readlink(link.as_str(), Vec::with_capacity(FIRST_BYTES as usize))?.into_bytes();
    let stat = known(&link)?;
    if stat.stx_nlink == 0 && name.ends_with(b" (deleted)") {
        name.truncate(name.len() - b" (deleted)".len());
    }
    Ok(found(name, &stat))
}

fn found(name: Vec<u8>, stat: &Statx) -> Found {
    Found {
        name,
        kind: FileType::from_raw_mode(stat.stx_mode.into()),
        bytes: stat.stx_size,
        device: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
        mode: stat.stx_mode.into(),
        owner: stat.stx_uid,
    }
}

/// The file of an absolute name, if the kernel has looked it up already: no file system is asked.
/// EAGAIN says that one would have to be.
pub(crate) fn named(name: &[u8], is_last_kept: bool) -> rustix::io::Result<Found> {
    let last = if is_last_kept { OFlags::NOFOLLOW } else { OFlags::empty() };
    let flags = OFlags::PATH | OFlags::CLOEXEC | last;
    let file = rustix::fs::openat2(CWD, name, flags, Mode::empty(), ResolveFlags::CACHED)?;
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let stat = rustix::fs::statx(&file, "", flags, WANTED)?;
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let name = rustix::fs::readlink(link, Vec::with_capacity(FIRST_BYTES as usize))?.into_bytes();
    Ok(found(name, &stat))
}

const WANTED: StatxFlags = StatxFlags::TYPE
    .union(StatxFlags::MODE)
    .union(StatxFlags::NLINK)
    .union(StatxFlags::UID)
    .union(StatxFlags::INO)
    .union(StatxFlags::SIZE);

/// What the kernel knows about a file without asking its file system.
fn known(link: &str) -> io::Result<Statx> {
    Ok(rustix::fs::statx(CWD, link, AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT, WANTED)?)
}

/// The current size of the file that a descriptor refers to.
pub(crate) fn descriptor_bytes(tid: i32, fd: i32) -> Option<u64> {
    known(&format!("/proc/{tid}/fd/{fd}")).ok().map(|stat| stat.stx_size)
}

/// A description's position and open flags.
pub(crate) fn position(tid: i32, fd: i32) -> Option<(u64, i32)> {
    let text = std::fs::read_to_string(format!("/proc/{tid}/fdinfo/{fd}")).ok()?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    Some((field("pos:")?.parse().ok()?, i32::from_str_radix(field("flags:")?, 8).ok()?))
}

/// The numbers of all open descriptors; `None` if /proc cannot be read.
pub(crate) fn descriptors(tid: i32) -> Option<Vec<i32>> {
    let entries = std::fs::read_dir(format!("/proc/{tid}/fd")).ok()?;
    Some(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

/// The numbers of all threads of a process; none if it has ended.
pub(crate) fn threads(pid: i32) -> Vec<i32> {
    numbers_in(&format!("/proc/{pid}/task"))
}

/// The numbers of all processes.
pub(crate) fn processes() -> Vec<i32> {
    numbers_in("/proc")
}

fn numbers_in(folder: &str) -> Vec<i32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The current directory.
pub(crate) fn directory(tid: i32) -> Option<Vec<u8>> {
    let link = format!("/proc/{tid}/cwd");
    Some(rustix::fs::readlink(link, Vec::with_capacity(FIRST_BYTES as usize)).ok()?.into_bytes())
}

/// Whether the current directory has a longer name than the kernel gives.
pub(crate) fn has_long_directory(tid: i32) -> bool {
    rustix::fs::readlink(format!("/proc/{tid}/cwd"), Vec::new()) == Err(Errno::NAMETOOLONG)
}

/// Whether the kernel denies this user the thread's memory and descriptors. It does so if the user
/// may execute the program but not read it, or if the program has made itself undumpable.
pub(crate) fn is_closed(tid: i32) -> bool {
    let link = format!("/proc/{tid}/cwd");
    rustix::fs::readlink(link, Vec::with_capacity(FIRST_BYTES as usize))
        .is_err_and(|error| error == Errno::ACCESS)
}

/// A thread's process, and the parent of that process.
pub(crate) fn family(tid: i32) -> Option<(i32, i32)> {
    let status = Status::of(tid)?;
    Some((status.number("Tgid:", 0)?, status.number("PPid:", 0)?))
}

/// Whether a process gains no privileges at exec (no_new_privs).
pub(crate) fn is_barred_from_privileges(pid: i32) -> bool {
    Status::of(pid).and_then(|status| status.number("NoNewPrivs:", 0)) == Some(1)
}

/// /proc/TID/status.
struct Status(String);

impl Status {
    fn of(tid: i32) -> Option<Self> {
        Some(Self(std::fs::read_to_string(format!("/proc/{tid}/status")).ok()?))
    }

    /// Number `at` on the line that begins with `name`.
    fn number<T: std::str::FromStr>(&self, name: &str, at: usize) -> Option<T> {
        let line = self.0.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().nth(at)?.parse().ok()
    }
}

/// File systems that know a file's capabilities and places without asking a server.
pub(crate) const LOCAL: [&str; 12] = [
    "bcachefs", "btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "overlay", "squashfs", "tmpfs",
    "xfs", "zfs",
];

/// The file of the program that a process has just executed, if the file is setuid, setgid or has
/// capabilities that the process did not get. `mounts` remembers which mounts can give privileges.
pub(crate) fn withheld(tid: i32, mounts: &mut HashMap<u64, bool>) -> Option<Vec<u8>> {
    const EFFECTIVE: usize = 1;
    let link = format!("/proc/{tid}/exe");
    let wanted = StatxFlags::MODE | StatxFlags::UID | StatxFlags::GID | StatxFlags::MNT_ID;
    let file = rustix::fs::statx(CWD, &link, AtFlags::STATX_DONT_SYNC, wanted).ok()?;
    if !*mounts.entry(file.stx_mnt_id).or_insert_with(|| gives_privileges(tid, file.stx_mnt_id)) {
        return None;
    }
    let mode = u32::from(file.stx_mode);
    let has = |bits: u32| mode & bits == bits;
    let status = Status::of(tid)?;
    let user = has(libc::S_ISUID) && status.number("Uid:", EFFECTIVE) != Some(file.stx_uid);
    let group = has(libc::S_ISGID | libc::S_IXGRP)
        && status.number("Gid:", EFFECTIVE) != Some(file.stx_gid);
    let capable =
        || rustix::fs::getxattr(&link, "security.capability", &mut [0_u8; 64][..]).is_ok();
    if !(user || group || capable()) {
        return None;
    }
    Some(rustix::fs::readlink(&link, Vec::new()).ok()?.into_bytes())
}

fn gives_privileges(tid: i32, mount: u64) -> bool {
    let mounts = std::fs::read_to_string(format!("/proc/{tid}/mountinfo")).unwrap_or_default();
    let line = mounts.lines().find(|line| line.split(' ').next() == Some(&mount.to_string()));
    let Some((mount, system)) = line.and_then(|line| line.split_once(" - ")) else { return false };
    let allowed = mount
        .split(' ')
        .nth(5)
        .is_some_and(|options| !options.split(',').any(|one| one == "nosuid"));
    allowed && system.split(' ').next().is_some_and(|kind| LOCAL.contains(&kind))
}

/// The path at `address`, which ends at a zero byte. `None` if it cannot be read or has no end.
pub(crate) fn path(tid: i32, address: u64) -> Option<Vec<u8>> {
    let mut path = Vec::new();
    let mut at = address;
    while path.len() < PATH_BYTES_MAX {
        // Do not read past the end of a page: the next one may not be mapped.
        let most = if path.is_empty() { FIRST_BYTES } else { page_bytes() };
        let bytes = (page_bytes() - at % page_bytes()).min(most);
        let start = path.len();
        path.resize(start + bytes as usize, 0);
        let read = memory(tid, at, &mut path[start..])?;
        path.truncate(start + read);
        if let Some(end) = path[start..].iter().position(|byte| *byte == 0) {
            path.truncate(start + end);
            return Some(path);
        }
        at = at.checked_add(read as u64).filter(|_| read > 0)?;
    }
    None
}

/// Whether there is a path at `address` that is longer than the kernel takes.
pub(crate) fn is_long_path(tid: i32, address: u64) -> bool {
    let read = resident_bytes(tid, address, PATH_BYTES_MAX);
    read.is_some_and(|bytes| !bytes.contains(&0))
}

/// Whether a thread's absolute paths begin elsewhere than ours: in a chroot, or in a namespace of
/// mounts.
pub(crate) fn is_elsewhere(tid: i32) -> bool {
    let link = |name: &str| rustix::fs::readlink(name, Vec::new()).ok();
    let root = link(&format!("/proc/{tid}/root"));
    let mounts = link(&format!("/proc/{tid}/ns/mnt"));
    root.is_some_and(|root| root.as_bytes() != b"/")
        || mounts.is_some() && mounts != link("/proc/self/ns/mnt")
}

/// The word at `address`.
pub(crate) fn word(tid: i32, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    (memory(tid, address, &mut bytes)? == 8).then(|| u64::from_le_bytes(bytes))
}

/// As [`word`], for memory that the kernel has not used for the current call. `None` if the page
/// would have to be read from a file. If the kernel has no pagemap, the word is read in any case.
pub(crate) fn resident_word(tid: i32, address: u64) -> Option<u64> {
    let bytes = resident_bytes(tid, address, 8)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// As [`resident_word`], of this many bytes.
pub(crate) fn resident_bytes(tid: i32, address: u64, bytes: usize) -> Option<Vec<u8>> {
    const PRESENT: u64 = 1 << 63;
    let pages = match std::fs::File::open(format!("/proc/{tid}/pagemap")) {
        Ok(pages) => pages,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return self::bytes(tid, address, bytes);
        }
        Err(_) => return None,
    };
    let last = address.checked_add((bytes as u64).saturating_sub(1))?;
    for page in address / page_bytes()..=last / page_bytes() {
        let mut entry = [0; 8];
        pages.read_exact_at(&mut entry, page * 8).ok()?;
        if u64::from_le_bytes(entry) & PRESENT == 0 {
            return None;
        }
    }
    self::bytes(tid, address, bytes)
}

/// This many bytes at `address`, which the kernel has just used.
pub(crate) fn bytes(tid: i32, address: u64, bytes: usize) -> Option<Vec<u8>> {
    let mut copied = vec![0; bytes];
    (memory(tid, address, &mut copied)? == bytes).then_some(copied)
}

/// The program's descriptor, as one of ours. The caller closes it before the program goes on.
pub(crate) fn duplicate(pid: i32, fd: i32) -> io::Result<std::fs::File> {
    let pid = Process::from_raw(pid).ok_or(io::ErrorKind::InvalidInput)?;
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    Ok(pidfd_getfd(&process, fd, PidfdGetfdFlags::empty())?.into())
}

/// Writes the word at `address` of a stopped thread.
pub(crate) fn set_word(tid: i32, address: u64, word: u64) -> io::Result<()> {
    Ok(ptrace::write(Pid::from_raw(tid), address as ptrace::AddressType, word as libc::c_long)?)
}

fn memory(tid: i32, address: u64, into: &mut [u8]) -> Option<usize> {
    let remote = [RemoteIoVec { base: usize::try_from(address).ok()?, len: into.len() }];
    process_vm_readv(Pid::from_raw(tid), &mut [IoSliceMut::new(into)], &remote).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    fn me() -> i32 {
        i32::try_from(std::process::id()).unwrap()
    }

    #[test]
    fn paths_and_words_are_read_from_memory() {
        let long = [vec![b'a'; 3000], vec![0]].concat();
        assert_eq!(path(me(), long.as_ptr() as u64).unwrap(), &long[..3000]);
        assert_eq!(path(me(), 8), None);
        let endless = vec![b'b'; PATH_BYTES_MAX * 4];
        assert_eq!(path(me(), endless.as_ptr() as u64), None);
        let value = 0x0102_0304_0506_0708_u64;
        assert_eq!(word(me(), &raw const value as u64), Some(value));
        assert_eq!(resident_word(me(), &raw const value as u64), Some(value));
    }

    #[test]
    fn memory_that_must_be_fetched_from_a_file_is_not_waited_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(page_bytes()).unwrap();
        let _map = seekless_sys::map::Map::new(file.as_file()).unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let line = maps.lines().find(|line| line.ends_with(file.path().to_str().unwrap())).unwrap();
        let address = u64::from_str_radix(line.split('-').next().unwrap(), 16).unwrap();
        assert_eq!(resident_word(me(), address), None);
        assert_eq!((word(me(), address), resident_word(me(), address)), (Some(0), Some(0)));
    }

    #[test]
    fn a_descriptor_is_found_with_its_position() {
        use std::io::{Seek, SeekFrom, Write};
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().canonicalize().unwrap().join("a (deleted)");
        let mut file = std::fs::File::options().append(true).create(true).open(&name).unwrap();
        file.write_all(b"twelve bytes").unwrap();
        file.seek(SeekFrom::Start(5)).unwrap();
        let found = descriptor(me(), file.as_raw_fd()).unwrap();
        assert_eq!(found.name, name.as_os_str().as_encoded_bytes());
        assert_eq!((found.bytes, found.kind), (12, FileType::RegularFile));
        let (position, flags) = position(me(), file.as_raw_fd()).unwrap();
        assert_eq!((position, flags & libc::O_APPEND), (5, libc::O_APPEND));
        assert!(descriptors(me()).unwrap().contains(&file.as_raw_fd()));
        std::fs::remove_file(&name).unwrap();
        assert_eq!(
            descriptor(me(), file.as_raw_fd()).unwrap().name,
            name.as_os_str().as_encoded_bytes()
        );
        assert_eq!(family(me()), Some((me(), std::os::unix::process::parent_id() as i32)));
        assert!(!is_closed(me()));
    }
}
