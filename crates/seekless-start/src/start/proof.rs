//! Whether the program opens what is brought in. A profile may be another program's; then all reads
//! are in vain. So few files are brought in until one of them is opened, which the kernel reports
//! (inotify). Page faults show it too, but only of mapped files.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often to check whether the work is over.
const TICK: Duration = Duration::from_millis(20);

/// Where the proof stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// A file was opened, or the kernel does not report it.
    Proven,
    Over,
}

/// Waits for a first file to be opened.
pub(super) struct Proof {
    events: Option<OwnedFd>,
    state: Mutex<State>,
    changed: Condvar,
}

impl Proof {
    pub(super) fn new() -> Self {
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        let state = if events.is_some() { State::Open } else { State::Proven };
        Self { events, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A file that was brought in: to be opened is proof from now on.
    pub(super) fn brought_in(&self, path: &Path) {
        if *self.state() == State::Open
            && let Some(events) = &self.events
        {
            let flags = WatchFlags::OPEN | WatchFlags::ONESHOT;
            let _ = inotify::add_watch(events, path, flags); // others prove as well
        }
    }

    /// Waits for the proof. Whether to go on.
    pub(super) fn wait(&self) -> bool {
        let mut state = self.state();
        while *state == State::Open {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        *state == State::Proven
    }

    /// Whether it is still open.
    pub(super) fn is_open(&self) -> bool {
        *self.state() == State::Open
    }

    /// No proof will come: all that wait for it go on.
    pub(super) fn is_over(&self) {
        self.becomes(State::Over);
    }

    /// Looks for the proof, until it is there or all is over.
    pub(super) fn look(&self) {
        let Some(events) = &self.events else { return };
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
        while *self.state() == State::Open {
            let mut events = [PollFd::new(events, PollFlags::IN)];
            if matches!(poll(&mut events, Some(&tick)), Ok(ready) if ready > 0) {
                self.becomes(State::Proven);
            }
        }
    }

    fn becomes(&self, next: State) {
        let mut state = self.state();
        if *state != State::Over {
            *state = next;
        }
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn to_open_a_file_that_was_brought_in_is_proof() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        std::fs::write(&one, "1").unwrap();
        std::fs::write(&other, "2").unwrap();
        let proof = Proof::new();
        if proof.events.is_none() {
            println!("skipped: this system has no inotify to spare");
            return;
        }
        proof.brought_in(&one);
        File::open(&other).unwrap();
        assert_eq!(*proof.state(), State::Open);
        File::open(&one).unwrap();
        proof.look();
        assert!(proof.wait());
    }

    #[test]
    fn nobody_waits_for_a_proof_that_does_not_come() {
        let proof = Proof::new();
        std::thread::scope(|scope| {
            scope.spawn(|| proof.look());
            let waits = scope.spawn(|| proof.wait());
            proof.is_over();
            let goes_on = waits.join().unwrap();
            assert_eq!(goes_on, proof.events.is_none());
        });
    }
}
