//! Turns a call that never returns into a failure. Tests of several crates include this file.

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
