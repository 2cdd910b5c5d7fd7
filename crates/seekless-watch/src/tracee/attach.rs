//! Tracees that run already: attached, made to stop, and released.

use super::request_of;
use std::io;
use std::ptr;

/// Attaches to all threads of a running process; what they start is attached as `options` of ptrace
/// say. Each stops as soon as it can, with [`Stop::Trap`]. If this thread ends, they run on.
///
/// # Errors
/// ESRCH if there is no such process, EPERM if it may not be traced. No thread is attached then.
///
/// [`Stop::Trap`]: super::Stop::Trap
pub fn seize_process(pid: i32, options: i32) -> io::Result<Vec<i32>> {
    let mut seized: Vec<i32> = Vec::new();
    loop {
        let before = seized.len();
        for tid in threads_of(pid)? {
            if seized.contains(&tid) {
                continue;
            }
            match seize(tid, options) {
                Ok(()) => seized.push(tid),
                // It ended meanwhile, or was attached as the child of one that was.
                Err(_) if !seized.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        // Threads that one started before it was attached are seen in the next pass.
        if seized.len() == before {
            return Ok(seized);
        }
    }
}

fn threads_of(pid: i32) -> io::Result<Vec<i32>> {
    let folder = format!("/proc/{pid}/task");
    let gone = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::from_raw_os_error(libc::ESRCH),
        _ => error,
    };
    let entries = std::fs::read_dir(folder).map_err(gone)?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

fn seize(tid: i32, options: i32) -> io::Result<()> {
    // SAFETY: the request takes its options by value.
    let result = unsafe {
        libc::ptrace(libc::PTRACE_SEIZE, tid, ptr::null_mut::<libc::c_void>(), options as usize)
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    interrupt(tid)
}

/// Makes a tracee stop as soon as it can, with [`Stop::Trap`]. A tracee that has ended is not an
/// error.
///
/// # Errors
/// Whatever else ptrace says.
///
/// [`Stop::Trap`]: super::Stop::Trap
pub fn interrupt(tid: i32) -> io::Result<()> {
    request_of(libc::PTRACE_INTERRUPT, tid, 0)
}

/// Lets a stopped tracee go for good, and delivers `signal` unless it is 0.
///
/// # Errors
/// As [`interrupt`].
pub fn detach(tid: i32, signal: i32) -> io::Result<()> {
    request_of(libc::PTRACE_DETACH, tid, signal)
}

#[cfg(test)]
mod tests {
    use super::super::{Stop, wait};
    use super::*;

    #[test]
    fn a_running_process_is_attached_and_let_go() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as i32;
        let seized = match seize_process(pid, libc::PTRACE_O_TRACESYSGOOD) {
            Ok(seized) => seized,
            Err(error) => {
                child.kill().unwrap();
                child.wait().unwrap();
                return println!("skipped: a process cannot be attached: {error}");
            }
        };
        assert_eq!(seized, [pid]);
        assert_eq!(wait(pid).unwrap(), (pid, Stop::Trap));
        detach(pid, 0).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let gone = seize_process(pid, 0).unwrap_err();
        assert_eq!(gone.raw_os_error(), Some(libc::ESRCH));
    }
}
