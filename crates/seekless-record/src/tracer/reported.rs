//! A program whose calls do not stop: programs in the kernel report them (eBPF), a few
//! milliseconds later, in their order. They also say which open file a call is about, by a key, so
//! a descriptor that came in an unknown way is known at its first use.
//!
//! The program's first thread is still attached: it stops at its signals, which it must not get
//! twice, and at its exec, so that the files that it starts with can be looked up.

mod state;

use super::Tracer;
use super::read_again::LastRead;
use super::rows::{identified, row};
use crate::arch;
use crate::call::Call as Kind;
use crate::calls;
use crate::descriptions::{Description, DescriptionId};
use crate::inspect::{self, Found};
use crate::recorded::Status;
use crate::sink::Sink;
use crate::thread::{Entry, Thread};
use crate::tracer::{Settings, Traced};
use seekless_sys::awaited::Awaited;
use seekless_sys::urgent::Urgent;
use seekless_watch::call_events::{
    AIO_READ, AIO_SYNC, Call, CallEvents, Event, File, RING_READ, RING_SYNC, Which,
};
use seekless_watch::seccomp::MARK;
use seekless_watch::tracee::{self, Entered, Stop};
pub(super) use state::Reported;
use state::found;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How long records may wait in the ring.
pub(super) const PATIENCE: Duration = Duration::from_millis(4);

impl Tracer {
    /// A tracer of the child `main`, whose calls will be reported to it.
    pub(crate) fn reported(main: i32, sink: Sink, settings: Arc<Settings>) -> Self {
        Self { reported: Some(Box::new(Reported::from_now())), ..Self::new(main, sink, settings) }
    }

    /// Follows the program until it and all its descendants have ended.
    ///
    /// # Errors
    /// As [`Tracer::run`].
    pub(crate) fn run_reported(
        mut self,
        mut events: CallEvents,
        awaited: &Awaited,
    ) -> io::Result<Traced> {
        self.note_reported(&events);
        let _urgent = Urgent::begin(); // records have little room
        loop {
            self.take_stops(|tracer| tracer.take_reports(&mut events))?; // while its files are there
            // Asked before its reports are taken: then nothing comes after that.
            let is_over = self.status.is_some() && !events.has_any();
            self.take_reports(&mut events);
            if is_over {
                break;
            }
            self.pass_to_the_rest();
            let _ = awaited.wait(PATIENCE);
        }
        self.count_unreported(&events);
        Ok(self.traced())
    }

    /// What these will report.
    pub(super) fn note_reported(&mut self, events: &CallEvents) {
        if let Some(reported) = &mut self.reported {
            reported.rings.are_reported = events.sees_rings();
        }
        self.begin_fetches(events);
    }

    /// Counts the records that had no room.
    pub(super) fn count_unreported(&mut self, events: &CallEvents) {
        self.summary.no_room = events.lost();
        self.summary.lost += events.lost();
    }

    /// Takes the stops of the program's first thread.
    pub(super) fn take_stops(&mut self, mut executed: impl FnMut(&mut Self)) -> io::Result<()> {
        loop {
            let (tid, stop) = match tracee::wait_now(-1) {
                Ok(Some(next)) => next,
                Ok(None) => return Ok(()),
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(()),
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => continue,
                Err(error) => return Err(error),
            };
            match stop {
                Stop::Exited(code) => self.note_end(tid, Status::Exited(code)),
                Stop::Killed { signal, core } => {
                    self.note_end(tid, Status::Killed { signal, core })
                }
                Stop::Event(_) => {
                    executed(self);
                    self.summary.lost += u64::from(self.go_on(tid, 0).is_err());
                }
                _ => {
                    self.now_ns = self.elapsed_ns();
                    if !self.threads.contains_key(&tid) {
                        self.threads.insert(tid, Thread::new(tid));
                    }
                    self.stopped(tid, stop);
                }
            }
        }
    }

    /// The program's first process was waited for. Its reports may not have been taken yet.
    fn note_end(&mut self, tid: i32, status: Status) {
        if tid == self.main && self.status.is_none() {
            self.status = Some(status);
            if let Some(forwarding) = &self.forwarding {
                forwarding.program_ended();
            }
        }
    }

    /// Takes what has been reported.
    pub(super) fn take_reports(&mut self, events: &mut CallEvents) {
        if let Some(reported) = &mut self.reported {
            reported.last_read = None; // a stop may have changed the tables meanwhile
        }
        events.take(|event| self.reported_event(event));
        self.sink.hand_over();
    }

    fn reported_event(&mut self, event: Event<'_>) {
        let Some(reported) = &mut self.reported else { return };
        let last_read = reported.last_read.take();
        if let (Event::Called(which, call), Some(last)) = (&event, last_read)
            && self.read_again(last, *which, call)
        {
            self.set_last_read(last_read);
            return;
        }
        let Some(reported) = &mut self.reported else { return };
        match event {
            Event::Called(which, call @ Call { number: RING_READ..=RING_SYNC, .. }) => {
                self.completed(which, call);
            }
            Event::Called(which, call @ Call { number: AIO_READ..=AIO_SYNC, .. }) => {
                self.handed_over_reported(which, call);
            }
            Event::Called(which, call) => self.called(which, call),
            Event::Reaped(which, results) => self.reaped_reported(which, results),
            Event::Entered(which, call) => self.entered_reported(which, call),
            Event::Left(which, call) => self.left_reported(which, call),
            Event::Text(which, path) => drop(reported.texts.insert(which.tid, path.to_vec())),
            Event::Directory(which, name) => drop(reported.directories.insert(which.tid, name)),
            Event::File(key, is_new, file) => {
                let former = reported.files.insert(key, file);
                let is_other = |former: File| former.inode != reported.files[&key].inode;
                if is_new || former.is_some_and(is_other) {
                    // The kernel uses its memory again.
                    reported.rings.descriptors.remove(&key);
                }
                if is_new {
                    reported.described.remove(&key);
                }
            }
            Event::Born { maker, tid, pid, shares_files, shares_directory, shares_memory } => {
                self.at(maker);
                let flag = |is: bool, flag: i32| if is { flag as u64 } else { 0 };
                let flags = flag(shares_files, libc::CLONE_FILES)
                    | flag(shares_directory, libc::CLONE_FS)
                    | flag(shares_memory, libc::CLONE_VM)
                    | flag(pid != tid, libc::CLONE_THREAD);
                self.forget(tid); // its number was another's, whose end had no room
                self.made(maker.tid, tid, flags);
            }
            Event::Executed(which, former, open) => {
                self.at(which);
                let is_first = !self.live;
                self.executed_with(which.tid, former, Some(open));
                if is_first && let Some(thread) = self.threads.get(&which.tid) {
                    *thread.directory.borrow_mut() = inspect::directory(which.tid);
                }
            }
            Event::Ended(which) => {
                self.at(which);
                self.forget(which.tid);
            }
            Event::Fetched(which, fetch) => self.fetched(which, fetch),
        }
    }

    /// Goes to the time of an event, and makes its thread known, if its birth had no room.
    pub(super) fn at(&mut self, which: Which) {
        if let Some(reported) = &self.reported {
            self.now_ns = reported.elapsed_ns(which.time_ns);
        }
        if !self.threads.contains_key(&which.tid) {
            let same = self.threads.values().find(|thread| thread.pid == which.pid);
            let thread = same.map_or_else(|| Thread::new(which.pid), Thread::sibling);
            self.adopt(which.tid, thread);
        }
    }

    fn called(&mut self, which: Which, call: Call) {
        if self.begin_reported(which, call).is_none() {
            return;
        }
        let pending = self.threads.get(&which.tid).and_then(|thread| thread.pending.as_ref());
        let read = pending.filter(|pending| matches!(pending.call, Kind::Read(_)));
        let id = read.and_then(|pending| pending.from);
        self.finish_reported(which.tid, call);
        if id.is_some() && !(RING_READ..=RING_SYNC).contains(&call.number) {
            self.set_last_read(self.last_read(which, &call, id));
        }
    }

    fn set_last_read(&mut self, last: Option<LastRead>) {
        if let Some(reported) = &mut self.reported {
            reported.last_read = last;
        }
    }

    /// A request of a ring, whose thread may be in a call meanwhile.
    fn completed(&mut self, which: Which, mut call: Call) {
        let Some(reported) = self.reported.as_mut() else { return };
        call.arguments[0] = reported.rings.descriptor(call.files[0]) as u64;
        let waits = self.threads.get_mut(&which.tid).and_then(|thread| thread.pending.take());
        self.called(which, call);
        if let Some(thread) = self.threads.get_mut(&which.tid) {
            thread.pending = waits;
        }
    }

    fn entered_reported(&mut self, which: Which, call: Call) {
        self.begin_reported(which, call);
        self.end_reported();
    }

    fn left_reported(&mut self, which: Which, call: Call) {
        if self.live && self.threads.contains_key(&which.tid) {
            self.finish_reported(which.tid, call);
        }
    }

    /// `None` if the call does not matter.
    pub(super) fn begin_reported(&mut self, which: Which, call: Call) -> Option<()> {
        let architecture = if call.foreign { arch::FOREIGN.audit } else { arch::NATIVE.audit };
        let number = u64::from(call.number);
        let kind = self.calls.get_with(architecture, number, &call.arguments);
        let matters = self.live && kind.is_some_and(|kind| calls::reported_of(kind).is_some());
        let reported = self.reported.as_mut()?;
        let is_over = matters && self.sink.is_over(reported.elapsed_ns(which.time_ns));
        if is_over {
            self.sink.pass_over();
        }
        if !matters || is_over {
            reported.texts.remove(&which.tid);
            return None;
        }
        let kind = kind?;
        reported.begin(kind, call);
        self.at(which);
        let entered = Entered { architecture, number, arguments: call.arguments, mark: MARK };
        let pending = self.enter(which.tid, kind, entered);
        let matters = pending.is_some();
        self.threads.get_mut(&which.tid)?.pending = pending;
        if !matters {
            self.end_reported();
        }
        matters.then_some(())
    }

    fn finish_reported(&mut self, tid: i32, call: Call) {
        let pending = self.threads.get_mut(&tid).and_then(|thread| thread.pending.take());
        if let (Some(pending), Some(reported)) = (pending, self.reported.as_mut()) {
            reported.begin(pending.call, call);
            self.now_ns = reported.elapsed_ns(call.left_ns);
            self.finish_call(tid, pending, Some(call.result));
        }
        self.end_reported();
    }

    pub(super) fn end_reported(&mut self) {
        if let Some(reported) = &mut self.reported {
            reported.end_call();
        }
    }

    /// The key of a descriptor in the current call.
    pub(super) fn reported_key(&self, fd: i32) -> Option<u64> {
        self.reported.as_ref()?.key(fd)
    }

    /// What a descriptor refers to, of which the key is known: also if we missed how it came.
    pub(super) fn reported_entry(&mut self, tid: i32, fd: i32, key: u64) -> Option<Entry> {
        let known = self.threads.get(&tid)?.files.borrow().get(&fd).copied();
        if let Some(Entry::File(id)) = known
            && self.is_behind(id, key)
        {
            return known;
        }
        let reported = self.reported.as_ref()?;
        let (file, described) = (reported.files.get(&key), reported.described.get(&key).copied());
        let Some(found) = file.map(found) else {
            return None; // its record had no room, and was counted
        };
        if let Some(known) = known
            && self.is_other(known, &found)
        {
            return Some(known);
        }
        let (position, flags) = file.map(|file| (file.position, file.flags)).unwrap_or_default();
        let entry = match described {
            Some(id) => Entry::File(self.descriptions.hold(id)),
            None => {
                let at = self.moment(tid);
                let entry = self.describe(&found, at);
                if let Entry::File(id) = entry {
                    self.set_key(id, key);
                    let description = self.descriptions.get(id);
                    description.position = position;
                    description.append = flags & libc::O_APPEND != 0;
                    let access = identified(
                        row(seekless_trace::Op::Open, description.file, at),
                        description,
                    );
                    self.emit(access);
                }
                entry
            }
        };
        self.install(tid, fd, entry);
        Some(entry)
    }

    /// Whether a description is of the open file with this key. One that was found in /proc has no
    /// key yet.
    fn is_behind(&mut self, id: DescriptionId, key: u64) -> bool {
        let description = self.descriptions.get(id);
        if description.key != 0 {
            return description.key == key;
        }
        let inode = description.inode;
        let is_same = self.reported.as_ref().is_some_and(|reported| {
            reported.files.get(&key).is_some_and(|file| file.inode == inode)
        });
        if is_same {
            self.set_key(id, key);
        }
        is_same
    }

    /// Whether an entry is rightly one of a file without a description.
    fn is_other(&self, entry: Entry, found: &Found) -> bool {
        match entry {
            Entry::Other => !self.is_recorded(found),
            Entry::LeftOut => self.is_recorded(found) && !self.settings.keeps(&found.name),
            Entry::File(_) => false,
        }
    }

    /// Notes which key the file has that the current call has opened.
    pub(super) fn note_key(&mut self, id: DescriptionId, fd: i32) {
        if let Some(key) = self.reported_key(fd) {
            self.set_key(id, key);
        }
    }

    fn set_key(&mut self, id: DescriptionId, key: u64) {
        self.descriptions.get(id).key = key;
        if let Some(reported) = &mut self.reported {
            reported.described.insert(key, id);
        }
    }

    /// The last known holder of a description is gone. If another turns up, which got the open file
    /// through a socket, it goes on where this one was.
    pub(super) fn forget_key(&mut self, id: DescriptionId, description: &Description) {
        if let Some(reported) = &mut self.reported
            && reported.described.get(&description.key) == Some(&id)
        {
            reported.described.remove(&description.key);
            if let Some(file) = reported.files.get_mut(&description.key) {
                file.position = description.position;
            }
        }
    }
}
