//! At a call's exit: writes rows for what it did, and updates the tables.

use super::Tracer;
use super::rows::{Outcome, identified, is_too_long, signed};
use crate::call::{Call, Flags, Path};
use crate::descriptions::{DescriptionId, Moment};
use crate::inspect;
use crate::paths;
use crate::space::Mapping;
use crate::thread::{Entry, Pending};
use seekless_sys::memory::page_bytes;
use seekless_trace::{Access, Op};
use std::sync::Arc;

/// The kernel will restart the call (ERESTARTSYS and similar results), so this exit does not count.
pub(super) const RESTARTED: std::ops::RangeInclusive<i64> = -516..=-512;
const ERRORS: std::ops::Range<i64> = -4095..0;
const CLOSE_RANGE_UNSHARE: u64 = libc::CLOSE_RANGE_UNSHARE as u64;

/// The outcome of a call, by its result in the register.
pub(super) fn outcome(result: i64) -> Outcome {
    if ERRORS.contains(&result) { Err(-result as i32) } else { Ok(result as u64) }
}

impl Tracer {
    pub(super) fn leave(&mut self, tid: i32, pending: &Pending, result: i64) {
        if RESTARTED.contains(&result) && pending.call != Call::Close {
            return self.taken_over(tid, 0);
        }
        let at = Moment { time_ns: pending.time_ns, ..self.moment(tid) };
        self.leave_at(at, pending, result);
    }

    /// As [`Tracer::leave`], of a call that was entered at `at`, if it is not to be made again.
    pub(super) fn leave_at(&mut self, at: Moment, pending: &Pending, result: i64) {
        let (outcome, tid) = (outcome(result), at.tid);
        match pending.call {
            Call::Open(names, flags) => self.opened(tid, pending, Some(names), flags, at, outcome),
            Call::OpenHandle => self.opened(tid, pending, None, Flags::Argument(2), at, outcome),
            Call::Stat(names) => self.asked(tid, pending, names, at, outcome),
            Call::Read(_) | Call::Write(_) | Call::SendFile | Call::CopyRange | Call::Splice => {
                self.transferred(tid, pending, at, outcome);
            }
            Call::Close => self.simple(Op::Close, pending, at, outcome),
            Call::Sync | Call::SyncMapped => self.simple(Op::Sync, pending, at, outcome),
            Call::List => self.simple(Op::List, pending, at, outcome),
            Call::Map(unit) => self.mapped(tid, pending, unit, at, outcome),
            Call::Submit => self.submitted(tid, &pending.arguments, outcome),
            Call::Reap => self.reaped(tid, &pending.arguments, outcome),
            Call::RingSetup => self.ring_made(tid, &pending.arguments, outcome),
            Call::RingEnter => self.ring_entered(tid, &pending.arguments, outcome),
            Call::RingRegister => self.ring_registered(tid, &pending.arguments, outcome),
            _ => {
                if let Ok(value) = outcome {
                    self.changed(tid, pending, at, value);
                }
            }
        }
    }

    /// Handles calls that make no row.
    fn changed(&mut self, tid: i32, pending: &Pending, at: Moment, value: u64) {
        match pending.call {
            Call::Seek => self.moved_to(pending, Some(value)),
            Call::SeekFar => self.moved_to(pending, self.ask_word(tid, pending, 3)),
            Call::Duplicate | Call::Control => self.duplicated(tid, pending.from, value as i32),
            Call::DuplicateTo if pending.descriptor(0) != pending.descriptor(1) => {
                self.duplicated(tid, pending.from, pending.descriptor(1));
            }
            Call::CloseRange => {
                if pending.arguments[2] & CLOSE_RANGE_UNSHARE != 0 {
                    self.unshare_files(tid);
                }
                self.close_range(tid, pending.arguments[0] as u32, pending.arguments[1] as u32, at);
            }
            Call::ChangeDirectory => {
                let reported = self.ask_directory(tid);
                if let Some(thread) = self.threads.get(&tid) {
                    *thread.directory.borrow_mut() = reported;
                }
            }
            Call::Unshare => self.unshared(tid, pending.arguments[0]),
            Call::ChangeRoot => self.roots += 1,
            _ => {}
        }
    }

    fn moved_to(&mut self, pending: &Pending, position: Option<u64>) {
        if let (Some(id), Some(position)) = (pending.from, position) {
            self.descriptions.get(id).position = position;
        }
    }

    fn opened(
        &mut self,
        tid: i32,
        pending: &Pending,
        names: Option<Path>,
        flags: Flags,
        at: Moment,
        outcome: Outcome,
    ) {
        let Ok(fd) = outcome else { return self.failed_to_open(tid, pending, names, at, outcome) };
        let fd = fd as i32;
        // The kernel's name for it is the file's own, without links.
        let found = match self.ask_descriptor(tid, fd) {
            Ok(found) => found,
            Err(error) if is_too_long(&error) => return self.lose_long_path(),
            Err(_) => return self.lose(tid),
        };
        let entry = self.describe(&found, at);
        self.summary.left_out += u64::from(entry == Entry::LeftOut);
        if let Entry::File(id) = entry {
            let flags = match flags {
                Flags::Absent => 0,
                Flags::Argument(at) => pending.arguments[at],
                Flags::Pointed(at) => self.ask_word(tid, pending, at).unwrap_or(0),
            };
            self.note_key(id, fd);
            let description = self.descriptions.get(id);
            description.append = flags & libc::O_APPEND as u64 != 0;
            let file = description.file;
            let access = self.call_row(Op::Open, file, at, outcome);
            let access = identified(access, self.descriptions.get(id));
            self.emit(access);
        }
        self.install(tid, fd, entry);
    }

    fn failed_to_open(
        &mut self,
        tid: i32,
        pending: &Pending,
        names: Option<Path>,
        at: Moment,
        outcome: Outcome,
    ) {
        let Some(names) = names else { return };
        if let Some(name) = self.recorded_name(tid, pending, names) {
            let file = self.sink.file(&name);
            let access = self.call_row(Op::Open, file, at, outcome);
            self.emit(access);
        }
    }

    /// stat, access and readlink.
    pub(super) fn asked(
        &mut self,
        tid: i32,
        pending: &Pending,
        names: Path,
        at: Moment,
        outcome: Outcome,
    ) {
        if let Some(name) = self.recorded_name(tid, pending, names) {
            let file = self.sink.file(&name);
            let access = self.call_row(Op::Stat, file, at, outcome);
            self.emit(access);
        }
    }

    /// The absolute name of the path in a call. `None` if it is not to be recorded, or relative to
    /// a bad descriptor. The kernel has just read the path, so it is in memory.
    fn recorded_name(&mut self, tid: i32, pending: &Pending, names: Path) -> Option<Vec<u8>> {
        let name = self.absolute_name(tid, pending, names)?;
        self.keeps_name(&name).then_some(name)
    }

    /// The absolute name of the path in a call. `None` if it cannot be read, or is relative to a
    /// bad descriptor.
    pub(super) fn absolute_name(
        &mut self,
        tid: i32,
        pending: &Pending,
        names: Path,
    ) -> Option<Vec<u8>> {
        let path =
            pending.path.clone().or_else(|| self.ask_path(tid, pending.arguments[names.path]));
        let Some(path) = path else {
            let address = pending.arguments[names.path];
            if self.reported.is_none() && inspect::is_long_path(tid, address) {
                self.lose_long_path();
            } else {
                self.lose_if_closed(tid);
            }
            return None;
        };
        if path.first() == Some(&b'/') {
            return Some(self.paths.absolute(b"/", &path));
        }
        let base = self.base(tid, names.directory.map(|at| pending.descriptor(at)));
        if base.is_none() && self.reported.is_none() && inspect::has_long_directory(tid) {
            self.lose_long_path();
        }
        let base = base?;
        Some(self.paths.absolute(&base, &path))
    }

    /// Whether calls on a file of this name are recorded. Counts the call if it is left out.
    pub(super) fn keeps_name(&mut self, name: &[u8]) -> bool {
        let hidden = paths::is_special(name) && !self.settings.special
            || self.settings.own.iter().any(|own| own == name);
        let kept = self.settings.keeps(name);
        self.summary.left_out += u64::from(!hidden && !kept);
        !hidden && kept
    }

    /// close, the calls that sync, and getdents.
    fn simple(&mut self, op: Op, pending: &Pending, at: Moment, outcome: Outcome) {
        let Some(id) = pending.from else { return };
        let file = self.descriptions.get(id).file;
        let access = Access {
            offset: pending.offset.unwrap_or(0) as i64,
            bytes: if op == Op::List { outcome.unwrap_or(0) } else { 0 },
            ..self.call_row(op, file, at, outcome)
        };
        self.emit(access);
    }

    /// `unit` is the size in bytes of what the call's offset counts.
    fn mapped(&mut self, tid: i32, pending: &Pending, unit: u64, at: Moment, outcome: Outcome) {
        let Some(id) = pending.from else { return };
        let (bytes, offset) = (pending.arguments[1], pending.arguments[5].saturating_mul(unit));
        let file = self.descriptions.get(id).file;
        let access = Access { offset: signed(offset), ..self.call_row(Op::Map, file, at, outcome) };
        let Ok(start) = outcome else { return self.emit(access) };
        let description = self.descriptions.get(id);
        let completes = description.maps(offset, bytes);
        description.used = true;
        let access = Access { bytes, ..identified(access, description) };
        self.emit(access);
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.mapped(&self.sink.name(file), access);
        }
        if pending.arguments[3] & libc::MAP_POPULATE as u64 != 0 {
            self.populated(access);
        }
        if completes {
            self.emit_load(id);
        }
        let end = start.saturating_add(bytes.next_multiple_of(page_bytes()));
        self.unmap(tid, start, end - start); // MAP_FIXED replaces what was there
        if let Some(thread) = self.threads.get(&tid) {
            let description = self.descriptions.hold(id);
            thread.space.borrow_mut().map(Mapping { start, end, held: description, offset });
        }
    }

    /// The kernel has touched all of a new mapping for the program, without a page fault.
    pub(super) fn populated(&mut self, map: Access) {
        let size = map.file_bytes.unwrap_or(0);
        let bytes = map.bytes.min(size.saturating_sub(map.offset as u64));
        if bytes > 0 {
            self.emit(Access { op: Op::Fault, bytes, latency_ns: None, ..map });
        }
    }

    fn duplicated(&mut self, tid: i32, from: Option<DescriptionId>, fd: i32) {
        match from {
            Some(id) => {
                let held = self.descriptions.hold(id);
                self.install(tid, fd, Entry::File(held));
            }
            None => self.install(tid, fd, Entry::Other),
        }
    }

    fn unshared(&mut self, tid: i32, flags: u64) {
        if flags & libc::CLONE_FILES as u64 != 0 {
            self.unshare_files(tid);
        }
        self.roots += u32::from(flags & libc::CLONE_NEWNS as u64 != 0);
        if flags & libc::CLONE_FS as u64 != 0
            && let Some(thread) = self.threads.get_mut(&tid)
        {
            thread.directory = Arc::default();
        }
    }

    fn unshare_files(&mut self, tid: i32) {
        let Some(files) = self.threads.get(&tid).map(|thread| Arc::clone(&thread.files)) else {
            return;
        };
        if Arc::strong_count(&files) <= 2 {
            return; // this thread is the only one with the table
        }
        let own = self.copy_of_files(&files);
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.files = own;
        }
    }
}
