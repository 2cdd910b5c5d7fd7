//! Programs that ran before the recorder came, and that do not stop: programs in the kernel report
//! their calls. Nothing is attached, so there is nothing to let go.

use super::reported::{PATIENCE, Reported};
use super::{ENDINGS, RunDown, Traced, Tracer};
use crate::inspect;
use crate::recorded::Status;
use crate::sink::Sink;
use crate::thread::Thread;
use crate::tracer::Settings;
use seekless_sys::awaited::Awaited;
use seekless_sys::urgent::Urgent;
use seekless_watch::call_events::CallEvents;
use std::sync::Arc;

impl Tracer {
    /// A tracer of the process `pid`, which has these threads, whose calls will be reported to it.
    pub(crate) fn of_watched(
        pid: i32,
        threads: &[i32],
        sink: Sink,
        settings: Arc<Settings>,
    ) -> Self {
        let mut tracer = Self::watching(pid, sink, settings);
        let whole = Thread::new(pid);
        tracer.threads = threads.iter().map(|&tid| (tid, whole.sibling())).collect();
        for fd in inspect::descriptors(pid).unwrap_or_default() {
            tracer.follow(pid, fd);
        }
        tracer
    }

    /// A tracer of all processes, which are known by what they do.
    pub(crate) fn of_machine(sink: Sink, settings: Arc<Settings>) -> Self {
        const NOBODY: i32 = 0;
        let mut tracer = Self::watching(NOBODY, sink, settings);
        tracer.threads.clear();
        tracer.summary.processes = 0;
        tracer
    }

    fn watching(main: i32, sink: Sink, settings: Arc<Settings>) -> Self {
        let reported = Some(Box::new(Reported::from_now()));
        Self { reported, live: true, ..Self::unforwarded(main, sink, settings) }
    }

    /// Follows them until the process `pid` and its descendants have ended, if there is one; a
    /// signal of [`ENDINGS`] comes, which `awaited` holds; or the limits are reached.
    pub(crate) fn run_watching(
        mut self,
        mut events: CallEvents,
        awaited: &Awaited,
        pid: Option<i32>,
        mut open: Option<RunDown>,
    ) -> Traced {
        self.note_reported(&events);
        let _urgent = Urgent::begin(); // records have little room
        loop {
            // Asked before the reports are taken: then nothing comes after that.
            let is_over = pid.is_some() && !events.has_any();
            self.take_reports(&mut events);
            if let Some(open) = &mut open {
                self.run_down(open);
                self.sink.hand_over();
            }
            let signal = awaited.wait(PATIENCE);
            let is_ending = signal.is_some_and(|signal| ENDINGS.contains(&signal));
            if is_over || is_ending || self.sink.is_over(self.elapsed_ns()) {
                break;
            }
        }
        self.take_reports(&mut events);
        self.count_unreported(&events);
        self.status = Some(Status::Exited(0));
        self.traced()
    }
}
