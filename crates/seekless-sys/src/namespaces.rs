//! A process's own view of what is mounted where (mount namespaces), without root where the kernel
//! lets users have namespaces.

use rustix::io::{Errno, retry_on_intr};
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{Pid, WaitOptions, WaitStatus, getegid, geteuid, waitpid};
use rustix::thread::{CapabilitySet, UnshareFlags, unshare_unsafe};
use std::io;

/// Whether this process may mount as it is, so that [`own_mounts`] gives it no user namespace.
#[must_use]
pub fn may_mount() -> bool {
    let sets = rustix::thread::capabilities(None);
    sets.is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN))
}

/// Gives this process mounts of its own: only it and its children see what it mounts from now on.
/// It still sees what others mount.
///
/// Without root, the process gets a user namespace too. There it keeps its user and group, and may
/// mount. All other users are unknown there: their files look like nobody's, and set-user-id
/// programs run without their privileges.
///
/// # Errors
/// The process has several threads, or the kernel or a container refuses namespaces to users. The
/// process is then as it was.
pub fn own_mounts() -> io::Result<()> {
    match unshare(UnshareFlags::NEWNS) {
        Ok(()) => keep_mounts(),
        Err(Errno::PERM) => {
            // The kernel may make the namespace and then refuse to map the user: which cannot be
            // undone.
            in_child(own_user_and_mounts)?;
            own_user_and_mounts()
        }
        Err(error) => Err(error.into()),
    }
}

fn own_user_and_mounts() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
    // Only a process that cannot change its groups may name a group.
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    keep_mounts()
}

/// What is mounted here shall not reach others; what they mount shall come here.
fn keep_mounts() -> io::Result<()> {
    Ok(mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM)?)
}

/// Whether [`own_mounts`] works here: a child process tries it, and ends.
///
/// # Errors
/// As [`own_mounts`], or there is no child.
pub fn own_mounts_work() -> io::Result<()> {
    in_child(own_mounts)
}

/// Tries it in a child process, and gives its error.
fn in_child(tried: fn() -> io::Result<()>) -> io::Result<()> {
    // SAFETY: the C library keeps its allocator usable in the child, which takes no other lock, and
    // ends without running a destructor of this process.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let outcome = tried().map_err(|error| error.raw_os_error().unwrap_or(libc::EIO));
            // SAFETY: ends the child at once. Error numbers fit into an exit code.
            unsafe { libc::_exit(outcome.err().unwrap_or(0)) }
        }
        child => match waited(child)? {
            status if status.exit_status() == Some(0) => Ok(()),
            status => Err(match status.exit_status() {
                Some(number) => io::Error::from_raw_os_error(number),
                None => io::Error::other("the process that tried it was killed"),
            }),
        },
    }
}

/// Waits for the end of a child.
fn waited(child: i32) -> io::Result<WaitStatus> {
    let ended = retry_on_intr(|| waitpid(Pid::from_raw(child), WaitOptions::empty()))?;
    ended.map(|(_, status)| status).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Leaves the mounts of [`own_mounts`] to others: what they mount from now on, this process neither
/// sees nor keeps. It goes when the last process that sees it has ended.
///
/// # Errors
/// The kernel refuses.
pub fn leave_mounts() -> io::Result<()> {
    Ok(unshare(UnshareFlags::NEWNS)?)
}

fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: descriptors stay shared, so that no thread's are lost to another.
    unsafe { unshare_unsafe(flags) }
}
