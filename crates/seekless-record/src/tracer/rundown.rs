//! Names for what all programs of the machine have open when a recording begins: an `open` row
//! without a latency each, as with one process. It is done in slices between what is reported
//! meanwhile, for a second at most; what is left gets its name at its first use.

use super::Tracer;
use crate::inspect;
use crate::thread::Thread;
use std::time::{Duration, Instant};

/// More descriptors are not looked at.
const DESCRIPTORS_MAX: usize = 1 << 16;
/// How long to list them, and how long to name them.
const TIME_MAX: Duration = Duration::from_secs(1);
/// How long records may wait in the ring meanwhile, beside the usual patience.
const SLICE: Duration = Duration::from_millis(2);

/// Descriptors that were open, by process.
pub(crate) struct RunDown {
    open: std::vec::IntoIter<(i32, i32)>,
    until: Option<Instant>,
}

impl RunDown {
    /// Lists them. Call it before anything is reported: what is opened later is reported.
    pub(crate) fn list() -> Self {
        let end = Instant::now() + TIME_MAX;
        let own = std::process::id() as i32;
        let processes = inspect::processes().into_iter().filter(|pid| *pid != own);
        let open = processes
            .take_while(|_| Instant::now() < end)
            .flat_map(|pid| {
                let descriptors = inspect::descriptors(pid).unwrap_or_default();
                descriptors.into_iter().map(move |fd| (pid, fd))
            })
            .take(DESCRIPTORS_MAX);
        Self { open: open.collect::<Vec<_>>().into_iter(), until: None }
    }
}

impl Tracer {
    /// Names some more of them.
    pub(super) fn run_down(&mut self, rest: &mut RunDown) {
        let now = Instant::now();
        if now > *rest.until.get_or_insert(now + TIME_MAX) {
            return;
        }
        self.now_ns = self.elapsed_ns();
        while now.elapsed() < SLICE
            && let Some((pid, fd)) = rest.open.next()
        {
            if !self.threads.contains_key(&pid) {
                self.adopt(pid, Thread::new(pid));
            }
            self.follow(pid, fd);
        }
    }
}
