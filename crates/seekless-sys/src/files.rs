//! Threads with a table of open files of their own (unshare(2)), and closing in bulk. Threads that
//! share a table pay at every call that names a file: they count references and wait for the
//! table's lock. A walk over many small files is an eighth slower for it.

use std::io;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::sync::mpsc;
use std::thread::{Builder, Scope};

/// Starts a thread that does `work` with a table of open files of its own, if the kernel allows it.
///
/// After this returns, files that one side opens are unknown to the other: pass paths between them,
/// never descriptors. The call waits until the thread has its table. Otherwise a pipe that is made
/// in between would stay open in the thread's table, and its reader would wait for ever.
///
/// # Errors
/// No thread can be started.
pub fn start_with_own_files<'scope, W>(
    builder: Builder,
    scope: &'scope Scope<'scope, '_>,
    work: W,
) -> io::Result<()>
where
    W: FnOnce() + Send + 'scope,
{
    let (separated, separation) = mpsc::channel::<()>();
    builder.spawn_scoped(scope, move || {
        // SAFETY: changes only which table of open files this thread uses, which has opened no file
        // yet. Where it is refused, the thread keeps the shared table.
        let _ = unsafe { libc::unshare(libc::CLONE_FILES) };
        drop(separated);
        work();
    })?;
    let _ = separation.recv(); // an error: nothing is ever sent, only the other end goes
    Ok(())
}

/// Closes a file without the C library's bookkeeping for threads that may be cancelled. No thread
/// of this workspace is cancelled.
pub fn close(file: impl Into<OwnedFd>) {
    // SAFETY: the descriptor is owned, and this is its last use.
    unsafe { rustix::io::close(file.into().into_raw_fd()) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Read;

    #[test]
    fn a_thread_reads_what_it_opens_and_leaves_nothing_open_elsewhere() {
        let before = std::fs::read_dir("/proc/self/task").unwrap().count();
        let mut text = String::new();
        std::thread::scope(|scope| {
            let work = || {
                File::open("/proc/version").unwrap().read_to_string(&mut text).unwrap();
            };
            start_with_own_files(Builder::new(), scope, work).unwrap();
        });
        assert!(text.starts_with("Linux"));
        assert!(std::fs::read_dir("/proc/self/task").unwrap().count() <= before + 8);
    }

    #[test]
    fn a_pipe_made_after_the_start_ends_where_it_is_closed() {
        let moment = std::time::Duration::from_micros(200);
        for _ in 0..50 {
            let (done, wait) = mpsc::channel::<()>();
            std::thread::scope(|scope| {
                start_with_own_files(Builder::new(), scope, move || {
                    let _ = wait.recv();
                })
                .unwrap();
                let (mut reader, writer) = io::pipe().unwrap();
                rustix::fs::fcntl_setfl(&reader, rustix::fs::OFlags::NONBLOCK).unwrap();
                std::thread::sleep(moment);
                drop(writer);
                // Children of other tests may hold it for a moment.
                let ended = (0..5_000).any(|_| {
                    std::thread::sleep(moment);
                    matches!(reader.read(&mut [0]), Ok(0))
                });
                drop(done);
                assert!(ended, "the thread still holds the other end");
            });
        }
    }
}
