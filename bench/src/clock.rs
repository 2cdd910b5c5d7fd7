//! Processor time of this thread or process, so that other work on the machine disturbs less.

use rustix::time::{ClockId, clock_gettime};

/// Seconds that this thread has computed.
fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Seconds that all threads of this process have computed.
pub(crate) fn process_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The result of `work`, and the processor seconds that it took.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = thread_seconds();
    let result = work();
    (result, thread_seconds() - started)
}
