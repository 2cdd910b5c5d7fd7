//! What happens when the user presses Ctrl-C: a job stops, and temporary folders are removed.
//!
//! The signals are blocked in the whole process and one thread waits for them, so no code runs in a
//! signal handler. Only threads that are started later inherit the blocked signals, so each
//! function here is called before other threads are started.

use nix::sys::signal::{SigSet, Signal};
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Builder};
use std::time::Duration;

const SIGNALS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// How often the removal of a folder is tried: another thread or process may still write into it.
const REMOVALS: usize = 20;
const PAUSE: Duration = Duration::from_millis(20);

/// The flag of [`cancel_when_interrupted`].
static CANCEL: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// The signal that asked a job to stop.
static SIGNAL: AtomicI32 = AtomicI32::new(Signal::SIGINT as i32);

/// Cleaning up that begins when the process is interrupted.
#[derive(Debug)]
pub struct Cleaning {
    begun: Arc<AtomicBool>,
}

impl Cleaning {
    /// Returns `result`, unless cleaning up has begun. In that case the work probably failed
    /// because of it, so this waits for the end of the process.
    pub fn unless_begun<T>(&self, result: T) -> T {
        while self.begun.load(Ordering::SeqCst) {
            thread::park();
        }
        result
    }
}

/// Calls `clean` when the process is interrupted, and ends it with 128 plus the signal, as a shell
/// does.
///
/// # Errors
/// The signals cannot be blocked, or the thread cannot be started.
pub fn clean_when_interrupted(clean: impl FnOnce() + Send + 'static) -> io::Result<Cleaning> {
    let cleaning = Cleaning { begun: Arc::default() };
    let begun = Arc::clone(&cleaning.begun);
    wait_for_signals(move |signals| {
        let Ok(signal) = signals.wait() else { return };
        begun.store(true, Ordering::SeqCst);
        clean();
        std::process::exit(128 + signal as i32);
    })?;
    Ok(cleaning)
}

/// As [`clean_when_interrupted`], for a folder that is removed.
///
/// # Errors
/// As [`clean_when_interrupted`].
pub fn remove_when_interrupted(folder: &Path) -> io::Result<Cleaning> {
    let folder = folder.to_path_buf();
    clean_when_interrupted(move || remove(&folder))
}

/// A flag that the first interruption sets, for work that stops and cleans up by itself. A second
/// interruption ends the process at once. Each call gives the same flag.
///
/// # Errors
/// As [`clean_when_interrupted`].
pub fn cancel_when_interrupted() -> io::Result<Arc<AtomicBool>> {
    if let Some(cancel) = CANCEL.get() {
        return Ok(Arc::clone(cancel));
    }
    let cancel = Arc::<AtomicBool>::default();
    let flag = Arc::clone(&cancel);
    wait_for_signals(move |signals| {
        let Ok(signal) = signals.wait() else { return };
        SIGNAL.store(signal as i32, Ordering::Relaxed);
        flag.store(true, Ordering::Relaxed);
        if let Ok(again) = signals.wait() {
            std::process::exit(128 + again as i32);
        }
    })?;
    Ok(Arc::clone(CANCEL.get_or_init(|| cancel)))
}

/// Whether the flag of [`cancel_when_interrupted`] is set.
#[must_use]
pub fn is_cancelled() -> bool {
    CANCEL.get().is_some_and(|cancel| cancel.load(Ordering::Relaxed))
}

/// The exit code after [`cancel_when_interrupted`] has set its flag: 130 after Ctrl-C.
#[must_use]
pub fn exit_code() -> ExitCode {
    ExitCode::from(u8::try_from(128 + SIGNAL.load(Ordering::Relaxed)).unwrap_or(u8::MAX))
}

/// Unblocks the signals in a process that inherited them blocked: they end it again.
///
/// # Errors
/// The signals cannot be unblocked.
pub fn end_when_interrupted() -> io::Result<()> {
    Ok(SIGNALS.into_iter().collect::<SigSet>().thread_unblock()?)
}

/// Removes `folder` with all that is in it, or says on standard error that it could not.
pub fn remove(folder: &Path) {
    for _ in 0..REMOVALS {
        let _ = std::fs::remove_dir_all(folder);
        if !folder.exists() {
            return;
        }
        thread::sleep(PAUSE);
    }
    eprintln!("seekless: could not remove {}: remove it by hand", crate::shown(folder));
}

fn wait_for_signals(wait: impl FnOnce(SigSet) + Send + 'static) -> io::Result<()> {
    let signals = not_ignored();
    signals.thread_block()?;
    let thread = Builder::new().name("seekless-interrupt".to_owned()).spawn(move || wait(signals));
    thread.map(drop).map_err(|error| {
        let what =
            format!("cannot start a thread ({error}): raise the limit of processes (`ulimit -u`)");
        io::Error::new(error.kind(), what)
    })
}

/// The signals without those that this process ignores. `nohup` sets them so, and so does a shell
/// for its background jobs. To block and wait for such a signal would make it effective again.
fn not_ignored() -> SigSet {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = ignored_mask(&status);
    SIGNALS.into_iter().filter(|&signal| ignored >> (signal as i32 - 1) & 1 == 0).collect()
}

/// The ignored signals in proc_pid_status(5): signal 1 is the lowest bit.
fn ignored_mask(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        assert_eq!(
            ignored_mask("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t00000001800044e8\n"),
            0x1001
        );
        assert_eq!(ignored_mask("Name:\tx\n"), 0);
    }

    #[test]
    fn a_folder_is_removed_with_its_contents() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("work");
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        std::fs::write(folder.join("inner/file"), "text").unwrap();
        remove(&folder);
        assert!(!folder.exists());
    }
}
