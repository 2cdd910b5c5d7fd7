//! Cleaning up when the user presses Ctrl-C: a verb that works in a temporary folder removes it also then.
//!
//! The signals are blocked in the whole process and one thread waits for them, so that no code runs in a handler.

use nix::sys::signal::{SigSet, Signal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

const SIGNALS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// The signal that asked a job to stop.
static SIGNAL: AtomicI32 = AtomicI32::new(Signal::SIGINT as i32);

/// A folder that goes when the process is interrupted.
#[derive(Debug)]
pub struct Removal {
    begun: Arc<AtomicBool>,
}

/// Removes `directory` and ends the process when it is interrupted, with 128 plus the signal as a shell would say.
///
/// Call it before other threads are started, since only threads started later have the signals blocked too.
///
/// # Errors
/// When the signals cannot be blocked or the thread cannot be started.
pub fn remove_when_interrupted(directory: &Path) -> std::io::Result<Removal> {
    let signals = heeded();
    signals.thread_block()?;
    let removal = Removal { begun: Arc::new(AtomicBool::new(false)) };
    let (directory, begun) = (directory.to_path_buf(), Arc::clone(&removal.begun));
    std::thread::Builder::new()
        .name("seekless-interrupt".to_owned())
        .spawn(move || {
            let Ok(signal) = signals.wait() else { return };
            begun.store(true, Ordering::SeqCst);
            remove(&directory);
            std::process::exit(128 + signal as i32);
        })
        .map_err(no_thread)?;
    Ok(removal)
}

impl Removal {
    /// Hands back the result of work in the folder, unless the folder is being removed: then it failed because of that, and
    /// the process ends here as interrupted.
    pub fn unless_begun<T>(&self, result: T) -> T {
        while self.begun.load(Ordering::SeqCst) {
            std::thread::park();
        }
        result
    }
}

/// Lets the signals end this process again, which inherited them blocked from one that cleans up.
///
/// # Errors
/// When they cannot be unblocked.
pub fn end_when_interrupted() -> std::io::Result<()> {
    let signals: SigSet = SIGNALS.into_iter().collect();
    Ok(signals.thread_unblock()?)
}

/// A flag that is set at the first interruption, for work that stops and cleans up by itself; a second one ends the
/// process at once. Call it before other threads are started.
///
/// # Errors
/// When the signals cannot be blocked or the thread cannot be started.
pub fn cancel_when_interrupted() -> std::io::Result<Arc<AtomicBool>> {
    let signals = heeded();
    signals.thread_block()?;
    let flag = Arc::new(AtomicBool::new(false));
    let cancel = Arc::clone(&flag);
    std::thread::Builder::new()
        .name("seekless-interrupt".to_owned())
        .spawn(move || {
            let Ok(signal) = signals.wait() else { return };
            SIGNAL.store(signal as i32, Ordering::Relaxed);
            flag.store(true, Ordering::Relaxed);
            if let Ok(again) = signals.wait() {
                std::process::exit(128 + again as i32);
            }
        })
        .map_err(no_thread)?;
    Ok(cancel)
}

fn no_thread(error: std::io::Error) -> std::io::Error {
    let what = format!("cannot start a thread ({error}): raise the limit of processes (`ulimit -u`)");
    std::io::Error::new(error.kind(), what)
}

/// The error of a job that stops when it is asked to.
pub trait Interruptible: std::error::Error + Send + Sync + 'static {
    /// The job stopped because it was asked to.
    fn is_interruption(&self) -> bool;
}

impl Interruptible for seekless::tools::Error {
    fn is_interruption(&self) -> bool {
        self.kind() == seekless::tools::ErrorKind::Interrupted
    }
}

impl Interruptible for seekless::fits::Error {
    fn is_interruption(&self) -> bool {
        self.kind() == seekless::fits::ErrorKind::Interrupted
    }
}

/// What a job that may be interrupted made; `None`, after saying so, if it was: end with [`exit_code`].
///
/// # Errors
/// Whatever else the job failed with.
pub fn finished<T, E: Interruptible>(result: Result<T, E>) -> anyhow::Result<Option<T>> {
    match result {
        Err(error) if error.is_interruption() => {
            eprintln!("seekless: {error}");
            Ok(None)
        }
        other => Ok(Some(other?)),
    }
}

/// What a shell says of a program that this signal ended: 130 after Ctrl-C.
#[must_use]
pub fn exit_code() -> ExitCode {
    ExitCode::from(u8::try_from(128 + SIGNAL.load(Ordering::Relaxed)).unwrap_or(u8::MAX))
}

/// The signals to wait for: not those that `nohup`, or a shell for its background jobs, had us ignore. Blocking one would
/// bring it back.
fn heeded() -> SigSet {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = ignored_mask(&status);
    SIGNALS.into_iter().filter(|&signal| ignored >> (signal as i32 - 1) & 1 == 0).collect()
}

/// The ignored signals in proc_pid_status(5): signal 1 is the lowest bit.
fn ignored_mask(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Other threads may still be writing into the folder, so once may not be enough.
fn remove(directory: &PathBuf) {
    for _ in 0..20 {
        let _ = std::fs::remove_dir_all(directory);
        if !directory.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    eprintln!("seekless: could not remove {}: remove it by hand", directory.display());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        assert_eq!(ignored_mask("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t00000001800044e8\n"), 0x1001);
        assert_eq!(ignored_mask("Name:\tx\n"), 0);
    }
}
