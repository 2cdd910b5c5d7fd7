//! The loop around `waitpid`. It interprets and notes each stop of a traced thread, and lets the
//! thread go on at once. Where programs in the kernel report calls ([`reported`]), only signals
//! stop the program's first thread. Some calls may be reported by notifications instead
//! ([`notified`]).

mod ask;
mod attached;
mod enter;
mod fetches;
mod handed_over;
mod learning;
mod leave;
mod life;
mod look;
mod notified;
mod read_again;
mod reported;
mod rings;
mod rows;
mod rundown;
mod submits;
mod tables;
mod transfer;
mod watching;

#[cfg(test)]
mod tests;

pub(crate) use attached::ENDINGS;
use fetches::Fetched;
pub(crate) use fetches::KnownFile;
use reported::Reported;
use rings::SeenRings;
pub(crate) use rundown::RunDown;

use crate::arch::Registers;
use crate::arrivals::{Arrivals, Arrived};
use crate::call::Call;
use crate::calls::Calls;
use crate::descriptions::{Descriptions, Moment};
use crate::live::Live;
use crate::looker::Looker;
use crate::options::Grain;
use crate::paths::{self, Paths};
use crate::recorded::{Status, Summary};
use crate::requests::Requests;
use crate::sink::Sink;
use crate::thread::{Pending, Thread};
use crate::threads::Threads;
use hashbrown::{HashMap, HashSet};
use seekless_sys::signals::{self, Forwarding};
use seekless_watch::seccomp::MARK;
use seekless_watch::tracee::{self, Stop, Until};
use std::io;
use std::sync::Arc;
use std::time::Instant;

/// If two equal signals arrive within this time, one from their sender and one passed on by us,
/// they are one signal to the whole process group.
const SAME_SIGNAL_NS: u64 = 100_000_000;

/// Whether the file of a name is recorded.
pub(crate) type Chosen = Box<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// The settings of a recording.
#[derive(Default)]
pub(crate) struct Settings {
    /// Record pipes, sockets, terminals, /proc, /sys and /dev too.
    pub(crate) special: bool,
    /// Which names of files are recorded; `None` keeps all. Apart from its kind, so that a program
    /// that records all files holds no code for globs.
    pub(crate) chosen: Option<Chosen>,
    /// Absolute names of the recorder's own files.
    pub(crate) own: Vec<Vec<u8>>,
    /// Find out where files lie.
    pub(crate) places: bool,
    /// Record what comes into the page cache.
    pub(crate) fetches: bool,
    /// Where rows are counted for somebody who looks.
    pub(crate) live: Option<Live>,
}

impl Settings {
    /// Whether the file of this name was chosen.
    pub(crate) fn keeps(&self, name: &[u8]) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| chosen(name))
    }

    /// Whether a mapped file of this name is recorded.
    pub(crate) fn names_file(&self, name: &[u8]) -> bool {
        let ordinary = name.first() == Some(&b'/')
            && !paths::is_special(name)
            && !name.starts_with(b"/memfd:");
        (ordinary || self.special) && self.keeps(name) && !self.own.iter().any(|own| own == name)
    }
}

/// All that we know about the traced program.
pub(crate) struct Tracer {
    settings: Arc<Settings>,
    sink: Sink,
    calls: Calls,
    started: Instant,
    /// When we saw the current stop, from `started`.
    now_ns: u64,
    /// When we let the current call go on, from `started`.
    resumed_ns: u64,
    main: i32,
    /// The program ran before the recorder came: no filter says which calls matter, so each stops
    /// it twice.
    attached: bool,
    /// What the kernel's programs tell, if they do and calls do not stop.
    reported: Option<Box<Reported>>,
    /// What comes into the page cache, if that is reported.
    fetched: Option<Box<Fetched>>,
    /// How finely notifications are made, if they are.
    grain: Option<Grain>,
    /// The current call has yet to happen.
    foresees: bool,
    /// Nobody has seen when the current request ended.
    untimed: bool,
    /// Counts what may have changed where absolute paths begin.
    roots: u32,
    requests: Requests,
    seen_rings: SeenRings,
    /// Writes to recorded files so far.
    writes: u64,
    /// The program has been executed. The child's calls before that are the recorder's own.
    live: bool,
    status: Option<Status>,
    /// Programs run without the privileges that their files give, since this process may not grant
    /// them.
    deprives: bool,
    /// By number of a mount: whether its files can give privileges that we can look up without
    /// asking a server.
    mounts: HashMap<u64, bool>,
    threads: Threads,
    /// Threads that stopped before the event of their parent's fork or clone: the stop, and when it
    /// was.
    early: HashMap<i32, (Stop, u64)>,
    descriptions: Descriptions,
    paths: Paths,
    forwarding: Option<Forwarding>,
    /// The last signal of the program: number, whether this process sent it, when.
    last_signal: (i32, bool, u64),
    summary: Summary,
    /// Finds out where files lie, if that is wanted.
    looker: Option<Looker>,
    /// What comes into the cache of mapped files, if page faults are not reported.
    arrivals: Option<Arrivals>,
    /// Which files were opened, by their numbers, to count each once.
    opened: Vec<bool>,
}

/// The result when the last process has ended.
pub(crate) struct Traced {
    pub(crate) sink: Sink,
    pub(crate) summary: Summary,
    pub(crate) looker: Option<Looker>,
    /// What came into the cache of mapped files, if that was looked at.
    pub(crate) arrived: Option<Arrived>,
    /// What came into the page cache and has no name yet.
    unnamed: Option<Box<Fetched>>,
    /// `None` if the program was never executed.
    pub(crate) status: Option<Status>,
    pub(crate) duration_ns: u64,
    /// Signals do not end this process before the trace is in its place.
    _forwarding: Option<Forwarding>,
}

impl Tracer {
    /// A tracer of the attached child `main`, which gets the signals to this process.
    pub(crate) fn new(main: i32, sink: Sink, settings: Arc<Settings>) -> Self {
        let forwarding = Forwarding::to(main);
        Self { forwarding, ..Self::unforwarded(main, sink, settings) }
    }

    fn unforwarded(main: i32, sink: Sink, settings: Arc<Settings>) -> Self {
        let looks = settings.places;
        Self {
            settings,
            sink,
            calls: Calls::new(),
            started: Instant::now(),
            now_ns: 0,
            resumed_ns: 0,
            main,
            attached: false,
            reported: None,
            fetched: None,
            grain: None,
            foresees: false,
            untimed: false,
            roots: 0,
            requests: Requests::default(),
            seen_rings: SeenRings::default(),
            writes: 0,
            live: false,
            status: None,
            deprives: false,
            mounts: HashMap::new(),
            threads: [(main, Thread::new(main))].into_iter().collect(),
            early: HashMap::new(),
            descriptions: Descriptions::default(),
            paths: Paths::default(),
            forwarding: None,
            last_signal: (0, false, 0),
            summary: Summary { processes: 1, ..Summary::default() },
            opened: Vec::new(),
            looker: looks.then(Looker::default),
            arrivals: None,
        }
    }

    /// Looks at what comes into the cache of mapped files. Only where the program stops is a file
    /// looked at before it is touched.
    pub(crate) fn look_at_arrivals(self) -> Self {
        let arrivals = self.reported.is_none().then(Arrivals::default);
        Self { arrivals, ..self }
    }

    /// Follows the program until it and all its descendants have ended.
    ///
    /// # Errors
    /// If waiting for the traced processes fails. They are killed then.
    pub(crate) fn run(mut self) -> io::Result<Traced> {
        while !self.threads.is_empty() || self.await_newborn()? {
            match self.next_stop() {
                Ok((tid, stop)) => {
                    self.now_ns = self.elapsed_ns();
                    self.stopped(tid, stop);
                }
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => self.pass_to_the_rest(),
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => break,
                Err(error) => {
                    self.kill_all();
                    return Err(error);
                }
            }
        }
        Ok(self.traced())
    }

    fn kill_all(&self) {
        self.threads.values().for_each(|thread| drop(signals::send(thread.pid, libc::SIGKILL)));
    }

    fn traced(mut self) -> Traced {
        self.end_fetches();
        self.summary.beyond = self.sink.beyond();
        Traced {
            duration_ns: self.elapsed_ns(),
            sink: self.sink,
            summary: self.summary,
            looker: self.looker,
            unnamed: self.fetched,
            arrived: self.arrivals.map(Arrivals::finish),
            status: self.status.filter(|_| self.live),
            _forwarding: self.forwarding,
        }
    }

    fn elapsed_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    fn stopped(&mut self, tid: i32, stop: Stop) {
        match stop {
            Stop::Exited(code) => return self.ended(tid, Status::Exited(code)),
            Stop::Killed { signal, core } => {
                return self.ended(tid, Status::Killed { signal, core });
            }
            _ => {}
        }
        if !self.threads.contains_key(&tid) {
            self.early.insert(tid, (stop, self.now_ns));
            return;
        }
        let resumed = match stop {
            Stop::Seccomp => self.entered(tid),
            Stop::Syscall if self.attached => self.entered_or_left(tid),
            Stop::Syscall => {
                self.left(tid);
                self.go_on(tid, 0)
            }
            Stop::Signal(signal) => self.signalled(tid, signal),
            Stop::Group(signal) => {
                let listening = tracee::listen(tid);
                if tid == self.main && signal != libc::SIGSTOP && self.forwarding.is_some() {
                    signals::stop_with_program();
                }
                listening
            }
            Stop::Event(event) => {
                self.happened(tid, event);
                self.go_on(tid, 0)
            }
            _ => self.go_on(tid, 0),
        };
        if resumed.is_err() {
            self.summary.lost += 1;
        }
    }

    /// Before a call: decides whether its exit matters.
    fn entered(&mut self, tid: i32) -> io::Result<()> {
        let matters = self.live && self.note_entry(tid);
        let until = if matters || self.attached { Until::SyscallExit } else { Until::Event };
        let resumed_ns = self.elapsed_ns();
        if let Some(pending) = self.threads.get_mut(&tid).and_then(|thread| thread.pending.as_mut())
        {
            pending.resumed_ns = resumed_ns;
        }
        tracee::resume(tid, until, 0)
    }

    fn note_entry(&mut self, tid: i32) -> bool {
        let entered = match self.attached {
            true => self.answer(tracee::entered_unfiltered(tid)).flatten(),
            false => self.answer(tracee::entered(tid)),
        };
        let Some(entered) = entered else { return false };
        if entered.mark != MARK {
            // The stop is from a filter of the program's own. Without a recorder there is no
            // tracer, and such a call fails.
            let _ = Registers::of(tid).and_then(|registers| registers.without_call(tid)); // fails if killed
            return false;
        }
        let Some(call) = self.calls.get(entered.architecture, entered.number) else { return false };
        let keeps_children = matches!(call, Call::CloneUntraced | Call::CloneBySize);
        if !keeps_children && self.sink.is_over(self.now_ns) {
            self.sink.pass_over();
            return false;
        }
        let pending = self.enter(tid, call, entered);
        self.settle(tid);
        let matters = pending.is_some();
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.pending = pending;
        }
        matters
    }

    /// At a call's exit.
    fn left(&mut self, tid: i32) {
        let Some(pending) = self.threads.get_mut(&tid).and_then(|thread| thread.pending.take())
        else {
            return;
        };
        let result = self.answer(tracee::result(tid));
        self.finish_call(tid, pending, result);
    }

    /// Notes what a call did, and lets go of what it held.
    fn finish_call(&mut self, tid: i32, pending: Pending, result: Option<i64>) {
        self.resumed_ns = pending.resumed_ns;
        if let Some(result) = result {
            self.leave(tid, &pending, result);
        }
        let at = self.moment(tid);
        pending.from.into_iter().chain(pending.into).for_each(|id| self.release(id, at));
    }

    /// What ptrace says about a call. If it says nothing, the call counts as lost, unless the
    /// thread was killed.
    fn answer<T>(&mut self, answer: io::Result<T>) -> Option<T> {
        let killed = |error: &io::Error| error.raw_os_error() == Some(libc::ESRCH);
        answer.inspect_err(|error| self.summary.lost += u64::from(!killed(error))).ok()
    }

    fn signalled(&mut self, tid: i32, signal: i32) -> io::Result<()> {
        self.hide_interruption(tid);
        let passed = if self.is_second_of_a_pair(tid, signal) { 0 } else { signal };
        self.go_on(tid, passed)
    }

    /// Resumes a thread until its next stop that the recorder needs, and delivers `signal` unless
    /// it is 0.
    fn go_on(&self, tid: i32, signal: i32) -> io::Result<()> {
        let until = if self.attached { Until::SyscallExit } else { Until::Event };
        tracee::resume(tid, until, signal)
    }

    /// Whether a signal is the second copy of one. A signal to the whole process group reaches the
    /// program twice: directly, and passed on by this process.
    fn is_second_of_a_pair(&mut self, tid: i32, signal: i32) -> bool {
        let Some(forwarding) = self.forwarding.as_ref().filter(|_| signals::is_forwarded(signal))
        else {
            return false;
        };
        if self.status.is_some()
            || self.threads.get(&tid).is_none_or(|thread| thread.pid != self.main)
        {
            return false;
        }
        let Ok(from) = tracee::signal_sender(tid) else { return false };
        let ours = from == std::process::id() as i32;
        // If no sender is known yet, the program's copy may have come before the copy to this
        // process.
        if !ours && (from == 0 || ![0, from].contains(&forwarding.sender())) {
            return false;
        }
        let (last, last_ours, time_ns) =
            std::mem::replace(&mut self.last_signal, (signal, ours, self.now_ns));
        last == signal && last_ours != ours && self.now_ns - time_ns < SAME_SIGNAL_NS
    }

    /// After the program's end, passes a signal to this process on to the processes that the
    /// program has left behind.
    fn pass_to_the_rest(&mut self) {
        let Some(signal) = self.forwarding.as_ref().and_then(Forwarding::undelivered) else {
            return;
        };
        let processes: HashSet<i32> = self.threads.values().map(|thread| thread.pid).collect();
        processes.into_iter().for_each(|pid| drop(signals::send(pid, signal)));
    }

    /// This instant, for a row of thread `tid`.
    fn moment(&self, tid: i32) -> Moment {
        let pid = self.threads.get(&tid).map_or(tid, |thread| thread.pid);
        Moment { time_ns: self.now_ns, pid, tid }
    }
}
