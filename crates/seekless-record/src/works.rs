//! Which ways of watching programs work for this process here. Each is tried with the code that a
//! recording uses.

use crate::record::{attach, explain, why_no_events, why_no_touches};
use seekless_watch::block_events::BlockEvents;
use seekless_watch::page_faults::PageFaults;
use seekless_watch::tracee::{self, Stop};
use std::io;

/// Whether [`Method::Ptrace`](crate::Method::Ptrace) may stop a program; if not, why. A child
/// process is attached, and ends. The calling thread must have no other children.
///
/// # Errors
/// The reason, for people.
pub fn ptrace_works() -> Result<(), String> {
    let child = tracee::spawn(&[c"/".into()], None, |pid| attach(pid, false));
    let child = child.map_err(|failure| explain("/".as_ref(), failure).to_string())?;
    let pid = child.pid;
    drop(child); // its pipe closes, and the child ends
    loop {
        match tracee::wait(pid) {
            Ok((_, Stop::Exited(_) | Stop::Killed { .. })) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            Err(error) => return Err(seekless_sys::reason(&error)),
        }
    }
}

/// Whether the kernel shows this process which parts of mapped files a program touches, and then
/// whether also of touches that the kernel makes for it; if not, why.
///
/// # Errors
/// The reason, for people.
pub fn touches_work() -> Result<bool, String> {
    const THIS_THREAD: i32 = 0;
    let faults = PageFaults::follow(THIS_THREAD).map_err(|error| why_no_touches(&error))?;
    Ok(faults.sees_kernel())
}

/// Whether the kernel shows this process what reaches the disks; if not, why.
///
/// # Errors
/// The reason, for people.
pub fn block_events_work() -> Result<(), String> {
    BlockEvents::follow().map(drop).map_err(|error: io::Error| why_no_events(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trying_to_trace_leaves_no_child() {
        match ptrace_works() {
            Ok(()) => {
                let left = tracee::wait_now(-1).unwrap_err();
                assert_eq!(left.raw_os_error(), Some(libc::ECHILD));
            }
            Err(why) => eprintln!("skipped: {why}"),
        }
    }
}
