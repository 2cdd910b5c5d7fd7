//! Whether filters work here: a thread puts one on itself, and ends. A filter is its thread's alone
//! and stops nothing, so nothing is left of it.

use super::Filter;
use std::io;

/// Whether a thread may put a filter on itself.
///
/// # Errors
/// The kernel has no filters, or a container refuses them.
pub fn filters_work() -> io::Result<()> {
    try_in_a_thread(|| Filter::tracing(&[]).install())
}

/// Whether a filter may send calls to a listener (user notification, Linux 5.0).
///
/// # Errors
/// As [`filters_work`]; or this process has a filter with a listener already.
pub fn notifications_work() -> io::Result<()> {
    try_in_a_thread(|| {
        let filter = Filter::tracing(&[]);
        filter.install()?; // for no_new_privs, where that is needed
        let program = libc::sock_fprog {
            len: filter.program.len() as libc::c_ushort,
            filter: filter.program.as_ptr().cast_mut(),
        };
        // SAFETY: the kernel copies `len` instructions from the live vector and does not write to
        // it. The filter lets all calls pass.
        let listener = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
                &raw const program,
            )
        };
        let listener = i32::try_from(listener).map_err(io::Error::other)?;
        if listener < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a descriptor that the kernel has just made for us, used nowhere else.
        unsafe { libc::close(listener) };
        Ok(())
    })
}

fn try_in_a_thread(attempt: fn() -> io::Result<()>) -> io::Result<()> {
    let thread = std::thread::Builder::new().name("seekless-try".into()).spawn(attempt)?;
    thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that tried it panicked")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trying_leaves_no_filter_on_this_thread() {
        let status = || std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let filters = |status: &str| {
            status.lines().find(|line| line.starts_with("Seccomp")).map(str::to_owned)
        };
        let before = filters(&status());
        for (what, outcome) in
            [("filters", filters_work()), ("notifications", notifications_work())]
        {
            if let Err(error) = outcome {
                eprintln!("skipped: {what} are refused here: {error}");
            }
        }
        assert_eq!(filters(&status()), before);
    }
}
