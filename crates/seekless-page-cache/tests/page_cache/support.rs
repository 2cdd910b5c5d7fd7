//! What several tests use.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Long beyond what a test takes: a call that never returns becomes a failure.
const HANG: Duration = Duration::from_secs(120);

pub(crate) fn without_hang(run: impl FnOnce() + Send + 'static) {
    let (ended, end) = mpsc::channel();
    let runner = thread::spawn(move || {
        run();
        let _ = ended.send(());
    });
    if end.recv_timeout(HANG) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("a call never returned");
    }
    runner.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

/// Xorshift. `seed` is not 0.
pub(crate) fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}
