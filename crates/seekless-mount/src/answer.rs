//! What a question of the kernel to a file system in a process costs on this machine: two changes
//! of process, which processors, mitigations and virtual machines make cheap or dear.

use crate::detached::Detached;
use crate::mount::configuration;
use fuser::{Errno, Filesystem, INodeNo, ReplyEntry, Request, Session, SessionACL};
use rustix::fs::{AtFlags, statat};
use std::ffi::OsStr;
use std::time::{Duration, Instant};

/// So many are timed: some 20 ms.
const QUESTIONS: usize = 101;
/// A program works between questions, while the server sleeps: without that an answer comes in a
/// fifth of the time.
const WORK: Duration = Duration::from_micros(150);

/// A file system that holds nothing.
struct Empty;

impl Filesystem for Empty {
    fn lookup(&self, _request: &Request, _parent: INodeNo, _name: &OsStr, reply: ReplyEntry) {
        reply.error(Errno::ENOENT);
    }
}

/// How long a program waits for an answer that takes no work, in seconds: the median of a
/// hundred, asked of a mount that no other process sees. `None` where this process may not mount.
#[must_use]
pub fn answer_s() -> Option<f64> {
    let (fuse, top) = Detached::new().ok()?.into_parts();
    let config = configuration(Vec::new(), SessionACL::All);
    let session = Session::from_fd(Empty, fuse, SessionACL::All, config);
    let session = session.and_then(Session::spawn).ok()?;
    let mut taken_s: Vec<f64> = (0..QUESTIONS)
        .map(|_| {
            let works = Instant::now();
            while works.elapsed() < WORK {
                std::hint::spin_loop();
            }
            let begun = Instant::now();
            // There is no such file, and the kernel may not remember that.
            let _ = statat(&top, "none", AtFlags::SYMLINK_NOFOLLOW);
            begun.elapsed().as_secs_f64()
        })
        .collect();
    drop(top);
    let _ = session.join(); // it has ended, whatever ended it
    taken_s.sort_by(f64::total_cmp);
    Some(taken_s[QUESTIONS / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_takes_time_where_mounts_are_allowed() {
        match answer_s() {
            Some(seconds) => assert!(seconds > 0.0 && seconds.is_finite()),
            None => println!("skipped: this process may not mount"),
        }
    }
}
