//! Notifications of a seccomp filter (SECCOMP_RET_USER_NOTIF): a thread waits before a call until
//! its notification is answered. The answer here is always that the call goes on, so that its
//! result is the kernel's. A notification costs a third of the two stops of ptrace.
//!
//! If the last listener is closed, calls that would be notified fail with ENOSYS.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// From this Linux on a read of a notification ends when there can be no more.
const READS_END: (u32, u32) = (6, 11);

/// SECCOMP_IOCTL_NOTIF_SET_FLAGS with SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP: program and listener take
/// turns on one processor. To wake an idle one takes many times as long as a call, above all in a
/// virtual machine.
const SET_FLAGS: libc::Ioctl = 0x4008_2104;
const SYNC_WAKE_UP: u64 = 1;

const FLAG_CONTINUE: u32 = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;

/// A thread that waits before a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification {
    id: u64,
    /// The thread.
    pub tid: i32,
    /// Whose calling convention it is: an AUDIT_ARCH number.
    pub architecture: u32,
    /// The call's number there.
    pub number: u64,
    /// Its arguments.
    pub arguments: [u64; 6],
}

/// Where the notifications of a filter are read.
#[derive(Debug)]
pub struct Listener {
    notifications: OwnedFd,
    reads_end: bool,
}

impl Listener {
    fn new(notifications: OwnedFd) -> Self {
        // SAFETY: a number; the kernel refuses it before Linux 6.6, and all works without.
        unsafe {
            libc::ioctl(notifications.as_raw_fd(), SET_FLAGS, SYNC_WAKE_UP);
        }
        Self { notifications, reads_end: seekless_sys::kernel::version() >= Some(READS_END) }
    }

    /// Waits for the next one. `None` when no process has the filter any more.
    ///
    /// # Errors
    /// EINTR when a signal came to the caller.
    pub fn receive(&self) -> io::Result<Option<Notification>> {
        loop {
            if !self.reads_end && self.has_ended(-1)? {
                return Ok(None);
            }
            // SAFETY: all zeroes is a valid structure of numbers, and what the kernel asks for.
            let mut reported: libc::seccomp_notif = unsafe { MaybeUninit::zeroed().assume_init() };
            // SAFETY: the kernel writes one such structure to a live one.
            let result = unsafe {
                let fd = self.notifications.as_raw_fd();
                libc::ioctl(fd, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut reported)
            };
            if result == 0 {
                return Ok(Some(Notification {
                    id: reported.id,
                    tid: reported.pid as i32,
                    architecture: reported.data.arch,
                    number: reported.data.nr as u32 as u64,
                    arguments: reported.data.args,
                }));
            }
            let error = io::Error::last_os_error();
            // Else the thread was killed meanwhile.
            if error.raw_os_error() != Some(libc::ENOENT) {
                return Err(error);
            }
            if self.has_ended(0)? {
                return Ok(None);
            }
        }
    }

    /// Whether no process has the filter any more; also if that cannot be found out.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.has_ended(0).unwrap_or(true)
    }

    /// Whether no process has the filter any more. Waits this many milliseconds for that or for a
    /// notification; −1 waits for ever.
    fn has_ended(&self, wait_ms: i32) -> io::Result<bool> {
        let fd = self.notifications.as_raw_fd();
        let mut ready = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one live structure.
        if unsafe { libc::poll(&raw mut ready, 1, wait_ms) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(ready.revents & libc::POLLHUP != 0)
    }

    /// Lets the call go on. It may have been ended by a signal meanwhile.
    pub fn go_on(&self, notification: &Notification) {
        let mut answer = libc::seccomp_notif_resp {
            id: notification.id,
            val: 0,
            error: 0,
            flags: FLAG_CONTINUE,
        };
        // SAFETY: the kernel reads one such structure.
        unsafe {
            let fd = self.notifications.as_raw_fd();
            libc::ioctl(fd, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer)
        };
    }

    /// Whether the thread still waits. Else its number may be another's, and what was read of it
    /// too.
    #[must_use]
    pub fn is_waiting(&self, notification: &Notification) -> bool {
        let mut id = notification.id;
        // SAFETY: the kernel reads one number.
        unsafe {
            let fd = self.notifications.as_raw_fd();
            libc::ioctl(fd, libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw mut id) == 0
        }
    }
}

/// Room for the header and one descriptor of a message.
const ROOM: usize = 64;

#[repr(align(8))]
struct Room([u8; ROOM]);

/// Sends a descriptor through a socket. Makes no allocation and no call that a filter of this crate
/// would report.
pub(crate) fn send_listener(to: RawFd, fd: RawFd) -> io::Result<()> {
    let (mut byte, mut room) = (0_u8, Room([0; ROOM]));
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let message = message(&mut part, &mut room);
    // SAFETY: the room holds a header and one descriptor, and all parts are live.
    let sent = unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as usize;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(fd);
        libc::sendmsg(to, &raw const message, libc::MSG_NOSIGNAL)
    };
    if sent == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Waits for the descriptor.
pub(crate) fn receive_listener(from: &UnixStream) -> io::Result<Listener> {
    let (mut byte, mut room) = (0_u8, Room([0; ROOM]));
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut message = message(&mut part, &mut room);
    loop {
        // SAFETY: the kernel writes to the live parts of the message, within their lengths.
        let got =
            unsafe { libc::recvmsg(from.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
        match got {
            1 => break,
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    // SAFETY: the kernel has filled the message; a header of this type holds a descriptor that is
    // ours from now on.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let fd = libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned();
        Ok(Listener::new(OwnedFd::from_raw_fd(fd)))
    }
}

fn message(part: &mut libc::iovec, room: &mut Room) -> libc::msghdr {
    // SAFETY: all zeroes is a valid message without parts.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = part;
    message.msg_iovlen = 1;
    message.msg_control = room.0.as_mut_ptr().cast();
    // SAFETY: a computation.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(size_of::<RawFd>() as u32) } as usize;
    message
}

#[cfg(test)]
mod tests {
    use crate::seccomp::{Action, Filter, Rule, Section, When};
    use crate::tracee::{self, Stop};
    use std::ffi::CString;

    /// AUDIT_ARCH of this architecture.
    const HERE: u32 = 0xc000_0000 | if cfg!(target_arch = "aarch64") { 183 } else { 62 };

    #[test]
    fn calls_are_reported_before_they_happen_and_go_on() {
        let number = libc::SYS_chdir as u32;
        let rules = [Rule { number, when: When::Always, action: Action::Notify }];
        let filter =
            Filter::tracing(&[Section { architecture: HERE, rules: &rules, all_of: 0..0 }]);
        let words = ["sh", "-c", "cd /proc && test -e self/status && (cd /) && exit 7"];
        let words: Vec<CString> = words.iter().map(|word| CString::new(*word).unwrap()).collect();
        let waiting = tracee::spawn(&words, Some(&filter), |_| Ok(())).unwrap();
        let pid = waiting.pid;
        let mut released = waiting.release().unwrap();
        let Some(listener) = released.listener() else {
            tracee::wait(pid).unwrap();
            return eprintln!("skipped: {:?}", released.outcome());
        };
        let mut reported = Vec::new();
        while let Some(notification) = listener.receive().unwrap() {
            assert_eq!(notification.number, u64::from(number));
            assert!(listener.is_waiting(&notification));
            listener.go_on(&notification);
            assert!(!listener.is_waiting(&notification));
            reported.push(notification.tid);
        }
        assert_eq!(reported.len(), 2);
        assert_eq!((reported[0], reported[1] == pid), (pid, false), "the second is of a child");
        assert_eq!(tracee::wait(pid).unwrap(), (pid, Stop::Exited(7)));
    }
}
