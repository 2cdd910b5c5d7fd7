//! Ctrl-C in a lab that works in a temporary folder: the folder goes, too, and what else the lab made. The signals are blocked in the whole process and one
//! thread waits for them, so that no code runs in a handler. (The command has the same; a lab cannot depend on it.)

use nix::sys::signal::{SigSet, Signal};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const SIGNALS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// A folder that goes when the process is interrupted.
pub(crate) struct Removal {
    begun: Arc<AtomicBool>,
}

/// Removes `folder` and ends the process with 128 plus the signal when it is interrupted. To be called before other threads
/// are started: only later ones inherit the blocked signals.
pub(crate) fn remove_when_interrupted(folder: &Path) -> anyhow::Result<Removal> {
    let folder = folder.to_path_buf();
    clean_when_interrupted(move || remove(&folder))
}

/// As [`remove_when_interrupted`], for a lab that has more to clean up than a folder.
pub(crate) fn clean_when_interrupted(clean: impl FnOnce() + Send + 'static) -> anyhow::Result<Removal> {
    let signals = heeded();
    signals.thread_block()?;
    let removal = Removal { begun: Arc::default() };
    let begun = Arc::clone(&removal.begun);
    let wait = move || {
        let Ok(signal) = signals.wait() else { return };
        begun.store(true, Ordering::SeqCst);
        clean();
        std::process::exit(128 + signal as i32);
    };
    std::thread::Builder::new().name("lab-interrupt".to_owned()).spawn(wait)?;
    Ok(removal)
}

impl Removal {
    /// Hands back the result of work in the folder, unless the folder is being removed: then that is why the work failed.
    pub(crate) fn unless_begun<T>(&self, result: T) -> T {
        while self.begun.load(Ordering::SeqCst) {
            std::thread::park();
        }
        result
    }
}

/// Lets the signals end this process again, which inherited them blocked from one that cleans up.
pub(crate) fn end_when_interrupted() -> anyhow::Result<()> {
    Ok(SIGNALS.into_iter().collect::<SigSet>().thread_unblock()?)
}

/// Not those that `nohup` had us ignore: blocking one would bring it back.
fn heeded() -> SigSet {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    SIGNALS.into_iter().filter(|&signal| ignored >> (signal as i32 - 1) & 1 == 0).collect()
}

/// The recorded program may still be writing into the folder, so once may not be enough.
pub(crate) fn remove(folder: &Path) {
    for _ in 0..20 {
        let _ = std::fs::remove_dir_all(folder);
        if !folder.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    eprintln!("lab: could not remove {}: remove it by hand", folder.display());
}
