//! Which parts of its mapped files the program touches: the first touch of each becomes a `fault`
//! row. The kernel reports page faults through perf events, which a thread of ours reads while
//! the program runs.
//!
//! One fault maps up to 64 KiB around the address, as far as they are cached. So the kernel shows
//! of the first touch in such a window and of no later one in it, and a row covers the window, or
//! what of it is cached, where the kernel shows that.

mod cached;
mod order;
mod processes;
mod touched;

pub(crate) use cached::Askable;

use crate::inspect;
use crate::sink::Rows;
use crate::tracer::{KnownFile, Settings};
use order::InOrder;
use processes::Processes;
use rustix::time::{ClockId, clock_gettime};
use seekless_trace::{Access, Op};
use seekless_watch::page_faults::{Event, PageFaults, What, mapped_now};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use touched::{Files, Touch};

/// How long rows may wait in a ring that is not a quarter full.
const PATIENCE: Duration = Duration::from_millis(50);
/// A record reaches its ring well within this time after the moment that it names.
const LATE_NS: u64 = 5_000_000;

/// What was seen of page faults.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Rows written.
    pub(crate) rows: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// Records for which the kernel had no room.
    pub(crate) lost: u64,
    /// The files that were mapped.
    pub(crate) files: Vec<KnownFile>,
}

/// Whose page faults are followed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whose<'a> {
    /// Those of a process from its next exec on, and of its descendants.
    Starting(i32),
    /// Those of a process that runs, with these threads, and of what they start.
    Running(i32, &'a [i32]),
    /// Those of all processes but this one.
    Machine,
}

/// A thread that reads page faults.
pub(crate) struct Watch {
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<Seen>>,
}

impl Watch {
    /// Follows processes.
    ///
    /// # Errors
    /// Perf events are refused, or there is no thread.
    pub(crate) fn start(whose: Whose<'_>, rows: Rows, settings: Arc<Settings>) -> io::Result<Self> {
        let faults = match whose {
            Whose::Starting(pid) => PageFaults::follow(pid)?,
            Whose::Running(_, tids) => PageFaults::follow_running(tids)?,
            Whose::Machine => PageFaults::follow_machine()?,
        };
        let running = match whose {
            Whose::Starting(_) => Vec::new(),
            Whose::Running(pid, _) => vec![pid],
            Whose::Machine => inspect::processes(),
        };
        let ending = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&ending);
        let mut watcher = Watcher {
            started_ns: now_ns(),
            rows,
            processes: Processes::default(),
            files: Files::new(settings),
            own: matches!(whose, Whose::Machine).then(std::process::id),
            touches: Vec::new(),
            seen: Seen::default(),
        };
        let thread =
            std::thread::Builder::new().name("seekless-faults".into()).spawn(move || {
                watcher.note_mapped(&running);
                watcher.watch(faults, &theirs);
                Seen { files: watcher.files.known().collect(), ..watcher.seen }
            })?;
        Ok(Self { ending, thread: Some(thread) })
    }

    /// Reads what is left, after the program and its descendants have ended. `None` if the thread
    /// panicked, and has said so.
    pub(crate) fn finish(mut self) -> Option<Seen> {
        self.ending.store(true, Ordering::Release);
        let thread = self.thread.take()?;
        thread.thread().unpark();
        thread.join().ok()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Release); // the thread ends within its patience
    }
}

struct Watcher {
    started_ns: u64,
    rows: Rows,
    processes: Processes,
    files: Files,
    /// This process, if its own faults are reported too.
    own: Option<u32>,
    /// Of one fault; kept for its memory.
    touches: Vec<Touch>,
    seen: Seen,
}

impl Watcher {
    fn watch(&mut self, mut faults: PageFaults, ending: &AtomicBool) {
        let mut order = InOrder::default();
        loop {
            let last = ending.load(Ordering::Acquire); // what is drained after it is all
            if !last && faults.wait(PATIENCE).unwrap_or(true) {
                std::thread::park_timeout(PATIENCE);
            }
            let known_ns = now_ns().saturating_sub(LATE_NS);
            faults.drain(order.pending());
            let until_ns = if last { u64::MAX } else { known_ns };
            order.take(until_ns).for_each(|event| self.happened(event));
            if last {
                return;
            }
        }
    }

    /// What processes had mapped before they were followed.
    fn note_mapped(&mut self, running: &[i32]) {
        for &pid in running.iter().filter(|pid| self.own != Some(**pid as u32)) {
            for mapped in mapped_now(pid).unwrap_or_default() {
                let file = self.files.number(&mapped, &self.rows);
                self.processes.map(pid as u32, &mapped, file);
            }
        }
    }

    fn happened(&mut self, event: Event) {
        let Event { time_ns, pid, tid, what } = event;
        if self.own == Some(pid) {
            return;
        }
        match what {
            What::Fault { address } => {
                let Some(place) = self.processes.at(pid, address) else { return };
                let mut touches = std::mem::take(&mut self.touches);
                self.files.touch(place, &mut touches);
                touches.drain(..).for_each(|touch| self.touched(touch, time_ns, pid, tid));
                self.touches = touches;
            }
            What::Map(mapped) => {
                let file = self.files.number(&mapped, &self.rows);
                self.processes.map(pid, &mapped, file);
            }
            What::Born { parent } => self.processes.born(pid, parent),
            What::Executed => self.processes.executed(pid),
            What::Ended => self.processes.ended(pid),
            What::Lost { records } => self.seen.lost += records,
        }
    }

    fn touched(&mut self, touch: Touch, time_ns: u64, pid: u32, tid: u32) {
        let file = self.files.get(touch.file);
        let is_taken = self.rows.push(Access {
            time_ns: time_ns.saturating_sub(self.started_ns),
            pid,
            tid,
            offset: i64::try_from(touch.offset).unwrap_or(0),
            bytes: touch.bytes,
            file_bytes: file.bytes,
            device: Some(file.device),
            inode: Some(file.inode),
            ..Access::new(Op::Fault, file.number)
        });
        if is_taken {
            self.seen.rows += 1;
            self.seen.bytes += touch.bytes;
        }
    }
}

pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
