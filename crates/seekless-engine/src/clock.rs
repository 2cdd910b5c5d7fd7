//! The time that a modelled device keeps: the wall clock's, or one that skips the stretches in
//! which all threads wait for the device. The program's own work takes the same time on both
//! clocks, so a trial comes to the same result.

use seekless_device::Nanos;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long to wait before looking again whether the other threads still work.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_micros(200);

/// A clock that starts at 0 when it is made. Clones are the same clock.
///
/// On a skipping clock time passes as on the wall while any thread of this process computes or
/// reads. Once all of them wait, a device model has a request in flight and nothing real is, the
/// clock jumps to that request's end. On a clock of the model nothing but these jumps passes, as if
/// the program computed in no time: so a test gets the same times on every machine.
#[derive(Clone, Debug)]
pub struct Clock {
    /// `None`: time does not pass between jumps.
    started: Option<Instant>,
    /// What was skipped so far; `None` is the wall's time.
    skipped_ns: Option<Arc<AtomicU64>>,
}

impl Clock {
    /// The time of the wall: a modelled wait is waited for.
    #[must_use]
    pub fn wall() -> Self {
        Clock { started: Some(Instant::now()), skipped_ns: None }
    }

    /// A clock that skips modelled waits.
    #[must_use]
    pub fn skipping() -> Self {
        Clock { started: Some(Instant::now()), skipped_ns: Some(Arc::default()) }
    }

    /// A clock on which only modelled waits pass.
    #[must_use]
    pub fn of_the_model() -> Self {
        Clock { started: None, skipped_ns: Some(Arc::default()) }
    }

    /// Nanoseconds since the clock was made, those that were skipped included.
    #[must_use]
    pub fn now(&self) -> Nanos {
        let passed = self.started.map_or(0, |started| {
            Nanos::try_from(started.elapsed().as_nanos()).unwrap_or(Nanos::MAX)
        });
        let skipped = self.skipped_ns.as_ref().map_or(0, |skipped| skipped.load(Ordering::SeqCst));
        passed.saturating_add(skipped)
    }

    /// Lets this much time pass, as if the program had waited; on the wall's clock it does wait.
    pub fn pass(&self, nanos: Nanos) {
        match self.skips() {
            true => self.skip_to(self.now().saturating_add(nanos)),
            false => std::thread::sleep(Duration::from_nanos(nanos)),
        }
    }

    /// Whether waits may be skipped at all.
    pub(crate) fn skips(&self) -> bool {
        self.skipped_ns.is_some()
    }

    /// Jumps to `then` if that lies ahead.
    pub(crate) fn skip_to(&self, then: Nanos) {
        if let Some(skipped) = &self.skipped_ns {
            let ahead = then.saturating_sub(self.now());
            skipped.fetch_add(ahead, Ordering::SeqCst);
        }
    }
}

/// Whether all other threads of this process sleep. One that runs, may run or waits for a disk does
/// not; nor is anything skipped where the kernel does not say.
pub(crate) fn others_sleep() -> bool {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return false };
    let own = rustix::thread::gettid().as_raw_nonzero().get().to_string();
    for thread in threads {
        let Ok(thread) = thread else { return false };
        if thread.file_name().as_encoded_bytes() == own.as_bytes() {
            continue;
        }
        // One that has ended meanwhile does nothing more.
        let Ok(stat) = fs::read_to_string(thread.path().join("stat")) else { continue };
        if !matches!(state(&stat), Some('S' | 'Z' | 'X' | 'I' | 't' | 'T')) {
            return false;
        }
    }
    true
}

/// The state letter of a line of proc_pid_stat(5). The name before it, in parentheses, may hold
/// anything.
fn state(stat: &str) -> Option<char> {
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipping_clock_jumps_ahead_and_never_back() {
        let clock = Clock::skipping();
        let same = clock.clone();
        clock.skip_to(3_600_000_000_000);
        assert!(same.now() >= 3_600_000_000_000);
        let before = same.now();
        clock.skip_to(1);
        assert!(same.now() >= before && same.now() < 7_200_000_000_000);
        let wall = Clock::wall();
        wall.skip_to(3_600_000_000_000);
        assert!(!wall.skips() && wall.now() < 3_600_000_000_000);
    }

    #[test]
    fn a_clock_of_the_model_stands_still_between_jumps() {
        let clock = Clock::of_the_model();
        std::thread::sleep(Duration::from_millis(1));
        assert_eq!(clock.now(), 0);
        clock.skip_to(7);
        assert_eq!(clock.now(), 7);
        clock.pass(5);
        assert_eq!(clock.now(), 12);
    }

    #[test]
    fn a_thread_that_works_is_seen() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let busy = std::thread::spawn(move || {
            while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {}
        });
        assert!(!others_sleep());
        drop(stop);
        busy.join().unwrap();
    }

    #[test]
    fn the_state_stands_after_the_name() {
        assert_eq!(state("17 (a) R (b) S 1 2"), Some('S'));
        assert_eq!(state("17 (busy) R 1"), Some('R'));
        assert_eq!(state("nonsense"), None);
    }
}
