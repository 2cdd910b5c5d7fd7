//! Whether filters work here: a thread puts one on itself, and ends. A filter is its thread's alone
//! and stops nothing, so nothing is left of it.

use super::{Filter, listen};
use std::io;

/// From this Linux on a call that was notified can go on.
const CALLS_GO_ON: (u32, u32) = (5, 5);

/// Whether a thread may put a filter on itself.
///
/// # Errors
/// The kernel has no filters, or a container refuses them.
pub fn filters_work() -> io::Result<()> {
    try_in_a_thread(|| Filter::tracing(&[]).install().map(drop))
}

/// Whether the kernel can notify of calls ([`Action::Notify`](super::Action::Notify)), and let them
/// go on afterwards.
///
/// # Errors
/// As [`filters_work`]; or this process has a filter with a listener already.
pub fn notifications_work() -> io::Result<()> {
    if seekless_sys::kernel::version() < Some(CALLS_GO_ON) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    try_in_a_thread(|| {
        let filter = Filter::tracing(&[]);
        filter.install()?; // for no_new_privs, where that is needed
        let listener = listen(&filter.program())?;
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
