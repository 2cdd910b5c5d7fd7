//! A program whose commonest calls are reported by notifications of its seccomp filter, before they
//! happen. The call's thread waits for the answer, which is always that the call goes on. So what
//! the call will do is foreseen: a read returns what lies between its offset and the file's end.
//! What came of an open is found out when its thread does the next thing.
//!
//! Births, execs, ends and signals still stop the program, as do the rarer calls whose results must
//! be known. One thread of ours answers notifications while another waits for stops.

use super::life::{SHORT_PAUSES, pause};
use super::rows::{identified, row, signed};
use super::transfer::explicit;
use super::{Settings, Traced, Tracer};
use crate::arch::Registers;
use crate::call::{Call, Flags, Path};
use crate::calls::Calls;
use crate::descriptions::{DescriptionId, Seen};
use crate::inspect::{self, Found};
use crate::opening::{self, Opening, Outcome};
use crate::options::Grain;
use crate::shared::Shared;
use crate::sink::Sink;
use crate::thread::{Entry, Pending, Table, Thread};
use rustix::thread::gettid;
use seekless_sys::awaited::Awaited;
use seekless_sys::signals::{self, Nudge};
use seekless_trace::{Access, Op};
use seekless_watch::notify::{Listener, Notification};
use seekless_watch::seccomp::MARK;
use seekless_watch::tracee::{self, Entered, Stop};
use std::io;
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// For so long a file's size is taken for unchanged, unless the program writes to any file.
const FRESH_NS: u64 = 10_000_000;
/// A read or write moves at most this (MAX_RW_COUNT).
const TRANSFER_BYTES_MAX: u64 = 0x7fff_f000;
/// Between two looks whether the answering thread has ended, once the program has.
const BETWEEN_LOOKS: Duration = Duration::from_micros(200);
/// More opens that were not used are not kept: the oldest is let go.
const UNBOUND_MAX: usize = 1024;

impl Tracer {
    /// A tracer of the child `main`, whose filter notifies at this grain.
    pub(crate) fn notified_of(
        grain: Grain,
        main: i32,
        sink: Sink,
        settings: Arc<Settings>,
    ) -> Self {
        Self { grain: Some(grain), ..Self::new(main, sink, settings) }
    }

    /// Follows the program until it and all its descendants have ended. Without a listener the
    /// child could not load the filter, and ends.
    ///
    /// # Errors
    /// As [`Tracer::run`].
    pub(crate) fn run_notified(self, listener: Option<Listener>) -> io::Result<Traced> {
        let Some(listener) = listener else { return self.run() };
        let main = self.main;
        let tracer = Mutex::new(self);
        let number = AtomicI32::new(0);
        let followed = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("seekless-answers".into());
            let answers = thread.spawn_scoped(scope, || {
                number.store(gettid().as_raw_nonzero().get(), Ordering::Relaxed);
                answer(&tracer, &listener);
            });
            let answers = answers.inspect_err(|_| drop(signals::send(main, libc::SIGKILL)))?;
            let followed = follow_stops(&tracer);
            call_back(&listener, &number, || answers.is_finished());
            followed
        });
        let tracer = tracer.into_inner().unwrap_or_else(PoisonError::into_inner);
        followed.map(|()| tracer.traced())
    }

    /// Whether only opens and maps are seen, so that a descriptor's number says nothing of what was
    /// behind it before.
    pub(super) fn sees_files_only(&self) -> bool {
        self.grain == Some(Grain::Files)
    }

    /// Before a call that was notified. `path` is its argument, if it has one.
    fn notified(&mut self, reported: &Notification, call: Call, path: Option<Vec<u8>>) {
        self.now_ns = self.elapsed_ns();
        if !self.live {
            return; // the recorder's own child, on its way to exec
        }
        self.know(reported.tid);
        if let Some(thread) = self.threads.get_mut(&reported.tid) {
            thread.answered = Some((reported.number, reported.arguments));
        }
        if self.sink.is_over(self.now_ns) {
            return self.sink.pass_over();
        }
        self.foresees = true;
        self.foresee(reported, call, path);
        self.foresees = false;
    }

    /// Makes a thread known whose birth was not reported.
    fn know(&mut self, tid: i32) {
        if self.threads.contains_key(&tid) {
            return;
        }
        let Some((pid, _)) = inspect::family(tid) else { return };
        let same = self.threads.values().find(|thread| thread.pid == pid);
        let thread = same.map_or_else(|| Thread::new(pid), Thread::sibling);
        self.adopt(tid, thread);
    }

    fn foresee(&mut self, reported: &Notification, call: Call, path: Option<Vec<u8>>) {
        let tid = reported.tid;
        let named = || Pending { path, ..Pending::new(call, reported.arguments, self.now_ns) };
        match call {
            Call::Open(names, flags) => {
                let pending = named();
                self.settle(tid);
                self.opening(tid, &pending, names, flags);
            }
            Call::Stat(names) => {
                let pending = named();
                self.settle(tid);
                self.asked(tid, &pending, names, self.moment(tid), Ok(0));
            }
            Call::Map(unit) => self.maps(tid, reported.arguments, unit),
            _ => {
                let entered = Entered {
                    architecture: reported.architecture,
                    number: reported.number,
                    arguments: reported.arguments,
                    mark: MARK,
                };
                let pending = self.enter(tid, call, entered);
                self.settle(tid);
                if let Some(pending) = pending {
                    let result = self.foreseen(tid, &pending);
                    self.finish_call(tid, pending, Some(result));
                }
            }
        }
    }

    /// What a call will return, or minus the error number.
    fn foreseen(&mut self, tid: i32, pending: &Pending) -> i64 {
        let asked = pending.arguments[2].min(TRANSFER_BYTES_MAX);
        match (pending.call, pending.from) {
            (Call::Read(offset), Some(id)) => {
                let offset = explicit(&pending.arguments, offset);
                self.foreseen_bytes(tid, pending.descriptor(0), id, offset, asked)
            }
            (Call::Write(_), _) => asked as i64,
            _ => 0,
        }
    }

    /// How much a read of `asked` bytes will return.
    fn foreseen_bytes(
        &mut self,
        tid: i32,
        fd: i32,
        id: DescriptionId,
        offset: Option<u64>,
        asked: u64,
    ) -> i64 {
        let (now_ns, writes) = (self.now_ns, self.writes);
        let description = self.descriptions.get(id);
        let offset = offset.unwrap_or(description.position);
        let Some(end) = i64::try_from(offset).ok().and_then(|_| offset.checked_add(asked)) else {
            return i64::from(-libc::EINVAL);
        };
        if description.stream {
            return 0; // what a pipe has is not known
        }
        if description.file_bytes.is_none() {
            return asked as i64; // a block device, or an error of a directory
        }
        let seen = &mut description.seen;
        let is_fresh = seen.writes == writes && now_ns.saturating_sub(seen.time_ns) < FRESH_NS;
        if end > seen.bytes && !is_fresh {
            let bytes = inspect::descriptor_bytes(tid, fd).unwrap_or(seen.bytes);
            *seen = Seen { bytes, time_ns: now_ns, writes };
        }
        seen.bytes.saturating_sub(offset).min(asked) as i64
    }

    /// Notes an open, to be settled later.
    fn opening(&mut self, tid: i32, pending: &Pending, names: Path, flags: Flags) {
        let flags = match flags {
            Flags::Absent => libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC,
            Flags::Argument(at) => pending.arguments[at] as i32,
            Flags::Pointed(at) => inspect::word(tid, pending.arguments[at]).unwrap_or(0) as i32,
        };
        let Some(name) = self.absolute_name(tid, pending, names) else { return };
        if flags & libc::O_TMPFILE == libc::O_TMPFILE {
            return; // the file has another name
        }
        if self.is_elsewhere(tid) {
            // Here the name is another file's. This one is known by its descriptor, once used.
            return self.blind("open in a chroot or in mounts of its own");
        }
        let at = self.moment(tid);
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.opening = Some(Opening { at, name, flags });
        }
    }

    /// Finds out what came of a thread's last open, if that is not known yet.
    pub(super) fn settle(&mut self, tid: i32) {
        let opening = self.threads.get_mut(&tid).and_then(|thread| thread.opening.take());
        let Some(opening) = opening else { return };
        match opening.outcome() {
            Outcome::Opened(found) => {
                if let Entry::File(id) = self.opened_as(&opening, &found) {
                    self.keep_unbound(tid, id);
                }
            }
            Outcome::Failed(error) => self.unopened(&opening, Some(error)),
            Outcome::Unknown => self.unopened(&opening, None),
            Outcome::TooLong => self.lose_long_path(),
        }
    }

    fn unopened(&mut self, opening: &Opening, error: Option<i32>) {
        if self.keeps_name(&opening.name) {
            let file = self.sink.file(&opening.name);
            self.summary.opens += u64::from(error.is_none());
            self.emit(Access { error, ..row(Op::Open, file, opening.at) });
        }
    }

    /// An open has succeeded: this is its file.
    fn opened_as(&mut self, opening: &Opening, found: &Found) -> Entry {
        let entry = self.describe(found, opening.at);
        self.summary.left_out += u64::from(entry == Entry::LeftOut);
        if let Entry::File(id) = entry {
            let description = self.descriptions.get(id);
            description.append = opening.appends();
            description.read_only = opening::is_read_only(opening.flags);
            let access = identified(row(Op::Open, description.file, opening.at), description);
            self.emit(access);
            self.summary.opens += 1;
        }
        entry
    }

    fn keep_unbound(&mut self, tid: i32, id: DescriptionId) {
        let Some(thread) = self.threads.get(&tid) else { return };
        let oldest = {
            let mut files = thread.files.borrow_mut();
            files.unbound.push_back(id);
            if files.unbound.len() > UNBOUND_MAX { files.unbound.pop_front() } else { None }
        };
        if let Some(oldest) = oldest {
            self.release(oldest, self.moment(tid));
        }
    }

    /// A descriptor is used for the first time: the open that it is from, if we know of one.
    pub(super) fn claim(&mut self, tid: i32, fd: i32, found: &Found) -> Option<Entry> {
        self.grain?;
        let files = Arc::clone(&self.threads.get(&tid)?.files);
        let mut openers = vec![tid];
        if Arc::strong_count(&files) > 2 {
            let others = self.threads.iter().filter(|(other, thread)| {
                **other != tid && thread.opening.is_some() && Arc::ptr_eq(&thread.files, &files)
            });
            openers.extend(others.map(|(other, _)| *other));
        }
        let is_first = self.candidates(&files, found).is_empty();
        for opener in openers.iter().filter(|_| is_first) {
            let opening = &mut self.threads.get_mut(opener)?.opening;
            // The name without links, so that no look is needed.
            if opening.as_ref().is_some_and(|opening| opening.name == found.name)
                && let Some(opening) = opening.take()
            {
                return Some(self.opened_as(&opening, found));
            }
        }
        openers.into_iter().for_each(|opener| self.settle(opener));
        let candidates = self.candidates(&files, found);
        let at = match candidates.as_slice() {
            [] => return None,
            [one] => *one,
            [first, ..] => {
                let (_, flags) = inspect::position(tid, fd).unwrap_or_default();
                let mut is_alike = |at: &usize| {
                    let description = self.descriptions.get(files.borrow().unbound[*at]);
                    description.append == (flags & libc::O_APPEND != 0)
                        && description.read_only == opening::is_read_only(flags)
                };
                candidates.iter().copied().find(|at| is_alike(at)).unwrap_or(*first)
            }
        };
        files.borrow_mut().unbound.remove(at).map(Entry::File)
    }

    /// Where among a table's opens without descriptors those of a file are.
    fn candidates(&mut self, files: &Shared<Table>, found: &Found) -> Vec<usize> {
        let files = files.borrow();
        let mut is_same = |id: DescriptionId| {
            let description = self.descriptions.get(id);
            (description.device, description.inode) == (found.device, found.inode)
        };
        (0..files.unbound.len()).filter(|at| is_same(files.unbound[*at])).collect()
    }

    /// Before a close: what was opened and not used since.
    pub(super) fn bind_before_close(&mut self, tid: i32, fd: i32) {
        let Some(thread) = self.threads.get(&tid).filter(|_| self.grain.is_some()) else { return };
        let files = Arc::clone(&thread.files);
        let is_awaited = thread.opening.is_some()
            || !files.borrow().unbound.is_empty()
            || Arc::strong_count(&files) > 2;
        if !is_awaited || files.borrow().contains_key(&fd) {
            return;
        }
        let Ok(found) = inspect::descriptor(tid, fd) else { return };
        if let Some(entry) = self.claim(tid, fd, &found) {
            files.borrow_mut().insert(fd, entry);
        }
    }

    /// As [`Tracer::bind_before_close`], of many.
    pub(super) fn bind_before_close_range(&mut self, tid: i32, closed: RangeInclusive<u32>) {
        if self.grain.is_some() {
            let open = inspect::descriptors(tid).unwrap_or_default();
            let closed = open.into_iter().filter(|fd| closed.contains(&(*fd as u32)));
            closed.for_each(|fd| self.bind_before_close(tid, fd));
        }
    }

    /// A map, where nothing else is seen of descriptors.
    fn maps(&mut self, tid: i32, arguments: [u64; 6], unit: u64) {
        let fd = arguments[4] as i32;
        let Ok(found) = inspect::descriptor(tid, fd) else {
            self.settle(tid);
            return self.lose_if_closed(tid);
        };
        let entry = self.claim(tid, fd, &found).unwrap_or_else(|| self.turned_up(tid, fd, &found));
        self.settle(tid);
        self.summary.left_out += u64::from(entry == Entry::LeftOut);
        let Entry::File(id) = entry else { return };
        let (bytes, offset) = (arguments[1], arguments[5].saturating_mul(unit));
        let at = self.moment(tid);
        let description = self.descriptions.get(id);
        let completes = description.maps(offset, bytes);
        description.used = true;
        let map = Access { offset: signed(offset), bytes, ..row(Op::Map, description.file, at) };
        let map = identified(map, description);
        self.emit(map);
        if arguments[3] & libc::MAP_POPULATE as u64 != 0 {
            self.populated(map);
        }
        if completes {
            self.emit_load(id);
        }
        self.keep_unbound(tid, id);
    }

    /// A thread that waits for the answer to a notification is interrupted by a signal, if we have
    /// not read the notification yet. Without a recorder, it would have been in the call already.
    /// So a call that does not wait for others begins again.
    pub(super) fn hide_interruption(&mut self, tid: i32) {
        if self.grain.is_none() {
            return;
        }
        let Ok(registers) = Registers::of(tid) else { return };
        let Some((architecture, number, arguments)) = registers.interrupted() else { return };
        let Some(call) = self.calls.get(architecture, number) else { return };
        let is_answered = self
            .threads
            .get(&tid)
            .is_some_and(|thread| thread.answered == Some((number, arguments)));
        let may_wait = match call {
            Call::Read(_) | Call::Write(_) => {
                let found = inspect::descriptor(tid, arguments[0] as i32);
                !found.is_ok_and(|found| found.kind == rustix::fs::FileType::RegularFile)
            }
            Call::Open(..) => true, // of a named pipe
            Call::Stat(_) | Call::Close | Call::Unmap => false,
            _ => return,
        };
        if !(is_answered && may_wait) {
            let _ = registers.with_call_again(tid); // fails if it was killed meanwhile
        }
    }
}

fn lock(tracer: &Mutex<Tracer>) -> MutexGuard<'_, Tracer> {
    tracer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers notifications until there can be no more. Whatever happens, each call goes on.
fn answer(tracer: &Mutex<Tracer>, listener: &Listener) {
    let _others = Awaited::hold(&signals::FOR_THE_MAIN_THREAD); // another thread passes them on
    let calls = Calls::new();
    loop {
        match listener.receive() {
            Ok(Some(reported)) => {
                let looked = AssertUnwindSafe(|| look(tracer, listener, &calls, &reported));
                if catch_unwind(looked).is_err() {
                    lock(tracer).summary.lost += 1;
                }
                listener.go_on(&reported);
            }
            Ok(None) => return,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Ends the wait of the thread that answers, if no process has the filter any more: Linux 6.18 was
/// seen to leave it waiting then.
fn call_back(listener: &Listener, thread: &AtomicI32, has_ended: impl Fn() -> bool) {
    let nudge = Nudge::prepare();
    while !has_ended() {
        if listener.is_over() {
            nudge.thread(thread.load(Ordering::Relaxed));
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

fn look(tracer: &Mutex<Tracer>, listener: &Listener, calls: &Calls, reported: &Notification) {
    let Some(call) = calls.get(reported.architecture, reported.number) else { return };
    // Before the lock, since memory may have to be fetched first.
    let path = match call {
        Call::Open(names, _) | Call::Stat(names) => {
            inspect::path(reported.tid, reported.arguments[names.path])
        }
        _ => None,
    };
    if path.is_some() && !listener.is_waiting(reported) {
        return; // it was killed, and the path may be another thread's
    }
    lock(tracer).notified(reported, call, path);
}

/// The loop around `waitpid`, as [`Tracer::run`]. The tracer is not held while it waits.
fn follow_stops(tracer: &Mutex<Tracer>) -> io::Result<()> {
    loop {
        let mut known = lock(tracer);
        if known.threads.is_empty() && !known.await_newborn()? {
            return Ok(());
        }
        drop(known);
        match next_stop(tracer) {
            Ok((tid, stop)) => {
                let mut tracer = lock(tracer);
                tracer.now_ns = tracer.elapsed_ns();
                tracer.stopped(tid, stop);
            }
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {
                lock(tracer).pass_to_the_rest();
            }
            Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(()),
            Err(error) => {
                lock(tracer).kill_all();
                return Err(error);
            }
        }
    }
}

/// As [`Tracer::next_stop`].
fn next_stop(tracer: &Mutex<Tracer>) -> io::Result<(i32, Stop)> {
    let mut pauses = 0;
    loop {
        if lock(tracer).early.is_empty() {
            return tracee::wait(-1);
        }
        if let Some(next) = tracee::wait_now(-1)? {
            return Ok(next);
        }
        pause(pauses)?;
        pauses += 1;
        let mut tracer = lock(tracer);
        tracer.now_ns = tracer.elapsed_ns();
        if pauses > SHORT_PAUSES
            || tracer.early.values().any(|(_, since_ns)| tracer.is_overdue(*since_ns))
        {
            tracer.adopt_orphans();
        }
    }
}
